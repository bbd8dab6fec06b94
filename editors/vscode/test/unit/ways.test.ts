import assert from 'node:assert/strict';
import { test } from 'node:test';

import { actionArgs, fromPage } from '../../src/chat/messages';
import { reasonOf, waysOf } from '../../src/chat/ways';

const service = (id: string, more: object = {}) => ({
  id,
  name: id.toUpperCase(),
  kind: 'service',
  ready: false,
  ...more,
});
const providers = {
  providers: [
    { id: 'ollama', name: 'Ollama', kind: 'local', ready: true, models: 2, default: '' },
    { id: 'vllm', name: 'vLLM', kind: 'local', ready: false, models: 0 },
    service('b', { ready: true, models: 9, default: 'b/large' }),
    ...['c', 'd', 'e', 'f', 'g'].map((id) => service(id)),
    { id: 'offline', name: 'Offline', kind: 'demo', ready: true, models: 1, default: 'offline/demo' },
  ],
};
const engines = {
  engines: [
    { name: 'own', usable: true },
    { name: 'pi', version: '1.5', usable: true },
    { name: 'omp', usable: false },
  ],
};
const short = (list: ReturnType<typeof waysOf>) =>
  list.map(
    (way) => `${way.kind} ${way.kind === 'engine' ? way.engine : way.kind === 'demo' ? way.model : way.provider}`,
  );

test('the ways are what can be used, then what needs a key, then the demo', () => {
  const expected = ['engine pi', 'local ollama', 'ready b', 'key c', 'key d', 'key e', 'key f', 'demo offline/demo'];
  assert.deepEqual(short(waysOf(providers, engines)), expected);
  const keyFirst = ['key g', 'engine pi', 'local ollama', 'ready b', 'key c', 'key d', 'key e', 'demo offline/demo'];
  assert.deepEqual(short(waysOf(providers, engines, 'g')), keyFirst);
  assert.deepEqual(short(waysOf(providers, undefined))[0], 'local ollama', 'without engines');
});

test('an answer in another shape offers nothing', () => {
  for (const odd of [
    undefined,
    null,
    'x',
    [],
    { providers: {} },
    { providers: [null, 'x', { id: 5, kind: 'service' }] },
  ])
    assert.deepEqual(waysOf(odd, odd), []);
  const long = waysOf({ providers: [service('a', { name: 'N'.repeat(9999) }), service('x'.repeat(999))] }, {});
  assert.equal(long.length, 1);
  assert.ok(long[0]!.kind === 'key' && long[0]!.name.length <= 60);
});

test('only a refusal for want of a model opens the ways', () => {
  for (const reason of ['noModel', 'noKey', 'unknownModel'])
    assert.equal(reasonOf({ kind: 'provider', data: { reason } }), reason);
  for (const error of [
    { kind: 'provider' },
    { kind: 'provider', data: { reason: 'overloaded' } },
    { kind: 'busy', data: { reason: 'noModel' } },
    { kind: 'provider', data: [] },
  ])
    assert.equal(reasonOf(error), undefined);
});

test('a page can ask for a key of a provider, but it can neither choose nor remove one', () => {
  const act = (args: object) => fromPage({ kind: 'act', command: 'xcsh.setKey', args });
  assert.ok(act({ provider: 'anthropic' }));
  assert.deepEqual(actionArgs('xcsh.setKey', { provider: 'a', key: 'theirs', remove: true, cwd: '/x' }), {
    provider: 'a',
  });
  assert.deepEqual(actionArgs('xcsh.setKey', { provider: { toString: 'a' } }), {});
  assert.deepEqual(actionArgs('xcsh.setModel', { model: 'a/b' }), { model: 'a/b' });
});
