import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fromPage, toPage } from '../../src/chat/messages';
import { Reader, type ReadSession } from '../../src/chat/reader';

const session: ReadSession = {
  info: { path: '/s/a.jsonl', id: 'a1', name: 'Fix the parser', cwd: '/other', lockedBy: 'pid 7 on vm' },
  cwd: '/work',
  state: 'locked',
};

function reader(result: unknown) {
  const asked: [string, object][] = [];
  const it = new Reader<undefined>(session, (command, args) => {
    asked.push([command, args]);
    return Promise.resolve(result);
  });
  return { it, asked };
}

const message = (entryId: string) => ({ entryId, message: { role: 'user', content: entryId } });

test('a page that reads a session gets a snapshot of its newest messages, in which nothing runs', async () => {
  const older = { cursor: 'c', count: 40 };
  const { it, asked } = reader({ messages: [message('e1'), message('e2')], older, total: 42 });
  const snapshot = (await it.answer('xcsh.snapshot', { cwd: '/work', last: 2, history: true }, undefined)) as {
    state: Record<string, unknown>;
    [member: string]: unknown;
  };
  assert.deepEqual(asked, [['xcsh.messages', { limit: 2, history: true, cwd: '/work', source: '/s/a.jsonl' }]]);
  assert.deepEqual(snapshot['messages'], [message('e1'), message('e2')]);
  assert.deepEqual(snapshot['older'], older);
  assert.deepEqual(
    ['sessionId', 'title', 'file', 'leafId', 'isStreaming', 'messageCount'].map((name) => snapshot.state[name]),
    ['a1', 'Fix the parser', '/s/a.jsonl', 'e2', false, 42],
  );
});

test('pages and searches are those of its file, whatever the page asks for', async () => {
  const { it, asked } = reader({ messages: [], total: 0 });
  await it.answer('xcsh.messages', { query: 'x', source: '/etc/passwd', cwd: '/elsewhere' }, undefined);
  assert.deepEqual(asked, [['xcsh.messages', { query: 'x', source: '/s/a.jsonl', cwd: '/work' }]]);
});

test('a page that reads a session can run nothing else', async () => {
  const { it, asked } = reader({});
  for (const command of ['xcsh.prompt', 'xcsh.bash', 'xcsh.branch', 'xcsh.rename', 'xcsh.state'] as const) {
    await assert.rejects(() => it.answer(command, { text: 'x' }, undefined), /only read/);
  }
  assert.deepEqual(asked, []);
});

test('the messages about such a session are checked', () => {
  const reading = reader({}).it.reading('panel');
  assert.deepEqual(reading, {
    path: '/s/a.jsonl',
    name: 'Fix the parser',
    place: 'panel',
    state: 'locked',
    by: 'pid 7 on vm',
  });
  const init = {
    kind: 'init',
    server: 'running',
    folders: [],
    cwd: '/work',
    commands: [],
    trusted: true,
    texts: {},
    kept: null,
    now: 1,
  };
  assert.ok(toPage({ ...init, reading }));
  assert.ok(toPage(init));
  assert.equal(toPage({ ...init, reading: { ...reading, state: 'mine' } }), undefined);
  assert.equal(toPage({ ...init, reading: null }), undefined);
  assert.ok(toPage({ kind: 'reading', reading, trusted: true }));
  assert.equal(toPage({ kind: 'reading', reading: {}, trusted: true }), undefined);
  assert.ok(toPage({ kind: 'reveal', entryId: 'e1', words: ['a'] }));
  assert.equal(toPage({ kind: 'reveal', entryId: 'e1', words: [1] }), undefined);
  assert.ok(fromPage({ kind: 'reading', action: 'continue' }));
  assert.equal(fromPage({ kind: 'reading', action: 'delete' }), undefined);
});
