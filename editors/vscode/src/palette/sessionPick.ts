import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { SessionInfo } from '../wire.gen';
import type { Window } from '../window';
import { isElsewhere } from './elsewhere';
import { partition, sessionDescription, sessionDetail, sessionIcon } from './items';
import { words } from './words';

/** How long the person may pause in typing before a search begins, in milliseconds. */
const typingPauseMs = 150;

/** How many sessions a list shows at most; typing narrows it. */
const maxShown = 200;

interface SessionItem extends vscode.QuickPickItem {
  readonly info?: SessionInfo;
}

export interface SessionQuestion {
  readonly cwd: string;
  readonly title: string;
  readonly placeholder: string;
  /** Begin with the sessions of every folder. */
  readonly all?: boolean;
  /** What to choose from instead of all sessions. */
  readonly candidates?: readonly SessionInfo[];
}

type Action = 'preview' | 'fork' | 'export' | 'delete';

type ActionButton = vscode.QuickInputButton & { readonly action: Action };

/** Commands of the buttons; they work on the session while the list stays. */
const actionCommands: Record<Action, string> = {
  preview: 'xcshLs.sessions.transcript',
  fork: 'xcshLs.sessions.fork',
  export: 'xcshLs.sessions.export',
  delete: 'xcshLs.sessions.delete',
};

/** Lets the person choose a session; what is typed is searched for by the server. */
export function pickSession(window: Window, question: SessionQuestion): Promise<SessionInfo | undefined> {
  return new SessionPick(window, question).show();
}

class SessionPick {
  readonly #pick = vscode.window.createQuickPick<SessionItem>();
  readonly #buttons: readonly ActionButton[];
  #all: boolean;
  #search: vscode.CancellationTokenSource | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly window: Window,
    private readonly question: SessionQuestion,
  ) {
    this.#all = question.all ?? false;
    const button = (action: Action, icon: string, tooltip: string) => ({
      action,
      iconPath: new vscode.ThemeIcon(icon),
      tooltip,
    });
    const look = [
      button('preview', 'open-preview', vscode.l10n.t('Open Transcript')),
      button('export', 'export', vscode.l10n.t('Export…')),
    ];
    const change = [
      button('fork', 'repo-forked', vscode.l10n.t('Fork')),
      button('delete', 'trash', vscode.l10n.t('Delete')),
    ];
    this.#buttons = vscode.workspace.isTrusted ? [...look, ...change] : look;
  }

  show(): Promise<SessionInfo | undefined> {
    const pick = this.#pick;
    pick.title = this.question.title;
    pick.placeholder = this.question.placeholder;
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    // The server ranks what it found; the list would sort it by the place of the match.
    (pick as { sortByLabel?: boolean }).sortByLabel = false;
    this.#showButtons();
    const subscriptions: vscode.Disposable[] = [pick];
    return new Promise<SessionInfo | undefined>((resolve) => {
      subscriptions.push(
        pick.onDidChangeValue(() => this.#typed()),
        pick.onDidTriggerButton(() => this.#toggleScope()),
        pick.onDidTriggerItemButton(({ button, item }) => void this.#act(button as ActionButton, item)),
        pick.onDidAccept(() => {
          const info = pick.selectedItems[0]?.info;
          if (info) {
            resolve(info);
            pick.hide();
          }
        }),
        pick.onDidHide(() => resolve(undefined)),
        // What another program writes meanwhile belongs into the list, too.
        this.window.onNotification('xcsh/sessionsChanged', () => void this.#load()),
      );
      pick.show();
      void this.#load();
    }).finally(() => {
      clearTimeout(this.#pause);
      this.#search?.cancel();
      vscode.Disposable.from(...subscriptions).dispose();
    });
  }

  #showButtons(): void {
    if (!this.question.candidates) {
      this.#pick.buttons = [
        this.#all
          ? { iconPath: new vscode.ThemeIcon('folder'), tooltip: vscode.l10n.t('Only Sessions of This Folder') }
          : { iconPath: new vscode.ThemeIcon('globe'), tooltip: vscode.l10n.t('Sessions of All Folders') },
      ];
    }
  }

  #toggleScope(): void {
    this.#all = !this.#all;
    this.#showButtons();
    void this.#load();
  }

  #typed(): void {
    clearTimeout(this.#pause);
    if (!this.question.candidates) {
      this.#pick.busy = true;
      this.#pause = setTimeout(() => void this.#load(), typingPauseMs);
    }
  }

  async #load(): Promise<void> {
    if (this.question.candidates) {
      this.#pick.items = this.#items(this.question.candidates, false);
      return;
    }
    this.#search?.cancel();
    const search = (this.#search = new vscode.CancellationTokenSource());
    const query = this.#pick.value.trim();
    this.#pick.busy = true;
    try {
      const { sessions } = await this.window.request(
        'xcsh.list',
        { cwd: this.question.cwd, scope: this.#all ? 'all' : 'folder', query, limit: maxShown },
        search.token,
      );
      if (!search.token.isCancellationRequested) {
        this.#pick.items = this.#items(sessions ?? [], query !== '');
        this.#pick.busy = false;
      }
    } catch (error) {
      // A newer search has taken the place of this one.
      if (!search.token.isCancellationRequested) {
        this.#pick.busy = false;
        this.#pick.hide();
        await this.window.showError(error);
      }
    } finally {
      search.dispose();
    }
  }

  #items(infos: readonly SessionInfo[], searched: boolean): SessionItem[] {
    const { here, elsewhere } = partition(infos, this.question.cwd);
    const items: SessionItem[] = [];
    if (here.length > 0) {
      items.push(separator(vscode.l10n.t('This folder')), ...here.map((info) => this.#item(info, searched)));
    }
    if (elsewhere.length > 0) {
      items.push(separator(vscode.l10n.t('Other folders')), ...elsewhere.map((info) => this.#item(info, searched)));
    }
    if (items.length === 0) {
      items.push({
        label: searched ? vscode.l10n.t('Nothing was found') : vscode.l10n.t('No sessions found'),
        detail: this.#all ? '' : vscode.l10n.t('The globe above looks in all folders.'),
        alwaysShow: true,
      });
    }
    return items;
  }

  #item(info: SessionInfo, searched: boolean): SessionItem {
    const details = [sessionDetail(info)];
    if (isElsewhere(info, this.question.cwd)) {
      details.push(shortPath(info.cwd, os.homedir()));
    }
    return {
      label: `$(${sessionIcon(info)}) ${info.name}`,
      description: sessionDescription(info, words),
      detail: details.filter((text) => text !== undefined).join(' — ') || undefined,
      // It was found by what was said in it, which the list does not show.
      alwaysShow: searched,
      buttons: [...this.#buttons],
      info,
    };
  }

  async #act(button: ActionButton, item: SessionItem): Promise<void> {
    if (!item.info) {
      return;
    }
    if (button.action !== 'delete') {
      this.#pick.hide();
    }
    await vscode.commands.executeCommand(actionCommands[button.action], { info: item.info, cwd: this.question.cwd });
  }
}

function separator(label: string): SessionItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
