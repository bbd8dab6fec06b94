import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import type { ServerError } from '../server/errors';

const t = vscode.l10n.t;

/** Reports whether another user, or another device, writes the session of the team's store. */
export function isWritten(error: ServerError): boolean {
  return error.kind === 'busy' && error.text('owner') !== undefined;
}

/** Asks how to resume a session that another user writes. Returns the argument onBusy, undefined if the user cancels. */
export async function askBusy(error: ServerError): Promise<'read' | 'fork' | 'wait' | 'take' | undefined> {
  const owner = visible(error.text('owner') ?? '');
  const choices = [
    { title: t('Read Along'), how: 'read' as const },
    { title: t('Fork'), how: 'fork' as const },
    { title: t('Take Over When {0} Is Done', owner), how: 'wait' as const },
    { title: t('Take Over Now'), how: 'take' as const },
  ];
  const chosen = await vscode.window.showInformationMessage(visible(error.message), { modal: true }, ...choices);
  return chosen?.how === 'take' && !(await confirmTaking(owner)) ? undefined : chosen?.how;
}

/** Asks whether to become the writer of a session although another user writes it. */
export async function confirmTaking(owner: string): Promise<boolean> {
  const take = t('Take Over');
  const message = t('Take over while {0} is writing?', owner);
  const detail = t('What {0} writes from now on becomes a fork of this session.', owner);
  return (await vscode.window.showWarningMessage(message, { modal: true, detail }, take)) === take;
}
