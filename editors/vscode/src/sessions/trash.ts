import type * as vscode from 'vscode';

import type { Host } from '../host';
import { toServerError } from '../server/errors';
import { sessionsOf, trashNode, type Node, type TrashNode } from './model';

/** The number of deleted sessions that the view shows. The command "Restore Deleted Session…" lists the others. */
const shown = 100;

/** The trash below the list of sessions. It is listed again only when the list has other sessions than before. */
export class TrashList {
  #listed = '';
  #node: TrashNode | undefined;

  /** Lists the trash again with the next request. */
  forget(): void {
    this.#listed = '';
  }

  /** Returns the trash of the view's folders; undefined if it is empty. */
  async node(
    host: Host,
    all: boolean,
    above: readonly Node[],
    token: vscode.CancellationToken,
  ): Promise<TrashNode | undefined> {
    const cwds = all ? [] : host.folders.map(({ cwd }) => cwd);
    const listed = JSON.stringify([all, cwds, [...sessionsOf(above)].map(({ info }) => info.path).sort()]);
    if (listed !== this.#listed) {
      this.#node = await this.#load(host, cwds, token);
      this.#listed = token.isCancellationRequested ? '' : listed;
    }
    return this.#node;
  }

  async #load(host: Host, cwds: readonly string[], token: vscode.CancellationToken): Promise<TrashNode | undefined> {
    const lists =
      cwds.length === 0 ? [{ cwd: host.liveFolder?.cwd ?? '/', scope: 'all' }] : cwds.map((cwd) => ({ cwd }));
    try {
      const results = await Promise.all(
        lists.map((args) => host.request('xcsh.trash', { ...args, limit: shown }, token)),
      );
      return trashNode(results.flatMap(({ sessions }) => sessions ?? []));
    } catch (error) {
      host.output.info(`trash: ${toServerError(error).message}`); // a server of the user's choice can be older
      return undefined;
    }
  }
}
