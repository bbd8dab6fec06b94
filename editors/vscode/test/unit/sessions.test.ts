import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  badges,
  entryLines,
  partition,
  sessionDetail,
  sessionIcon,
  shortCount,
  type Words,
} from '../../src/palette/items';
import {
  byFolder,
  contextValue,
  daysBetween,
  folderTree,
  lineage,
  nameRanges,
  searchTree,
  sessionsOf,
  trashNode,
  type Node,
} from '../../src/sessions/model';
import type { SessionInfo, TreeNode } from '../../src/wire.gen';

const words: Words = {
  live: 'live',
  fork: 'fork',
  runningIn: (by) => `by ${by}`,
  damaged: (n) => `${n} damaged`,
  branches: (n) => `${n} branches`,
  messages: (n) => `${n} messages`,
  inMemory: 'in memory',
};

function info(id: string, more: Partial<SessionInfo> = {}): SessionInfo {
  return {
    id,
    path: `/s/${id}.jsonl`,
    cwd: '/work',
    name: id,
    firstMessage: '',
    messageCount: 2,
    created: '2026-11-20T10:00:00.000Z',
    modified: '2026-11-20T12:00:00.000Z',
    timeAgo: '1 day ago',
    size: 100,
    entries: 3,
    branches: 1,
    damagedLines: 0,
    live: false,
    origin: 'xcsh',
    ...more,
  };
}

/** A tree as indented names. */
function drawn(nodes: readonly Node[], indent = ''): string[] {
  return nodes.flatMap((node) => {
    const name =
      node.kind === 'session'
        ? node.info.id
        : node.kind === 'folder'
          ? node.name
          : node.kind === 'time'
            ? node.span === 'day'
              ? node.day.toDateString()
              : `${node.span} ${node.ago}`
            : node.kind === 'match'
              ? node.snippet.text
              : node.kind;
    return [indent + name, ...(node.kind === 'more' ? [] : drawn(node.children, indent + '  '))];
  });
}

const now = new Date('2026-11-21T18:00:00');

test('a single folder is grouped by day, then by week, then by month, newest first', () => {
  const at = (id: string, day: string) => info(id, { modified: `${day}T12:00:00` });
  const sessions = [
    at('new', '2026-11-21'),
    at('six', '2026-11-15'),
    at('too', '2026-11-21'),
    at('seven', '2026-11-14'),
    at('thirteen', '2026-11-08'),
    at('fourteen', '2026-11-07'),
    at('month', '2026-10-24'),
    at('october', '2026-10-01'),
    at('last year', '2025-11-21'),
  ];
  const tree = folderTree([{ cwd: '/work', name: 'work', sessions, nextCursor: 'c' }], ['/work'], now);
  assert.deepEqual(drawn(tree), [
    'Sat Nov 21 2026',
    '  new',
    '  too',
    'Sun Nov 15 2026',
    '  six',
    'week 1',
    '  seven',
    '  thirteen',
    'week 2',
    '  fourteen',
    'month 1',
    '  month',
    '  october',
    'month 12',
    '  last year',
    'more',
  ]);
});

test('several folders are listed separately, without empty ones', () => {
  const tree = folderTree(
    [
      { cwd: '/a', name: 'a', sessions: [info('x', { modified: '2026-11-21T12:00:00' })] },
      { cwd: '/b', name: 'b', sessions: [] },
    ],
    ['/a', '/b'],
    now,
  );
  assert.deepEqual(drawn(tree), ['a', '  Sat Nov 21 2026', '    x']);
});

test('forks are listed below their parent, by ID or path, under its day', () => {
  const root = info('root', { modified: '2026-11-01T12:00:00' });
  const byId = info('by-id', { parentSession: 'root', modified: '2026-11-21T12:00:00' });
  const byPath = info('by-path', { parentSession: '/s/by-id.jsonl', modified: '2026-11-02T12:00:00' });
  const orphan = info('orphan', { parentSession: 'gone', modified: '2026-11-01T12:00:00' });
  const tree = folderTree([{ cwd: '/work', name: 'work', sessions: [byId, byPath, root, orphan] }], [], now);
  assert.deepEqual(drawn(tree), ['Sat Nov 21 2026', '  root', '    by-id', '      by-path', 'week 2', '  orphan']);
});

test('sessions with circular parents are shown once', () => {
  const circle = [
    info('a', { parentSession: 'b' }),
    info('b', { parentSession: 'c' }),
    info('c', { parentSession: 'a' }),
    info('d', { parentSession: 'd' }),
  ];
  const ids = drawn(lineage(circle, [])).map((line) => line.trim());
  assert.deepEqual(ids.sort(), ['a', 'b', 'c', 'd']);
});

test('sessions of all folders: those of the window first, even if empty', () => {
  const groups = byFolder(
    [info('x', { cwd: '/other' }), info('y', { cwd: '/work/' }), info('z', { cwd: '' })],
    [{ cwd: '/work', name: 'work' }],
    (cwd) => `<${cwd}>`,
  );
  assert.deepEqual(
    groups.map(({ name, sessions }) => [name, sessions.map((s) => s.id)]),
    [
      ['work', ['y']],
      ['</other>', ['x']],
      ['<>', ['z']],
    ],
  );
});

test("search results keep the server's order, and similar ones are at the end", () => {
  assert.deepEqual(drawn(searchTree([info('b'), info('a', { parentSession: 'b' })], [])), ['b', 'a']);
  assert.deepEqual(drawn(searchTree([info('x', { match: 'fuzzy' }), info('y', { match: 'exact' })], [])), [
    'y',
    'similar',
    '  x',
  ]);
});

test('a search result shows the text that was found and names its message', () => {
  const found = (name: string, text: string, ranges: number[][], more: Partial<SessionInfo> = {}) =>
    info('a', { name, match: 'exact', snippet: { text, ranges }, entryId: 'e7', ...more });
  const [said] = searchTree(
    [
      found('Bug hunt', '…the Parser and the parser', [
        [5, 11],
        [20, 26],
      ]),
    ],
    [],
  );
  assert.ok(said?.kind === 'session' && said.children[0]?.kind === 'match');
  assert.deepEqual(said.spot, { entryId: 'e7', words: ['parser'] });
  assert.deepEqual(said.children[0].spot, said.spot);
  // The name shows it.
  const named = found('Fix the parser', 'Fix the parser', [[8, 14]]);
  assert.deepEqual(drawn(searchTree([named], [])), ['a']);
  assert.deepEqual(nameRanges(named), [[8, 14]]);
  // A part of it is behind the end of the name.
  const cut = found('Fix the par...', 'Fix the parser', [[8, 14]]);
  assert.deepEqual(drawn(searchTree([cut], [])), ['a', '  Fix the parser']);
  assert.deepEqual(nameRanges(cut), []);
  const similar = found(
    'x',
    'the prser',
    [
      [4, 5],
      [5, 9],
    ],
    { match: 'fuzzy' },
  );
  const [group] = searchTree([similar], []);
  assert.ok(group?.kind === 'similar');
  assert.deepEqual(group.children[0]?.spot, { entryId: 'e7', words: [] });
});

test('menu conditions depend on the folder and the owner of a session', () => {
  const [here] = searchTree([info('a', { live: true, lockedBy: 'pid 1' })], ['/work']);
  const [elsewhere] = searchTree([info('a', { lockedBy: 'pid 2' })], ['/home']);
  assert.equal(here?.kind === 'session' && contextValue(here), 'session here live');
  assert.equal(elsewhere?.kind === 'session' && contextValue(elsewhere), 'session elsewhere locked');
});

test('sessions are grouped by calendar day', () => {
  assert.equal(daysBetween(new Date('2026-11-20T23:59:00'), new Date('2026-11-21T00:01:00')), 1);
  assert.equal(daysBetween(new Date('2026-11-21T00:01:00'), new Date('2026-11-21T23:59:00')), 0);
  assert.equal(daysBetween(new Date('2026-03-01T12:00:00'), new Date('2026-04-01T12:00:00')), 31);
});

test('badges show only unusual states', () => {
  assert.deepEqual(badges(info('a'), words), []);
  assert.deepEqual(
    badges(
      info('a', { live: true, lockedBy: 'pid 1', parentSession: 'x', branches: 3, damagedLines: 2, origin: 'pi' }),
      words,
    ),
    ['live', 'fork', '3 branches', '2 damaged', 'pi'],
  );
  assert.deepEqual(badges(info('a', { lockedBy: 'pid 9 on h' }), words), ['by pid 9 on h']);
  assert.equal(sessionIcon(info('a', { damagedLines: 1, live: true })), 'warning');
});

test('the first prompt is omitted if the name was generated from it', () => {
  assert.equal(sessionDetail(info('a', { name: 'fix the bug', firstMessage: 'fix the bug' })), undefined);
  assert.equal(sessionDetail(info('a', { name: 'Bug hunt', firstMessage: ' fix\nthe bug ' })), 'fix the bug');
  assert.equal(sessionDetail(info('a', { name: 'x', firstMessage: '' })), undefined);
});

test('sessions are split by folder, in order', () => {
  const { here, elsewhere } = partition(
    [info('a', { cwd: '/x' }), info('b', { cwd: '/work/' }), info('c', { cwd: '' })],
    '/work',
  );
  assert.deepEqual([here.map((i) => i.id), elsewhere.map((i) => i.id)], [['b', 'c'], ['a']]);
});

test('entries: prompts and labels, indented at branches, with the current branch marked', () => {
  const node = (id: string, parentId: string | null, role?: string, label?: string): TreeNode => ({
    id,
    parentId,
    type: 'message',
    role,
    label,
    preview: id,
    timestamp: '',
  });
  const nodes = [
    node('p1', null, 'user'),
    node('a1', 'p1', 'assistant'),
    node('p2', 'a1', 'user'),
    node('a2', 'p2', 'assistant', 'mark'),
    node('p3', 'a1', 'user'),
  ];
  const lines = entryLines(nodes, 'p3', false);
  assert.deepEqual(
    lines.map((l) => [l.node.id, l.depth, l.current]),
    [
      ['p1', 0, true],
      ['p2', 1, false],
      ['a2', 1, false],
      ['p3', 1, true],
    ],
  );
  assert.equal(entryLines(nodes, null, true).length, 5);
});

test('token counts are abbreviated', () => {
  assert.deepEqual([950, 1500, 200_000, 1_000_000, 1_250_000].map(shortCount), ['950', '1.5k', '200k', '1M', '1.3M']);
});

test('the trash lists deleted sessions once, those deleted last first', () => {
  const deleted = (trashed: string, trashedAt: string) => ({
    trashed,
    path: '',
    file: '',
    cwd: '/work',
    name: '',
    trashedAt,
  });
  const [a, b] = [deleted('/t/a', '2026-11-01T00:00:00.000Z'), deleted('/t/b', '2026-11-02T00:00:00.000Z')];
  assert.equal(trashNode([]), undefined);
  const node = trashNode([a, b, a]);
  assert.deepEqual(
    node?.children.map(({ session }) => session),
    [b, a],
  );
  assert.deepEqual([...sessionsOf([node!])], [], 'they are no sessions to open');
});

test('all sessions of a tree are found, whatever group they are in', () => {
  const sessions = [info('a'), info('b', { parentSession: 'a' }), info('c', { modified: '2026-01-01T00:00:00.000Z' })];
  const nodes = folderTree([{ cwd: '/work', name: 'work', sessions, nextCursor: '3' }], ['/work']);
  assert.deepEqual(
    [...sessionsOf(nodes)].map((node) => node.info.id),
    ['a', 'b', 'c'],
  );
});
