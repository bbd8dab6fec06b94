import assert from 'node:assert/strict';
import { test } from 'node:test';

import { KeyStore, keyProblem, maxKey } from '../../src/keys/store';

/** The secret storage and the memory of an editor, which its windows share; memory is read once per window. */
class Machine {
  readonly secrets = new Map<string, string>();
  readonly memory = new Map<string, unknown>();
  private readonly listeners: ((e: { key: string }) => void)[] = [];

  window(): KeyStore {
    const change = (key: string) => this.listeners.forEach((listener) => listener({ key }));
    const remembered = new Map(this.memory);
    return new KeyStore(
      {
        get: (key) => Promise.resolve(this.secrets.get(key)),
        store: (key, value) => {
          this.secrets.set(key, value);
          change(key);
          return Promise.resolve();
        },
        delete: (key) => {
          this.secrets.delete(key);
          change(key);
          return Promise.resolve();
        },
        onDidChange: (listener) => {
          this.listeners.push(listener);
          return { dispose: () => undefined };
        },
      },
      {
        get: <T>(key: string) => remembered.get(key) as T | undefined,
        update: (key, value) => {
          remembered.set(key, value);
          this.memory.set(key, value);
          return Promise.resolve();
        },
      },
    );
  }
}

const settled = (): Promise<void> => new Promise(setImmediate);

test('a key is only in the secret storage; the memory has the name of its provider', async () => {
  const machine = new Machine();
  const keys = machine.window();
  await keys.set('anthropic', 'sk-secret');
  assert.equal(await keys.get('anthropic'), 'sk-secret');
  assert.deepEqual([...machine.memory.values()], [['anthropic']]);
  assert.ok(!JSON.stringify(keys).includes('sk-secret'));
  assert.deepEqual(machine.window().providers, ['anthropic'], 'the next window has it');
  await keys.remove('anthropic');
  assert.equal(await keys.get('anthropic'), undefined);
  assert.deepEqual([...machine.memory.values()], [[]]);
  assert.equal(machine.secrets.size, 0);
});

test('a key of a provider that was never saved is not looked up', async () => {
  const machine = new Machine();
  machine.secrets.set('xcshLs.apiKey.other', 'of somebody else');
  assert.equal(await machine.window().get('other'), undefined);
});

test('another window notices a new, a different, and a removed key', async () => {
  const machine = new Machine();
  const [one, two] = [machine.window(), machine.window()];
  let changes = 0;
  two.onDidChange(() => changes++);
  await one.set('openai', 'a');
  await settled();
  assert.deepEqual([two.providers, await two.get('openai'), changes], [['openai'], 'a', 1]);
  await one.set('openai', 'b');
  await settled();
  assert.deepEqual([await two.get('openai'), changes], ['b', 2]);
  await one.remove('openai');
  await settled();
  assert.deepEqual([two.providers, changes], [[], 3]);
});

test('a key that is gone from the secret storage is not offered', async () => {
  const machine = new Machine();
  await machine.window().set('anthropic', 'a');
  await machine.window().set('openai', 'b');
  machine.secrets.delete('xcshLs.apiKey.anthropic');
  const next = machine.window();
  await next.check();
  assert.deepEqual(next.providers, ['openai']);
});

test('a damaged list of providers is empty', () => {
  const machine = new Machine();
  for (const damaged of [null, 'anthropic', { 0: 'a' }, 5]) {
    machine.memory.set('xcshLs.keyProviders', damaged);
    assert.deepEqual(machine.window().providers, []);
  }
  machine.memory.set('xcshLs.keyProviders', ['a', 7, null]);
  assert.deepEqual(machine.window().providers, ['a']);
});

test('a text with spaces or line breaks is no key, and the answer does not repeat it', () => {
  const t = (text: string): string => text;
  assert.equal(keyProblem('sk-ant-api03_AB.c=', t), '');
  for (const bad of ['', 'two words', 'a\nb', 'ключ', 'a\u0000', 'x'.repeat(maxKey + 1)]) {
    const problem = keyProblem(bad, t);
    assert.notEqual(problem, '', JSON.stringify(bad));
    assert.ok(bad === '' || !problem.includes(bad));
  }
});
