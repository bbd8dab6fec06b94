// Answers xcsh.tree like the server, from all nodes of a session.

export interface TreeEntry {
  id: string;
  parentId: string | null;
  type: string;
  role?: string;
  label?: string;
  preview: string;
  timestamp: string;
}

export interface TreeRun extends TreeEntry {
  count?: number;
  lastId?: string;
}

interface Arguments {
  under?: unknown;
  fold?: unknown;
  limit?: unknown;
  cursor?: unknown;
}

/** Returns the nodes of a page, parents first and children by time, and the cursor of the next page. */
export function treePage(
  entries: readonly TreeEntry[],
  { under, fold, limit, cursor }: Arguments,
): { nodes: TreeRun[]; next?: string; total: number } {
  const ids = new Set(entries.map((e) => e.id));
  const below = new Map<string | null, TreeEntry[]>();
  for (const e of entries) {
    const parent = e.parentId !== null && ids.has(e.parentId) ? e.parentId : null;
    below.set(parent, [...(below.get(parent) ?? []), { ...e, parentId: parent }]);
  }
  for (const children of below.values()) children.sort((a, b) => a.timestamp.localeCompare(b.timestamp));
  const nodes: TreeRun[] = [];
  const stack = (below.get(typeof under === 'string' ? under : null) ?? []).toReversed();
  for (let e = stack.pop(); e; e = stack.pop()) {
    let [count, last] = [1, e];
    for (let only = below.get(last.id); fold && only?.length === 1; only = below.get(last.id)) {
      last = only[0]!;
      count++;
    }
    nodes.push(fold ? { ...e, count, lastId: last.id } : e);
    const above = fold ? e.id : last.id;
    for (const child of (below.get(last.id) ?? []).toReversed()) stack.push({ ...child, parentId: above });
  }
  const from = typeof cursor === 'string' ? Number(cursor) : 0;
  const to = typeof limit === 'number' ? from + limit : nodes.length;
  return { nodes: nodes.slice(from, to), total: nodes.length, ...(to < nodes.length ? { next: String(to) } : {}) };
}
