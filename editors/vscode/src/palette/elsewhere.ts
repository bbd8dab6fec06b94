import * as os from 'node:os';
import * as vscode from 'vscode';

import { sameDirectory, shortPath } from '../folders';
import type { SessionInfo } from '../wire.gen';

/** Reports whether the session belongs to another folder than the one in which it is requested. */
export function isElsewhere(info: SessionInfo, cwd: string): boolean {
  return info.cwd !== '' && !sameDirectory(info.cwd, cwd);
}

/**
 * Asks how to continue with a session of another folder, and does it. Opening the session in place
 * is left to the caller.
 */
export async function askElsewhere(info: SessionInfo, cwd: string): Promise<'open' | undefined> {
  const fork = vscode.l10n.t('Fork Here');
  const folder = vscode.l10n.t('Open Its Folder');
  const open = vscode.l10n.t('Open in Place');
  const home = os.homedir();
  const answer = await vscode.window.showInformationMessage(
    vscode.l10n.t('"{0}" belongs to another folder.', info.name),
    {
      modal: true,
      detail: vscode.l10n.t(
        'It was created in {0}.\n\nFork Here copies it to {1}; the original is not changed. Open in Place continues the original file.',
        shortPath(info.cwd, home),
        shortPath(cwd, home),
      ),
    },
    fork,
    folder,
    open,
  );
  switch (answer) {
    case fork:
      await vscode.commands.executeCommand('xcsh.fork', { cwd, source: info.path });
      return undefined;
    case folder:
      await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(info.cwd), { forceNewWindow: true });
      return undefined;
    case open:
      return 'open';
    default:
      return undefined;
  }
}
