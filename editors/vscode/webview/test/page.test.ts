import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { FromPage, Init } from '../../src/chat/messages';
import { Page } from '../src/page/page';
import { nothingKept } from '../src/state/draft';
import { foreignText } from '../src/view/describe';
import type { Kept } from '../src/state/draft';

const init: Init = {
  kind: 'init',
  server: 'starting',
  folders: [{ cwd: '/w', name: 'w' }],
  cwd: '/w',
  commands: [],
  trusted: true,
  texts: {},
  kept: null,
  now: 1000,
};

/** Opens a page with saved state of its own and in the extension. */
function opened(own: Partial<Kept> | undefined, stored: Partial<Kept> | null) {
  const posted: FromPage[] = [];
  const saved: Kept[] = [];
  const page = new Page({
    post: (m) => posted.push(m),
    load: () => own && { ...nothingKept, cwd: '/w', ...own },
    save: (kept) => saved.push({ ...kept }),
  });
  page.store.receive({ ...init, kept: stored && { ...nothingKept, cwd: '/w', ...stored } });
  return { page, posted, saved };
}

test('the newest of two drafts is shown', () => {
  assert.equal(opened({ at: 5, text: 'older' }, { at: 9, text: 'newer' }).page.ui.kept.text, 'newer');
  assert.equal(opened({ at: 9, text: 'newer' }, { at: 5, text: 'older' }).page.ui.kept.text, 'newer');
  assert.equal(opened({ at: 9, text: '' }, { at: 5, text: 'sent already' }).page.ui.kept.text, '');
  assert.equal(
    opened(undefined, { at: 5, text: 'from before the reload' }).page.ui.kept.text,
    'from before the reload',
  );
  assert.equal(opened({ at: 5, text: 'mine' }, null).page.ui.kept.text, 'mine');
});

test('a draft of another folder is not shown', () => {
  assert.equal(opened({ at: 5, text: 'there', cwd: '/other' }, null).page.ui.kept.text, '');
});

test('a kept state is always newer than earlier ones, regardless of the clock', () => {
  const future = Date.now() + 1e9;
  const { page, posted, saved } = opened({ at: future, text: 'a' }, null);
  page.keep({ text: 'ab' });
  assert.ok(saved.at(-1)!.at > future);
  const last = posted.findLast((m) => m.kind === 'keep');
  assert.deepEqual([last?.kept['text'], Number(last?.kept['at']) > future], ['ab', true]);
});

const snapshot = (isStreaming: boolean, seq: number) => ({
  state: { sessionId: 's', cwd: '/w', isStreaming, usage: {} },
  messages: [],
  tools: [],
  queues: {},
  approvals: [],
  contextUsage: {},
  seq,
});

/** Opens a live page, and records its calls. */
function live() {
  const { page, posted } = opened(undefined, null);
  const calls = (command: string) => posted.filter((m) => m.kind === 'call').filter((m) => m.command === command);
  const answer = async (command: string, result: unknown) => {
    page.store.receive({ kind: 'answer', id: calls(command).at(-1)!.id, result });
    await new Promise(setImmediate);
  };
  const tell = (seq: number, event: object) =>
    page.store.receive({ kind: 'event', params: { cwd: '/w', sessionId: 's', seq, event } });
  return { page, calls, answer, tell };
}

test('a message before the last prompt is accepted is sent as soon as possible', async () => {
  const { page, calls, answer, tell } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  await answer('xcsh.snapshot', snapshot(false, 1));
  page.keep({ text: 'first' });
  void page.prompts.say();
  assert.equal(calls('xcsh.prompt').length, 1);

  // The turn has ended, but the result of its command is still pending.
  tell(2, { type: 'agent_start' });
  tell(3, { type: 'agent_end' });
  page.keep({ text: 'second' });
  void page.prompts.say();
  assert.equal(calls('xcsh.prompt').length, 1, 'it is open whether the server takes another');
  assert.equal(page.ui.kept.text, 'second');
  await answer('xcsh.prompt', {});
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: 'second' });

  // The turn has not started: once it does, the text steers it.
  page.keep({ text: 'third' });
  void page.prompts.say('followUp');
  assert.equal(calls('xcsh.prompt').length, 2);
  tell(4, { type: 'agent_start' });
  await new Promise(setImmediate);
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: 'third', streamingBehavior: 'followUp' });
  assert.equal(page.ui.kept.text, '');
});

test('an error that the conversation shows is not shown again', async () => {
  for (const [kind, shown] of [
    ['provider', 0],
    ['limit', 0],
    ['internal', 1],
  ] as const) {
    const { page, calls, answer, tell } = live();
    page.store.receive({ kind: 'server', state: 'running' });
    await answer('xcsh.snapshot', snapshot(false, 1));
    page.keep({ text: 'first' });
    void page.prompts.say();
    tell(2, { type: 'agent_start' });
    tell(3, {
      type: 'message_end',
      entryId: 'e1',
      message: { role: 'user', content: [{ type: 'text', text: 'first' }] },
    });
    await new Promise(setImmediate);
    const error = { message: 'It failed.', kind, data: {} };
    page.store.receive({ kind: 'answer', id: calls('xcsh.prompt').at(-1)!.id, error });
    await new Promise(setImmediate);
    assert.equal(page.store.state.view.notices.length, shown, kind);
  }
});

test('a message before the session is shown is sent once it is, and not much later', async () => {
  const { page, calls, answer } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  page.keep({ text: 'early' });
  void page.prompts.say();
  assert.equal(calls('xcsh.prompt').length, 0);
  assert.equal(page.ui.kept.text, 'early');
  await answer('xcsh.snapshot', snapshot(false, 1));
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: 'early' });
  await answer('xcsh.prompt', {});

  // The server exits and is not restarted automatically: the user sends the prompt again after
  // starting it.
  page.store.receive({ kind: 'server', state: 'starting' });
  page.keep({ text: 'late' });
  void page.prompts.say();
  page.store.receive({ kind: 'server', state: 'stopped' });
  page.store.receive({ kind: 'server', state: 'running' });
  await answer('xcsh.snapshot', snapshot(false, 1));
  assert.equal(calls('xcsh.prompt').length, 1);
  assert.equal(page.ui.kept.text, 'late');
});

test('the answer of a command is shown in the conversation, and the prompt is not restored', async () => {
  const { page, calls, answer } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  await answer('xcsh.snapshot', snapshot(false, 0));
  page.keep({ text: '/stats' });
  const sent = page.prompts.say();
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: '/stats' });
  await answer('xcsh.prompt', { command: 'stats', answer: '**12** messages' });
  await sent;
  assert.deepEqual(
    page.ui.notes.map(({ command, text, after, sessionId }) => [command, text, after, sessionId]),
    [['stats', '**12** messages', '', 's']],
  );
  assert.deepEqual([page.ui.kept.text, page.ui.kept.sent, page.store.state.view.items.length], ['', null, 0]);
  page.prompts.dismissNote(page.ui.notes[0]!.key);
  assert.deepEqual(page.ui.notes, []);
});

test('a queued message is changed or removed; words that came too late are in the composer', async () => {
  const { page, calls, answer } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  await answer('xcsh.snapshot', snapshot(true, 0));
  const changed = page.prompts.editQueued('followUp', 1, 'old', ' new ');
  assert.deepEqual(calls('xcsh.editQueued').at(-1)?.args, { queue: 'followUp', index: 1, text: 'old', words: ' new ' });
  await answer('xcsh.editQueued', { queued: 2 });
  await changed;
  const removed = page.prompts.editQueued('steer', 0, 'old', ' ');
  assert.deepEqual(calls('xcsh.editQueued').at(-1)?.args, { queue: 'steer', index: 0, text: 'old' });
  await answer('xcsh.editQueued', { queued: 1 });
  await removed;
  page.keep({ text: 'a draft' });
  const late = page.prompts.editQueued('steer', 0, 'old', 'newer');
  const error = { message: 'It was sent.', kind: 'stale' };
  page.store.receive({ kind: 'answer', id: calls('xcsh.editQueued').at(-1)!.id, error });
  await late;
  assert.equal(page.ui.kept.text, 'newer\n\na draft');
  assert.equal(page.store.state.view.notices.length, 1);
});

test('messages that come back have their files as attachments, and not in their text', async () => {
  const { page, answer } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  await answer('xcsh.snapshot', snapshot(true, 0));
  const stopped = page.prompts.stop();
  await answer('xcsh.abort', {
    aborted: true,
    unanswered: ['<file path="/w/a.ts">\nx\n</file>\n\nlook at it', 'and then'],
  });
  await stopped;
  assert.equal(page.ui.kept.text, 'look at it\n\nand then');
  assert.deepEqual(page.ui.kept.attachments, [{ uri: '/w/a.ts', name: 'a.ts' }]);
});

test("another program's branch: each button sends the choice for the branch that is shown", async () => {
  const { page, calls, answer, tell } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  const foreignBranch = { branchId: 'f1', entryId: 'f2', entries: 2, program: 'pi', prompt: 'theirs', text: 'x' };
  await answer('xcsh.snapshot', { ...snapshot(false, 1), foreignBranch });
  assert.deepEqual(page.store.state.view.foreign, foreignBranch);
  assert.equal(foreignText(foreignBranch), 'pi continued on another branch.');
  assert.equal(foreignText({ ...foreignBranch, program: '' }), 'Another program continued on another branch.');

  void page.chooseBranch('follow');
  assert.deepEqual(calls('xcsh.chooseBranch').at(-1)!.args, { choice: 'follow', branchId: 'f1' });
  await answer('xcsh.chooseBranch', { choice: 'follow', changed: false, cancelledBy: 'hook x' });
  assert.match(page.store.state.view.notices.at(-1)!.text, /hook x/);

  tell(2, { type: 'foreign_branch', branchId: 'f9', entryId: 'f9', entries: 1 });
  void page.chooseBranch('stay');
  assert.deepEqual(calls('xcsh.chooseBranch').at(-1)!.args, { choice: 'stay', branchId: 'f9' });
  tell(3, { type: 'foreign_branch' });
  assert.equal(page.store.state.view.foreign, null);
  void page.chooseBranch('fork'); // the button was removed meanwhile
  assert.equal(calls('xcsh.chooseBranch').length, 2);
});

test('an empty conversation lists the newest other sessions', async () => {
  const { page, posted } = opened(undefined, null);
  await page.readRecent();
  assert.equal(
    posted.some((m) => m.kind === 'call' && m.command === 'xcsh.recent'),
    false,
    'an older server has no such command',
  );
  page.store.receive({ ...init, commands: ['xcsh.recent'] });
  const reading = page.readRecent();
  const call = posted.findLast((m) => m.kind === 'call' && m.command === 'xcsh.recent');
  assert.ok(call?.kind === 'call');
  assert.deepEqual(call.args, { limit: 6 });
  const one = { path: '/s/a.jsonl', id: 'a', name: 'First', fullName: 'First of all', timeAgo: '2h ago' };
  const many = Array.from({ length: 9 }, (_, i) => ({ ...one, path: `/s/${i}.jsonl`, id: String(i) }));
  page.store.receive({ kind: 'answer', id: call.id, result: { sessions: [one, null, { path: 5 }, {}, ...many] } });
  await reading;
  assert.deepEqual(page.ui.recent[0], one);
  assert.equal(page.ui.recent.length, 5);
  page.store.receive({ ...init, cwd: '/other', commands: ['xcsh.recent'] });
  assert.deepEqual(page.ui.recent, [], 'another folder has other sessions');
});

/** Opens a live page whose newest messages are the given ones, with more before them. */
async function windowed(messages: object[], own?: Partial<Kept>) {
  const { page, posted } = opened(own, null);
  const calls = (command: string) => posted.filter((m) => m.kind === 'call').filter((m) => m.command === command);
  const reply = async (command: string, answer: object) => {
    page.store.receive({ kind: 'answer', id: calls(command).at(-1)!.id, ...answer });
    await new Promise(setImmediate);
  };
  page.store.receive({ kind: 'server', state: 'running' });
  const older = { cursor: 'c1', count: 40 };
  await reply('xcsh.snapshot', { result: { ...snapshot(false, 1), messages, older } });
  return { page, posted, calls, reply };
}

const said = (entryId: string, text: string) => ({
  entryId,
  message: { role: 'user', content: [{ type: 'text', text }] },
});
const answered = (entryId: string) => ({ entryId, message: { role: 'assistant', content: [] } });

test('loading earlier messages does not read the tree again, and is announced if the user requested it', async () => {
  const { page, calls, reply } = await windowed([answered('e9')]);
  assert.equal(calls('xcsh.tree').length, 1);
  const loading = page.load('older', true);
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { cursor: 'c1', limit: 100, history: true });
  await reply('xcsh.messages', {
    result: { messages: [said('e7', 'a'), answered('e8')], older: { cursor: 'c2', count: 38 } },
  });
  await loading;
  assert.equal(page.ui.spoken, '2 messages loaded');
  assert.equal(calls('xcsh.tree').length, 1);
  void page.load('older');
  await reply('xcsh.messages', { result: { messages: [said('e6', 'a')] } });
  assert.equal(page.ui.spoken, '2 messages loaded', 'scrolling is not announced');
  assert.equal(page.store.state.view.older, null);
});

test('a rejected prompt comes back although earlier prompts were loaded meanwhile', async () => {
  const { page, reply } = await windowed([answered('e9')]);
  page.keep({ text: 'mine' });
  void page.prompts.say();
  const event = { type: 'message_end', ...answered('ea') };
  page.store.receive({ kind: 'event', params: { cwd: '/w', sessionId: 's', seq: 2, event } });
  void page.load('older');
  await reply('xcsh.messages', { result: { messages: [said('e7', 'earlier')] } });
  await reply('xcsh.prompt', { error: { message: 'No model.', kind: 'internal' } });
  assert.equal(page.ui.kept.text, 'mine');
});

test('retry finds the prompt that is before the loaded messages', async () => {
  const { page, calls, reply } = await windowed([answered('e9')]);
  void page.prompts.retry();
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { before: 'e9', history: true });
  await reply('xcsh.messages', { result: { messages: [answered('e8')], older: { cursor: 'c2', count: 9 } } });
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { cursor: 'c2', history: true });
  await reply('xcsh.messages', { result: { messages: [said('e7', 'do it')] } });
  assert.deepEqual(calls('xcsh.branch').at(-1)?.args, { entryId: 'e7' });
  await reply('xcsh.branch', { result: {} });
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: 'do it' });
});

test('a prompt that arrived before the loaded messages is not given back, another one is', async () => {
  for (const [text, back] of [
    ['sent', ''],
    ['another', 'sent'],
  ] as const) {
    const { page, reply } = await windowed([answered('e9')], { at: 5, sent: { text: 'sent', attachments: [] } });
    await reply('xcsh.messages', { result: { messages: [said('e7', text)] } });
    assert.equal(page.ui.kept.text, back);
    assert.equal(page.ui.kept.sent, null);
  }
});

test('a page returns to the message that was in view, unless it is gone', async () => {
  const own = { at: 5, scroll: 900, place: { entryId: 'e3', top: -12 } };
  const { page, calls, reply } = await windowed([answered('e9')], own);
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { around: 'e3', limit: 100, history: true });
  await reply('xcsh.messages', {
    result: { messages: [answered('e3')], older: { cursor: 'o', count: 2 }, newer: { cursor: 'n', count: 37 } },
  });
  assert.deepEqual(page.ui.reveal, { entryId: 'e3', top: -12 });
  assert.equal(page.store.state.view.away?.items.length, 1);

  const gone = await windowed([answered('e9')], own);
  await gone.reply('xcsh.messages', { error: { message: 'No such entry.', kind: 'notFound' } });
  assert.equal(gone.page.ui.reveal, null);
  assert.equal(gone.page.store.state.view.away, null);
  assert.deepEqual(gone.page.store.state.view.notices, []);

  const following = await windowed([answered('e9')], { ...own, scroll: null });
  assert.deepEqual(following.calls('xcsh.messages'), []);
});

const hit = (entryId: string) => ({ entryId, role: 'user', excerpt: `about ${entryId}`, index: 1 });

test('a search reads pages of hits, goes around, and ends when it is closed', async () => {
  const { page, posted, calls, reply } = await windowed([answered('e9'), said('e8', 'x')]);
  const { finder } = page;
  finder.open();
  void finder.search('about');
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { query: 'about', limit: 100, history: true });
  // A call searches a limited number of bytes.
  await reply('xcsh.messages', { result: { messages: [], hits: [], older: { cursor: 's1', count: 30 } } });
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { query: 'about', limit: 100, history: true, cursor: 's1' });
  await reply('xcsh.messages', {
    result: { messages: [], hits: [hit('e9'), hit('e8')], older: { cursor: 's2', count: 20 } },
  });
  assert.deepEqual([finder.getState().at, finder.getState().found, finder.getState().busy], [0, 'e9', false]);
  assert.equal(page.ui.spoken, 'Result 1 of 2+: about e9');
  await finder.step(1);
  assert.equal(finder.getState().found, 'e8');
  void finder.step(1);
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { query: 'about', limit: 100, history: true, cursor: 's2' });
  await reply('xcsh.messages', { result: { messages: [], hits: [] } });
  await new Promise(setImmediate);
  assert.deepEqual([finder.getState().found, finder.getState().hits.length], ['e9', 2], 'it begins again');
  await finder.step(-1);
  assert.equal(finder.getState().found, 'e8');

  void finder.search('another');
  const pending = calls('xcsh.messages').at(-1)!.id;
  finder.close();
  assert.deepEqual(posted.at(-1), { kind: 'cancel', id: pending });
  await reply('xcsh.messages', { result: { messages: [], hits: [hit('e8')] } });
  assert.deepEqual([finder.getState().open, finder.getState().found], [false, '']);
});

test('a search without hits, with an error, or in a rewritten session says so', async () => {
  const { page, calls, reply } = await windowed([answered('e9')]);
  const { finder } = page;
  void finder.search('   ');
  assert.equal(calls('xcsh.messages').length, 0);
  void finder.search('x');
  await reply('xcsh.messages', { result: { messages: [], hits: null } });
  assert.equal(page.ui.spoken, 'No results');
  for (const [kind, text] of [
    ['internal', 'It broke.'],
    ['stale', 'The session has changed. Search again.'],
  ]) {
    void finder.search(`x ${kind}`);
    await reply('xcsh.messages', { error: { message: 'It broke.', kind } });
    assert.deepEqual([finder.getState().error, finder.getState().busy], [text, false]);
  }
  // A hit whose message is gone meanwhile.
  void finder.search('y');
  await reply('xcsh.messages', { result: { messages: [], hits: [hit('gone')] } });
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { around: 'gone', limit: 100, history: true });
  await reply('xcsh.messages', { error: { message: 'No such entry.', kind: 'notFound' } });
  assert.equal(finder.getState().error, 'No such entry.');
  for (const odd of [null, 5, { hits: [null, 5, {}, { entryId: 7 }] }]) {
    void finder.search(`odd ${JSON.stringify(odd)}`);
    await reply('xcsh.messages', { result: odd });
    assert.equal(finder.getState().hits.length, 0);
  }
});

const earlyState = {
  sessionId: 's',
  cwd: '/w',
  isStreaming: false,
  usage: null,
  model: null,
  thinkingLevel: null,
  pending: ['usage', 'title', 'model', 'thinkingLevel'],
};

test('a session that is still being read is shown, takes a prompt, and is completed when the rest is known', async () => {
  const { page, calls, answer, tell } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  const messages = [said('e7', 'a'), answered('e8')];
  const older = { cursor: 'early', count: 0 };
  await answer('xcsh.snapshot', {
    ...snapshot(false, 1),
    state: earlyState,
    messages,
    older,
    contextUsage: null,
    pending: ['contextUsage'],
  });
  const { store } = page;
  assert.deepEqual(
    store.state.view.items.map((i) => i.entryId),
    ['e7', 'e8'],
  );
  assert.equal(store.state.view.context.tokens, 0);
  assert.deepEqual(calls('xcsh.tree'), [], 'the tree would have to be read first');
  page.keep({ text: 'meanwhile' });
  void page.prompts.say();
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: 'meanwhile' });
  tell(2, { type: 'agent_start' });
  tell(3, {
    type: 'message_end',
    entryId: 'e9',
    message: { role: 'assistant', content: [], usage: { totalTokens: 9, cost: { total: 1 } } },
  });
  assert.equal(store.state.view.session?.usage, null, 'a sum without the rest would be wrong');

  const keys = store.state.view.items.map((i) => i.key);
  page.store.receive({ kind: 'read', params: { cwd: '/w', sessionId: 's' } });
  assert.equal(calls('xcsh.snapshot').length, 2);
  tell(4, { type: 'agent_end' });
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 7, cost: 3 };
  await answer('xcsh.snapshot', {
    ...snapshot(true, 3),
    state: {
      ...earlyState,
      isStreaming: true,
      title: 'T',
      usage,
      model: { provider: 'p', id: 'm' },
      pending: undefined,
    },
    messages: [...messages, answered('e9')],
    older: { cursor: 'c', count: 1234 },
    contextUsage: { tokens: 5 },
  });
  const { view } = store.state;
  assert.deepEqual(
    [view.session?.title, view.session?.usage.cost, view.older?.count, view.context.tokens, view.running],
    ['T', 3, 1234, 5, false],
  );
  assert.deepEqual(
    view.items.map((i) => i.key),
    keys,
    'the messages in view stay',
  );
  assert.equal(calls('xcsh.tree').length, 1);
});

test('an early snapshot that arrives after the session was read is requested again', async () => {
  const { page, calls, answer } = live();
  page.store.receive({ kind: 'server', state: 'running' });
  const early = calls('xcsh.snapshot').at(-1)!.id;
  page.store.receive({ kind: 'read', params: { cwd: '/w', sessionId: 's' } });
  assert.equal(calls('xcsh.snapshot').length, 2);
  page.store.receive({ kind: 'answer', id: early, result: { ...snapshot(false, 1), state: earlyState } });
  await new Promise(setImmediate);
  assert.equal(page.store.state.sync.live, false);
  await answer('xcsh.snapshot', snapshot(false, 1));
  assert.equal(page.store.state.sync.live, true);
  page.store.receive({ kind: 'read', params: { cwd: '/w', sessionId: 'other' } });
  assert.equal(calls('xcsh.snapshot').length, 2, 'it was of another session');
});

test('a reload requests the newest messages, and returns to the message in view', async () => {
  const { page, calls, reply } = await windowed([said('e7', 'a'), answered('e8')]);
  page.keepScroll(400, { entryId: 'e3', top: 12 });
  const reload = { cwd: '/w', sessionId: 's', seq: 2, reason: 'reload' };
  page.store.receive({ kind: 'session', params: reload });
  assert.deepEqual(calls('xcsh.snapshot').at(-1)?.args, { last: 100, history: true });
  const older = { cursor: 'c2', count: 41 };
  await reply('xcsh.snapshot', { result: { ...snapshot(false, 2), messages: [said('e9', 'b')], older } });
  assert.deepEqual(calls('xcsh.messages').at(-1)?.args, { around: 'e3', limit: 100, history: true });
  const around = {
    messages: [said('e3', 'here')],
    older: { cursor: 'o', count: 3 },
    newer: { cursor: 'n', count: 30 },
  };
  await reply('xcsh.messages', { result: around });
  assert.deepEqual(page.ui.reveal, { entryId: 'e3', top: 12 });
  assert.deepEqual(page.store.state.view.away?.items[0]?.entryId, 'e3');

  // A user at the end stays there.
  page.keepScroll(null, null);
  const asked = calls('xcsh.messages').length;
  page.store.receive({ kind: 'session', params: { ...reload, seq: 3 } });
  await reply('xcsh.snapshot', { result: { ...snapshot(false, 3), messages: [said('ea', 'c')], older } });
  assert.equal(calls('xcsh.messages').length, asked);
  assert.equal(page.store.state.view.away, null);
});

/** Opens a live page on a session that pi answers, with the engine's abilities. */
async function hosted(can: object = {}) {
  const l = live();
  const all = { steer: true, branch: true, compact: true, images: true, models: true, ...can };
  l.page.store.receive({ kind: 'server', state: 'running' });
  const s = snapshot(false, 1);
  await l.answer('xcsh.snapshot', { ...s, state: { ...s.state, engine: { name: 'pi', state: 'ready', can: all } } });
  return l;
}

test('a proposed prompt goes only into an empty composer', async () => {
  const { page, tell } = await hosted();
  tell(2, { type: 'prefill', text: 'proposed' });
  assert.equal(page.ui.kept.text, 'proposed');
  tell(3, { type: 'prefill', text: 'another' });
  assert.equal(page.ui.kept.text, 'proposed');
  page.keep({ text: '' });
  tell(4, { type: 'notice', text: 'x' });
  assert.equal(page.ui.kept.text, '', 'it is proposed once');
});

test('a prompt that a failed engine did not answer returns with the queued messages, once', async () => {
  const { page, tell, calls } = await hosted();
  page.keep({ text: 'first' });
  void page.prompts.say();
  tell(2, { type: 'agent_start' });
  page.keep({ text: 'more' });
  void page.prompts.say();
  tell(3, { type: 'engine_changed', engine: 'pi', state: 'failed', message: 'pi ended.' });
  tell(4, { type: 'agent_end', stopReason: 'error', errorMessage: 'pi ended.', unanswered: ['first', 'more'] });
  const [prompt, steer] = calls('xcsh.prompt');
  for (const [call, result] of [
    [steer, { result: { queued: true } }],
    [prompt, { error: { message: 'pi ended.', kind: 'provider', data: { class: 'engine' } } }],
  ] as const)
    page.store.receive({ kind: 'answer', id: call!.id, ...result });
  await new Promise(setImmediate);
  assert.equal(page.ui.kept.text, 'first\n\nmore');
  assert.deepEqual(page.store.state.view.notices, [], 'the card shows the failure');
});

test('messages of a turn that was stopped are not returned twice', async () => {
  const { page, tell, answer } = await hosted();
  tell(2, { type: 'agent_start' });
  void page.prompts.stop();
  tell(3, { type: 'agent_end', stopReason: 'aborted', unanswered: ['queued'] });
  await answer('xcsh.abort', { aborted: true, unanswered: ['queued'] });
  assert.equal(page.ui.kept.text, 'queued');
});

test('an engine that cannot be steered gets queued messages', async () => {
  const { page, tell, calls } = await hosted({ steer: false });
  tell(2, { type: 'agent_start' });
  page.keep({ text: 'then' });
  void page.prompts.say();
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: 'then', streamingBehavior: 'followUp' });
});

test('an engine that takes no images gets none', async () => {
  const { page, calls } = await hosted({ images: false });
  page.addPicture('image/png', 'AAAA');
  assert.equal(page.ui.pictures.length, 0);
  assert.equal(page.store.state.view.notices.at(-1)?.text, 'pi takes no images.');
  // Attached before the engine was chosen.
  page.ui = { ...page.ui, pictures: [{ key: 'p', mimeType: 'image/png', data: 'AAAA' }] };
  page.keep({ text: 'look' });
  await page.prompts.say();
  assert.deepEqual([calls('xcsh.prompt').length, page.ui.kept.text, page.ui.pictures.length], [0, 'look', 1]);
});

test('a retry with an engine that cannot go back sends the prompt again', async () => {
  const { page, tell, calls } = await hosted({ branch: false });
  tell(2, { type: 'message_end', entryId: 'e1', message: { role: 'user', content: 'again' } });
  void page.prompts.retry();
  await new Promise(setImmediate);
  assert.equal(calls('xcsh.branch').length, 0);
  assert.deepEqual(calls('xcsh.prompt').at(-1)?.args, { text: 'again' });
});

test('an answered question is removed, also if it did not wait any more', async () => {
  const { page, tell, calls } = await hosted();
  tell(2, { type: 'question_asked', id: 'q', method: 'confirm', title: 'Go?' });
  const [q] = page.store.state.view.questions;
  const done = page.answer(q!, { confirmed: false });
  assert.deepEqual(calls('xcsh.answer').at(-1)?.args, { id: 'q', confirmed: false });
  page.store.receive({
    kind: 'answer',
    id: calls('xcsh.answer').at(-1)!.id,
    error: { message: 'It is gone.', kind: 'notFound' },
  });
  await done;
  assert.deepEqual([page.store.state.view.questions, page.store.state.view.notices], [[], []]);
});

test('a question stays if its answer could not be sent', async () => {
  const { page, tell, calls } = await hosted();
  tell(2, { type: 'question_asked', id: 'q', method: 'input', title: 'Name?' });
  const done = page.answer(page.store.state.view.questions[0]!, { value: 'x' });
  page.store.receive({
    kind: 'answer',
    id: calls('xcsh.answer').at(-1)!.id,
    error: { message: 'No.', kind: 'internal' },
  });
  await done;
  assert.deepEqual([page.store.state.view.questions.length, page.store.state.view.notices.at(-1)?.text], [1, 'No.']);
});

test('after a start the page reads what the engine can do', async () => {
  const { page, tell, answer } = await hosted();
  tell(2, { type: 'engine_changed', engine: 'omp', state: 'starting' });
  tell(3, { type: 'engine_changed', engine: 'omp', state: 'ready' });
  const engine = () => page.store.state.view.engine;
  assert.equal(engine().can, null);
  await answer('xcsh.state', { engine: { name: 'omp', version: '18.2.3', state: 'ready', can: { branch: true } } });
  assert.equal(engine().can?.steer, false);
  assert.equal(engine().version, '18.2.3');
});

test('only the known ways to continue are run', () => {
  const { page, posted } = opened(undefined, null);
  page.act({ title: 'x', command: 'xcsh.purge', args: {} });
  page.act({ title: 'x', command: 'xcsh.setEngine', args: { engine: 'own' } });
  assert.deepEqual(
    posted.filter((m) => m.kind === 'act'),
    [{ kind: 'act', command: 'xcsh.setEngine', args: { engine: 'own' } }],
  );
});

test('an engine that cannot read the session gets a copy, if the user wants it', async () => {
  const { page, calls } = await hosted();
  page.keep({ text: 'go' });
  void page.prompts.say();
  const error = { message: 'pi cannot read it.', kind: 'argumentNeeded', data: { field: 'fork', engine: 'pi' } };
  page.store.receive({ kind: 'answer', id: calls('xcsh.prompt').at(-1)!.id, error });
  await new Promise(setImmediate);
  assert.equal(page.ui.kept.text, 'go');
  const [action] = page.store.state.view.notices.at(-1)?.actions ?? [];
  assert.deepEqual([action?.command, action?.args], ['xcsh.setEngine', { engine: 'pi', fork: true }]);
});
