import * as path from 'node:path';
import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import type { Window } from '../window';

const t = vscode.l10n.t;

/** Lets the user select files whose changes to keep. Returns undefined if there are no changes, or the user cancels. */
export async function pickPending(window: Window, cwd: string): Promise<string[] | undefined> {
  const { files } = await window.request('xcsh.changes', { cwd, since: 'session', pending: true });
  if (!files || files.length === 0) {
    void vscode.window.showInformationMessage(t('There are no changes to review.'));
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(
    files.map((file) => ({
      label: visible(path.basename(file.path)),
      description: `+${file.added} −${file.removed}`,
      detail: visible(file.path),
      picked: true,
      file,
    })),
    { title: t('Keep Changes'), placeHolder: t('Select the files whose changes to keep'), canPickMany: true },
  );
  return picked && picked.length > 0 ? picked.map(({ file }) => file.path) : undefined;
}
