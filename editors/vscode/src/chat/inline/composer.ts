import * as vscode from 'vscode';

/** Opens the input in which the user describes a change, in the text below the lines. */
export class Composer {
  #lines: { readonly uri: string; readonly range: vscode.Range } | undefined;
  #asked: () => void = () => undefined;

  constructor(private readonly controller: vscode.CommentController) {}

  /**
   * Opens the input in an editor. The editor offers an input only where a provider allows comments, so that one
   * allows the lines for as long as they are the newest.
   */
  async open(editor: vscode.TextEditor, range: vscode.Range): Promise<void> {
    this.#lines = { uri: editor.document.uri.toString(), range };
    const asked = new Promise<void>((done) => (this.#asked = done));
    this.controller.commentingRangeProvider = { provideCommentingRanges: (document) => this.#rangesOf(document) };
    await asked;
    // The window handles messages in order: after an answer to a later one, it has the lines.
    await vscode.commands.executeCommand('setContext', 'xcshLs.inlineComposing', true);
    await vscode.commands.executeCommand('setContext', 'xcshLs.inlineComposing', false);
    await vscode.commands.executeCommand('workbench.action.addComment', {
      range: {
        startLineNumber: range.start.line + 1,
        startColumn: 1,
        endLineNumber: range.end.line + 1,
        endColumn: range.end.character + 1,
      },
    });
  }

  #rangesOf(document: vscode.TextDocument): vscode.Range[] {
    if (document.uri.toString() !== this.#lines?.uri) {
      return [];
    }
    queueMicrotask(this.#asked);
    return [this.#lines.range];
  }
}
