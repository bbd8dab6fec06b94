import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';

import { choicesIn, choicesOf } from '../../src/native/choices';
import { loginTerminal } from '../../src/native/login';
import { engineLabel, engineRows } from '../../src/palette/engineRows';
import { isOfEngine } from '../../src/palette/remedies';
import { ServerError } from '../../src/server/errors';

const words = { own: 'xcsh-ls', ownDetail: 'included', current: 'current', usable: 'Ready', unusable: 'Not available' };
const short = (p: string): string => p.replace('/home/you', '~');

test('the list has the engines that can be chosen first, and the reason for the others', () => {
  const rows = engineRows(
    {
      current: 'pi',
      engines: [
        { name: 'own', state: 'available', usable: true },
        {
          name: 'omp',
          state: 'unusable',
          usable: false,
          version: '17.0',
          path: '/opt/omp',
          problem: 'omp 17.0 is\ntoo old.',
        },
        { name: 'pi', state: 'current', usable: true, version: '1.5.2', path: '/home/you/.local/bin/pi' },
        { name: '$(bug)', state: 'unusable', usable: false, problem: '$(zap) x' },
      ],
    },
    words,
    short,
  );
  assert.deepEqual(
    rows.map(({ label, description, detail, problem }) => [label, description, detail, problem]),
    [
      ['Ready', '', '', ''],
      ['xcsh-ls', '', 'included', ''],
      ['$(check) pi 1.5.2', 'current', '~/.local/bin/pi', ''],
      ['Not available', '', '', ''],
      ['$(circle-slash) omp 17.0', '', 'omp 17.0 is too old. · /opt/omp', 'omp 17.0 is too old.'],
      ['$(circle-slash) $ (bug)', '', '$ (zap) x', '$(zap) x'],
    ],
  );
  assert.deepEqual(engineRows({ engines: null, current: 'own' }, words, short), []);
  assert.equal(engineLabel({ name: 'own' }, 'xcsh-ls'), 'xcsh-ls');
});

test('a login runs the program itself, outside of the folder, with its directory first in PATH', () => {
  const title = (name: string): string => `Log in to ${name}`;
  const bin = path.resolve('/opt/node/bin');
  const command = [path.join(bin, 'claude'), '/login; rm -rf ~'];
  assert.deepEqual(loginTerminal({ engine: 'claude', command }, title, '/home/you', '/usr/bin'), {
    name: 'Log in to claude',
    cwd: '/home/you',
    shellPath: command[0],
    shellArgs: ['/login; rm -rf ~'],
    env: { PATH: [bin, '/usr/bin'].join(path.delimiter) },
  });
  assert.deepEqual(loginTerminal({ engine: 'pi', command: ['pi'] }, title, '/h', undefined)?.env, {});
  for (const none of [null, [], ['']]) {
    assert.equal(loginTerminal({ engine: 'pi', command: none }, title, '/h', '/usr/bin'), undefined);
  }
});

test('a failed engine offers its ways to continue, in its folder', () => {
  const known = new Set(['xcsh.setEngine', 'xcsh.login']);
  const actions = [
    { title: 'Start Again', command: 'xcsh.setEngine', arguments: { engine: 'pi', cwd: '/elsewhere' } },
    { title: 'Run', command: 'workbench.action.quit', arguments: {} },
  ];
  const failed = { type: 'engine_changed', engine: 'pi', state: 'failed', message: 'pi ended.', actions } as const;
  assert.deepEqual(choicesOf({ ...failed, actions: [...actions] }, '/w', known), {
    message: 'pi ended.',
    choices: [{ title: 'Start Again', command: 'xcsh.setEngine', args: { engine: 'pi', cwd: '/w' } }],
  });
  assert.equal(choicesOf({ ...failed, actions: [...actions], state: 'ready' }, '/w', known), undefined);
  for (const odd of [undefined, null, {}, 'x', [null], [5], [{}]]) {
    assert.equal(choicesIn('x', odd, '/w', known), undefined);
  }
});

test('errors with a login or another engine are distinguished from other failures of a service', () => {
  const of = (...commands: unknown[]): ServerError =>
    new ServerError('', 'provider', { actions: commands.map((command) => ({ title: 'x', command })) });
  assert.equal(isOfEngine(of('xcsh.branch', 'xcsh.setModel')), false);
  assert.equal(isOfEngine(of('xcsh.login')), true);
  assert.equal(isOfEngine(of('xcsh.branch', 'xcsh.setEngine')), true);
  for (const actions of [undefined, null, 'x', [null], [5]]) {
    assert.equal(isOfEngine(new ServerError('', 'provider', { actions })), false);
  }
});
