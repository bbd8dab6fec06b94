import * as vscode from 'vscode';

import type { SaveParams, SaveAnswer } from '../wire.gen';

/**
 * Saves a document that the agent has edited, before a command reads the file. The version protects what the user has typed
 * since the server decided.
 */
export async function saveDocument({ uri, version }: SaveParams): Promise<SaveAnswer> {
  const wanted = vscode.Uri.parse(uri).toString();
  const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === wanted);
  if (!document) {
    return { saved: false, failureReason: 'The document is not open.' };
  }
  if (document.version !== version) {
    return { saved: false, failureReason: 'The document has changed.' };
  }
  const saved = await document.save(); // false if the file has changed on disk, or a participant refused
  return saved ? { saved } : { saved, failureReason: 'The editor did not save it.' };
}
