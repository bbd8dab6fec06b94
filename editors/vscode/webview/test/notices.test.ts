// Notices disappear with their causes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { applyEvent, noticed } from '../src/state/live';
import { emptyView, initialState } from '../src/state/model';
import type { Cause, ChatState, View } from '../src/state/model';
import { reduce } from '../src/state/reduce';
import { readyOf } from '../src/state/wire';
import type { Snapshot } from '../src/state/wire';

const shown = (v: View) => v.notices.map((n) => n.text);
const with_ = (...causes: Cause[]): View =>
  causes.reduce<View>((v, cause) => noticed(v, 'error', cause, [], cause), emptyView);
const after = (v: View, ...events: object[]): View => events.reduce<View>((w, e) => applyEvent(w, { ...e }), v);
const answer = (more: object = {}) => ({
  type: 'message_end',
  entryId: 'e1',
  message: { role: 'assistant', content: [], stopReason: 'stop', ...more },
});

test('a failure of a turn is gone when the next turn begins, and after an answer', () => {
  const failed = with_('turn', 'model', 'saving', 'server');
  assert.deepEqual(shown(after(failed, { type: 'agent_start' })), ['saving', 'server']);
  assert.deepEqual(shown(after(failed, answer())), ['saving', 'server']);
  const again = answer({ stopReason: 'error', errorMessage: 'Overloaded.' });
  assert.deepEqual(shown(after(failed, again)), shown(failed), 'it failed again');
  assert.deepEqual(shown(after(failed, { type: 'error', errorMessage: 'x' }, { type: 'agent_start' })), [
    'saving',
    'server',
  ]);
});

test('information stays for the turn that it is about', () => {
  const told = after(emptyView, { type: 'notice', text: 'Using X.' });
  const first = after(told, { type: 'agent_start' }, answer(), { type: 'agent_end', stopReason: 'stop' });
  assert.deepEqual(shown(first), ['Using X.']);
  assert.deepEqual(shown(after(first, { type: 'agent_start' })), []);
});

test('a notice about a model is gone when one is chosen or ready', () => {
  assert.deepEqual(
    shown(after({ ...with_('model'), session: { model: null } as never }, { type: 'model_changed', model: {} })),
    [],
  );
  const state: ChatState = { view: with_('model', 'saving'), sync: { ...initialState.sync, sessionId: 's' } };
  const ready = (ok: boolean, sessionId = 's') => reduce(state, { type: 'ready', sessionId, ready: { ok } }).view;
  assert.deepEqual(shown(ready(true)), ['saving']);
  assert.deepEqual(shown(ready(false)), ['model', 'saving']);
  assert.deepEqual(ready(false, 'other').ready, emptyView.ready, 'of another session');
});

test('a notice about compaction, the engine, or the server is gone when that works', () => {
  const v = with_('compaction', 'engine', 'server', 'turn');
  assert.deepEqual(shown(after(v, { type: 'auto_compaction_start' })), ['engine', 'server', 'turn']);
  assert.deepEqual(shown(after(v, { type: 'engine_changed', engine: 'pi', state: 'ready' })), [
    'compaction',
    'server',
    'turn',
  ]);
  const stopped: ChatState = { view: v, sync: { ...initialState.sync, server: 'stopped' } };
  const running = reduce(stopped, { type: 'server', state: 'running', message: '' });
  assert.deepEqual(shown(running.view), ['compaction', 'engine', 'turn']);
});

test('a snapshot of the same session keeps only notices that have a cause', () => {
  const session = { sessionId: 's', usage: {} };
  const before: ChatState = {
    view: { ...with_('model', 'saving', 'compaction'), session: session as never },
    sync: { ...initialState.sync, server: 'running', sessionId: 's', asked: 1 },
  };
  const joined = (state: object) =>
    reduce(before, {
      type: 'snapshot',
      ask: 1,
      snapshot: { state: { ...session, ...state }, messages: [], contextUsage: {}, seq: 1 } as unknown as Snapshot,
    }).view;
  assert.deepEqual(shown(joined({ ready: { ok: true } })), ['compaction']);
  const broken = joined({ ready: { ok: false, reason: 'noKey', provider: 'a' }, unsaved: 'No space' });
  assert.deepEqual(shown(broken), ['model', 'saving', 'compaction']);
  assert.deepEqual(broken.ready, { ok: false, reason: 'noKey', provider: 'a', message: '' });
});

test('the same notice is not shown twice', () => {
  const twice = noticed(noticed(emptyView, 'error', 'a'), 'error', 'a');
  assert.deepEqual(shown(twice), ['a']);
});

test('a model is ready unless the server says otherwise', () => {
  for (const v of [undefined, null, {}, { ok: true, reason: 'noKey' }, 'no', { ok: 0 }])
    assert.equal(readyOf(v).ok, true);
  assert.equal(readyOf({ ok: false, reason: 5 }).reason, '');
});
