import assert from 'node:assert/strict';
import { test } from 'node:test';

import { engineLabel, engineName, refusalOf } from '../src/engine';
import { engineOf, ownEngine, questionOf } from '../src/state/engine';
import { applyEvent } from '../src/state/live';
import { emptyView, initialState } from '../src/state/model';
import type { ChatState, View } from '../src/state/model';
import { reduce } from '../src/state/reduce';
import type { Snapshot } from '../src/state/wire';
import { commandsOf, completeCommand, matching, slashAt } from '../src/state/slash';
import { hostile } from './hostile';

const all = { steer: true, branch: true, compact: true, images: true, models: true };
const pi = (state: string, more: object = {}) => ({ name: 'pi', version: '1.5.2', state, can: all, ...more });
const changed = (state: string, more: object = {}) => ({
  type: 'engine_changed',
  engine: 'pi',
  version: '1.5.2',
  state,
  ...more,
});
const with_ = (v: Partial<View>): View => ({ ...emptyView, ...v });

function snapshotWith(more: object, state: object = {}): Snapshot {
  return {
    state: { sessionId: 's', cwd: '/w', isStreaming: false, isCompacting: false, usage: {}, ...state },
    messages: [],
    tools: [],
    queues: {},
    approvals: [],
    contextUsage: {},
    seq: 1,
    ...more,
  } as unknown as Snapshot;
}

function shown(s: ChatState, snapshot: Snapshot): ChatState {
  return reduce(reduce(s, { type: 'asked', ask: 1 }), { type: 'snapshot', ask: 1, snapshot });
}
const began = reduce(initialState, { type: 'folder', server: 'running' });

test('what an engine can do counts only while it runs', () => {
  const none = { steer: false, branch: false, compact: false, images: false, models: false };
  assert.equal(engineOf(pi('known', { can: none })).can, null);
  assert.equal(engineOf(pi('starting', { can: none })).can, null);
  assert.deepEqual(engineOf(pi('ready', { can: { ...none, branch: true } })).can, { ...none, branch: true });
  assert.equal(engineOf(pi('odd')).state, 'known');
  for (const nothing of [undefined, null, {}, [], 'pi', { name: 5 }, { name: 'own', state: 'ready', can: none }])
    assert.deepEqual(engineOf(nothing), ownEngine);
});

test('a refusal names the engine; the own engine refuses nothing', () => {
  const gemini = engineOf({ name: 'gemini', state: 'ready', can: { ...all, branch: false } });
  assert.equal(refusalOf(gemini, 'branch'), 'gemini cannot go back. Fork the session instead.');
  assert.equal(refusalOf(gemini, 'steer'), '');
  for (const ability of ['steer', 'branch', 'compact', 'images', 'models'] as const)
    assert.equal(refusalOf(ownEngine, ability), '');
  assert.equal(engineName(ownEngine), 'xcsh');
  assert.equal(engineLabel(engineOf(pi('ready'))), 'pi 1.5.2');
  assert.ok(!engineLabel(engineOf(pi('ready', { name: 'a\u202eb', version: '\u001b[31m' }))).includes('\u202e'));
});

test('an event about the engine keeps what is known of it, unless it starts anew', () => {
  let v = with_({ engine: engineOf(pi('ready')), engineTexts: [{ key: 'k', lines: ['l'] }] });
  v = applyEvent(v, changed('running'));
  assert.deepEqual([v.engine.state, v.engine.can, v.engineTexts.length], ['running', all, 1]);
  v = applyEvent(v, changed('starting', { message: 'Starting pi …' }));
  assert.deepEqual([v.engine.message, v.engine.can, v.engineTexts.length], ['Starting pi …', null, 0]);
  v = applyEvent(v, changed('ready'));
  assert.equal(v.engine.can, null);
  const joined = { ...began, view: v, sync: { ...began.sync, live: true, sessionId: 's' } };
  const read = { type: 'engine', sessionId: 's', state: { engine: pi('ready') } } as const;
  assert.deepEqual(reduce(joined, read).view.engine.can, all);
  assert.equal(reduce(joined, { ...read, sessionId: 't' }).view.engine.can, null, 'of another session');
  assert.equal(
    reduce(joined, { ...read, state: { engine: pi('ready', { name: 'omp' }) } }).view.engine.can,
    null,
    'of another one',
  );
});

test('an engine that has started answers with the model that it chose', () => {
  const session = { sessionId: 's', model: null, thinkingLevel: 'off' } as unknown as View['session'];
  const view = with_({ session, engine: engineOf(pi('known')) });
  const ready = applyEvent(view, changed('ready'));
  const joined = { ...began, view: ready, sync: { ...began.sync, live: true, sessionId: 's' } };
  const model = { provider: 'fake', id: 'm' };
  const state = { engine: pi('ready'), model, thinkingLevel: 'high' };
  const after = reduce(joined, { type: 'engine', sessionId: 's', state }).view;
  assert.deepEqual([after.session?.model, after.session?.thinkingLevel], [model, 'high']);
  // Unless it does not say.
  const silent = { engine: pi('ready'), model: null };
  const kept = reduce(
    { ...joined, view: { ...after, engine: ready.engine } },
    { type: 'engine', sessionId: 's', state: silent },
  );
  assert.deepEqual([kept.view.session?.model, kept.view.session?.thinkingLevel], [model, 'high']);
});

test('a failure of the engine is shown once, and ends with the failure', () => {
  const actions = [
    { title: 'Start Again', command: 'xcsh.setEngine', arguments: { engine: 'pi' } },
    { title: 5 },
    null,
  ];
  const failed = changed('failed', { message: 'pi ended.', details: 'x'.repeat(50_000), actions });
  const end = { type: 'agent_end', stopReason: 'error', errorMessage: 'pi ended.' };
  const start = with_({ engine: engineOf(pi('running')) });
  for (const order of [
    [failed, end],
    [end, failed],
  ]) {
    const v = order.reduce(applyEvent, start);
    assert.deepEqual(v.notices, []);
    assert.equal(v.crash?.message, 'pi ended.');
    assert.equal(v.crash.details.length, 16 << 10);
    assert.deepEqual(v.crash.actions, [{ title: 'Start Again', command: 'xcsh.setEngine', args: { engine: 'pi' } }]);
    assert.equal(applyEvent(v, changed('known')).crash, null);
  }
  const other = applyEvent(applyEvent(start, failed), { ...end, errorMessage: 'Another reason.' });
  assert.equal(other.notices.length, 1);
});

test('a snapshot restores the questions and the failure of the engine', () => {
  const questions = [
    { id: 'q', method: 'confirm', title: 'Go?' },
    { id: '', method: 'confirm' },
    { id: 'x', method: 'odd' },
  ];
  let s = shown(began, snapshotWith({ questions }, { engine: pi('failed', { message: 'pi ended.' }) }));
  assert.deepEqual(
    s.view.questions.map((q) => q.id),
    ['q'],
  );
  assert.deepEqual([s.view.crash?.message, s.view.crash?.actions], ['pi ended.', []]);
  s = { ...s, view: applyEvent(s.view, changed('failed', { message: 'pi ended.', details: 'why' })) };
  assert.equal(
    shown(s, snapshotWith({}, { engine: pi('failed', { message: 'pi ended.' }) })).view.crash?.details,
    'why',
  );
  assert.equal(shown(s, snapshotWith({}, { engine: pi('ready') })).view.crash, null);
  assert.equal(shown(began, snapshotWith({ questions: null })).view.questions.length, 0);
  const gone = reduce(s, { type: 'server', state: 'stopped', message: '' }).view;
  assert.deepEqual([gone.questions, gone.crash, gone.engineTexts], [[], null, []]);
});

test('a question is asked once, and goes when it is answered', () => {
  const q = { type: 'question_asked', id: 'q', method: 'select', title: 'Which?', options: ['a', 5, 'b'] };
  let v = applyEvent(applyEvent(emptyView, q), q);
  assert.deepEqual(v.questions, [questionOf(q)]);
  assert.deepEqual(v.questions[0]?.options, ['a', 'b']);
  v = applyEvent(v, { type: 'question_gone', id: 'other' });
  assert.equal(v.questions.length, 1);
  assert.equal(applyEvent(v, { type: 'question_gone', id: 'q' }).questions.length, 0);
});

test('extensions cannot fill the page', () => {
  let v = emptyView;
  for (let i = 0; i < 1000; i++) {
    v = applyEvent(v, { type: 'question_asked', id: `q${i}`, method: 'select', options: Array(5000).fill('o') });
    v = applyEvent(v, { type: 'engine_status', key: `k${i}`, lines: Array(500).fill('l'.repeat(5000)) });
  }
  assert.deepEqual([v.questions.length, v.questions[0]?.options.length], [100, 500]);
  assert.deepEqual(
    [v.engineTexts.length, v.engineTexts[0]?.lines.length, v.engineTexts[0]?.lines[0]?.length],
    [8, 12, 300],
  );
  v = applyEvent(v, { type: 'engine_status', key: 'k0', lines: ['new'] });
  assert.deepEqual(v.engineTexts[0], { key: 'k0', lines: ['new'] });
  v = applyEvent(v, { type: 'engine_status', key: 'k0' });
  assert.equal(v.engineTexts.length, 7);
  assert.equal(applyEvent(v, { type: 'prefill', text: 'p'.repeat(1 << 20) }).prefill?.texts[0]?.length, 100_000);
});

test('malformed events of an engine change nothing that breaks', () => {
  const odd = [undefined, null, 5, 'x', [], {}, [null], { length: 9 }, ...hostile];
  for (const type of ['engine_changed', 'question_asked', 'question_gone', 'engine_status', 'prefill'])
    for (const value of odd) {
      const e = Object.fromEntries(
        ['id', 'method', 'title', 'options', 'until', 'engine', 'state', 'actions', 'key', 'lines', 'text'].map((k) => [
          k,
          value,
        ]),
      );
      const v = applyEvent(emptyView, { ...e, type });
      assert.ok(Array.isArray(v.questions) && Array.isArray(v.engineTexts) && typeof v.engine.name === 'string');
    }
});

test('texts that the extension kept are shown by a new page', () => {
  const engineTexts = [
    { type: 'engine_status', key: 'k', lines: ['one'] },
    { type: 'engine_status', key: 'k', lines: ['two'] },
    null,
  ];
  const s = shown(began, snapshotWith({ engineTexts }, { engine: pi('ready') }));
  assert.deepEqual(s.view.engineTexts, [{ key: 'k', lines: ['two'] }]);
  assert.deepEqual(
    shown(s, snapshotWith({}, { engine: pi('ready') })).view.engineTexts.length,
    1,
    'an older extension',
  );
  assert.deepEqual(shown(s, snapshotWith({}, { engine: pi('ready', { name: 'omp' }) })).view.engineTexts, []);
});

test('a command is completed only at the beginning of the prompt', () => {
  assert.equal(slashAt('/re', 3), 're');
  assert.equal(slashAt('/review now', 3), 're');
  assert.equal(slashAt('/', 1), '');
  for (const [text, at] of [
    ['say /re', 7],
    ['/review now', 11],
    ['/usr/bin', 8],
    ['re', 2],
    ['', 0],
  ] as const)
    assert.equal(slashAt(text, at), undefined, text);
  assert.deepEqual(completeCommand('/re', 3, 'review'), { text: '/review ', cursor: 8 });
  assert.deepEqual(completeCommand('/revision of it', 3, 'review'), { text: '/review of it', cursor: 8 });
});

test('commands that begin with the text come first', () => {
  const commands = commandsOf({
    commands: [
      { name: 'preview', description: ' two\n lines ' },
      { name: 'Review' },
      { name: 'mcp' },
      { name: 'two words' },
      { name: 'a/b' },
      { name: '' },
      { name: 'x\u0000' },
      null,
    ],
  });
  assert.deepEqual(
    commands.map((c) => c.name),
    ['preview', 'Review', 'mcp'],
  );
  assert.equal(commands[0]?.description, 'two lines');
  assert.deepEqual(
    matching(commands, 're').map((c) => c.name),
    ['Review', 'preview'],
  );
  assert.equal(
    matching(commandsOf({ commands: Array.from({ length: 9999 }, (_, i) => ({ name: `c${i}` })) }), '').length,
    50,
  );
  assert.deepEqual(commandsOf(null), []);
});
