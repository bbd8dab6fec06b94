// Which other ways the conversation went at a prompt, read off the session's tree.

import type { TreeNode } from './wire';

/** The prompts that were said at one place, in the order of time, and which of them is shown. */
export interface Alternatives {
  ids: readonly string[];
  at: number;
}

// Between an answer and the next prompt there may be settings, labels and summaries of branches.
const anchors = new Set(['message', 'custom_message', 'compaction']);

/** The alternatives of every prompt that has some, by its entry. */
export function alternatives(nodes: readonly TreeNode[]): Map<string, Alternatives> {
  const anchorOf = new Map<string, string>(); // of an entry: the one that its next prompt follows
  const said = new Map<string, string[]>();
  for (const node of nodes) {
    // parents come first
    const parent = node.parentId ?? '';
    const anchor = parent === '' ? '' : (anchorOf.get(parent) ?? '');
    anchorOf.set(node.id, anchors.has(node.type) ? node.id : anchor);
    if (node.type !== 'message' || node.role !== 'user') continue;
    const group = said.get(anchor);
    if (group) group.push(node.id);
    else said.set(anchor, [node.id]);
  }
  const out = new Map<string, Alternatives>();
  const times = new Map(nodes.map((n) => [n.id, n.timestamp]));
  for (const group of said.values()) {
    if (group.length < 2) continue;
    const ids = group.toSorted((a, b) => (times.get(a) ?? '').localeCompare(times.get(b) ?? ''));
    ids.forEach((id, at) => out.set(id, { ids, at }));
  }
  return out;
}

/** The newest entry below one, itself included: where its conversation was left. */
export function newestBelow(nodes: readonly TreeNode[], id: string): string {
  const below = new Set([id]);
  let newest = nodes.find((n) => n.id === id);
  for (const node of nodes) {
    if (node.parentId === null || !below.has(node.parentId)) continue;
    below.add(node.id);
    if (!newest || node.timestamp >= newest.timestamp) newest = node;
  }
  return newest?.id ?? id;
}
