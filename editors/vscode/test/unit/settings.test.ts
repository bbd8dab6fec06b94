import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ownSettings, serverSettings, type SettingsReader } from '../../src/settings';

const reader = (values: Record<string, unknown>): SettingsReader => ({ get: (name) => values[name] });

test('what is not set is left to the server', () => {
  const empty = {
    agentDir: '',
    sessionDir: '',
    roots: [],
    persist: true,
    showResumeSummary: true,
    'history.enabled': true,
    model: '',
    thinkingLevel: '',
    approval: '',
  };
  assert.deepEqual(serverSettings(reader(empty)), { ui: { pick: true, hooks: true } });
});

test('what is set goes to the server, and nothing of the extension', () => {
  const set = {
    model: 'offline/demo',
    approval: 'yolo',
    persist: false,
    showResumeSummary: false,
    roots: ['/a'],
    'history.enabled': false,
    'server.path': '/x',
    'terminal.program': 'pi',
  };
  assert.deepEqual(serverSettings(reader(set)), {
    model: 'offline/demo',
    approval: 'yolo',
    persist: false,
    showResumeSummary: false,
    roots: ['/a'],
    history: { enabled: false },
    ui: { pick: true, hooks: true },
  });
});

test('a setting of the wrong type is the default', () => {
  const own = ownSettings(
    reader({ 'server.path': 7, 'dump.to': 'moon', 'export.format': null, 'statusBar.visible': 'no' }),
  );
  assert.deepEqual(own, {
    serverPath: '',
    logLevel: 'info',
    allFolders: false,
    exportFormat: 'html',
    redactExports: false,
    dumpTo: 'ask',
    terminalProgram: 'xcsh',
    statusBar: true,
  });
});
