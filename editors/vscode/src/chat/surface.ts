import * as vscode from 'vscode';

/** Where the page of the live conversation is shown: in its view, or in an editor tab. */
export interface Surface {
  readonly place: 'view' | 'tab';
  readonly webview: vscode.Webview;
  readonly visible: boolean;
  onDidChangeVisibility(listener: () => void): vscode.Disposable;
  onDidDispose(listener: () => void): vscode.Disposable;
  /** Shows it and gives it the focus. */
  focus(): Thenable<unknown>;
  /** Shows the name of the conversation. */
  title(text: string): void;
  badge(badge: vscode.ViewBadge | undefined): void;
}

/** The view of the conversation. */
export function viewSurface(view: vscode.WebviewView): Surface {
  return {
    place: 'view',
    webview: view.webview,
    get visible() {
      return view.visible;
    },
    onDidChangeVisibility: (listener) => view.onDidChangeVisibility(listener),
    onDidDispose: (listener) => view.onDidDispose(listener),
    focus: () => vscode.commands.executeCommand(`${view.viewType}.focus`),
    title: (text) => {
      view.description = text;
    },
    badge: (badge) => {
      view.badge = badge;
    },
  };
}

/** An editor tab with the conversation. A tab has no badge; notifications and the list of sessions show requests. */
export function tabSurface(panel: vscode.WebviewPanel, name: string): Surface {
  return {
    place: 'tab',
    webview: panel.webview,
    get visible() {
      return panel.visible;
    },
    onDidChangeVisibility: (listener) => panel.onDidChangeViewState(listener),
    onDidDispose: (listener) => panel.onDidDispose(listener),
    focus: () => {
      panel.reveal();
      return Promise.resolve();
    },
    title: (text) => {
      panel.title = text || name;
    },
    badge: () => undefined,
  };
}
