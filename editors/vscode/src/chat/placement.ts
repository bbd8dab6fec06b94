import * as vscode from 'vscode';

import { tabSurface, type Surface } from './surface';

const t = vscode.l10n.t;

/** The type of the editor tab that shows the live conversation. */
const conversationTab = 'xcshLs.conversation';

/** The containers of the view, as VS Code calls them. The second one exists from VS Code 1.106 on. */
const container = 'workbench.view.extension.xcshLs';
const secondaryContainer = 'workbench.view.extension.xcshLsSecondary';
const sinceSecondary = [1, 106] as const;

/** The panel, as far as it can be shown elsewhere. */
export interface MovablePanel {
  showIn(surface: Surface): void;
}

/**
 * Moves the live conversation between its view, an editor tab, and the secondary side bar. It is shown in one place at a
 * time; while it has a tab, its view is hidden.
 */
export class Placement implements vscode.Disposable, vscode.WebviewPanelSerializer {
  readonly #subscriptions: vscode.Disposable;
  #tab: vscode.WebviewPanel | undefined;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly view: string,
    private readonly panel: MovablePanel,
  ) {
    const register = (name: string, run: () => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`xcshLs.chat.${name}`, run);
    this.#subscriptions = vscode.Disposable.from(
      vscode.window.registerWebviewPanelSerializer(conversationTab, this),
      register('moveToEditor', () => this.#toEditor()),
      register('moveToSideBar', () => this.#toView(container)),
      register('moveToSecondarySideBar', () => this.#toSecondary()),
    );
  }

  deserializeWebviewPanel(tab: vscode.WebviewPanel): Promise<void> {
    if (this.#tab) {
      tab.dispose(); // the conversation has one place
    } else {
      this.#showIn(tab);
    }
    return Promise.resolve();
  }

  #toEditor(): void {
    if (this.#tab) {
      this.#tab.reveal();
      return;
    }
    this.#showIn(vscode.window.createWebviewPanel(conversationTab, t('Conversation'), vscode.ViewColumn.Active));
  }

  #showIn(tab: vscode.WebviewPanel): void {
    this.#tab = tab;
    const icon = (theme: string) => vscode.Uri.joinPath(this.extensionUri, 'media', `session-${theme}.svg`);
    tab.iconPath = { light: icon('light'), dark: icon('dark') };
    tab.onDidDispose(() => {
      this.#tab = undefined;
      void hideView(false);
    });
    this.panel.showIn(tabSurface(tab, tab.title));
    void hideView(true);
  }

  /** Closes the tab, and shows the view in a container, which opens. A view that was hidden has no command yet. */
  async #toView(destinationId: string): Promise<void> {
    this.#tab?.dispose();
    await hideView(false);
    await vscode.commands.executeCommand('vscode.moveViews', { viewIds: [this.view], destinationId });
  }

  async #toSecondary(): Promise<void> {
    if (hasSecondary(vscode.version)) {
      return this.#toView(secondaryContainer);
    }
    // VS Code asks where to; the secondary side bar is one of its answers.
    await this.#toView(container);
    await vscode.commands.executeCommand(`${this.view}.focus`);
    await vscode.commands.executeCommand('workbench.action.moveFocusedView');
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#tab?.dispose();
  }
}

/** The view must not show the conversation while a tab does. */
const hideView = (hidden: boolean): Thenable<unknown> =>
  vscode.commands.executeCommand('setContext', 'xcshLs.chatInEditor', hidden);

/** Reports whether a version of VS Code has containers of extensions in the secondary side bar. */
export function hasSecondary(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > sinceSecondary[0] || (major === sinceSecondary[0] && minor >= sinceSecondary[1]);
}
