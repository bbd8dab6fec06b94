import type { ModelItem, SessionInfo, TreeNode } from '../wire.gen';
import { sameDirectory } from '../folders';

/** The words that lists use, in the language of the window. */
export interface Words {
  live: string;
  fork: string;
  runningIn(program: string): string;
  damaged(lines: number): string;
  branches(n: number): string;
  messages(n: number): string;
  inMemory: string;
}

/** Returns the notable properties of a session other than its name, most important first. */
export function badges(info: SessionInfo, words: Words): string[] {
  const found: string[] = [];
  if (info.live) {
    found.push(words.live);
  }
  if (info.lockedBy && !info.live) {
    found.push(words.runningIn(info.lockedBy));
  }
  if (info.parentSession) {
    found.push(words.fork);
  }
  if (info.branches > 1) {
    found.push(words.branches(info.branches));
  }
  if (info.damagedLines > 0) {
    found.push(words.damaged(info.damagedLines));
  }
  if (info.origin !== '' && info.origin !== 'xcsh') {
    found.push(info.origin);
  }
  return found;
}

/** Returns the icon of a session in lists, a codicon. */
export function sessionIcon(info: SessionInfo): string {
  if (info.damagedLines > 0) {
    return 'warning';
  }
  if (info.live) {
    return 'comment-discussion';
  }
  if (info.lockedBy) {
    return 'lock';
  }
  return info.parentSession ? 'repo-forked' : 'comment';
}

/** Returns the text after a session's name: time, badges and size. Its end can be truncated. */
export function sessionDescription(info: SessionInfo, words: Words): string {
  return [info.timeAgo, ...badges(info, words), words.messages(info.messageCount)].join(' · ');
}

/** Returns the first prompt on one line, unless it equals the name. */
export function sessionDetail(info: SessionInfo): string | undefined {
  const first = oneLine(info.firstMessage);
  return first === '' ||
    first === info.name ||
    (first.startsWith(info.name.replace(/(\.\.\.|…)$/, '')) && first.length <= info.name.length + 3)
    ? undefined
    : first;
}

/** Returns the text that a search found, unless it equals the name. */
export function foundText({ name, snippet }: SessionInfo): string | undefined {
  return snippet && snippet.text !== name ? snippet.text : undefined;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Splits sessions into those of this folder and the others, each in their order. */
export function partition(
  infos: readonly SessionInfo[],
  cwd: string,
): { here: SessionInfo[]; elsewhere: SessionInfo[] } {
  const here: SessionInfo[] = [];
  const elsewhere: SessionInfo[] = [];
  for (const info of infos) {
    (info.cwd === '' || sameDirectory(info.cwd, cwd) ? here : elsewhere).push(info);
  }
  return { here, elsewhere };
}

/** One line of the list of entries. */
export interface EntryLine {
  readonly node: TreeNode;
  /** The number of forks above it in the tree. */
  readonly depth: number;
  readonly current: boolean;
}

/**
 * Returns the entries that a user can go to, in tree order: prompts, or all visible entries with
 * everything set. Depth increases where the conversation branches.
 */
export function entryLines(nodes: readonly TreeNode[], leafId: string | null, everything: boolean): EntryLine[] {
  const children = new Map<string | null, number>();
  for (const node of nodes) {
    children.set(node.parentId, (children.get(node.parentId) ?? 0) + 1);
  }
  const depths = new Map<string, number>();
  const onPath = pathTo(nodes, leafId);
  const lines: EntryLine[] = [];
  for (const node of nodes) {
    const above = node.parentId === null ? 0 : (depths.get(node.parentId) ?? 0);
    const depth = above + ((children.get(node.parentId) ?? 0) > 1 ? 1 : 0);
    depths.set(node.id, depth);
    if (everything || node.role === 'user' || node.label !== undefined) {
      lines.push({ node, depth, current: onPath.has(node.id) });
    }
  }
  return lines;
}

function pathTo(nodes: readonly TreeNode[], leafId: string | null): Set<string> {
  const parents = new Map(nodes.map((node) => [node.id, node.parentId]));
  const path = new Set<string>();
  for (let id = leafId; id !== null && !path.has(id); id = parents.get(id) ?? null) {
    path.add(id);
  }
  return path;
}

/** Splits models into available and unavailable ones, each in the given order. */
export function modelGroups(models: readonly ModelItem[]): { available: ModelItem[]; unavailable: ModelItem[] } {
  return { available: models.filter((m) => m.available), unavailable: models.filter((m) => !m.available) };
}

/** Formats a number of tokens in short form: 200k, 1M. */
export function shortCount(n: number): string {
  for (const [unit, size] of [
    ['M', 1e6],
    ['k', 1e3],
  ] as const) {
    if (n >= size) {
      return `${Number((n / size).toFixed(n / size < 10 ? 1 : 0))}${unit}`;
    }
  }
  return String(n);
}
