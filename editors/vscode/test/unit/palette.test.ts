import assert from 'node:assert/strict';
import { test } from 'node:test';

import { contains, innermost, shortPath } from '../../src/folders';
import { deepLink } from '../../src/native/deeplink';
import { sessionLinks } from '../../src/native/sessionLink';
import { doctorReport, statsReport } from '../../src/native/reportText';
import { exportFilters, exportName } from '../../src/palette/exporting';
import { handlingOf } from '../../src/palette/remedies';
import { ServerError } from '../../src/server/errors';

const same = (text: string, ...values: unknown[]): string =>
  text.replace(/\{(\d)\}/g, (_, n: string) => String(values[Number(n)]));

test('a canceled command shows no error', () => {
  assert.equal(handlingOf(new ServerError('', 'cancelled')), undefined);
});

test('a session of another project offers three choices', () => {
  assert.deepEqual(handlingOf(new ServerError('', 'otherProject'), 'xcsh.resume'), {
    remedies: ['forkHere', 'openThatFolder', 'openInPlace'],
    modal: true,
    severity: 'info',
  });
});

test('a prompt during a turn can be queued; a session of another window can be forked', () => {
  assert.deepEqual(handlingOf(new ServerError('', 'busy'), 'xcsh.prompt')?.remedies, ['waitForTurn', 'stopTurn']);
  assert.deepEqual(handlingOf(new ServerError('', 'busy'), 'xcsh.fork')?.remedies, ['stopTurn']);
  assert.deepEqual(handlingOf(new ServerError('', 'busy', { pid: 7 }), 'xcsh.resume')?.remedies, [
    'forkHere',
    'tryAgain',
  ]);
});

test('a duplicate title can be taken over or numbered', () => {
  assert.deepEqual(handlingOf(new ServerError('', 'nameInUse'), 'xcsh.save')?.remedies, ['addNumber', 'takeTitle']);
});

test('an unexpected error points to the log', () => {
  assert.deepEqual(handlingOf(new ServerError('', 'provider'))?.remedies, ['chooseModel', 'log']);
  assert.equal(handlingOf(new ServerError('', 'provider', { actions: [] })), undefined, 'shown with its choices');
  const actions = [{ title: 'Choose Model', command: 'xcsh.setModel' }];
  for (const reason of ['noModel', 'noKey', 'unknownModel']) {
    const { remedies } = handlingOf(new ServerError('', 'provider', { reason, actions })) ?? {};
    assert.deepEqual(remedies, ['chooseModel', 'addKey'], reason);
  }
  assert.deepEqual(handlingOf(new ServerError('', 'internal'))?.remedies, ['log']);
});

test('a text that is too large for an answer can be exported', () => {
  for (const command of ['xcsh.dump', 'xcsh.transcript'] as const) {
    assert.deepEqual(handlingOf(new ServerError('', 'tooLarge'), command)?.remedies, ['exportText']);
  }
  assert.deepEqual(handlingOf(new ServerError('', 'tooLarge'), 'xcsh.tree')?.remedies, []);
  assert.equal(exportName('a', 'text'), 'a.txt');
});

test('export file names contain no character that a file system rejects', () => {
  assert.equal(exportName('Fix: a/b <c>?', 'html'), 'Fix-a-b-c.html');
  assert.equal(exportName('...', 'markdown'), 'session.md');
  assert.equal(exportName('a long name…', 'jsonl'), 'a-long-name.jsonl');
  assert.equal(exportName('日本語', 'html'), '日本語.html');
  assert.deepEqual(Object.values(exportFilters('markdown', same))[0], ['md']);
});

test('a file belongs to the innermost folder that contains it', () => {
  const folders = [{ cwd: '/work' }, { cwd: '/work/sub' }, { cwd: '/wor' }];
  assert.equal(innermost(folders, '/work/sub/x.ts')?.cwd, '/work/sub');
  assert.equal(innermost(folders, '/work/subx/x.ts')?.cwd, '/work');
  assert.equal(innermost(folders, '/elsewhere'), undefined);
  assert.equal(contains('/work', '/work/..x'), true);
  assert.equal(shortPath('/home/me/x', '/home/me'), '~/x');
});

test('links are validated', () => {
  assert.deepEqual(deepLink('/resume', 'id=01JD-abc'), { kind: 'resume', id: '01JD-abc' });
  assert.deepEqual(deepLink('/open', 'path=/a/b%20c.jsonl', 'linux'), { kind: 'open', path: '/a/b c.jsonl' });
  for (const [path, query] of [
    ['/resume', ''],
    ['/resume', 'id=../../etc/passwd'],
    ['/resume', 'id=a b;rm'],
    ['/open', 'path=relative.jsonl'],
    ['/open', 'path=/etc/passwd'],
    ['/open', 'path=//host/share/x.jsonl'],
    ['/delete', 'id=01JD-abc'],
  ] as const) {
    assert.deepEqual(deepLink(path, query, 'linux'), { kind: 'wrong' }, `${path}?${query}`);
  }
  assert.deepEqual(deepLink('/open', 'path=\\\\host\\x.jsonl', 'win32'), { kind: 'wrong' });
});

test('session IDs in terminal output are links', () => {
  const uuid = '019a9d4c-0a2b-7c3d-8e4f-5a6b7c8d9e0f';
  for (const [line, ...links] of [
    ['Resume this session with: xcsh --resume 15d7b73f', 'xcsh --resume 15d7b73f > 15d7b73f'],
    [`$ omp -r ${uuid}.`, `omp -r ${uuid} > ${uuid}`],
    ['pi --session="/a b/x.jsonl" now', 'pi --session="/a b/x.jsonl" > /a b/x.jsonl'],
    [
      '(xcsh --session ~/.xcsh/agent/sessions/a/x.jsonl)',
      'xcsh --session ~/.xcsh/agent/sessions/a/x.jsonl > ~/.xcsh/agent/sessions/a/x.jsonl',
    ],
    [`${uuid} or 15d7b73f2797c36e`, `${uuid} > ${uuid} ?`, '15d7b73f2797c36e > 15d7b73f2797c36e ?'],
    ['xcsh --resume', ''],
    ['xcsh --resume --model x', ''],
    ['xcsh --resume //host/share/x.jsonl', ''],
    ['xcsh --resume ../../etc/passwd', ''],
    ['https://example.org/15d7b73f2797c36e0 x15d7b73f2797c36e', ''],
    ['tar -r 15d7b73f', ''],
  ] as const) {
    const found = sessionLinks(line).map(
      (l) => `${line.slice(l.start, l.start + l.length)} > ${l.target}${l.certain ? '' : ' ?'}`,
    );
    assert.deepEqual(found, links.filter(Boolean), line);
  }
});

test('reports show every problem, with table cells escaped', () => {
  const report = doctorReport({ problems: [{ kind: 'badLine', line: 3, message: 'a | b\nc', lost: true }] }, same);
  assert.match(report, /\| Line 3 \| badLine \| a \\\| b c \| yes \|/);
  assert.match(doctorReport({ problems: null }, same), /No problems found/);
  const stats = statsReport(
    {
      entries: 3,
      messages: { user: 1, assistant: 2, custom: 1 },
      toolCalls: {},
      usage: { input: 12345, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 12346, cost: 0.5 },
      contextUsage: { tokens: 10 },
    },
    same,
  );
  assert.match(stats, /\| Assistant \| 2 \|\n\| User \| 1 \|\n\| custom \| 1 \|/);
  assert.match(stats, /12,345/);
  assert.doesNotMatch(stats, /Tool calls/);
});
