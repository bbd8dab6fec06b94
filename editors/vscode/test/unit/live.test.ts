import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Host } from '../../src/host';
import { LiveStates } from '../../src/native/live';

/** The states of a server whose answers the test gives, in the order of their requests. */
function world() {
  const listeners = new Map<string, (params: object) => void>();
  const answers: ((state: object) => void)[] = [];
  const host = {
    status: { kind: 'running' },
    output: { info: () => undefined },
    onNotification: (method: string, listener: (params: object) => void) => void listeners.set(method, listener),
    onDidChangeStatus: () => undefined,
    request: () => new Promise((done) => answers.push(done)),
  };
  const states = new LiveStates(host as unknown as Host);
  const changed = () => listeners.get('xcsh/sessionChanged')!({ cwd: '/w' });
  const late = (title: string) => listeners.get('xcsh/sessionState')!({ cwd: '/w', state: { title } });
  const answer = async (n: number, title: string) => {
    answers[n]!({ title });
    await new Promise(setImmediate);
  };
  return { changed, late, answer, title: () => states.of('/w')?.title };
}

test('an answer that was overtaken does not replace a newer state', async () => {
  const { changed, late, answer, title } = world();
  changed();
  changed();
  changed();
  await answer(0, 'first');
  assert.equal(title(), 'first');
  await answer(2, 'third');
  await answer(1, 'second');
  assert.equal(title(), 'third');

  changed();
  late('read whole');
  await answer(3, 'partly read');
  assert.equal(title(), 'read whole');
  changed();
  await answer(4, 'renamed');
  assert.equal(title(), 'renamed');
});
