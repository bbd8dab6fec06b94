import * as vscode from 'vscode';

import { runCommand } from '../palette/runner';
import type { Window } from '../window';
import { sessionLinks } from './sessionLink';

const t = vscode.l10n.t;

/** A link that resumes a session. */
interface Link extends vscode.TerminalLink {
  readonly target: string;
}

const maxAsked = 4; // maximum number of ids per line to look up on the server

/** Links the session names in a terminal's output. A click resumes the session here. */
export function registerTerminalLinks(window: Window): vscode.Disposable {
  const provider: vscode.TerminalLinkProvider<Link> = {
    provideTerminalLinks: async ({ line }, token) => {
      const found = sessionLinks(line);
      const uncertain = found.filter((link) => !link.certain).slice(0, maxAsked);
      const known = await Promise.all(uncertain.map(({ target }) => isSession(window, target, token)));
      return [...found.filter((link) => link.certain), ...uncertain.filter((_, i) => known[i])].map(
        ({ start, length, target }) => ({
          startIndex: start,
          length,
          tooltip: t('Resume session {0}', target),
          target,
        }),
      );
    },
    handleTerminalLink: async ({ target }) => void (await runCommand(window, 'xcsh.resume', { target })),
  };
  return vscode.window.registerTerminalLinkProvider(provider);
}

/**
 * Reports whether the server knows the session. Terminal output does not start a server, so without
 * one the result is false.
 */
async function isSession(window: Window, source: string, token: vscode.CancellationToken): Promise<boolean> {
  const cwd = window.liveFolder?.cwd;
  if (window.status.kind !== 'running' || cwd === undefined) {
    return false;
  }
  return window.request('xcsh.exists', { cwd, source }, token).then(
    ({ exists }) => exists,
    () => false,
  );
}
