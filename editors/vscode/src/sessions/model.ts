import { sameDirectory } from '../folders';
import type { SessionInfo } from '../wire.gen';

/** A folder and the sessions that are known of it. */
export interface FolderSessions {
  readonly cwd: string;
  readonly name: string;
  readonly sessions: readonly SessionInfo[];
  /** There are more, which a list with this cursor gives. */
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
  /** Midnight of the day, in the time zone of the machine. */
  readonly day: Date;
  readonly children: readonly Node[];
}

export interface SessionNode {
  readonly kind: 'session';
  readonly id: string;
  readonly info: SessionInfo;
  /** The folder of the window that it belongs to; undefined: it belongs to none. */
  readonly cwd: string | undefined;
  readonly children: readonly SessionNode[];
}

export interface MoreNode {
  readonly kind: 'more';
  readonly id: string;
  readonly cwd: string;
}

export type Node = FolderNode | DayNode | SessionNode | MoreNode;

/** The tree of several folders; that of a single one begins with its days. */
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

/** What a search found, in the order of the server: the best first, without groups. */
export function searchTree(sessions: readonly SessionInfo[], windowFolders: readonly string[]): Node[] {
  return sessions.map((info) => sessionNode(info, [], windowFolders));
}

/** Sorts sessions of many folders by folder: those of the window first, then by the newest session. */
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

/** Puts forks below what they were forked from, where that is among the sessions. */
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

/** Files can claim to be each other's parents. */
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

/** Groups by the day on which a session or a fork of it was last written. */
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

/** How many days lie between two times: 0 for the same day, 1 for yesterday. */
export function daysBetween(earlier: Date, later: Date): number {
  // Rounded, because a day has 23 or 25 hours when the clocks change.
  return Math.round((midnight(later).getTime() - midnight(earlier).getTime()) / 86_400_000);
}

/** What menus ask of a session: "session here live". */
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
