import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EntryTree, type EntryLine, type Read } from '../../src/palette/entryTree';
import { treePage, type TreeEntry } from '../../webview/dev/tree';

type Asked = { command: string; args: Record<string, unknown> };

/** A server with one session. */
function served(entries: readonly TreeEntry[], leafId: string) {
  const asked: Asked[] = [];
  const path: TreeEntry[] = [];
  const named = new Map(entries.map((e) => [e.id, e]));
  for (let e = named.get(leafId); e; e = named.get(e.parentId ?? '')) {
    path.unshift(e);
  }
  const messages = (args: Asked['args']) => {
    if (typeof args['query'] === 'string') {
      const part = args['cursor'] === undefined ? path.slice(-500) : path;
      const hits = part.filter((e) => e.preview === args['query']);
      return {
        messages: [],
        hits: hits.map(({ id, preview }) => ({ entryId: id, role: 'user', excerpt: preview, index: 0 })),
        older: args['cursor'] === undefined ? { cursor: 'rest', count: path.length - 500 } : null,
        total: path.length,
      };
    }
    const to = args['cursor'] === undefined ? path.length : Number(args['cursor']);
    const from = Math.max(0, to - Number(args['limit']));
    return {
      messages: path.slice(from, to).map(({ id, role, preview }) => ({
        entryId: id,
        message: { role, content: [{ type: 'text', text: preview }] },
      })),
      ...(from > 0 ? { older: { cursor: String(from), count: from } } : {}),
      total: path.length,
    };
  };
  const read = ((command: string, args: Asked['args']) => {
    asked.push({ command, args });
    return Promise.resolve(command === 'xcsh.tree' ? { leafId, ...treePage(entries, args) } : messages(args));
  }) as unknown as Read;
  return { asked, tree: new EntryTree(read) };
}

/** A chain of prompts and answers below an entry. */
function chain(name: string, above: string | null, length: number): TreeEntry[] {
  return Array.from({ length }, (_, i) => ({
    id: `${name}${i}`,
    parentId: i > 0 ? `${name}${i - 1}` : above,
    type: 'message',
    role: i % 2 === 0 ? 'user' : 'assistant',
    preview: `${name}${i}`,
    timestamp: `${name}${String(i).padStart(7, '0')}`,
  }));
}

const shown = (lines: readonly EntryLine[], section: string) =>
  lines
    .filter((line) => line.section === section)
    .map((line) => (line.kind === 'more' ? `more ${line.of}`.trim() : `${' '.repeat(line.depth)}${line.node.id}`));

test('a small session is loaded with one request', async () => {
  const { asked, tree } = served([...chain('a', null, 4), ...chain('b', 'a1', 2)], 'b1');
  await tree.load();
  assert.equal(tree.large, false);
  assert.deepEqual(asked, [{ command: 'xcsh.tree', args: { limit: 1000 } }]);
  assert.deepEqual(shown(tree.lines(false), 'tree'), ['a0', ' a2', ' b0']);
  const elsewhere = tree.lines(true).filter((line) => line.kind !== 'more' && line.elsewhere);
  assert.deepEqual(shown(elsewhere, 'tree'), [' a2', ' a3']);
});

test('a large session is folded, with the newest messages of its conversation', async () => {
  const { asked, tree } = served(
    [...chain('a', null, 5000), ...chain('b', 'a99', 3), ...chain('c', 'a99', 1)],
    'a4999',
  );
  await tree.load();
  assert.equal(tree.large, true);
  assert.deepEqual(shown(tree.lines(false), 'tree'), ['a0', ' a100', ' b0', ' c0']);
  const kinds = tree.lines(false).flatMap((line) => (line.section === 'tree' ? line.kind : []));
  assert.deepEqual(kinds, ['run', 'run', 'run', 'entry']);
  const newest = shown(tree.lines(false), 'conversation');
  assert.deepEqual([newest[0], newest[1], newest.at(-1), newest.length], ['more', 'a4800', 'a4998', 101]);
  await tree.more('conversation', '');
  assert.deepEqual(shown(tree.lines(false), 'conversation').slice(0, 2), ['more', 'a4600']);
  assert.equal(shown(tree.lines(true), 'conversation').length, 401);
  for (const { args } of asked) {
    assert.ok(Number(args['limit']) <= 1000, JSON.stringify(args));
  }
});

test('a run opens in place, a page at a time', async () => {
  const { asked, tree } = served(
    [...chain('a', null, 2500), ...chain('b', 'a2499', 2), ...chain('c', 'a2499', 2)],
    'c1',
  );
  await tree.load();
  await tree.open('a0');
  let lines = shown(tree.lines(true), 'tree');
  assert.deepEqual([lines[0], lines[1000], lines[1001]], ['a0', 'a1000', 'more a0']);
  await tree.more('tree', 'a0');
  await tree.more('tree', 'a0');
  lines = shown(tree.lines(true), 'tree');
  assert.deepEqual(lines.slice(2499), ['a2499', ' b0', ' c0'], 'the run ends where the branches begin');
  assert.equal(new Set(lines).size, lines.length);
  const before = asked.length;
  await tree.open('a0');
  assert.equal(asked.length, before, 'an open run is not requested again');
  await tree.open('c0');
  assert.deepEqual(shown(tree.lines(true), 'tree').slice(-2), [' c0', ' c1']);
});

test('runs of a session with many branches come in pages', async () => {
  const entries = chain('a', null, 2);
  for (let i = 0; i < 2100; i++) {
    entries.push(...chain(`b${String(i).padStart(4, '0')}-`, 'a1', 1));
  }
  const { tree } = served(entries, 'a1');
  await tree.load();
  assert.deepEqual(shown(tree.lines(false), 'tree').slice(-2), [' b0998-0', 'more']);
  await tree.more('tree', '');
  await tree.more('tree', '');
  await tree.more('tree', '');
  const lines = shown(tree.lines(false), 'tree');
  assert.deepEqual([lines.length, lines.at(-1)], [2101, ' b2099-0']);
});

test('a search of a large session continues until it finds something, and only the newest counts', async () => {
  const { asked, tree } = served(chain('a', null, 3000), 'a2999');
  await tree.load();
  const slow = tree.find('a2');
  await tree.find('a2990');
  await slow;
  assert.deepEqual(shown(tree.lines(false), 'found'), ['a2990']);
  await tree.find('a4');
  assert.deepEqual(shown(tree.lines(false), 'found'), ['a4'], 'it was in an earlier part');
  assert.deepEqual(asked.at(-1)?.args, { query: 'a4', limit: 200, cursor: 'rest' });
  await tree.find('');
  assert.deepEqual(shown(tree.lines(false), 'found'), []);
});
