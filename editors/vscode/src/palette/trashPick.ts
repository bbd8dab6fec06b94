import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import { deletedAt } from '../sessions/trashItems';
import type { TrashedSession } from '../wire.gen';
import type { Window } from '../window';

const t = vscode.l10n.t;

/** More deleted sessions are not listed. */
const most = 1000;

type Item = vscode.QuickPickItem & { readonly session: TrashedSession };

/** Lets the user select a deleted session of any folder. */
export async function pickTrashed(
  window: Window,
  cwd: string,
  placeHolder: string,
): Promise<TrashedSession | undefined> {
  const { sessions } = await window.request('xcsh.trash', { cwd, scope: 'all', limit: most });
  if (!sessions || sessions.length === 0) {
    void vscode.window.showInformationMessage(t('The trash is empty.'));
    return undefined;
  }
  const home = os.homedir();
  const items = sessions.map((session): Item => ({
    label: session.name,
    description: deletedAt(session),
    detail: shortPath(session.cwd || session.path, home),
    session,
  }));
  const options = { placeHolder, matchOnDescription: true, matchOnDetail: true };
  return (await vscode.window.showQuickPick(items, options))?.session;
}

/** Asks whether to delete a session for good. */
export async function confirmedDeletion(name: string): Promise<boolean> {
  const yes = t('Delete Permanently');
  const detail = t('This cannot be undone.');
  const answer = await vscode.window.showWarningMessage(
    t('Delete "{0}" permanently?', name),
    { modal: true, detail },
    yes,
  );
  return answer === yes;
}
