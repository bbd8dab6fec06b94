import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findProgram, locateServer, type Machine } from '../../src/server/locate';

function machine(files: readonly string[], more: Partial<Machine> = {}): Machine {
  return {
    platform: 'linux',
    env: { PATH: '/usr/bin::relative:/opt/bin' },
    home: '/home/me',
    executable: (file) => files.includes(file),
    exists: (file) => files.includes(file),
    makeExecutable: () => assert.fail('nothing has to be made executable'),
    ...more,
  };
}

test('the setting takes priority', () => {
  const m = machine(['/x/xcsh-ls', '/ext/bin/xcsh-ls', '/usr/bin/xcsh-ls']);
  assert.deepEqual(locateServer('/x/xcsh-ls', '/ext', m), { kind: 'found', path: '/x/xcsh-ls', from: 'settings' });
});

test('an invalid setting is reported, and nothing else is tried', () => {
  const m = machine(['/ext/bin/xcsh-ls']);
  assert.deepEqual(locateServer('/gone', '/ext', m), { kind: 'wrongSetting', path: '/gone' });
});

test('a tilde expands to the home directory', () => {
  const m = machine(['/home/me/bin/xcsh-ls']);
  assert.deepEqual(locateServer('~/bin/xcsh-ls', '/ext', m), {
    kind: 'found',
    path: '/home/me/bin/xcsh-ls',
    from: 'settings',
  });
});

test('the bundled server takes priority over PATH and is made executable', () => {
  const made: string[] = [];
  const m = machine(['/usr/bin/xcsh-ls'], {
    exists: (file) => file === '/ext/bin/xcsh-ls',
    makeExecutable: (file) => made.push(file),
  });
  assert.deepEqual(locateServer('', '/ext', m), { kind: 'found', path: '/ext/bin/xcsh-ls', from: 'extension' });
  assert.deepEqual(made, ['/ext/bin/xcsh-ls']);
});

test('PATH is searched in order, without relative entries', () => {
  const m = machine(['relative/xcsh-ls', 'xcsh-ls', '/opt/bin/xcsh-ls']);
  assert.deepEqual(locateServer('', '/ext', m), { kind: 'found', path: '/opt/bin/xcsh-ls', from: 'path' });
});

test('the directory of go install is searched too', () => {
  assert.equal(findProgram('xcsh-ls', machine(['/home/me/go/bin/xcsh-ls'])), '/home/me/go/bin/xcsh-ls');
  const elsewhere = machine(['/go/one/bin/xcsh-ls'], { env: { PATH: '', GOPATH: '/go/one:/go/two' } });
  assert.equal(findProgram('xcsh-ls', elsewhere), '/go/one/bin/xcsh-ls');
});

test('without any server, the result is missing', () => {
  assert.deepEqual(locateServer('', '/ext', machine([])), { kind: 'missing' });
});

test('on Windows, executable extensions are added', () => {
  const m = machine(['C:\\bin\\xcsh.cmd', 'C:\\ext\\bin\\xcsh-ls.exe'], {
    platform: 'win32',
    env: { Path: 'C:\\bin' },
    home: 'C:\\Users\\me',
  });
  assert.equal(findProgram('xcsh', m), 'C:\\bin\\xcsh.cmd');
  assert.deepEqual(locateServer('', 'C:\\ext', m), {
    kind: 'found',
    path: 'C:\\ext\\bin\\xcsh-ls.exe',
    from: 'extension',
  });
});
