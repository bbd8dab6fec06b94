import * as os from 'node:os';
import * as path from 'node:path';
import type * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { Host, LocalFolder } from '../host';
import type { ListResult } from '../wire.gen';
import { byFolder, folderTree, searchTree, type FolderSessions, type Node } from './model';

/** The number of sessions of a folder that are shown before the user loads more. */
export const pageSize = 100;

export interface Wanted {
  readonly all: boolean;
  readonly query: string;
  /** The number of sessions to load for a folder, if more than one page. */
  readonly limits: ReadonlyMap<string, number>;
}

/** Loads the tree of the view from the server. */
export async function loadTree(host: Host, wanted: Wanted, token: vscode.CancellationToken): Promise<Node[]> {
  const folders = host.folders;
  const cwds = folders.map((folder) => folder.cwd);
  if (wanted.query !== '') {
    const lists =
      wanted.all || folders.length === 0
        ? [await listAll(host, wanted, token)]
        : await listEach(host, folders, wanted, token);
    return searchTree(
      lists.flatMap((list) => list.sessions ?? []),
      cwds,
    );
  }
  if (wanted.all) {
    const { sessions, nextCursor } = await listAll(host, wanted, token);
    const groups = byFolder(sessions ?? [], folders, (cwd) => (cwd === '' ? '?' : shortPath(cwd, os.homedir())));
    // If there is only one list, "more" applies to that list.
    const nodes = folderTree(groups.length === 1 ? [...groups, { cwd: '', name: '', sessions: [] }] : groups, cwds);
    return nextCursor === undefined ? nodes : [...nodes, { kind: 'more', id: 'more:', cwd: '' }];
  }
  const lists = await listEach(host, folders, wanted, token);
  const found: FolderSessions[] = folders.map((folder, i) => ({
    cwd: folder.cwd,
    name: folder.name,
    sessions: lists[i]?.sessions ?? [],
    nextCursor: lists[i]?.nextCursor,
  }));
  return folderTree(found, cwds);
}

function listEach(
  host: Host,
  folders: readonly LocalFolder[],
  wanted: Wanted,
  token: vscode.CancellationToken,
): Promise<ListResult[]> {
  return Promise.all(
    folders.map(({ cwd }) =>
      host.request(
        'xcsh.list',
        { cwd, scope: 'folder', query: wanted.query, limit: wanted.limits.get(cwd) ?? pageSize },
        token,
      ),
    ),
  );
}

function listAll(host: Host, wanted: Wanted, token: vscode.CancellationToken): Promise<ListResult> {
  // The list covers all sessions, regardless of the directory.
  const cwd = host.liveFolder?.cwd ?? path.resolve(os.homedir());
  return host.request(
    'xcsh.list',
    { cwd, scope: 'all', query: wanted.query, limit: wanted.limits.get('') ?? pageSize },
    token,
  );
}
