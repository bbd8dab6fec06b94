import assert from 'node:assert/strict';
import { test } from 'node:test';

import { treePage, type TreeEntry } from '../dev/tree';
import { readBranches } from '../src/state/branches';
import { random } from './random';

type Args = { [key: string]: unknown };

const node = (id: string, parentId: string | null, type: string, role: string, timestamp: string): TreeEntry => ({
  id,
  parentId,
  type,
  role,
  preview: '',
  timestamp,
});

/** The server's tree, and the requests for it. */
function served(entries: readonly TreeEntry[], pageSize = 5000) {
  const asked: Args[] = [];
  const read = (args: Args) => {
    asked.push(args);
    const limit = args['fold'] ? Math.min(Number(args['limit']), pageSize) : args['limit'];
    return Promise.resolve(treePage(entries, { ...args, limit }));
  };
  return { asked, read };
}

test('prompts with the same parent are alternatives, ignoring settings entries between them', async () => {
  const entries = [
    node('m', null, 'model_change', '', '0'),
    node('u1', 'm', 'message', 'user', '1'),
    node('a1', 'u1', 'message', 'assistant', '2'),
    node('u2', 'a1', 'message', 'user', '3'),
    node('l', 'a1', 'label', '', '4'),
    node('b', 'l', 'branch_summary', '', '4'),
    node('u3', 'b', 'message', 'user', '5'),
    node('u4', null, 'message', 'user', '6'),
  ];
  const { alternatives, ends } = await readBranches(served(entries).read);
  assert.deepEqual(alternatives.get('u2'), { ids: ['u2', 'u3'], at: 0 });
  assert.deepEqual(alternatives.get('u3'), { ids: ['u2', 'u3'], at: 1 });
  assert.deepEqual(alternatives.get('u1'), { ids: ['u1', 'u4'], at: 0 });
  assert.equal(alternatives.has('a1'), false);
  assert.equal(ends.get('u1'), 'u3');
  assert.equal(ends.get('u2'), 'u2');
});

/** Returns the groups of alternatives, from all entries. */
function groupsOf(entries: readonly TreeEntry[]): string[] {
  const anchors = ['message', 'custom_message', 'compaction'];
  const anchorOf = new Map<string, string>();
  const groups = new Map<string, string[]>();
  for (const { id, parentId, type, role } of treePage(entries, {}).nodes) {
    const anchor = anchorOf.get(parentId ?? '') ?? '';
    anchorOf.set(id, anchors.includes(type) ? id : anchor);
    if (type === 'message' && role === 'user') groups.set(anchor, [...(groups.get(anchor) ?? []), id]);
  }
  return [...groups.values()]
    .filter((ids) => ids.length > 1)
    .map((ids) => ids.toSorted().join(' '))
    .toSorted();
}

test('folded pages give the alternatives of the whole tree', async () => {
  const next = random(7);
  const kinds = [
    ['message', 'user'],
    ['message', 'assistant'],
    ['message', 'toolResult'],
    ['model_change', ''],
    ['branch_summary', ''],
    ['compaction', ''],
  ] as const;
  let found = 0;
  for (let round = 0; round < 300; round++) {
    const entries: TreeEntry[] = [];
    const branching = next() * 0.4;
    for (let i = 0; i < 60; i++) {
      const id = `e${String(i).padStart(3, '0')}`;
      const above = next() < branching ? Math.floor(next() * (i + 1)) - 1 : i - 1;
      const [type, role] = kinds[Math.floor(next() * kinds.length)]!;
      entries.push(node(id, entries[above]?.id ?? null, type, role, id));
    }
    const { asked, read } = served(entries, 4 + Math.floor(next() * 30));
    const { alternatives, ends } = await readBranches(read);
    const groups = [...new Set([...alternatives.values()].map(({ ids }) => ids.toSorted().join(' ')))].toSorted();
    assert.deepEqual(groups, groupsOf(entries), `round ${round}`);
    found += groups.length;
    for (const [prompt, { ids, at }] of alternatives) {
      assert.equal(ids[at], prompt);
      const end = ends.get(prompt)!;
      const parents = new Map(entries.map((e) => [e.id, e.parentId]));
      let up: string | null = end;
      while (up !== null && up !== prompt) up = parents.get(up) ?? null;
      assert.equal(up, prompt, 'the end of a branch is below its prompt');
      assert.ok(!entries.some((e) => e.parentId === end), 'the end of a branch is a leaf');
    }
    for (const args of asked) assert.ok(Number(args['limit']) <= 1000, JSON.stringify(args));
  }
  assert.ok(found > 100, `${found} groups`);
});

test('a session without branches needs one request, however long it is', async () => {
  const entries = Array.from({ length: 5000 }, (_, i) =>
    node(`e${i}`, i > 0 ? `e${i - 1}` : null, 'message', i % 2 ? 'assistant' : 'user', String(i).padStart(5, '0')),
  );
  const { asked, read } = served(entries);
  assert.equal((await readBranches(read)).alternatives.size, 0);
  assert.deepEqual(asked, [{ fold: true, limit: 1000 }]);
});

test('alternatives are offered only where all of them are known', async () => {
  const many = (begin: string) => [
    node('u', null, 'message', 'user', '0'),
    ...Array.from({ length: 300 }, (_, i) => [
      node(`s${i}`, 'u', begin, '', String(i).padStart(5, '0')),
      node(`p${i}`, `s${i}`, 'message', 'user', String(i).padStart(5, '0')),
    ]).flat(),
  ];
  const limited = served(many('branch_summary'));
  assert.equal((await readBranches(limited.read)).alternatives.size, 0);
  assert.equal(limited.asked.length, 201);
  const long = [node('u', null, 'message', 'user', '0'), node('p', 'u', 'message', 'user', '1')];
  for (let i = 0; i < 30; i++) long.push(node(`s${i}`, i > 0 ? `s${i - 1}` : 'u', 'label', '', `2${i}`));
  long.push(node('q', 's29', 'message', 'user', '3'));
  assert.equal((await readBranches(served(long).read)).alternatives.size, 0, 'a prompt behind many labels');
  const flat = [node('u', null, 'message', 'user', '0')];
  for (let i = 0; i < 50; i++) flat.push(node(`p${i}`, 'u', 'message', 'user', String(i)));
  assert.equal((await readBranches(served(flat, 10).read)).alternatives.size, 50);
  const endless = served(flat, 1);
  assert.equal((await readBranches(endless.read)).alternatives.size, 0);
  assert.equal(endless.asked.length, 20);
});
