import { sameDirectory } from '../folders';
import type { Spot } from '../chat/reader';
import type { TeamNode, TeamProblemNode, TeamSessionNode, TeamUserNode } from '../team/model';
import type { SessionInfo, Snippet, TrashedSession } from '../wire.gen';

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

/** The sessions of a day, a week or a month. */
export interface TimeNode {
  readonly kind: 'time';
  readonly id: string;
  readonly span: 'day' | 'week' | 'month';
  /** The day of the newest session, at midnight in the local time zone. */
  readonly day: Date;
  /** The number of days, weeks or months between it and now. */
  readonly ago: number;
  readonly children: readonly SessionNode[];
}

export interface SessionNode {
  readonly kind: 'session';
  readonly id: string;
  readonly info: SessionInfo;
  /** The window's folder that it belongs to; undefined if none. */
  readonly cwd: string | undefined;
  readonly children: readonly (SessionNode | MatchNode)[];
  /** The message that a search found. */
  readonly spot?: Spot;
}

/** The text that a search found in a session. */
export interface MatchNode {
  readonly kind: 'match';
  readonly id: string;
  readonly info: SessionInfo;
  readonly cwd: string | undefined;
  readonly snippet: Snippet;
  readonly children: readonly [];
  readonly spot?: Spot;
}

/** The sessions that contain only something similar to the search. */
export interface SimilarNode {
  readonly kind: 'similar';
  readonly id: string;
  readonly children: readonly SessionNode[];
}

export interface MoreNode {
  readonly kind: 'more';
  readonly id: string;
  readonly cwd: string;
}

/** The deleted sessions, after all others. */
export interface TrashNode {
  readonly kind: 'trash';
  readonly id: string;
  readonly children: readonly TrashedNode[];
}

export interface TrashedNode {
  readonly kind: 'trashed';
  readonly id: string;
  readonly session: TrashedSession;
  readonly children: readonly [];
}

export type Node =
  | TeamNode
  | TeamProblemNode
  | TeamUserNode
  | TeamSessionNode
  | FolderNode
  | TimeNode
  | SessionNode
  | MatchNode
  | SimilarNode
  | MoreNode
  | TrashNode
  | TrashedNode;

/** Returns the group of deleted sessions, those deleted last first; undefined if there are none. */
export function trashNode(sessions: readonly TrashedSession[]): TrashNode | undefined {
  const children = [...new Map(sessions.map((session) => [session.trashed, session])).values()]
    .sort((a, b) => (a.trashedAt < b.trashedAt ? 1 : a.trashedAt > b.trashedAt ? -1 : 0))
    .map((session): TrashedNode => ({ kind: 'trashed', id: `trashed:${session.trashed}`, session, children: [] }));
  return children.length > 0 ? { kind: 'trash', id: 'trash', children } : undefined;
}

/** Yields the lines of sessions of a tree, forks included. */
export function* sessionsOf(nodes: readonly Node[]): Generator<SessionNode> {
  for (const node of nodes) {
    if (node.kind === 'session') {
      yield node;
    }
    if (node.kind !== 'more') {
      yield* sessionsOf(node.children);
    }
  }
}

/** Returns the tree of several folders; the tree of a single one begins with its days. */
export function folderTree(
  folders: readonly FolderSessions[],
  windowFolders: readonly string[],
  now = new Date(),
): Node[] {
  const [only] = folders;
  if (folders.length === 1 && only) {
    return folderContent(only, windowFolders, now);
  }
  return folders
    .filter((folder) => folder.sessions.length > 0)
    .map((folder) => ({
      kind: 'folder',
      id: `folder:${folder.cwd}`,
      cwd: folder.cwd,
      name: folder.name,
      children: folderContent(folder, windowFolders, now),
    }));
}

function folderContent(folder: FolderSessions, windowFolders: readonly string[], now: Date): Node[] {
  const content: Node[] = times(folder.cwd, lineage(folder.sessions, windowFolders), now);
  if (folder.nextCursor !== undefined) {
    content.push({ kind: 'more', id: `more:${folder.cwd}`, cwd: folder.cwd });
  }
  return content;
}

/**
 * Returns search results in the server's order, best first. Those that only contain something similar are in a group of
 * their own at the end.
 */
export function searchTree(sessions: readonly SessionInfo[], windowFolders: readonly string[]): Node[] {
  const nodes = (fuzzy: boolean) =>
    sessions
      .filter(({ match }) => (match === 'fuzzy') === fuzzy)
      .map((info) => foundNode(sessionNode(info, [], windowFolders)));
  const similar = nodes(true);
  return [
    ...nodes(false),
    ...(similar.length > 0 ? [{ kind: 'similar' as const, id: 'similar', children: similar }] : []),
  ];
}

/** Returns a search result, with the text that was found unless the name shows it. */
function foundNode(node: SessionNode): SessionNode {
  const { info, cwd } = node;
  const { snippet, entryId } = info;
  if (!snippet) {
    return node;
  }
  const spot = entryId ? { spot: { entryId, words: wordsOf(info) } } : {};
  if (nameRanges(info).length === (snippet.ranges ?? []).length) {
    return { ...node, ...spot };
  }
  const match: MatchNode = { kind: 'match', id: `match:${info.path}`, info, cwd, snippet, children: [], ...spot };
  return { ...node, ...spot, children: [match] };
}

/** The words that a search found in a text. Letters of something similar are none. */
function wordsOf({ match, snippet }: SessionInfo): string[] {
  const words = (snippet?.ranges ?? []).map(([from, to]) => snippet!.text.slice(from, to).toLowerCase());
  return match === 'fuzzy' ? [] : [...new Set(words)];
}

/** Returns the ranges of a search that are in the name of a session. */
export function nameRanges({ name, snippet }: SessionInfo): [number, number][] {
  const shown = name.replace(/(\.\.\.|…)$/, '');
  return snippet?.text.startsWith(shown) ? rangesOf(snippet).filter(([, to]) => to <= shown.length) : [];
}

/** Returns the ranges of a snippet. */
export const rangesOf = (snippet: Snippet): [number, number][] =>
  (snippet.ranges ?? []).map((range): [number, number] => [range[0] ?? 0, range[1] ?? 0]);

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

/** Days that have a group of their own, and days that are grouped by week. Older ones are grouped by month. */
const singleDays = 7;
const weekDays = 28;

/** Groups sessions by the time at which they or a fork of them were last written. */
function times(cwd: string, nodes: readonly SessionNode[], now: Date): TimeNode[] {
  const groups = new Map<string, TimeNode & { readonly children: SessionNode[] }>();
  const written = nodes.map((node) => ({ node, day: midnight(lastWritten(node)) }));
  for (const { node, day } of written.sort((a, b) => b.day.getTime() - a.day.getTime())) {
    const group = spanOf(day, now);
    const id = `${group.span}:${cwd}:${group.key}`;
    const known = groups.get(id);
    if (known) {
      known.children.push(node);
    } else {
      groups.set(id, { kind: 'time', id, span: group.span, day, ago: group.ago, children: [node] });
    }
  }
  return [...groups.values()];
}

/** Returns the group of a day. */
function spanOf(day: Date, now: Date): { span: TimeNode['span']; ago: number; key: number } {
  const days = daysBetween(day, now);
  if (days < singleDays) {
    return { span: 'day', ago: days, key: day.getTime() };
  }
  if (days < weekDays) {
    const ago = Math.floor(days / 7);
    return { span: 'week', ago, key: ago };
  }
  const month = day.getFullYear() * 12 + day.getMonth();
  return { span: 'month', ago: now.getFullYear() * 12 + now.getMonth() - month, key: month };
}

function lastWritten(node: SessionNode): Date {
  const own = new Date(node.info.modified);
  const forks = node.children.filter((child) => child.kind === 'session');
  const all = [Number.isNaN(own.getTime()) ? new Date(0) : own, ...forks.map(lastWritten)];
  return all.reduce((a, b) => (a > b ? a : b));
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
