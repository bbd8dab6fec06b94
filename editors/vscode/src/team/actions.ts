import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import { runCommand } from '../palette/runner';
import { toServerError } from '../server/errors';
import type { Window } from '../window';
import { confirmTaking, isWritten } from './busy';
import type { TeamSessionNode } from './model';

const t = vscode.l10n.t;

/** Registers the actions on sessions of the team's store. */
export function registerTeamActions(window: Window, changed: () => void): vscode.Disposable {
  const register = (name: string, run: (node: TeamSessionNode) => Promise<unknown>): vscode.Disposable =>
    vscode.commands.registerCommand(`xcshLs.team.${name}`, async (given?: unknown) => {
      if (isTeamSession(given)) {
        await run(given).catch((error: unknown) => window.showError(error));
        changed();
      }
    });
  return vscode.Disposable.from(
    register('open', (node) => open(window, node)),
    register('take', (node) => take(window, node)),
    register('unshare', (node) => unshare(window, node)),
    register('undelete', (node) => undelete(window, node.cwd, node.info.team.sid)),
    register('copyId', async ({ info }) => vscode.env.clipboard.writeText(info.team.sid)),
    vscode.commands.registerCommand('xcshLs.team.stopSharing', () =>
      runCommand(window, 'xcsh.team.share', { scope: 'off' }),
    ),
  );
}

export function isTeamSession(given: unknown): given is TeamSessionNode {
  return (given as Partial<TeamSessionNode> | undefined)?.kind === 'teamSession';
}

/** Opens a session: like every other one if it has a file here, else by pulling it. */
async function open(window: Window, { info, cwd }: TeamSessionNode): Promise<void> {
  if (info.team.deleted) {
    return;
  }
  if (!info.team.remote) {
    await vscode.commands.executeCommand('xcshLs.sessions.open', { info, cwd });
    return;
  }
  if (!vscode.workspace.isTrusted) {
    await vscode.commands.executeCommand('xcshLs.team.follow', { info, cwd });
    return;
  }
  const result = await runCommand(window, 'xcsh.resume', { cwd, target: info.team.sid, name: info.name });
  if (result?.switched) {
    await window.reveal(cwd);
  }
}

/** Makes this device the writer of a session. While another user writes, it is asked first. */
async function take(window: Window, { info, cwd }: TeamSessionNode): Promise<void> {
  const args = { cwd, source: info.team.sid };
  try {
    await window.request('xcsh.team.take', args);
  } catch (problem) {
    const error = toServerError(problem);
    if (!isWritten(error)) {
      throw error;
    }
    if (!(await confirmTaking(visible(error.text('owner') ?? '')))) {
      return;
    }
    await window.request('xcsh.team.take', { ...args, force: true });
  }
  vscode.window.setStatusBarMessage(`$(check) ${t('This device writes the session now')}`, 5000);
}

/** Moves a session to the trash of the store. The messages do not name it: a name of another user could be a link. */
async function unshare(window: Window, { info, cwd }: TeamSessionNode): Promise<void> {
  const remove = t('Remove from Team');
  const message = t('Remove “{0}” from the team?', visible(info.name));
  const detail = t('It can be restored for 30 days. Files on this machine and on others stay.');
  if ((await vscode.window.showWarningMessage(message, { modal: true, detail }, remove)) !== remove) {
    return;
  }
  const { sid } = await window.request('xcsh.team.unshare', { cwd, source: info.team.sid, confirm: true });
  const undo = t('Undo');
  void vscode.window
    .showInformationMessage(t('The session was removed from the team.'), undo)
    .then((answer) =>
      answer === undo ? undelete(window, cwd, sid).catch((error: unknown) => window.showError(error)) : undefined,
    );
}

async function undelete(window: Window, cwd: string, sid: string): Promise<void> {
  await window.request('xcsh.team.undelete', { cwd, sid });
  vscode.window.setStatusBarMessage(`$(check) ${t('Session restored')}`, 5000);
}
