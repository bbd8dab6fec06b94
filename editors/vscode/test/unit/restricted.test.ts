import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { test } from 'node:test';

import type * as vscode from 'vscode';

import { Server } from '../../src/server/server';
import { installedExtension } from './installed';
// @ts-expect-error a script without types
import recorder from './recorder.cjs';

interface Recorder {
  values: Record<string, unknown>;
  server: {
    notifications: string[];
    options: {
      initializationOptions: { restricted: boolean };
      middleware: { workspace: { configuration(params: object): { restricted: boolean }[] } };
    };
  };
}

test('the server is restricted until the user trusts the workspace', async () => {
  const { values, server } = recorder as Recorder;
  const dir = installedExtension(values);
  values['workspace.isTrusted'] = false;
  try {
    const output = { info: () => undefined, error: () => undefined } as unknown as vscode.LogOutputChannel;
    const running = new Server(dir, output, { get: () => undefined });
    await running.settingsChanged();
    assert.deepEqual(server.notifications, [], 'the server is not running yet');
    await running.ready();
    const section = () => server.options.middleware.workspace.configuration({ items: [{ section: 'xcshLs' }] });
    assert.equal(server.options.initializationOptions.restricted, true);
    assert.equal(section()[0]?.restricted, true);

    values['workspace.isTrusted'] = true;
    await running.settingsChanged();
    assert.deepEqual(server.notifications, ['workspace/didChangeConfiguration']);
    assert.equal(section()[0]?.restricted, false);
  } finally {
    values['workspace.isTrusted'] = true;
    rmSync(dir, { recursive: true });
  }
});
