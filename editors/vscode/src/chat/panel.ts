import * as vscode from 'vscode';

import { commands } from '../commands.gen';
import type { Host, LocalFolder } from '../host';
import { toServerError } from '../server/errors';
import { rewind } from '../changes/rewinding';
import { openFileChange, openPlan, openPlanned, reviewFiles } from '../changes/opening';
import type { ServerStatus } from '../server/status';
import type { ApproveParams, CommandMap, CommandName } from '../wire.gen';
import type { Approvals } from './approvals';
import { ownApprovals, withoutElsewhere } from './elsewhere';
import { Calls } from './calls';
import { EngineTexts } from './engineTexts';
import { contextKinds } from '../context/answer';
import { ReferenceFinder } from '../context/finder';
import { droppedOf, keepDropped } from './dropped';
import { attachmentOf, editorFile, pickFiles } from './files';
import type { Questions } from './questions';
import {
  actionArgs,
  allowedCommands,
  fromPage,
  type Attachment,
  type Decision,
  type FromPage,
  type Init,
  type JsonObject,
  type ReadingAction,
  type ServerState,
  type ToPage,
  type WindowCommand,
} from './messages';
import type { ReadSession, Spot } from './reader';
import { ReadingPage } from './readingPage';
import { RecentSessions } from './recent';
import { Restorer } from './restore';
import { viewSurface, type Surface } from './surface';
import { loadPage, mentioned, openedOf } from './webview';

export const chatView = 'xcshLs.chat';

/** The key of the saved draft. VS Code also saves it in the page's own state, but in a browser not across a reload. */
const keptKey = 'xcshLs.chat.kept';
const keepAfterMs = 300;

/** The window commands that the page can start, with the folder as their argument. */
const windowCommandNames: Record<WindowCommand, string> = {
  new: 'xcsh.new',
  resume: 'xcsh.resume',
  fork: 'xcsh.fork',
  export: 'xcsh.export',
  model: 'xcsh.setModel',
  thinking: 'xcsh.setThinking',
  approval: 'xcsh.setApproval',
  mode: 'xcsh.setMode',
  engine: 'xcsh.setEngine',
  login: 'xcsh.login',
  addKey: 'xcsh.setKey',
  compact: 'xcshLs.chat.compact',
  history: 'xcshLs.chat.history',
  notifications: 'notifications.showList',
  restart: 'xcshLs.server.restart',
  log: 'xcshLs.output.show',
};

/** Changes of a live session that the user did not ask for. */
const unasked: ReadonlySet<string> = new Set(['start', 'reload', 'shutdown']);

/** Commands whose list takes the focus from the panel, which gets it back. */
const listing: ReadonlySet<WindowCommand> = new Set(['model', 'thinking', 'approval', 'mode', 'history']);

/** Commands that do not concern a folder. */
const ofWindow: ReadonlySet<WindowCommand> = new Set(['notifications', 'restart', 'log']);

function serverState(status: ServerStatus): { state: ServerState; message?: string } {
  switch (status.kind) {
    case 'running':
      return { state: 'running' };
    case 'starting':
      return { state: 'starting' };
    case 'stopped':
      return { state: 'stopped' };
    default:
      return { state: 'stopped', message: status.message };
  }
}

/** Returns the tooltip of the badge. */
function badgeText(approvals: number, questions: number): string {
  const parts = [
    approvals === 1
      ? vscode.l10n.t('1 action needs your approval')
      : approvals > 1 && vscode.l10n.t('{0} actions need your approval', approvals),
    questions === 1
      ? vscode.l10n.t('1 question waits for your answer')
      : questions > 1 && vscode.l10n.t('{0} questions wait for your answer', questions),
  ];
  return parts.filter((part) => part !== false).join(', ');
}

/**
 * The extension's side of the chat panel. The page is a thin client of the server: it receives all
 * data about its folder, and can run the commands of a list. It can disappear and come back at any
 * time.
 */
export class ChatPanel implements vscode.WebviewViewProvider, vscode.Disposable {
  #at: Surface | undefined;
  #ready = false;
  #folder: LocalFolder | undefined;
  #kept: JsonObject | undefined;
  #keeping: NodeJS.Timeout | undefined;
  #toAttach: Attachment[] = [];
  #toCompose: { text: string; send: boolean } | undefined;
  #toFind = false;
  #toRewind: string | undefined;
  #toShow: Spot | undefined;
  #preview: ReadingPage | undefined; // shown instead of the folder's live session
  readonly #calls: Calls<vscode.CancellationToken>;
  readonly #engineTexts = new EngineTexts();
  readonly #badges = { approvals: 0, questions: 0 };
  readonly #recent = new RecentSessions();
  readonly #restorer: Restorer;
  readonly #finder = new ReferenceFinder();
  readonly #shown = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidShow = this.#shown.event;

  constructor(
    private readonly host: Host,
    private readonly context: vscode.ExtensionContext,
    private readonly approvals: () => Approvals,
    private readonly questions: () => Questions,
    private readonly openDiff: (params: ApproveParams) => Promise<void>,
    private readonly act: (session: ReadSession, action: ReadingAction) => unknown,
  ) {
    this.#folder = host.liveFolder;
    this.#calls = new Calls({
      cwd: () => this.#folder?.cwd,
      run: (command, args, token) => this.#run(command, args, token),
      stop: () => new vscode.CancellationTokenSource(),
      post: (m) => this.#postLive(m),
      failure: (error) => {
        const { message, kind, data } = toServerError(error);
        return { message, kind, data: { ...data } };
      },
    });
    this.#restorer = new Restorer(
      context.workspaceState,
      (command, args) => host.request(command, args),
      (text) => host.output.info(text),
    );
    this.#subscriptions = [
      this.#shown,
      vscode.window.registerWebviewViewProvider(chatView, this),
      host.onNotification('xcsh/event', (params) => {
        this.#engineTexts.follow(params.cwd, params.sessionId, params.event);
        this.#forward('event', withoutElsewhere(this.approvals(), params));
      }),
      host.onNotification('xcsh/sessionChanged', (params) => {
        if (params.cwd === this.#folder?.cwd && !unasked.has(params.reason)) {
          this.leavePreview(); // the user continues another session
        }
        this.#forward('session', params);
      }),
      host.onNotification('xcsh/sessionState', ({ cwd, sessionId }) => this.#forward('read', { cwd, sessionId })),
      host.onNotification('xcsh/modelsChanged', () => this.#post({ kind: 'models' })),
      host.onDidChangeStatus((status) => this.#statusChanged(status)),
      host.onDidChangeFolders(() => this.#foldersChanged()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#begin()),
      vscode.window.onDidChangeActiveTextEditor(() => this.#showEditor()),
      vscode.window.onDidChangeTextEditorSelection(() => this.#showEditor()),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    // When a window is reloaded, the view can appear for a moment before it is hidden because the conversation has a tab.
    if (this.#at?.place !== 'tab') {
      this.showIn(viewSurface(view));
    }
  }

  /** Shows the conversation at another place. The page that was the last one is not heard any more. */
  showIn(surface: Surface): void {
    const { webview } = surface;
    if (this.#at) {
      this.#pageGone();
    }
    this.#at = surface;
    this.#showBadge();
    this.#ready = false;
    const gone = [
      webview.onDidReceiveMessage((m: unknown) => this.#at === surface && void this.#receive(m)),
      surface.onDidChangeVisibility(() => {
        // A hidden page is unloaded; it reports when it is ready again.
        if (!surface.visible && this.#at === surface) {
          this.#pageGone();
          this.#hidden();
        }
      }),
    ];
    surface.onDidDispose(() => {
      vscode.Disposable.from(...gone).dispose();
      if (this.#at === surface) {
        this.#at = undefined;
        this.#pageGone();
      }
    });
    loadPage(webview, this.context.extensionUri);
  }

  /** The editor reports late that the page is hidden: what came meanwhile was only shown there. */
  #hidden(): void {
    if (this.#folder) {
      this.approvals().hidden(this.#folder.cwd);
      this.questions().hidden(this.#folder.cwd);
    }
  }

  #focusPage(): Thenable<unknown> {
    return this.#at?.focus() ?? vscode.commands.executeCommand(`${chatView}.focus`);
  }

  /** Reports whether the page is visible and shows the live session of the folder. */
  shows(cwd: string): boolean {
    return this.#preview === undefined && this.#ready && this.#at?.visible === true && this.#folder?.cwd === cwd;
  }

  /** Reports whether a turn of the folder is for a change in the editor, which shows its result. */
  readonly presents = (cwd: string): boolean => this.approvals().reviews(cwd);

  /** Shows a question in the page; false if the page cannot show it. */
  ask(params: ApproveParams): boolean {
    if (!this.shows(params.cwd)) {
      return false;
    }
    this.#post({ kind: 'approve', request: params });
    return true;
  }

  /** Shows the number of pending approvals and questions as a badge on the view. */
  badge(of: 'approvals' | 'questions', count: number): void {
    this.#badges[of] = count;
    this.#showBadge();
  }

  #showBadge(): void {
    const { approvals, questions } = this.#badges;
    const value = approvals + questions;
    this.#at?.badge(value > 0 ? { value, tooltip: badgeText(approvals, questions) } : undefined);
  }

  /** Shows the panel and gives it the focus, for a folder if one is given. */
  async focus(cwd?: string): Promise<void> {
    if (cwd !== undefined) {
      this.#use(cwd);
    }
    await this.#focusPage();
    this.#post({ kind: 'focus' });
  }

  /** Opens the search in the conversation, as soon as the page is ready. */
  async find(): Promise<void> {
    this.#toFind = true;
    await this.#focusPage();
    this.#deliver();
  }

  /** Shows a session without resuming it, instead of the folder's live one. */
  async preview(session: ReadSession, spot?: Spot, focus = true): Promise<void> {
    this.#preview?.dispose();
    this.#preview = new ReadingPage(this.host, session, {
      place: 'panel',
      post: (m) => this.#post(m),
      act: (of, action) => this.act(of, action),
    });
    this.#begin();
    if (spot) {
      this.#preview.reveal(spot);
    }
    if (focus) {
      await this.#focusPage();
    }
  }

  /** Handles that a program that has a session ended. */
  released(file: string): void {
    this.#preview?.released(file);
  }

  /** Shows the folder's live session again. */
  leavePreview(): void {
    if (this.#preview) {
      this.#preview.dispose();
      this.#preview = undefined;
      this.#begin();
    }
  }

  /** Shows the live session of a folder, and a message of it. */
  async show(cwd: string, spot?: Spot): Promise<void> {
    this.leavePreview();
    this.#toShow = spot;
    await this.focus(cwd);
    this.#deliver();
  }

  /** Shows the panel for a folder; false if the folder is not in this window. */
  async reveal(cwd: string): Promise<boolean> {
    const known = this.host.folders.some((f) => f.cwd === cwd);
    if (known) {
      this.leavePreview();
      await this.focus(cwd);
    }
    return known;
  }

  /** Attaches files to the prompt in the composer, as soon as the page is ready. */
  async attach(attachments: Attachment[], cwd?: string): Promise<void> {
    this.leavePreview();
    this.#toAttach.push(...attachments);
    await this.focus(cwd);
    this.#deliver();
  }

  /** Puts a text into the composer, and optionally sends it. */
  async compose(cwd: string, text: string, send = false): Promise<boolean> {
    if (!this.host.folders.some((f) => f.cwd === cwd)) {
      return false;
    }
    this.leavePreview();
    this.#toCompose = { text, send };
    await this.focus(cwd);
    this.#deliver();
    return true;
  }

  /** Shows the plan of a rewind to an entry, for confirmation. Returns false if the folder is not open in this window. */
  async rewind(cwd: string, entryId: string): Promise<boolean> {
    if (!this.host.folders.some((f) => f.cwd === cwd)) {
      return false;
    }
    this.leavePreview();
    this.#toRewind = entryId;
    await this.focus(cwd);
    this.#deliver();
    return true;
  }

  #deliver(): void {
    if (!this.#ready) {
      return;
    }
    if (this.#toFind) {
      this.#post({ kind: 'find' });
      this.#toFind = false;
    }
    if (this.#preview) {
      return; // the rest is for the live session
    }
    if (this.#toRewind !== undefined) {
      this.#post({ kind: 'rewind', entryId: this.#toRewind });
      this.#toRewind = undefined;
    }
    if (this.#toShow) {
      this.#post({ kind: 'reveal', entryId: this.#toShow.entryId, words: [...this.#toShow.words] });
      this.#toShow = undefined;
    }
    if (this.#toAttach.length > 0) {
      this.#post({ kind: 'attach', attachments: this.#toAttach.splice(0) });
    }
    if (this.#toCompose) {
      this.#post({ kind: 'compose', ...this.#toCompose });
      this.#toCompose = undefined;
    }
  }

  /** Sends a message about the folder's live session, unless the page shows another one. */
  #postLive(m: ToPage): void {
    if (!this.#preview) {
      this.#post(m);
    }
  }

  #post(m: ToPage): void {
    if (this.#ready) {
      void this.#at?.webview.postMessage(m);
    }
  }

  /** Sets the context key for the focus of the page. VS Code has none for webview views. */
  #focused(on: boolean): void {
    void vscode.commands.executeCommand('setContext', 'xcshLs.chatFocus', on);
  }

  #pageGone(): void {
    this.#focused(false);
    if (this.#kept) {
      this.#keepNow();
    }
    this.#ready = false;
    this.#calls.forget();
    this.#preview?.hidden();
  }

  async #receive(raw: unknown): Promise<void> {
    const m = fromPage(raw);
    if (!m) {
      this.host.output.warn('the chat page sent a message that is none');
      return;
    }
    try {
      await this.#handle(m);
    } catch (error) {
      await this.host.showError(error);
    }
  }

  /** Answers a request. The reason of a denial goes to the model; a rejected plan asks for one. */
  async #decide(cwd: string, id: string, decision: Decision, given: string | undefined): Promise<void> {
    const { approvals, host } = this;
    const isPlan = approvals()
      .of(cwd)
      .some((p) => p.id === id && p.tool === 'exit_plan_mode');
    let reason = given?.trim() ?? '';
    if (isPlan && decision === 'deny' && given === undefined) {
      const answer = await vscode.window.showInputBox({
        prompt: vscode.l10n.t('What should change in the plan? The model gets your answer.'),
        ignoreFocusOut: true,
      });
      if (answer === undefined) return;
      reason = answer.trim();
    }
    if (!approvals().decide(cwd, id, decision, reason)) {
      await host.request('xcsh.approve', { cwd, id, decision, ...(reason ? { reason } : {}) });
    }
  }

  /** Answers a request of the page with what a function finds in the folder. */
  async #find<T>(id: number, find: (folder: LocalFolder) => Promise<T[]>): Promise<void> {
    this.#post({ kind: 'answer', id, result: this.#folder ? await find(this.#folder) : [] });
  }

  /** Attaches files that were dropped, and refers to folders. */
  async #dropped(uris: readonly string[]): Promise<void> {
    const { attachments, references } = await droppedOf(uris, this.#folder);
    this.#post({ kind: 'attach', attachments });
    this.#post({ kind: 'refer', references });
  }

  async #droppedFile(name: string, data: string): Promise<void> {
    const uri = await keepDropped(this.context.globalStorageUri.fsPath, name, data);
    this.#post({ kind: 'attach', attachments: [attachmentOf(uri, this.#folder)] });
  }

  async #handle(m: FromPage): Promise<void> {
    const cwd = this.#folder?.cwd ?? '';
    if (this.#preview && (await this.#preview.handle(m))) {
      return;
    }
    switch (m.kind) {
      case 'ready':
        this.#ready = true;
        this.#calls.forget();
        return this.#begin();
      case 'call':
        return this.#calls.call(m.id, m.command, m.args);
      case 'cancel':
        return this.#calls.cancel(m.id);
      case 'decide':
        return this.#decide(cwd, m.prompt, m.decision, m.reason);
      case 'window':
        return this.#window(m.command, cwd);
      case 'act':
        await vscode.commands.executeCommand(m.command, { ...actionArgs(m.command, m.args), cwd });
        return;
      case 'fork':
        await vscode.commands.executeCommand('xcsh.fork', { cwd, entryId: m.entryId, position: m.position });
        return;
      case 'resume':
        if (this.#recent.has(m.path)) {
          await vscode.commands.executeCommand('xcsh.resume', { cwd, target: m.path });
        }
        return;
      case 'findReferences':
        return this.#find(m.id, (folder) => this.#finder.find(folder, m.query));
      case 'knownPaths':
        return this.#find(m.id, (folder) => this.#finder.known(folder, m.names));
      case 'dropped':
        return this.#dropped(m.uris);
      case 'droppedFile':
        return this.#droppedFile(m.name, m.data);
      case 'pickFiles':
        return this.#post({ kind: 'attach', attachments: await pickFiles(this.#folder) });
      case 'attachSelection': {
        const file = editorFile(vscode.window.activeTextEditor, this.#folder);
        return file && this.#post({ kind: 'attach', attachments: [file] });
      }
      case 'selectFolder':
        return this.#use(m.cwd);
      case 'openDiff': {
        const pending = m.prompt === undefined ? undefined : this.approvals().find(cwd, m.prompt);
        return pending ? this.openDiff(pending) : openedOf(m, cwd);
      }
      case 'review':
        return this.#review(cwd, m);
      case 'openPlanned':
        return m.planned.length === 1 && m.planned[0] ? openPlanned(cwd, m.planned[0]) : openPlan(cwd, m.planned);
      case 'openFile':
      case 'openLink':
      case 'copy':
      case 'insertCode':
      case 'applyCode':
        return openedOf(m, cwd);
      case 'findMentioned':
        return this.#post({ kind: 'answer', id: m.id, result: await mentioned(cwd, m.paths) });
      case 'reading':
        return; // the session that was only read is gone
      case 'keep':
        return this.#preview ? undefined : this.#keep(m.kept); // a draft is not lost by reading
      case 'focused':
        return this.#focused(m.on);
      case 'title':
        this.#at?.title(m.text);
        return;
    }
  }

  /** Shows the changes of the session, or those of a turn's records, of all files or of one. */
  async #review(cwd: string, { since, path, records }: Extract<FromPage, { kind: 'review' }>): Promise<void> {
    const only = path === undefined ? {} : { path, hunks: false };
    const { files } = await this.host.request('xcsh.changes', { cwd, since, ...only });
    const chosen = (files ?? []).filter((f) => !records || f.records?.some((r) => records.includes(r)));
    const file = path === undefined ? undefined : chosen.find((f) => f.path === path);
    if (file) {
      return openFileChange(cwd, file, records);
    }
    return reviewFiles(cwd, chosen, vscode.l10n.t('Changes by xcsh'), records);
  }

  async #run(command: CommandName, args: JsonObject, token: vscode.CancellationToken): Promise<unknown> {
    if (command === 'xcsh.recent') {
      const result = await this.host.request(command, args as never, token);
      this.#recent.remember(result);
      return result;
    }
    if (command === 'xcsh.rewind') {
      return rewind(this.host, args as CommandMap['xcsh.rewind']['args'], token);
    }
    if (command !== 'xcsh.snapshot') {
      return this.host.request(command, args as never, token);
    }
    const cwd = String(args['cwd']);
    await this.#restorer.restore(cwd);
    const { last } = args;
    const newest = typeof last === 'number' ? { last } : {};
    const snapshot = await this.host.request('xcsh.snapshot', { cwd, ...newest }, token);
    await this.#restorer.remember(cwd, snapshot.state.file);
    this.questions().set(cwd, snapshot.questions ?? []);
    const pending = ownApprovals(this.approvals(), cwd, snapshot.approvals ?? []);
    return { ...snapshot, approvals: pending, engineTexts: this.#engineTexts.of(cwd, snapshot.state.sessionId) };
  }

  /** Sends the initial state to a new page, or to one that shows another folder. */
  #begin(): void {
    if (this.#preview) {
      this.#preview.begin(null);
      return this.#deliver();
    }
    const { state, message } = serverState(this.host.status);
    const starts = state === 'stopped' && this.host.status.kind === 'stopped';
    const init: Init = {
      kind: 'init',
      server: starts ? 'starting' : state,
      folders: this.host.folders.map(({ cwd, name }) => ({ cwd, name })),
      cwd: this.#folder?.cwd ?? null,
      commands: commands.map((c) => c.name).filter((name) => allowedCommands.includes(name)),
      contexts: [...contextKinds],
      trusted: vscode.workspace.isTrusted,
      texts: vscode.l10n.bundle ?? {},
      kept: this.#kept ?? this.context.workspaceState.get<JsonObject>(keptKey) ?? null,
      now: Date.now(),
    };
    this.#post(init);
    if (message !== undefined) {
      this.#post({ kind: 'server', state, message });
    }
    this.#showEditor();
    this.#deliver();
    this.#shown.fire();
    for (const params of this.approvals().of(init.cwd ?? '')) {
      this.#post({ kind: 'approve', request: params });
    }
    if (this.#ready && starts && this.#folder) {
      // A status change reports the outcome.
      void this.host
        .ready()
        .catch((error: unknown) => this.host.output.info(`the chat has no server: ${String(error)}`));
    }
  }

  /** Runs a command that prompts in the window. */
  async #window(command: WindowCommand, cwd: string): Promise<void> {
    const args = ofWindow.has(command) ? [] : [{ cwd }];
    await vscode.commands.executeCommand(windowCommandNames[command], ...args);
    if (listing.has(command)) {
      await this.focus();
    }
  }

  /** Saves the page's state once it stops changing. */
  #keep(kept: JsonObject): void {
    this.#kept = kept;
    clearTimeout(this.#keeping);
    this.#keeping = setTimeout(() => this.#keepNow(), keepAfterMs);
  }

  #keepNow(): void {
    clearTimeout(this.#keeping);
    void this.context.workspaceState.update(keptKey, this.#kept);
  }

  #forward(kind: 'event' | 'session' | 'read', params: { cwd: string; sessionId: string }): void {
    if (params.cwd === this.#folder?.cwd) {
      this.#postLive({ kind, params });
    }
  }

  #statusChanged(status: ServerStatus): void {
    if (status.kind !== 'running') {
      this.#restorer.restarted();
      this.#engineTexts.clear();
    }
    this.#postLive({ kind: 'server', ...serverState(status) });
  }

  #foldersChanged(): void {
    const known = this.host.folders.find((f) => f.cwd === this.#folder?.cwd);
    this.#folder = known ?? this.host.liveFolder;
    if (!this.#preview && (!known || this.host.folders.length > 1)) {
      this.#begin();
    }
  }

  /** Shows another folder. */
  #use(cwd: string): void {
    const folder = this.host.folders.find((f) => f.cwd === cwd);
    if (folder && folder.cwd !== this.#folder?.cwd) {
      this.#folder = folder;
      this.#begin();
    }
  }

  #showEditor(): void {
    const editor = vscode.window.activeTextEditor;
    if (editor && editor.document.uri.scheme !== 'file') {
      return; // an output or a diff is not a file that the user is working on
    }
    this.#postLive({ kind: 'editor', file: editorFile(editor, this.#folder) ?? null });
  }

  dispose(): void {
    clearTimeout(this.#keeping);
    this.#preview?.dispose();
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
