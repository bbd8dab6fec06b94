import assert from 'node:assert/strict';
import { readFileSync, rmSync } from 'node:fs';
import { test } from 'node:test';

import type * as vscode from 'vscode';

import { Client, withoutObjects } from '../../src/server/client';
import { Server } from '../../src/server/server';
import { installedExtension } from './installed';
// @ts-expect-error a script without types
import recorder from './recorder.cjs';

interface Recorder {
  values: Record<string, unknown>;
  server: {
    sent: { method: string; params: unknown }[];
    handlers: Record<string, (params: unknown) => Promise<unknown>>;
    options: { initializationOptions: { keyProviders: string[] } };
  };
}

test('the server gets a key when it asks, and none in an untrusted workspace; no log has it', async () => {
  const { values, server } = recorder as Recorder;
  const dir = installedExtension(values);
  const logged: unknown[] = [];
  const log = (...args: unknown[]) => void logged.push(...args);
  const output = { info: log, warn: log, error: log } as unknown as vscode.LogOutputChannel;
  const running = new Server(dir, output, { get: () => undefined });
  const saved = new Map([['anthropic', 'sk-secret']]);
  const keys = {
    providers: ['anthropic'],
    get: (provider: string) => Promise.resolve(saved.get(provider)),
    check: () => Promise.resolve(),
  };
  running.keys = keys;
  const asked = (provider: unknown) => server.handlers['xcsh/key']!({ provider });
  try {
    values['workspace.isTrusted'] = false;
    await running.keysChanged();
    assert.deepEqual(server.sent, [], 'the server is not running yet');
    await running.ready();
    assert.deepEqual(server.options.initializationOptions.keyProviders, []);
    assert.deepEqual(await asked('anthropic'), { key: null });

    values['workspace.isTrusted'] = true;
    await running.keysChanged();
    assert.deepEqual(server.sent, [{ method: 'xcsh/keysChanged', params: { providers: ['anthropic'] } }]);
    assert.deepEqual(await asked('anthropic'), { key: 'sk-secret' });
    for (const other of ['openai', '', '__proto__', undefined, 5, {}])
      assert.deepEqual(await asked(other), { key: null });

    saved.clear();
    keys.providers.length = 0;
    await running.keysChanged();
    assert.deepEqual(server.sent.slice(1), [{ method: 'xcsh/keysChanged', params: { providers: [] } }]);
    assert.deepEqual(await asked('anthropic'), { key: null }, 'it is read each time');
    assert.ok(!JSON.stringify([logged, server.sent]).includes('sk-secret'));
  } finally {
    values['workspace.isTrusted'] = true;
    rmSync(dir, { recursive: true });
  }
});

test('the trace of the client library has no data of messages', () => {
  const traced: unknown[][] = [];
  const record = (...args: unknown[]): void => void traced.push(args);
  const library = Object.getPrototypeOf(Client.prototype) as { trace?: (...args: unknown[]) => void };
  library.trace = record;
  const trace = Client.prototype.trace as (...args: unknown[]) => void;
  trace.call({}, "Received request 'xcsh/key - (3)'.", 'Result: {"key":"sk-secret"}');
  assert.deepEqual(traced, [["Received request 'xcsh/key - (3)'."]]);
  // In the format json, whole messages are traced; the library's function for them is private.
  const client: { traceObject(message: object): void } = withoutObjects({ traceObject: record });
  client.traceObject({ params: { key: 'sk-secret' } });
  assert.equal(traced.length, 1);
  const source = readFileSync('node_modules/vscode-languageclient/lib/common/client.js', 'utf8');
  assert.match(source, /this\.traceObject\(messageOrDataObject\)/, 'the library still has it');
});
