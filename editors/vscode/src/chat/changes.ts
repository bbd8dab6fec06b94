import * as path from 'node:path';
import * as vscode from 'vscode';

import { resolvePath } from './files';
import { sidesOf } from './patch';

/** The scheme of documents that are one side of a change. */
export const changeScheme = 'xcshls-change';

const maxTexts = 40;
const texts = new Map<string, string>();
let serial = 0;

export function registerChanges(): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(changeScheme, {
    provideTextDocumentContent: (uri) => texts.get(uri.query) ?? '',
  });
}

/** The address of a read-only document with a text, named as the file. */
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

/** The text of a file as the editor has it, else as the disk has it; undefined when there is none. */
export async function currentText(file: string): Promise<string | undefined> {
  try {
    return (await vscode.workspace.openTextDocument(vscode.Uri.file(file))).getText();
  } catch {
    return undefined;
  }
}

/** Shows a change in a diff editor, be it made already or not. */
export async function openChange(cwd: string, name: string, patch: string): Promise<void> {
  const file = resolvePath(cwd, name);
  const sides = sidesOf(file === undefined ? undefined : await currentText(file), patch);
  if (!sides || file === undefined) {
    void vscode.window.showWarningMessage(vscode.l10n.t('There is no change of {0} to show.', name));
    return;
  }
  const title = sides.whole
    ? vscode.l10n.t('{0} (change by xcsh)', path.basename(file))
    : vscode.l10n.t('{0} (parts changed by xcsh)', path.basename(file));
  await vscode.commands.executeCommand(
    'vscode.diff',
    changeUri(file, sides.before),
    changeUri(file, sides.after),
    title,
    { preview: true },
  );
}
