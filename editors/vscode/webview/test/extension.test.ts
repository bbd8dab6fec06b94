import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ownApprovals, withoutElsewhere } from '../../src/chat/elsewhere';
import { Approvals } from '../../src/chat/approvals';
import type { Desk } from '../../src/chat/approvals';
import { Calls } from '../../src/chat/calls';
import { EngineTexts } from '../../src/chat/engineTexts';
import { Questions } from '../../src/chat/questions';
import { pageHtml } from '../../src/chat/html';
import { allowedCommands, fromPage, toPage } from '../../src/chat/messages';
import type { Decision, ToPage } from '../../src/chat/messages';
import { patched, sidesOf } from '../../src/chat/patch';
import { best } from '../../src/chat/rank';
import { RecentSessions } from '../../src/chat/recent';
import { Restorer } from '../../src/chat/restore';
import { commands } from '../../src/commands.gen';
import type { ApproveParams, EventParams } from '../../src/wire.gen';

test('the list of allowed commands has only existing ones, and none that deletes or moves sessions', () => {
  const names = commands.map((c) => c.name);
  assert.deepEqual(
    allowedCommands.filter((c) => !names.includes(c) && c !== 'xcsh.history'),
    [],
  );
  for (const c of [
    'xcsh.setKey',
    'xcsh.delete',
    'xcsh.move',
    'xcsh.export',
    'xcsh.share',
    'xcsh.resume',
    'xcsh.approve',
  ])
    assert.equal(allowedCommands.includes(c), false, c);
});

test('a page resumes only sessions of the list that it received', () => {
  const recent = new RecentSessions();
  assert.equal(recent.has('/s/a.jsonl'), false);
  recent.remember({ sessions: [{ path: '/s/a.jsonl' }, null, { path: 5 }, {}] });
  assert.deepEqual(
    ['/s/a.jsonl', '/s/b.jsonl', '5', 'undefined'].map((path) => recent.has(path)),
    [true, false, false, false],
  );
  for (const nothing of [null, undefined, [], {}, { sessions: {} }, { sessions: null }]) {
    recent.remember(nothing);
    assert.equal(recent.has('/s/a.jsonl'), false);
  }
});

test('malformed messages are ignored', () => {
  const wrong = [
    null,
    1,
    'ready',
    [],
    {},
    { kind: 'no' },
    { kind: '__proto__' },
    { kind: 'call' },
    { kind: 'call', id: -1, command: 'x', args: {} },
    { kind: 'call', id: 1, command: 'x', args: [] },
    { kind: 'call', id: 1.5, command: 'x', args: {} },
    { kind: 'resume' },
    { kind: 'resume', path: 5 },
    { kind: 'resume', path: 'x'.repeat(10_000) },
    { kind: 'decide', prompt: 'a', decision: 'maybe' },
    { kind: 'decide', prompt: 'a', decision: 'once', reason: 'because' },
    { kind: 'decide', prompt: 'a', decision: 'deny', reason: 'x'.repeat(5000) },
    { kind: 'knownPaths', id: 1, names: Array(51).fill('a') },
    { kind: 'knownPaths', id: 1, names: 'a' },
    { kind: 'dropped', uris: [1] },
    { kind: 'droppedFile', name: 'a', data: 'x'.repeat(17 << 20) },
    { kind: 'window', command: 'workbench.action.quit' },
    { kind: 'act', command: 'xcsh.delete', args: {} },
    { kind: 'act', command: 'workbench.action.quit', args: {} },
    { kind: 'act', command: 'xcsh.setEngine' },
    { kind: 'openFile', path: 3 },
    { kind: 'openFile', path: 'a', line: '1' },
    { kind: 'openFile', path: 'a'.repeat(10_000) },
    { kind: 'copy' },
  ];
  for (const m of wrong) assert.equal(fromPage(m), undefined, JSON.stringify(m)?.slice(0, 80));
  assert.deepEqual(fromPage({ kind: 'decide', prompt: 'a', decision: 'once' }), {
    kind: 'decide',
    prompt: 'a',
    decision: 'once',
  });
  const wrongToPage = [
    undefined,
    { kind: 'init' },
    { kind: 'answer', id: '1' },
    { kind: 'server', state: 'odd' },
    { kind: 'attach', attachments: [{}] },
    { kind: 'refer', references: [{}] },
    { kind: 'event', params: 1 },
    { kind: 'hasOwnProperty' },
  ];
  for (const m of wrongToPage) assert.equal(toPage(m), undefined, JSON.stringify(m));
  assert.ok(
    toPage({
      kind: 'attach',
      attachments: [
        { uri: 'file:///a', name: 'a', range: { start: { line: 0, character: 0 }, end: { line: 1, character: 0 } } },
      ],
    }),
  );
});

interface Run {
  command: string;
  args: { [key: string]: unknown };
  token: { stopped: boolean };
  settle(result?: unknown): void;
  fail(e: unknown): void;
}

function calling(cwd: string | undefined = '/w') {
  const posted: ToPage[] = [];
  const runs: Run[] = [];
  const calls = new Calls<{ stopped: boolean }>({
    cwd: () => cwd,
    run: (command, args, token) => new Promise((settle, fail) => runs.push({ command, args, token, settle, fail })),
    stop: () => {
      const token = { stopped: false };
      return {
        token,
        cancel: () => {
          token.stopped = true;
        },
        dispose: () => undefined,
      };
    },
    post: (m) => posted.push(m),
    failure: (e) => ({ message: String(e), kind: 'unknown' }),
  });
  return { posted, runs, calls };
}

test("a call always runs in the panel's folder", async () => {
  const { posted, runs, calls } = calling();
  const done = calls.call(1, 'xcsh.prompt', { text: 'hi', cwd: '/elsewhere' });
  assert.deepEqual(runs[0]!.args, { text: 'hi', cwd: '/w' });
  runs[0]!.settle({ stopReason: 'stop' });
  await done;
  assert.deepEqual(posted, [{ kind: 'answer', id: 1, result: { stopReason: 'stop' } }]);
});

test('commands that are not on the list are rejected without running', async () => {
  const { posted, runs, calls } = calling();
  await calls.call(1, 'xcsh.delete', { source: 'x', confirm: true });
  await calls.call(2, 'constructor', {});
  assert.equal(runs.length, 0);
  assert.deepEqual(
    posted.map((m) => (m.kind === 'answer' ? m.error?.kind : '')),
    ['denied', 'denied'],
  );
});

test('a call can be canceled, and reports its own error', async () => {
  const { posted, runs, calls } = calling();
  const done = calls.call(1, 'xcsh.prompt', { text: 'hi' });
  calls.cancel(1);
  calls.cancel(99);
  assert.equal(runs[0]!.token.stopped, true);
  runs[0]!.fail('stopped');
  await done;
  assert.deepEqual(posted, [{ kind: 'answer', id: 1, error: { message: 'stopped', kind: 'unknown' } }]);
});

test('a response for a closed page does not reach the next page, which reuses its call numbers', async () => {
  const { posted, runs, calls } = calling();
  const old = calls.call(1, 'xcsh.prompt', { text: 'old' });
  calls.forget();
  const now = calls.call(1, 'xcsh.snapshot', {});
  runs[0]!.settle('old');
  await old;
  assert.equal(runs[0]!.token.stopped, false, 'the turn goes on');
  runs[1]!.settle('now');
  await now;
  assert.deepEqual(posted, [{ kind: 'answer', id: 1, result: 'now' }]);
});

const request = (id: string): ApproveParams => ({ cwd: '/w', sessionId: 's', id, tool: 'edit', args: {} });

function token() {
  const listeners: (() => void)[] = [];
  return {
    isCancellationRequested: false,
    onCancellationRequested: (f: () => void) => {
      listeners.push(f);
      return { dispose: () => undefined };
    },
    cancel: () => listeners.forEach((f) => f()),
  };
}

function desk(panel: boolean) {
  const log: string[] = [];
  let answer: (d: Decision | undefined) => void = () => undefined;
  const d: Desk = {
    show: (p) => {
      log.push('show ' + p.id);
      return panel;
    },
    notify: (p) => {
      log.push('notify ' + p.id);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    waiting: (n) => log.push('waiting ' + n),
  };
  return { log, approvals: new Approvals(d), answer: (x: Decision | undefined) => answer(x) };
}

test('a request is shown in the panel if it is visible, or else in a notification', async () => {
  const shown = desk(true);
  const asked = shown.approvals.ask(request('a'), token());
  assert.deepEqual(shown.log, ['waiting 1', 'show a']);
  assert.equal(shown.approvals.decide('/w', 'a', 'session'), true);
  assert.deepEqual(await asked, { decision: 'session' });
  assert.equal(shown.approvals.decide('/w', 'a', 'deny'), false, 'it is answered once');

  const hidden = desk(false);
  const second = hidden.approvals.ask(request('b'), token());
  assert.deepEqual(hidden.log, ['waiting 1', 'show b', 'notify b']);
  hidden.answer('deny');
  assert.deepEqual(await second, { decision: 'deny' });
});

test('a request that only the panel showed is in a notification when the panel is hidden', async () => {
  const { log, approvals, answer } = desk(true);
  const asked = approvals.ask(request('a'), token());
  approvals.hidden('/other');
  assert.deepEqual(log, ['waiting 1', 'show a']);
  approvals.hidden('/w');
  approvals.hidden('/w');
  assert.deepEqual(log, ['waiting 1', 'show a', 'notify a'], 'it is shown there once');
  answer('once');
  assert.deepEqual(await asked, { decision: 'once' });
  approvals.hidden('/w');
  assert.deepEqual(log, ['waiting 1', 'show a', 'notify a', 'waiting 0']);
});

test('the reason of a denial goes to the server', async () => {
  const { approvals } = desk(true);
  const asked = approvals.ask(request('a'), token());
  approvals.decide('/w', 'a', 'deny', 'Use the other file.');
  assert.deepEqual(await asked, { decision: 'deny', reason: 'Use the other file.' });
});

test('closing a notification leaves the request pending in the panel', async () => {
  const { approvals, answer } = desk(false);
  const asked = approvals.ask(request('a'), token());
  answer(undefined);
  await Promise.resolve();
  assert.deepEqual(
    approvals.of('/w').map((p) => p.id),
    ['a'],
  );
  assert.deepEqual(approvals.of('/other'), []);
  approvals.decide('/w', 'a', 'once');
  assert.deepEqual(await asked, { decision: 'once' });
});

test('a request answered elsewhere is withdrawn, and a late answer is ignored', async () => {
  const { approvals, answer, log } = desk(false);
  const t = token();
  const asked = approvals.ask(request('a'), t);
  t.cancel();
  assert.deepEqual(await asked, { decision: 'deny' });
  answer('workspace');
  await Promise.resolve();
  assert.deepEqual(approvals.of('/w'), []);
  assert.equal(log.at(-1), 'waiting 0');
});

test('a reviewer takes the requests of its folder while it claims them; a review that fails denies', async () => {
  const { approvals, log } = desk(true);
  let claims = true;
  const stop = approvals.review({
    cwd: '/w',
    claims: () => claims,
    review: (p) =>
      p.id === 'broken' ? Promise.reject(new Error('x')) : Promise.resolve({ decision: 'once' as const }),
  });
  assert.deepEqual(await approvals.ask(request('mine'), token()), { decision: 'once' });
  assert.deepEqual(await approvals.ask(request('broken'), token()), { decision: 'deny' });
  assert.deepEqual(
    log.filter((l) => !l.startsWith('waiting')),
    [],
  );
  assert.equal(log.includes('waiting 1'), false, 'the badge is about the panel');
  void approvals.ask({ ...request('other'), cwd: '/v' }, token());
  assert.ok(log.includes('show other'));
  assert.deepEqual([approvals.reviews('/w'), approvals.reviews('/v')], [true, false]);
  claims = false;
  assert.equal(approvals.reviews('/w'), false);
  void approvals.ask(request('later'), token());
  assert.ok(log.includes('show later'));
  claims = true;
  stop();
  void approvals.ask(request('last'), token());
  assert.ok(log.includes('show last'));
});

test('a reviewer can hand a request over, and still answer it with a reason', async () => {
  const { approvals, log } = desk(false);
  let handOver: () => void = () => undefined;
  approvals.review({
    cwd: '/w',
    claims: () => true,
    review: () => new Promise((resolve) => (handOver = () => resolve(undefined))),
  });
  const asked = approvals.ask(request('a'), token());
  assert.deepEqual([approvals.of('/w'), approvals.isElsewhere('/w', 'a')], [[], true]);
  assert.equal(approvals.isElsewhere('/w', 'not yet known'), true, 'the panel may hear of it first');
  assert.equal(approvals.isElsewhere('/v', 'a'), false);
  handOver();
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(log, ['waiting 1', 'show a', 'notify a']);
  assert.deepEqual([approvals.of('/w').map((p) => p.id), approvals.isElsewhere('/w', 'a')], [['a'], false]);
  const settled: unknown[] = [];
  approvals.onSettled((...args) => settled.push(args));
  approvals.decide('/w', 'a', 'deny', 'because');
  assert.deepEqual(await asked, { decision: 'deny', reason: 'because' });
  assert.deepEqual(settled, [['/w', 'a', 'deny']]);
});

test('a request that was answered is not handed over, and the end of the server withdraws all', async () => {
  const { approvals, log } = desk(true);
  let handOver: () => void = () => undefined;
  const stop = approvals.review({
    cwd: '/w',
    claims: () => true,
    review: () => new Promise((resolve) => (handOver = () => resolve(undefined))),
  });
  const asked = approvals.ask(request('a'), token());
  approvals.decide('/w', 'a', 'once');
  handOver();
  assert.deepEqual(await asked, { decision: 'once' });
  assert.equal(log.includes('show a'), false);
  stop();
  const others = ['b', 'c'].map((id) => approvals.ask(request(id), token()));
  approvals.clear();
  assert.deepEqual(await Promise.all(others), [{ decision: 'deny' }, { decision: 'deny' }]);
  assert.equal(log.at(-1), 'waiting 0');
});

test('the panel does not get approvals that are asked about in the text', () => {
  const approvals = { isElsewhere: (_: string, id: string) => id === 'mine' };
  const pending = [{ id: 'mine' }, { id: 'other' }];
  assert.deepEqual(ownApprovals(approvals, '/w', pending), [{ id: 'other' }]);
  const event = { type: 'approvals_changed', approvals: pending };
  const params = { cwd: '/w', sessionId: 's', seq: 7, event } as unknown as EventParams;
  assert.deepEqual(withoutElsewhere(approvals, params), {
    ...params,
    event: { ...event, approvals: [{ id: 'other' }] },
  });
  assert.deepEqual(event.approvals, pending, 'other listeners get all of them');
  const end = { ...params, event: { type: 'agent_start' } } as EventParams;
  assert.equal(withoutElsewhere(approvals, end), end);
});

test("the page's policy allows only its own script, style sheet, and font", () => {
  const html = pageHtml({
    script: 'https://r/chat.js',
    style: 'https://r/chat.css',
    source: 'https://r',
    nonce: 'abc',
    language: 'en"><x',
  });
  const policy = /content="(default-src[^"]*)"/.exec(html)![1]!.replaceAll('&#39;', "'");
  assert.equal(
    policy,
    "default-src 'none'; img-src data:; font-src https://r; style-src https://r; script-src 'nonce-abc'; base-uri 'none'; form-action 'none'",
  );
  assert.doesNotMatch(html, /unsafe|<x/);
  assert.equal(html.match(/<script/g)!.length, 1);
});

test('a change is applied or undone only if the text matches', () => {
  const patch = '--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n';
  assert.equal(patched('one\ntwo\nthree\n', patch), 'one\nzwei\nthree\n');
  assert.equal(patched('one\r\ntwo\r\nthree\r\n', patch), 'one\r\nzwei\r\nthree\r\n');
  assert.equal(patched('one\nother\nthree\n', patch), undefined);
  assert.deepEqual(sidesOf('one\ntwo\nthree\n', patch), {
    before: 'one\ntwo\nthree\n',
    after: 'one\nzwei\nthree\n',
    whole: true,
  });
  assert.deepEqual(sidesOf('one\nzwei\nthree\n', patch), {
    before: 'one\ntwo\nthree\n',
    after: 'one\nzwei\nthree\n',
    whole: true,
  });
  assert.deepEqual(sidesOf('quite another\n', patch), {
    before: 'one\ntwo\nthree\n',
    after: 'one\nzwei\nthree\n',
    whole: false,
  });
  assert.equal(sidesOf(undefined, 'no diff'), undefined);
});

test('file names rank before paths, and paths before scattered letters', () => {
  const paths = ['src/parse/index.ts', 'src/parse.ts', 'docs/parser.md', 'src/a/p/a/r/s/e', 'other.go'];
  assert.deepEqual(best('parse', paths, 3), ['src/parse.ts', 'docs/parser.md', 'src/parse/index.ts']);
  assert.deepEqual(best('PARSE.TS', paths, 9), ['src/parse.ts', 'src/parse/index.ts']);
  assert.deepEqual(best('zq', paths, 9), []);
  assert.equal(best('', paths, 2).length, 2);
});

function restoring(
  state: { file: string | null; messageCount: number; isStreaming?: boolean },
  remembered?: string,
  failure?: unknown,
) {
  const memory = new Map<string, string>(remembered ? [['xcshLs.chat.session:/w', remembered]] : []);
  const ran: string[] = [];
  const log: string[] = [];
  const run = async (command: string, args: { target?: string }) => {
    ran.push(command + (args.target ? ' ' + args.target : ''));
    if (command === 'xcsh.resume' && failure) throw failure;
    return { isStreaming: false, ...state };
  };
  const store = {
    get: (k: string) => memory.get(k),
    update: async (k: string, v: string | undefined) => void (v === undefined ? memory.delete(k) : memory.set(k, v)),
  };
  return { restorer: new Restorer(store, run as never, (t) => log.push(t)), ran, memory, log };
}

test('a new session is replaced by the last one shown, once for each server', async () => {
  const { restorer, ran } = restoring({ file: '/new', messageCount: 0 }, '/old');
  await Promise.all([restorer.restore('/w'), restorer.restore('/w')]);
  assert.deepEqual(ran, ['xcsh.state', 'xcsh.resume /old']);
  restorer.restarted();
  await restorer.restore('/w');
  assert.equal(ran.length, 4);
});

test('a session with messages is not replaced', async () => {
  for (const state of [
    { file: '/x', messageCount: 2 },
    { file: '/old', messageCount: 0 },
    { file: '/x', messageCount: 0, isStreaming: true },
  ]) {
    const { restorer, ran } = restoring(state, '/old');
    await restorer.restore('/w');
    assert.deepEqual(ran, ['xcsh.state']);
  }
  const nothing = restoring({ file: null, messageCount: 0 });
  await nothing.restorer.restore('/w');
  assert.deepEqual(nothing.ran, []);
});

test('a missing session file is ignored, any other failure is reported', async () => {
  const gone = restoring({ file: '/new', messageCount: 0 }, '/old', { kind: 'notFound' });
  await gone.restorer.restore('/w');
  assert.deepEqual([gone.memory.size, gone.log.length], [0, 0]);
  const busy = restoring({ file: '/new', messageCount: 0 }, '/old', { kind: 'busy' });
  await busy.restorer.restore('/w');
  assert.equal(busy.log.length, 1);
  await busy.restorer.remember('/w', '/now');
  await busy.restorer.remember('/w', null);
  assert.equal(busy.memory.get('xcshLs.chat.session:/w'), '/now');
});

interface Announced {
  cwd: string;
  id: string;
  settle(answer?: { confirmed: boolean }): Promise<void>;
}

function questioning() {
  const announced: Announced[] = [];
  const answers: unknown[] = [];
  const state = { visible: false, waiting: 0 };
  const questions = new Questions({
    shows: () => state.visible,
    notify: (cwd, { id }) =>
      new Promise((resolve) =>
        announced.push({
          cwd,
          id,
          settle: async (answer) => {
            resolve(answer);
            await new Promise(setImmediate);
          },
        }),
      ),
    answer: (cwd, id, answer) => answers.push([cwd, id, answer]),
    waiting: (count) => (state.waiting = count),
  });
  const asked = (id: string, cwd = '/w') =>
    questions.follow(cwd, { type: 'question_asked', id, method: 'confirm', title: 'Go?' });
  return { announced, answers, state, questions, asked };
}

test('a question is announced only while the panel does not show it, one at a time', async () => {
  const { announced, state, questions, asked } = questioning();
  state.visible = true;
  asked('shown');
  assert.equal(announced.length, 0);
  state.visible = false;
  questions.hidden('/w');
  assert.equal(announced.length, 1, 'only the panel showed it');
  asked('a');
  asked('b');
  asked('c', '/other');
  assert.deepEqual(
    announced.map((a) => a.id),
    ['shown', 'c'],
    'one for each folder',
  );
  await announced[0]!.settle();
  await announced[2]!.settle();
  assert.deepEqual(
    announced.map((a) => a.id),
    ['shown', 'c', 'a', 'b'],
  );
  assert.equal(state.waiting, 4, 'a closed announcement answers nothing');
});

test('an answer counts only while the question waits', async () => {
  const { announced, answers, questions, state, asked } = questioning();
  asked('a');
  await announced[0]!.settle({ confirmed: false });
  assert.deepEqual(answers, [['/w', 'a', { confirmed: false }]]);
  questions.follow('/w', { type: 'question_gone', id: 'a' });
  asked('b');
  questions.follow('/w', { type: 'question_gone', id: 'b' });
  await announced[1]!.settle({ confirmed: true });
  assert.equal(answers.length, 1, 'it was answered in the panel');
  asked('c');
  questions.follow('/w', { type: 'engine_changed', engine: 'pi', state: 'failed' });
  await announced[2]!.settle({ confirmed: true });
  assert.deepEqual([answers.length, state.waiting], [1, 0]);
});

test('a snapshot has all questions of its folder, and an extension cannot ask without end', () => {
  const { announced, questions, state, asked } = questioning();
  asked('old');
  questions.set('/w', [{ id: 'new', method: 'input', title: 'Name?' }]);
  assert.equal(state.waiting, 1);
  for (let i = 0; i < 1000; i++) asked(`q${i}`);
  assert.deepEqual([state.waiting, announced.length], [100, 1]);
  questions.clear();
  assert.equal(state.waiting, 0);
});

test('texts of extensions are kept for the next page of the same session', () => {
  const texts = new EngineTexts();
  const show = (key: string, lines?: string[], session = 's') =>
    texts.follow('/w', session, { type: 'engine_status', key, ...(lines ? { lines } : {}) });
  show('a', ['1']);
  show('b', ['2']);
  show('a', ['3']);
  show('b');
  assert.deepEqual(texts.of('/w', 's'), [{ type: 'engine_status', key: 'a', lines: ['3'] }]);
  assert.deepEqual(texts.of('/w', 'other'), []);
  assert.deepEqual(texts.of('/other', 's'), []);
  texts.follow('/w', 's', { type: 'engine_changed', engine: 'pi', state: 'running' });
  assert.equal(texts.of('/w', 's').length, 1);
  texts.follow('/w', 's', { type: 'engine_changed', engine: 'pi', state: 'known' });
  assert.deepEqual(texts.of('/w', 's'), []);
  for (let i = 0; i < 1000; i++) show(`k${i}`, ['x']);
  assert.equal(texts.of('/w', 's').length, 20);
  show('t', ['y'], 't');
  assert.deepEqual(texts.of('/w', 's'), []);
});
