import type * as vscode from 'vscode';

import type { Host } from '../host';
import { toServerError } from '../server/errors';
import { teamNode, type Listed, type TeamNode } from './model';

/** The number of sessions of a project that the section shows. Searching and the palette find the others. */
const shown = 200;

/** Returns the section of the team's store for the folders of the window; undefined if no store is set up. */
export async function loadTeam(
  host: Host,
  query: string,
  token: vscode.CancellationToken,
): Promise<TeamNode | undefined> {
  const { folders } = host;
  if (folders.length === 0) {
    return undefined;
  }
  try {
    const listed = await Promise.all(
      folders.map(async ({ cwd }): Promise<Listed> => ({
        cwd,
        list: await host.request('xcsh.list', { cwd, scope: 'team', query, limit: shown }, token),
      })),
    );
    return teamNode(listed, query !== '');
  } catch (error) {
    const { kind, message } = toServerError(error);
    // Without a store, the server refuses the list. A server of the user's choice can be older.
    if (kind !== 'refused' && kind !== 'cancelled') {
      host.output.info(`team: ${message}`);
    }
    return undefined;
  }
}
