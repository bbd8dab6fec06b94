import type { TextEdit, WorkspaceEdit } from 'vscode-languageclient/node';

/** Returns the texts that a server edit inserts, by the URI of the document. */
export function editTexts(edit: WorkspaceEdit): Map<string, string[]> {
  const texts = new Map<string, string[]>();
  const add = (uri: string, edits: readonly object[]): void => {
    const found = edits.map((e) => (e as Partial<TextEdit>).newText).filter((text) => text !== undefined);
    texts.set(uri, [...(texts.get(uri) ?? []), ...found]);
  };
  for (const [uri, edits] of Object.entries(edit.changes ?? {})) {
    add(uri, edits);
  }
  for (const change of edit.documentChanges ?? []) {
    if ('textDocument' in change) {
      add(change.textDocument.uri, change.edits);
    }
  }
  return texts;
}
