import assert from 'node:assert/strict';
import { test } from 'node:test';

import { LateStates, pendingOf, type LateState, type Reports } from '../../src/late';
import { Restorer } from '../../src/chat/restore';
import type { SessionState } from '../../src/wire.gen';

type Listener = (params: unknown) => void;

/** The notifications of a server that the test plays. */
function played() {
  const listeners: Record<string, Listener> = {};
  const add = (name: string, listener: Listener) => {
    listeners[name] = listener;
    return { dispose: () => {} };
  };
  const reports = {
    onNotification: (method: string, listener: Listener) => add(method, listener),
    onDidChangeStatus: (listener: Listener) => add('status', listener),
  } as unknown as Reports;
  return { late: new LateStates(reports), listeners };
}

const read = (cwd: string, sessionId: string): LateState => ({
  cwd,
  sessionId,
  state: { sessionId } as SessionState,
  repairs: [],
});

test('the values of a session that was shown early arrive, before or after the result of the command', async () => {
  const { late, listeners } = played();
  const after = late.whenRead('/w', 's');
  listeners['xcsh/sessionState']?.(read('/other', 's'));
  listeners['xcsh/sessionState']?.(read('/w', 's'));
  assert.equal((await after)?.sessionId, 's');
  assert.equal((await late.whenRead('/w', 's'))?.sessionId, 's');
});

test('a session that could not be read, or was left, is not waited for', async () => {
  const { late, listeners } = played();
  const failed = late.whenRead('/w', 's');
  listeners['xcsh/sessionChanged']?.({ cwd: '/w', sessionId: 's', reason: 'reload' });
  listeners['xcsh/sessionChanged']?.({ cwd: '/w', sessionId: 'before', reason: 'resume' });
  assert.equal(await failed, undefined);
  const stopped = late.whenRead('/w', 's');
  listeners['status']?.({ kind: 'stopped' });
  assert.equal(await stopped, undefined);
  listeners['xcsh/sessionState']?.(read('/w', 's'));
  listeners['status']?.({ kind: 'stopped' });
  const again = late.whenRead('/w', 's');
  listeners['xcsh/sessionState']?.(read('/w', 's'));
  assert.equal((await again)?.sessionId, 's', 'the state of the earlier server does not count');
});

test('pending values are names; anything else is none', () => {
  assert.deepEqual(pendingOf({ pending: ['usage', 7] }), ['usage']);
  for (const value of [undefined, null, {}, { pending: null }, { pending: 'usage' }]) {
    assert.deepEqual(pendingOf(value), []);
  }
});

test('a session that is still being read is not replaced by the remembered one', async () => {
  const asked: string[] = [];
  const memory = { get: () => '/old.jsonl', update: () => Promise.resolve() };
  const state = { file: '/new.jsonl', messageCount: null, isStreaming: false, pending: ['messageCount', 'usage'] };
  const run = (command: string) => {
    asked.push(command);
    return Promise.resolve(state);
  };
  await new Restorer(memory, run as unknown as ConstructorParameters<typeof Restorer>[1], () => {}).restore('/w');
  assert.deepEqual(asked, ['xcsh.state']);
});
