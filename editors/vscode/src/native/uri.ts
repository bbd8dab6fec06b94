import * as vscode from 'vscode';

import type { Window } from '../window';
import { runCommand } from '../palette/runner';
import { deepLink } from './deeplink';

const t = vscode.l10n.t;

/** Opens vscode://xcsh-ls.xcsh-ls/resume?id=… and /open?path=…, after a confirmation. */
export function registerUriHandler(window: Window): vscode.Disposable {
  return vscode.window.registerUriHandler({
    handleUri: async (uri) => {
      const link = deepLink(uri.path, uri.query);
      switch (link.kind) {
        case 'wrong':
          void vscode.window.showWarningMessage(t('This link does not identify a session: {0}', uri.toString()));
          return;
        case 'resume': {
          const cwd = (await window.chooseFolder())?.cwd;
          const yes = t('Resume');
          if (
            cwd &&
            (await confirmed(
              t('Resume session {0}?', link.id),
              t('A link requested this. The current session in {0} will be closed.', cwd),
              yes,
            ))
          ) {
            await runCommand(window, 'xcsh.resume', { cwd, target: link.id });
          }
          return;
        }
        case 'open': {
          const yes = t('Open Transcript');
          if (await confirmed(t('Open the transcript of this session?'), link.path, yes)) {
            await runCommand(window, 'xcsh.transcript', { cwd: window.liveFolder?.cwd, source: link.path });
          }
        }
      }
    },
  });
}

async function confirmed(question: string, detail: string, yes: string): Promise<boolean> {
  return (await vscode.window.showInformationMessage(question, { modal: true, detail }, yes)) === yes;
}
