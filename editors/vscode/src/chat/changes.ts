import * as path from 'node:path';
import * as vscode from 'vscode';

import { resolvePath } from './files';
import { sidesOf } from './patch';

/** The scheme of documents that contain one side of a change. */
export const changeScheme = 'xcshls-change';

const maxTexts = 40;
const texts = new Map<string, string>();
let serial = 0;

export function registerChanges(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(changeScheme, {
    provideTextDocumentContent: (uri) => texts.get(uri.query) ?? '',
  });
}

/** Returns the URI of a read-only document with a text and the name of the file. */
export function changeUri(file: string, text: string): vscode.Uri {
  const key = String(++serial);
  texts.set(key, text);
  for (const old of texts.keys()) {
    if (texts.size <= maxTexts) {
      break;
    }
    texts.delete(old);
  }
  return vscode.Uri.from({ scheme: changeScheme, path: '/' + path.basename(file), query: key });
}

/** Returns the text of a file, from the editor if it is open, else from disk; undefined if there is none. */
export async function currentText(file: string): Promise<string | undefined> {
  try {
    return (await vscode.workspace.openTextDocument(vscode.Uri.file(file))).getText();
  } catch {
    return undefined;
  }
}

/** Shows a change in a diff editor, whether or not it has been applied. */
export async function openChange(cwd: string, name: string, patch: string): Promise<void> {
  const file = resolvePath(cwd, name);
  const sides = sidesOf(file === undefined ? undefined : await currentText(file), patch);
  if (!sides || file === undefined) {
    void vscode.window.showWarningMessage(vscode.l10n.t('No change to show for {0}.', name));
    return;
  }
  const title = sides.whole
    ? vscode.l10n.t('{0} (changed by xcsh)', path.basename(file))
    : vscode.l10n.t('{0} (changed by xcsh, excerpts)', path.basename(file));
  await vscode.commands.executeCommand(
    'vscode.diff',
    changeUri(file, sides.before),
    changeUri(file, sides.after),
    title,
    { preview: true },
  );
}
