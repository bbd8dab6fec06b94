import * as vscode from 'vscode';

import type { Host } from '../../host';
import { Applied, replaced, type Replacement } from '../applied';
import { diffOf } from './hunks';
import type { Made } from './request';

/** Tracks the server's edits in one document. */
export class DocumentEdits implements vscode.Disposable {
  readonly applied: Applied;
  #skip = 0;
  readonly #subscription: vscode.Disposable;

  /** changed: called after each change of the document. */
  constructor(host: Host, document: vscode.TextDocument, changed: () => void) {
    this.applied = new Applied(document.getText());
    const uri = document.uri.toString();
    this.#subscription = vscode.Disposable.from(
      host.watchEdits((texts) => {
        const found = [...texts].find(([other]) => vscode.Uri.parse(other).toString() === uri)?.[1];
        if (!found || this.#skip-- > 0) {
          this.#skip = Math.max(this.#skip, 0);
          return () => undefined;
        }
        this.#skip = 0;
        return this.applied.expect(found);
      }),
      vscode.workspace.onDidChangeTextDocument((e) => {
        if (e.document.uri.toString() === uri && e.contentChanges.length > 0) {
          this.applied.changed(
            e.contentChanges.map((c) => ({ offset: c.rangeOffset, length: c.rangeLength, text: c.text })),
          );
          changed();
        }
      }),
    );
  }

  /** Excludes the next edit, which the user has already approved. */
  skip(): void {
    this.#skip++;
  }

  /** A tool call has ended: an approved edit that was not made is not waited for. */
  callEnded(): void {
    this.#skip = 0;
  }

  /** The changes that were made without approval, at their current positions. */
  get made(): Made[] {
    const { text } = this.applied;
    return this.applied.hunks.map((hunk) => {
      const now = text.slice(hunk.start, hunk.start + hunk.length);
      return {
        hunk,
        line: text.slice(0, hunk.start).split('\n').length - 1,
        lines: now === '' ? 0 : now.replace(/\n$/, '').split('\n').length,
        diff: diffOf(hunk.old, now),
      };
    });
  }

  /** The text without the changes that were made. */
  get without(): string {
    return [...this.applied.hunks]
      .reverse()
      .map((h) => ({ offset: h.start, length: h.length, text: h.old }))
      .reduce(replaced, this.applied.text);
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

/** Replaces parts of a document in one step that can be undone. Returns false if the editor refuses. */
export async function replace(document: vscode.TextDocument, parts: readonly Replacement[]): Promise<boolean> {
  if (parts.length === 0) {
    return true;
  }
  const edit = new vscode.WorkspaceEdit();
  for (const { offset, length, text } of parts) {
    const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
    edit.replace(document.uri, range, text);
  }
  return vscode.workspace.applyEdit(edit);
}

/** Returns an open document. */
export function openDocument(uri: vscode.Uri): vscode.TextDocument | undefined {
  return vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString() && !d.isClosed);
}
