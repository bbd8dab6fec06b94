import assert from 'node:assert/strict';
import { test } from 'node:test';

import { senseRequests } from '../../src/senses/requests';
import { machineSettings, ownSettings, serverSettings, userSettings, type SettingsReader } from '../../src/settings';

const reader = (values: Record<string, unknown>): SettingsReader => ({ get: (name) => values[name] });

test('unset settings use the server defaults', () => {
  const empty = {
    agentDir: '',
    sessionDir: '',
    roots: [],
    persist: true,
    showResumeSummary: true,
    rememberModel: true,
    'history.enabled': true,
    'keys.commands': true,
    model: '',
    thinkingLevel: '',
    approval: '',
    retries: null,
    retryLimit: null,
    'cache.maxBytes': null,
    'changes.capture': 'all',
    'changes.exclude': [],
    'changes.required': false,
    'team.service': '',
    'team.url': '',
    'team.passwordCommand': '',
    'team.insecure': false,
    'team.flush': null,
    engine: '',
    engineIdle: null,
    engineExtensions: false,
  };
  assert.deepEqual(serverSettings(reader(empty), true), {
    restricted: false,
    machineScope: true,
    lateValues: true,
    ui: { pick: true, hooks: true, save: true, editor: senseRequests },
  });
});

test("the server's settings are sent, and the extension's are not", () => {
  const set = {
    model: 'offline/demo',
    approval: 'yolo',
    persist: false,
    showResumeSummary: false,
    rememberModel: false,
    retries: 0,
    retryLimit: 90,
    'cache.maxBytes': 0,
    'changes.capture': 'tools',
    'changes.maxFile': 1000,
    'changes.exclude': ['.env*'],
    'changes.required': true,
    'changes.commandLook': null,
    'team.service': 'xcsh',
    'team.passwordCommand': '/usr/local/bin/password',
    'team.insecure': true,
    'team.flush': 20,
    roots: ['/a'],
    engine: { name: 'mine', command: ['/opt/agent'], protocol: 'acp' },
    engineIdle: 30,
    engineExtensions: true,
    'history.enabled': false,
    'keys.commands': false,
    'server.path': '/x',
    'terminal.program': 'pi',
  };
  assert.deepEqual(serverSettings(reader(set), true), {
    model: 'offline/demo',
    approval: 'yolo',
    persist: false,
    showResumeSummary: false,
    rememberModel: false,
    retries: 0,
    retryLimit: 90,
    cache: { maxBytes: 0 },
    changes: { capture: 'tools', maxFile: 1000, exclude: ['.env*'], required: true },
    team: { service: 'xcsh', passwordCommand: '/usr/local/bin/password', insecure: true, flush: 20 },
    roots: ['/a'],
    engine: { name: 'mine', command: ['/opt/agent'], protocol: 'acp' },
    engineIdle: 30,
    engineExtensions: true,
    history: { enabled: false },
    keys: { commands: false },
    restricted: false,
    machineScope: true,
    lateValues: true,
    ui: { pick: true, hooks: true, save: true, editor: senseRequests },
  });
});

test('only the trust in the workspace decides whether the server is restricted', () => {
  assert.equal(serverSettings(reader({ restricted: false }), false).restricted, true);
  assert.equal(serverSettings(reader({ restricted: true }), true).restricted, false);
});

test('a setting of the wrong type is ignored', () => {
  const own = ownSettings(
    reader({ 'server.path': 7, 'dump.to': 'moon', 'export.format': null, 'statusBar.visible': 'no' }),
  );
  assert.deepEqual(own, {
    serverPath: '',
    logLevel: 'info',
    allFolders: false,
    exportFormat: 'html',
    redactExports: true,
    dumpTo: 'ask',
    terminalProgram: 'xcsh',
    notifications: 'whenHidden',
    changeLenses: false,
    statusBar: true,
  });
});

test('folder values of machine-scoped settings are ignored', () => {
  // The most specific value, which an editor that ignores the scope would return.
  const folder: Record<string, unknown> = {
    approval: 'yolo',
    sandbox: 'off',
    retries: 100,
    retryLimit: 3600,
    'cache.maxBytes': 0,
    cacheRetention: 'long',
    rememberModel: false,
    'keys.commands': false,
    'server.path': './evil',
    agentDir: '.evil',
    sessionDir: '.evil',
    roots: ['.evil'],
    engine: { name: 'pi', command: ['./evil'], protocol: 'pi-rpc' },
    engineIdle: 1440,
    engineExtensions: true,
    'terminal.program': './evil',
    'changes.capture': 'off',
    'changes.maxFile': 1,
    'changes.maxSession': 1,
    'changes.exclude': ['**'],
    'changes.required': true,
    'changes.commandLook': 1,
    'team.service': 'evil',
    'team.url': 'postgres://evil.example/sessions',
    'team.passwordCommand': './evil',
    'team.insecure': true,
    'team.flush': 600,
    'server.logLevel': 'debug',
    'export.redact': false,
    'export.open': false,
    model: 'offline/demo',
  };
  const settings = userSettings(() => ({
    get: (name) => folder[name],
    inspect: (name) => ({
      defaultValue: name === 'approval' ? 'ask' : undefined,
      globalValue: name === 'export.redact' ? true : undefined,
      workspaceValue: folder[name],
      workspaceFolderValue: folder[name],
    }),
  }));
  assert.deepEqual(serverSettings(settings, true), {
    approval: 'ask',
    model: 'offline/demo',
    export: { open: false },
    restricted: false,
    machineScope: true,
    lateValues: true,
    ui: { pick: true, hooks: true, save: true, editor: senseRequests },
  });
  const own = ownSettings(settings);
  assert.deepEqual([own.serverPath, own.logLevel, own.terminalProgram, own.redactExports], ['', 'info', 'xcsh', true]);
  for (const name of machineSettings) {
    assert.notDeepEqual(settings.get(name), folder[name]);
  }
});
