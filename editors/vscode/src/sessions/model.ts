import { sameDirectory } from '../folders';
import type { SessionInfo } from '../wire.gen';

/** A folder and its loaded sessions. */
export interface FolderSessions {
  readonly cwd: string;
  readonly name: string;
  readonly sessions: readonly SessionInfo[];
  /** The cursor for the next page; there are more sessions if it is set. */
  readonly nextCursor?: string;
}

export interface FolderNode {
  readonly kind: 'folder';
  readonly id: string;
  readonly cwd: string;
  readonly name: string;
  readonly children: readonly Node[];
}

export interface DayNode {
  readonly kind: 'day';
  readonly id: string;
  /** Midnight of the day, in the local time zone. */
  readonly day: Date;
  readonly children: readonly Node[];
}

export interface SessionNode {
  readonly kind: 'session';
  readonly id: string;
  readonly info: SessionInfo;
  /** The window's folder that it belongs to; undefined if none. */
  readonly cwd: string | undefined;
  readonly children: readonly SessionNode[];
}

export interface MoreNode {
  readonly kind: 'more';
  readonly id: string;
  readonly cwd: string;
}

export type Node = FolderNode | DayNode | SessionNode | MoreNode;

/** Returns the tree of several folders; the tree of a single one begins with its days. */
export function folderTree(folders: readonly FolderSessions[], windowFolders: readonly string[]): Node[] {
  const [only] = folders;
  if (folders.length === 1 && only) {
    return folderContent(only, windowFolders);
  }
  return folders
    .filter((folder) => folder.sessions.length > 0)
    .map((folder) => ({
      kind: 'folder',
      id: `folder:${folder.cwd}`,
      cwd: folder.cwd,
      name: folder.name,
      children: folderContent(folder, windowFolders),
    }));
}

function folderContent(folder: FolderSessions, windowFolders: readonly string[]): Node[] {
  const content: Node[] = days(folder.cwd, lineage(folder.sessions, windowFolders));
  if (folder.nextCursor !== undefined) {
    content.push({ kind: 'more', id: `more:${folder.cwd}`, cwd: folder.cwd });
  }
  return content;
}

/** Returns search results in the server's order, best first, without groups. */
export function searchTree(sessions: readonly SessionInfo[], windowFolders: readonly string[]): Node[] {
  return sessions.map((info) => sessionNode(info, [], windowFolders));
}

/** Groups sessions by folder: the window's folders first, then by the newest session. */
export function byFolder(
  sessions: readonly SessionInfo[],
  windowFolders: readonly { readonly cwd: string; readonly name: string }[],
  nameOf: (cwd: string) => string,
): FolderSessions[] {
  const groups = new Map<string, SessionInfo[]>(windowFolders.map((folder) => [folder.cwd, []]));
  for (const info of sessions) {
    const own = windowFolders.find((folder) => info.cwd !== '' && sameDirectory(folder.cwd, info.cwd));
    const cwd = own?.cwd ?? info.cwd;
    groups.set(cwd, [...(groups.get(cwd) ?? []), info]);
  }
  return [...groups].map(([cwd, infos]) => ({
    cwd,
    name: windowFolders.find((folder) => folder.cwd === cwd)?.name ?? nameOf(cwd),
    sessions: infos,
  }));
}

/** Puts forks below their parents, if those are among the sessions. */
export function lineage(sessions: readonly SessionInfo[], windowFolders: readonly string[]): SessionNode[] {
  const named = new Map(sessions.flatMap((info) => [[info.id, info] as const, [info.path, info] as const]));
  const parents = new Map<SessionInfo, SessionInfo>();
  const children = new Map<SessionInfo, SessionInfo[]>();
  for (const info of sessions) {
    const parent = info.parentSession === undefined ? undefined : named.get(info.parentSession);
    if (parent && !leadsTo(parents, parent, info)) {
      parents.set(info, parent);
      children.set(parent, [...(children.get(parent) ?? []), info]);
    }
  }
  const build = (info: SessionInfo): SessionNode =>
    sessionNode(info, (children.get(info) ?? []).map(build), windowFolders);
  return sessions.filter((info) => !parents.has(info)).map(build);
}

/** Detects cycles, because files can claim to be each other's parents. */
function leadsTo(parents: ReadonlyMap<SessionInfo, SessionInfo>, from: SessionInfo, to: SessionInfo): boolean {
  for (let at: SessionInfo | undefined = from; at; at = parents.get(at)) {
    if (at === to) {
      return true;
    }
  }
  return false;
}

function sessionNode(info: SessionInfo, children: SessionNode[], windowFolders: readonly string[]): SessionNode {
  const cwd = windowFolders.find((folder) => info.cwd !== '' && sameDirectory(folder, info.cwd));
  return { kind: 'session', id: `session:${info.path}`, info, cwd, children };
}

/** Groups sessions by the day on which they or a fork of them were last written. */
function days(cwd: string, nodes: readonly SessionNode[]): DayNode[] {
  const groups = new Map<number, SessionNode[]>();
  for (const node of nodes) {
    const day = midnight(lastWritten(node)).getTime();
    groups.set(day, [...(groups.get(day) ?? []), node]);
  }
  return [...groups]
    .sort(([a], [b]) => b - a)
    .map(([day, children]) => ({ kind: 'day', id: `day:${cwd}:${day}`, day: new Date(day), children }));
}

function lastWritten(node: SessionNode): Date {
  const own = new Date(node.info.modified);
  const times = [Number.isNaN(own.getTime()) ? new Date(0) : own, ...node.children.map(lastWritten)];
  return times.reduce((a, b) => (a > b ? a : b));
}

export function midnight(at: Date): Date {
  return new Date(at.getFullYear(), at.getMonth(), at.getDate());
}

/** Returns the number of days between two times: 0 for the same day, 1 for yesterday. */
export function daysBetween(earlier: Date, later: Date): number {
  // Rounded, because a day has 23 or 25 hours when the clocks change.
  return Math.round((midnight(later).getTime() - midnight(earlier).getTime()) / 86_400_000);
}

/** Returns the context value for menus: "session here live". */
export function contextValue(node: SessionNode): string {
  return [
    'session',
    node.cwd === undefined ? 'elsewhere' : 'here',
    node.info.live ? 'live' : '',
    node.info.lockedBy && !node.info.live ? 'locked' : '',
  ]
    .filter((word) => word !== '')
    .join(' ');
}
