import * as os from 'node:os';
import * as vscode from 'vscode';

import { innermost, shortPath } from './folders';
import { EditorContext } from './context';
import { EditorSenses } from './senses';
import type { Approver, Conversation, EditWatcher, Host, LocalFolder } from './host';
import { ServerError } from './server/errors';
import type { Server } from './server/server';
import type { ServerStatus } from './server/status';
import { editTexts } from './server/edits';
import { userSettings } from './settings';
import { KeyStore } from './keys/store';
import { LateStates, type Notifications } from './late';
import type { CommandMap, CommandName } from './wire.gen';
import { allowedInRestrictedMode } from './trust';
import { showProblem, type About } from './palette/problem';

/** Reads the current values of the section xcshLs. */
export const settings = userSettings(() => vscode.workspace.getConfiguration('xcshLs'));

/** The Host of this window. */
export class Window implements Host, vscode.Disposable {
  readonly #foldersChanged = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  readonly #approvers: Approver[] = [];
  readonly #editWatchers = new Set<EditWatcher>();
  readonly #shown = new vscode.EventEmitter<void>();
  readonly #ran = new vscode.EventEmitter<CommandName>();
  #conversation: Conversation | undefined;
  #lastCwd: string | undefined;

  /** The API keys that the user saved in the editor. */
  readonly keys: KeyStore;

  /** The sessions that are shown before they are read whole. */
  readonly late: LateStates;

  /** The folders whose turns were started by a command of the palette, which shows failures. */
  readonly prompting = new Set<string>();

  readonly onDidChangeFolders = this.#foldersChanged.event;
  readonly onDidShow = this.#shown.event;

  /** Fires after a command of the server that made changes. */
  readonly onDidRun = this.#ran.event;

  constructor(
    readonly context: vscode.ExtensionContext,
    readonly output: vscode.LogOutputChannel,
    private readonly server: Server,
  ) {
    server.approve = async (params, token) => {
      for (const approver of this.#approvers.toReversed()) {
        const answer = await approver(params, token);
        if (answer !== undefined) {
          return answer;
        }
      }
      return undefined;
    };
    this.keys = server.keys = new KeyStore(context.secrets, context.globalState);
    server.editing = (edit) => {
      const over = [...this.#editWatchers].map((watcher) => watcher(editTexts(edit)));
      return () => over.forEach((f) => f());
    };
    const around = new EditorContext(() => this.folders);
    server.context = (params) => around.answer(params);
    const senses = new EditorSenses((params) => around.answer(params));
    server.sense = (request, params) => senses.answer(request, params);
    this.late = new LateStates(this);
    this.#subscriptions = [
      this.#foldersChanged,
      around,
      senses,
      this.#shown,
      this.#ran,
      this.keys,
      this.keys.onDidChange(() => void server.keysChanged()),
      this.late,
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#foldersChanged.fire()),
      vscode.window.onDidChangeActiveTextEditor(() => this.#follow()),
    ];
    this.#follow();
  }

  get status(): ServerStatus {
    return this.server.status;
  }

  get onDidChangeStatus(): vscode.Event<ServerStatus> {
    return this.server.onDidChangeStatus;
  }

  get onDidChangeContent(): vscode.Event<string> {
    return this.server.onDidChangeContent;
  }

  get folders(): readonly LocalFolder[] {
    return (vscode.workspace.workspaceFolders ?? [])
      .filter((folder) => folder.uri.scheme === 'file')
      .map((folder) => ({ name: folder.name, cwd: folder.uri.fsPath, uri: folder.uri }));
  }

  get liveFolder(): LocalFolder | undefined {
    const folders = this.folders;
    return folders.find((folder) => folder.cwd === this.#lastCwd) ?? folders[0];
  }

  /** Makes a folder the current one until an editor of another folder becomes active. */
  useFolder(cwd: string): void {
    if (cwd !== this.#lastCwd) {
      this.#lastCwd = cwd;
      this.#foldersChanged.fire();
    }
  }

  #follow(): void {
    const folder = this.activeFolder();
    if (folder) {
      this.useFolder(folder.cwd);
    }
  }

  /** The folder of the active editor. */
  activeFolder(): LocalFolder | undefined {
    const uri = vscode.window.activeTextEditor?.document.uri;
    return uri?.scheme === 'file' ? innermost(this.folders, uri.fsPath) : undefined;
  }

  /** Returns the folder for a command: of the active editor, the only one, or the one that the user selects. */
  async chooseFolder(): Promise<LocalFolder | undefined> {
    const folders = this.folders;
    if (folders.length === 0) {
      const open = vscode.l10n.t('Open Folder');
      const answer = await vscode.window.showInformationMessage(vscode.l10n.t('Open a folder to use sessions.'), open);
      if (answer === open) {
        await vscode.commands.executeCommand('vscode.openFolder');
      }
      return undefined;
    }
    const certain = this.activeFolder() ?? (folders.length === 1 ? folders[0] : undefined);
    if (certain) {
      return certain;
    }
    const picked = await vscode.window.showQuickPick(
      folders.map((folder) => ({ label: folder.name, description: shortPath(folder.cwd, os.homedir()), folder })),
      { placeHolder: vscode.l10n.t('Select a folder') },
    );
    if (picked) {
      this.useFolder(picked.folder.cwd);
    }
    return picked?.folder;
  }

  async ready(): Promise<void> {
    await this.server.ready();
  }

  async request<C extends CommandName>(
    command: C,
    args: CommandMap[C]['args'],
    token?: vscode.CancellationToken,
  ): Promise<CommandMap[C]['result']> {
    if (!vscode.workspace.isTrusted && !allowedInRestrictedMode(command)) {
      throw new ServerError(
        vscode.l10n.t('Restricted Mode: you can read sessions in this folder, but not change them or run the agent.'),
        'untrusted',
      );
    }
    const result = await this.server.request(command, args, token);
    if (!allowedInRestrictedMode(command)) {
      this.#ran.fire(command);
    }
    return result;
  }

  onNotification<M extends keyof Notifications>(
    method: M,
    listener: (params: Notifications[M]) => void,
  ): vscode.Disposable {
    return this.server.onNotification(method, listener);
  }

  setApprover(approver: Approver): vscode.Disposable {
    this.#approvers.push(approver);
    return new vscode.Disposable(() => this.#approvers.splice(this.#approvers.indexOf(approver), 1));
  }

  watchEdits(watcher: EditWatcher): vscode.Disposable {
    this.#editWatchers.add(watcher);
    return new vscode.Disposable(() => this.#editWatchers.delete(watcher));
  }

  setConversation(conversation: Conversation): vscode.Disposable {
    this.#conversation = conversation;
    const shown = conversation.onDidShow(() => this.#shown.fire());
    return new vscode.Disposable(() => {
      shown.dispose();
      if (this.#conversation === conversation) {
        this.#conversation = undefined;
      }
    });
  }

  async compose(cwd: string, text: string): Promise<boolean> {
    return (await this.#conversation?.compose(cwd, text)) ?? false;
  }

  async rewind(cwd: string, entryId: string): Promise<boolean> {
    return (await this.#conversation?.rewind(cwd, entryId)) ?? false;
  }

  async reveal(cwd: string): Promise<boolean> {
    return (await this.#conversation?.reveal(cwd)) ?? false;
  }

  shows(cwd: string): boolean {
    return this.#conversation?.shows(cwd) ?? false;
  }

  /** Reports whether another part of the extension shows the end of the turn that ends in a folder. */
  presents(cwd: string, stopReason: string): boolean {
    return (this.#conversation?.presents(cwd) ?? false) || (stopReason === 'error' && this.prompting.has(cwd));
  }

  showError(error: unknown, about?: About): Promise<void> {
    return showProblem(this, error, about);
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
