// Finds the other branches at each prompt in the session's tree.

import type { TreeNode } from './wire';

/** The prompts at one position, oldest first, and the index of the current one. */
export interface Alternatives {
  ids: readonly string[];
  at: number;
}

// Settings, labels and branch summaries can lie between an answer and the next prompt.
const anchors = new Set(['message', 'custom_message', 'compaction']);

/** Returns the alternatives of every prompt that has some, by entry id. */
export function alternatives(nodes: readonly TreeNode[]): Map<string, Alternatives> {
  const anchorOf = new Map<string, string>(); // maps an entry to the one that its next prompt follows
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

/** Returns the newest entry below one, itself included: the last state of that conversation. */
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
