import * as vscode from 'vscode';

import { cut, type ContextAnswer, type ContextParams } from './answer';
import { editorPlace, ownPath, problemsIn, symbolPlace } from './places';
import { TerminalWatcher, terminalText } from './terminal';

/** Answers the server's questions about what a prompt refers to: only in the named folder, which must be in this window. */
export class EditorContext implements vscode.Disposable {
  readonly #terminals = new TerminalWatcher();
  readonly #subscription: vscode.Disposable;
  #used: vscode.TextEditor[]; // files, the last used first

  constructor(private readonly folders: () => readonly { readonly cwd: string }[]) {
    this.#used = vscode.window.activeTextEditor ? [vscode.window.activeTextEditor] : [];
    this.#subscription = vscode.window.onDidChangeActiveTextEditor((editor) => {
      if (editor?.document.uri.scheme === 'file') {
        this.#used = [editor, ...this.#used.filter((e) => e !== editor)].slice(0, 20);
      }
    });
  }

  /** Answers the request xcsh/context. It never fails: what cannot be read is nothing. */
  async answer({ cwd, kind, query }: ContextParams): Promise<ContextAnswer> {
    if (!vscode.workspace.isTrusted || !this.folders().some((folder) => folder.cwd === cwd)) {
      return null;
    }
    try {
      return await this.#find(cwd, kind, typeof query === 'string' ? query.slice(0, 1000) : '');
    } catch {
      return null;
    }
  }

  async #find(cwd: string, kind: string, query: string): Promise<ContextAnswer> {
    switch (kind) {
      case 'problems':
        return problemsIn(cwd);
      case 'buffer':
      case 'selection':
        return editorPlace(cwd, this.#editor(cwd), kind);
      case 'symbol':
        return symbolPlace(cwd, query);
      case 'terminal': {
        const text = await terminalText(this.#terminals, cwd);
        return text === undefined ? null : { text: cut(text, 'end'), label: vscode.l10n.t('Terminal') };
      }
      default:
        return null;
    }
  }

  /** The editor of a folder that the user used last, as long as it is visible, else its document as it was left. */
  #editor(cwd: string): vscode.TextEditor | undefined {
    const own = (editor: vscode.TextEditor): boolean =>
      !editor.document.isClosed && ownPath(cwd, editor.document.uri) !== undefined;
    const active = vscode.window.activeTextEditor;
    return active && own(active) ? active : this.#used.find(own);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#terminals.dispose();
  }
}
