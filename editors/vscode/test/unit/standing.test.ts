import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Standings, type Memory } from '../../src/native/standing';
import type { SessionEvent } from '../../src/wire.gen';

interface World {
  readonly standings: Standings;
  readonly seen: Set<string>;
  readonly ended: string[];
  readonly changed: string[];
}

function memory(): Memory & { kept: Map<string, unknown> } {
  const kept = new Map<string, unknown>();
  return {
    kept,
    get: (key) => kept.get(key),
    update: (key, value) => {
      kept.set(key, value);
      return Promise.resolve();
    },
  };
}

function world(store: Memory = memory()): World {
  const seen = new Set<string>();
  const ended: string[] = [];
  const changed: string[] = [];
  const standings = new Standings(store, {
    sees: (cwd) => seen.has(cwd),
    ended: (_cwd, id, end) => ended.push(`${id} ${end.stopReason}`),
    changed: (ids) => changed.push(...ids),
  });
  return { standings, seen, ended, changed };
}

const start: SessionEvent = { type: 'agent_start' };
const end = (stopReason = 'stop'): SessionEvent => ({ type: 'agent_end', stopReason });
const approvals = (n: number) =>
  ({ type: 'approvals_changed', approvals: Array.from({ length: n }, () => ({})) }) as unknown as SessionEvent;
const question = (id: string) => ({ type: 'question_asked', id, method: 'confirm', title: '?' }) as SessionEvent;

test('a session runs, waits for an approval or an answer, and runs again', () => {
  const { standings, changed } = world();
  const states: unknown[] = [];
  for (const event of [
    start,
    approvals(2),
    approvals(0),
    question('q'),
    { type: 'question_gone', id: 'q' } as SessionEvent,
  ]) {
    standings.follow('/w', 's1', event);
    states.push(standings.of('s1'));
  }
  assert.deepEqual(states, ['running', 'approval', 'running', 'question', 'running']);
  assert.equal(changed.length, 5);
  assert.equal(standings.of('other'), undefined);
});

test('the end of a turn is unread unless it is seen or the user stopped it', () => {
  const { standings, seen, ended } = world();
  standings.follow('/w', 's1', start);
  standings.follow('/w', 's1', end('aborted'));
  seen.add('/w');
  standings.follow('/w', 's1', end());
  assert.equal(standings.of('s1'), undefined);
  assert.deepEqual(ended, []);

  seen.clear();
  standings.follow('/w', 's1', end());
  standings.follow('/v', 's2', end('error'));
  assert.deepEqual([standings.of('s1'), standings.of('s2'), standings.unread], ['unread', 'unread', 2]);
  assert.deepEqual(ended, ['s1 stop', 's2 error']);

  seen.add('/w');
  standings.look();
  assert.deepEqual([standings.of('s1'), standings.of('s2')], [undefined, 'unread']);
  standings.read('s2');
  assert.equal(standings.unread, 0);
});

test('the next turn of a session replaces its mark', () => {
  const { standings } = world();
  standings.follow('/w', 's1', end());
  standings.follow('/w', 's1', start);
  assert.deepEqual([standings.of('s1'), standings.unread], ['running', 0]);
});

test('a mark survives a reload, and is cleared when the session is shown again', () => {
  const store = memory();
  world(store).standings.follow('/w', 's1', end());
  const { standings, seen } = world(store);
  assert.equal(standings.of('s1'), 'unread');
  standings.switched('/w', 'empty'); // the new server begins with an empty session
  seen.add('/w');
  standings.look();
  assert.equal(standings.of('s1'), 'unread');
  standings.switched('/w', 's1');
  assert.equal(standings.of('s1'), undefined);
  assert.equal(world(store).standings.unread, 0);
});

test('another session of the folder, and the end of the server, end a turn', () => {
  const { standings } = world();
  standings.follow('/w', 's1', start);
  standings.follow('/w', 's1', approvals(1));
  standings.switched('/w', 's2');
  assert.equal(standings.of('s1'), undefined);
  standings.follow('/w', 's2', start);
  standings.stopped();
  assert.equal(standings.of('s2'), undefined);
});

test('sessions that do not exist any more lose their marks', () => {
  const { standings } = world();
  standings.follow('/w', 's1', end());
  standings.follow('/w', 's2', end());
  standings.follow('/v', 's3', end());
  standings.prune(new Set(['s3']));
  assert.deepEqual(
    ['s1', 's2', 's3'].map((id) => standings.of(id)),
    [undefined, 'unread', 'unread'],
    's2 is live, and its file may be too new for the list',
  );
});

test('stored values are checked, and the number of marks is bounded', () => {
  const store = memory();
  store.kept.set('xcshLs.sessions.unread', ['a', 1, null]);
  assert.equal(world(store).standings.unread, 1);
  store.kept.set('xcshLs.sessions.unread', 'broken');
  const { standings } = world(store);
  for (let i = 0; i < 300; i++) {
    standings.follow('/w', `s${i}`, end());
  }
  assert.equal(standings.unread, 200);
  assert.equal(standings.of('s299'), 'unread');
});
