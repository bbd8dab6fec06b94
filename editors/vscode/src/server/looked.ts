import type * as vscode from 'vscode';

/**
 * The documents that were opened only to ask language extensions about them. As long as they are not shown and have no
 * unsaved changes, the server does not receive them: it writes such a file on disk, where it would otherwise leave unsaved
 * changes in a document that the user does not see.
 */
const looked = new Set<string>();

/** Says that a document is opened only for a look. */
export function look(uri: vscode.Uri): void {
  looked.add(uri.toString());
}

/** Reports whether a document was opened only for a look. */
export function isLooked(uri: vscode.Uri): boolean {
  return looked.has(uri.toString());
}

/** Ends the look: the document was closed, or is now the user's. Reports whether there was one. */
export function endLook(uri: vscode.Uri): boolean {
  return looked.delete(uri.toString());
}
