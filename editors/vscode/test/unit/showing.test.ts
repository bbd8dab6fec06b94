import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import type * as vscode from 'vscode';

import { secretsText } from '../../src/palette/outcomes';
import { Server } from '../../src/server/server';
import { canShow, isTranscript } from '../../src/server/showing';
import { ownSettings, serverSettings } from '../../src/settings';
import { wireVersion } from '../../src/wire.gen';
// @ts-expect-error a script without types
import recorder from './recorder.cjs';

type Shown = { uri: string; external?: boolean; takeFocus?: boolean };

interface Recorder {
  values: Record<string, unknown>;
  server: {
    options: {
      middleware: {
        window: { showDocument(params: Shown, token: undefined, next: (params: Shown) => unknown): unknown };
      };
    };
  };
}

test('a page opens only where the browser can reach it', () => {
  const page = { uri: 'file:///w/a.html', external: true };
  assert.equal(canShow(page, undefined, false), true);
  assert.equal(canShow(page, 'ssh-remote', false), false);
  assert.equal(canShow(page, undefined, true), false);
  assert.equal(canShow({ ...page, uri: 'FILE:///w/a.html' }, 'wsl', false), false);
  for (const other of [
    { uri: 'https://example.com/', external: true },
    { uri: page.uri, external: false },
    { uri: page.uri },
  ]) {
    assert.equal(canShow(other, 'ssh-remote', true), true);
  }
});

test('the editor opens an exported page without giving it the focus, and answers if it cannot', async () => {
  const { values, server } = recorder as Recorder;
  const dir = mkdtempSync(join(tmpdir(), 'xcsh-extension-'));
  mkdirSync(join(dir, 'bin'));
  writeFileSync(join(dir, 'bin', process.platform === 'win32' ? 'xcsh-ls.exe' : 'xcsh-ls'), '', { mode: 0o755 });
  values['new LanguageClient.initializeResult'] = {
    serverInfo: { name: 'xcsh-ls', version: '1.2.3' },
    capabilities: { experimental: { xcsh: { wireVersion } } },
  };
  Object.assign(values, { 'UIKind.Web': 2, 'env.uiKind': 1, 'env.remoteName': undefined });
  try {
    const output = { info: () => undefined, error: () => undefined } as unknown as vscode.LogOutputChannel;
    const running = new Server(dir, output, { get: () => undefined });
    await running.ready();
    const { showDocument } = server.options.middleware.window;
    const shown: Shown[] = [];
    const show = (uri: string) =>
      showDocument({ uri, external: true }, undefined, (params) => {
        shown.push(params);
        return { success: true };
      });
    assert.deepEqual(show('file:///w/a.html'), { success: true });
    assert.deepEqual(shown, [{ uri: 'file:///w/a.html', external: true, takeFocus: false }]);
    values['env.remoteName'] = 'ssh-remote';
    assert.deepEqual(show('file:///w/b.html'), { success: false });
    values['env.remoteName'] = undefined;
    values['env.uiKind'] = 2;
    assert.deepEqual(show('file:///w/c.html'), { success: false });
    assert.equal(shown.length, 1);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('only the transcripts that the server makes are shown as rendered Markdown', () => {
  assert.equal(isTranscript({ uri: 'xcsh:/home/you/s.jsonl.md' }), true);
  for (const uri of ['file:///w/README.md', 'xcsh:/home/you/s.jsonl', 'https://example.com/xcsh:/a.md']) {
    assert.equal(isTranscript({ uri }), false, uri);
  }
});

test('exports open and redact unless a setting says otherwise', () => {
  const reader = (values: Record<string, unknown>) => ({ get: (name: string) => values[name] });
  assert.equal(serverSettings(reader({}), true).export, undefined);
  assert.deepEqual(serverSettings(reader({ 'export.open': false }), true).export, { open: false });
  assert.equal(serverSettings(reader({ 'export.open': 'no' }), true).export, undefined);
  assert.equal(ownSettings(reader({})).redactExports, true);
  assert.equal(ownSettings(reader({ 'export.redact': false })).redactExports, false);
  assert.equal(ownSettings(reader({ 'export.redact': 0 })).redactExports, true);
});

test('the message about an export names the kinds of secrets', () => {
  assert.equal(secretsText({ github: 2, named: 1, aws: 0 }), 'github 2, named 1');
  assert.equal(secretsText({}), '');
  assert.equal(secretsText(undefined), '');
});
