import * as path from 'node:path';
import * as vscode from 'vscode';

import type { Host } from '../host';
import { fromPage, isObject, type JsonObject, type ReadingAction, type ToPage } from './messages';
import type { ReadSession, Spot } from './reader';
import { ReadingPage } from './readingPage';
import { loadPage } from './webview';

/** The type of the editor tabs that show a session. */
export const sessionTab = 'xcshLs.session';

/** The key of the sessions that tabs show: a page, which shows text that a model wrote, cannot name others. */
const openedKey = 'xcshLs.session.opened';
const maxOpened = 100;

/** A session that a tab showed, and the first title of the tab. */
interface Opened {
  readonly file: string;
  readonly title: string;
}

/** The parts of the chat that tabs need. */
export interface TabActions {
  act(session: ReadSession, action: ReadingAction): unknown;
  /** Describes the session in a file, for a tab that the window restores. */
  describe(path: string): Promise<ReadSession>;
}

/** Shows sessions in editor tabs, for reading. A session has at most one tab. */
export class SessionTabs implements vscode.Disposable, vscode.WebviewPanelSerializer {
  readonly #tabs = new Map<string, Tab>();
  readonly #subscription: vscode.Disposable;
  #focused: Tab | undefined;

  constructor(
    private readonly host: Host,
    private readonly actions: TabActions,
  ) {
    this.#subscription = vscode.window.registerWebviewPanelSerializer(sessionTab, this);
  }

  /** Opens a session, or shows its tab. */
  open(session: ReadSession, spot?: Spot): void {
    const { path: file } = session.info;
    const known = this.#tabs.get(file);
    if (known) {
      known.panel.reveal();
      if (spot) {
        known.page.reveal(spot);
      }
      return;
    }
    const title = titleOf(session.info.name, file);
    this.#remember({ file, title });
    const panel = vscode.window.createWebviewPanel(sessionTab, title, vscode.ViewColumn.Active);
    this.#show(panel, session, spot);
  }

  async deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const kept = isObject(state) && typeof state['cwd'] === 'string' ? state['cwd'] : '';
    const left = this.#opened().filter((tab) => !this.#tabs.has(tab.file));
    // In a browser, the state of a page can be lost in a reload. The title is that of the tab.
    const { file } =
      left.find((tab) => `session:${tab.file}` === kept) ?? left.findLast(({ title }) => title === panel.title) ?? {};
    if (file === undefined) {
      panel.dispose();
      return;
    }
    this.#show(panel, await this.actions.describe(file));
  }

  /** Handles that a program that has a session ended. */
  released(file: string): void {
    this.#tabs.get(file)?.page.released(file);
  }

  /** Opens the search in the tab that has the focus, or else in the active one. */
  find(): void {
    (this.#focused ?? [...this.#tabs.values()].find(({ panel }) => panel.active))?.find();
  }

  #show(panel: vscode.WebviewPanel, session: ReadSession, spot?: Spot): void {
    const { path: file } = session.info;
    const tab = new Tab(this.host, panel, session, this.actions, (on) => this.#focus(tab, on));
    if (spot) {
      tab.page.reveal(spot);
    }
    this.#tabs.set(file, tab);
    panel.onDidDispose(() => {
      this.#tabs.delete(file);
      this.#focus(tab, false);
      tab.dispose();
    });
  }

  #focus(tab: Tab, on: boolean): void {
    if (!on && this.#focused !== tab) {
      return;
    }
    this.#focused = on ? tab : undefined;
    void vscode.commands.executeCommand('setContext', 'xcshLs.tabFocus', on);
  }

  #opened(): readonly Opened[] {
    return this.host.context.workspaceState.get<Opened[]>(openedKey) ?? [];
  }

  #remember(tab: Opened): void {
    const opened = [...this.#opened().filter(({ file }) => file !== tab.file), tab].slice(-maxOpened);
    void this.host.context.workspaceState.update(openedKey, opened);
  }

  dispose(): void {
    this.#subscription.dispose();
    for (const { panel } of [...this.#tabs.values()]) {
      panel.dispose();
    }
  }
}

/** A title that fits a tab. */
function titleOf(name: string, file: string): string {
  return name || path.basename(file);
}

class Tab implements vscode.Disposable {
  readonly page: ReadingPage;
  readonly #subscription: vscode.Disposable;
  #ready = false;
  #toFind = false;
  #kept: JsonObject | null = null;

  constructor(
    private readonly host: Host,
    readonly panel: vscode.WebviewPanel,
    session: ReadSession,
    actions: TabActions,
    private readonly focused: (on: boolean) => void,
  ) {
    this.page = new ReadingPage(host, session, {
      place: 'tab',
      post: (m) => this.#post(m),
      act: (of, action) => actions.act(of, action),
    });
    const icon = (theme: string) => vscode.Uri.joinPath(host.context.extensionUri, 'media', `session-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    this.#subscription = vscode.Disposable.from(
      panel.webview.onDidReceiveMessage((m: unknown) => void this.#receive(m)),
      panel.onDidChangeViewState(() => {
        if (!panel.visible) {
          this.#ready = false; // a hidden page is unloaded; it reports when it is ready again
          this.focused(false);
        }
      }),
    );
    loadPage(panel.webview, host.context.extensionUri);
  }

  find(): void {
    this.#toFind = true;
    this.#deliver();
  }

  #deliver(): void {
    if (this.#ready && this.#toFind) {
      this.#toFind = false;
      this.#post({ kind: 'find' });
    }
  }

  #post(m: ToPage): void {
    if (this.#ready) {
      void this.panel.webview.postMessage(m);
    }
  }

  async #receive(raw: unknown): Promise<void> {
    const m = fromPage(raw);
    if (!m) {
      this.host.output.warn('the page of a session sent a message that is none');
      return;
    }
    try {
      switch (m.kind) {
        case 'ready':
          this.#ready = true;
          this.page.begin(this.#kept);
          return this.#deliver();
        case 'focused':
          return this.focused(m.on);
        case 'title':
          this.panel.title = m.text || this.panel.title;
          return;
        case 'keep':
          this.#kept = m.kept;
          break;
        default:
      }
      await this.page.handle(m);
    } catch (error) {
      await this.host.showError(error);
    }
  }

  dispose(): void {
    this.#subscription.dispose();
    this.page.dispose();
  }
}
