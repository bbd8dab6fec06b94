import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answer, answering, call, result, saying, text, thinking, user } from '../dev/script';
import type { AgentEvent } from '../dev/script';
import { PlayedSession } from '../dev/session';
import { initialState } from '../src/state/model';
import type { ChatState } from '../src/state/model';
import { reduce, wantsSnapshot } from '../src/state/reduce';
import type { Action } from '../src/state/reduce';
import { numbered } from '../src/state/wire';
import type { Numbered, Snapshot } from '../src/state/wire';
import { recordings } from './recordings';
import { random } from './random';

const began = reduce(initialState, { type: 'folder', server: 'running' });
const joinedWith = (s: ChatState, snapshot: Snapshot, ask = 1): ChatState =>
  reduce(reduce(s, { type: 'asked', ask }), { type: 'snapshot', ask, snapshot });
const notified = (s: ChatState, n: Numbered): ChatState => reduce(s, { type: 'notification', n });

/** The part of the state that must not depend on its history. Keys, notices and estimates are local to the page. */
function shown({ view }: ChatState): unknown {
  const { items, running, compacting, queues, approvals, todos, retry, session } = view;
  return JSON.parse(
    JSON.stringify({
      running,
      compacting,
      queues,
      approvals: approvals.map((a) => a.id),
      todos,
      retry,
      session: session && {
        mode: session.approvalMode,
        id: session.sessionId,
        leaf: session.leafId,
        model: session.model,
        thinking: session.thinkingLevel,
        usage: session.usage,
      },
      items: items.map((i) => ({
        entryId: i.entryId,
        live: i.live,
        message: withoutPieces(i.message),
        calls: i.calls,
      })),
    }),
  );
}

/** A snapshot has a call's arguments only once they are complete; only events contain the pieces. */
function withoutPieces(message: { content?: unknown }): unknown {
  if (!Array.isArray(message.content)) return message;
  return { ...message, content: message.content.map((b: object) => ({ ...b, partialJson: undefined })) };
}

/** The page, with a server that answers a snapshot request with its state at some earlier time. */
class Client {
  state = began;
  asked = 0;
  seen = 0;

  do(a: Action): void {
    this.state = reduce(this.state, a);
    if (wantsSnapshot(this.state)) this.state = reduce(this.state, { type: 'asked', ask: ++this.asked });
  }

  reload(): void {
    this.state = initialState;
    this.do({ type: 'folder', server: 'running' });
  }

  get waits(): boolean {
    return this.state.sync.asked !== 0;
  }

  answer(snapshot: Snapshot): void {
    this.do({ type: 'snapshot', ask: this.state.sync.asked, snapshot });
  }
}

for (const { name, log, snapshots } of recordings) {
  test(`${name}: events alone lead to what every snapshot says`, () => {
    // It joins at the start of the first session, like a panel that was open all the time.
    const client = new Client();
    client.reload();
    let at = 0;
    for (const { after, snapshot } of snapshots) {
      for (; at < after; at++) client.do({ type: 'notification', n: log[at]! });
      const direct = joinedWith(began, snapshot);
      if (client.waits) client.answer(snapshot);
      assert.equal(client.state.sync.live, true);
      assert.deepEqual(shown(client.state), shown(direct));
    }
    assert.ok(client.asked >= 1);
  });

  test(`${name}: hidden, reloaded and late pages end with what an uninterrupted one shows`, () => {
    const last = snapshots.at(-1)!;
    const expected = shown(joinedWith(began, last.snapshot));
    for (let seed = 1; seed <= 300; seed++) {
      const client = new Client();
      client.reload();
      const next = random(seed);
      let taken: { snapshot: Snapshot; due: number } | undefined;
      for (let at = 0; at <= log.length; at++) {
        // A snapshot is taken at one time and arrives at any later one.
        for (const s of snapshots)
          if (s.after === at && client.waits && !taken)
            taken = { snapshot: s.snapshot, due: at + (at === log.length ? 0 : Math.floor(next() * 12)) };
        if (taken && (taken.due <= at || at === log.length)) {
          if (client.waits) client.answer(taken.snapshot);
          taken = undefined;
        }
        if (at === log.length) break;
        if (next() < 0.05) {
          client.reload();
          taken = undefined;
        }
        if (next() < 0.05) continue; // it is lost
        client.do({ type: 'notification', n: log[at]! });
        if (next() < 0.1) client.do({ type: 'notification', n: log[Math.floor(next() * (at + 1))]! }); // it is repeated
      }
      for (let tries = 0; client.waits && tries < 3; tries++) client.answer(last.snapshot);
      // A loss at the very end is detected with the next notification; the panel requests a
      // snapshot when it comes back.
      if (client.state.sync.seq < last.snapshot.seq || client.state.sync.sessionId !== last.snapshot.state.sessionId) {
        client.reload();
        client.answer(last.snapshot);
      }
      assert.equal(client.state.sync.live, true, `seed ${seed}`);
      assert.deepEqual(shown(client.state), expected, `seed ${seed}`);
    }
  });
}

/** A session with every kind of event, and a snapshot at each step. */
function everyMoment(): { log: Numbered[]; snapshots: Snapshot[] } {
  const log: Numbered[] = [];
  const snapshots: Snapshot[] = [];
  const keep = () => snapshots.push(s.snapshot() as unknown as Snapshot);
  const s = new PlayedSession('s', '/w', (t) => {
    log.push(numbered(t.of, t.params)!);
    keep();
  });
  s.usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 };
  keep();
  const emit = (...events: Iterable<AgentEvent>[]) => events.forEach((es) => [...es].forEach((e) => s.emit(e)));
  const phases = [
    {
      name: 'P',
      tasks: [
        { content: 'a', status: 'completed' },
        { content: 'b', status: 'odd' },
      ],
    },
  ];
  const usage = { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: { total: 0 } } };
  const calls = [call('c1', 'bash', { command: 'x' }), call('c2', 'todo_write', {})];
  emit(
    [{ type: 'agent_start' }],
    saying(user('go')),
    answering(answer([thinking('I think so'), text('Two calls'), ...calls], { stopReason: 'toolUse', ...usage })),
  );
  emit([
    { type: 'tool_execution_start', toolCallId: 'c1', toolName: 'bash' },
    { type: 'tool_execution_start', toolCallId: 'c2', toolName: 'todo_write' },
    { type: 'tool_execution_update', toolCallId: 'c1', toolName: 'bash', partialResult: { content: [text('1')] } },
    {
      type: 'approvals_changed',
      approvals: [{ id: 'c1', tool: 'bash', args: {}, preview: {}, rules: [], shown: true }],
    },
    { type: 'approvals_changed', approvals: [] },
    { type: 'queue_changed', steering: ['so'], followUp: [] },
    { type: 'approval_mode_changed', mode: 'auto-edit' },
    { type: 'tool_execution_end', toolCallId: 'c2', toolName: 'todo_write', result: { content: [text('ok')] } },
    {
      type: 'tool_execution_end',
      toolCallId: 'c1',
      toolName: 'bash',
      result: { content: [text('no')] },
      isError: true,
    },
  ]);
  emit(
    saying(result('c2', 'todo_write', 'ok', { details: { phases } })),
    saying(result('c1', 'bash', 'no', { isError: true })),
    [{ type: 'turn_end' }],
  );
  emit(
    answering(answer([text('The same ids again'), call('c1', 'bash', {})], { stopReason: 'toolUse', ...usage })),
    saying(result('c1', 'bash', 'yes')),
  );
  emit([
    { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 1000, errorMessage: 'busy' },
    { type: 'auto_retry_end', attempt: 1, success: true },
    { type: 'auto_retry_start', attempt: 2, maxAttempts: 3, delayMs: 4000, errorMessage: 'busy again' },
  ]);
  emit(answering(answer([text('Done')], usage)), [{ type: 'agent_end' }]);
  return { log, snapshots };
}

test('a page that joins at any time, with any snapshot, reaches the same state', () => {
  const { log, snapshots } = everyMoment();
  const expected = shown(joinedWith(began, snapshots.at(-1)!));
  for (let from = 0; from <= log.length; from++) {
    for (let taken = from; taken <= log.length; taken += 3) {
      for (const due of [taken, Math.min(taken + 5, log.length), log.length]) {
        let s = reduce(began, { type: 'asked', ask: 1 });
        for (let at = from; at < due; at++) s = notified(s, log[at]!);
        s = reduce(s, { type: 'snapshot', ask: 1, snapshot: snapshots[taken]! });
        for (let at = due; at < log.length; at++) s = notified(s, log[at]!);
        assert.equal(s.sync.live, true, `${from} ${taken} ${due}`);
        assert.deepEqual(shown(s), expected, `${from} ${taken} ${due}`);
      }
    }
  }
});

test('a message in the snapshot is not added twice', () => {
  const { log, snapshots } = everyMoment();
  const end = log.findIndex((n) => n.of === 'event' && n.event.type === 'message_end');
  // Messages are read after the events: one can be present before its event arrives.
  const early = { ...snapshots[end + 1]!, seq: snapshots[end]!.seq };
  const s = notified(joinedWith(began, early), log[end]!);
  assert.equal(s.view.items.filter((i) => i.message.role === 'user').length, 1);
});

test('a gap or an unknown session requests a snapshot, a duplicate does not', () => {
  const { log, snapshots } = everyMoment();
  const at10 = joinedWith(began, snapshots[10]!);
  assert.equal(wantsSnapshot(notified(at10, log[11]!)), true);
  assert.equal(notified(at10, log[9]!), at10);
  assert.equal(wantsSnapshot(notified(at10, { ...log[0]!, sessionId: 'other' })), true);
});

test('late events of an earlier session change nothing', () => {
  const { log, snapshots } = everyMoment();
  const other = structuredClone(snapshots[0]!);
  other.state.sessionId = 'other';
  let s = joinedWith(began, snapshots[10]!);
  s = notified(s, { of: 'session', cwd: '/w', sessionId: 'other', seq: 0, reason: 'new' });
  assert.equal(wantsSnapshot(s), true);
  s = joinedWith(s, other, 2);
  assert.equal(notified(s, log[10]!), s);
});

test('an answer in the snapshot is not counted twice', () => {
  const { snapshots } = everyMoment();
  const early = structuredClone(snapshots.at(-1)!);
  const last = early.messages!.at(-1)!;
  early.state.usage.totalTokens = 9;
  const usage = { input: 5, output: 4, cacheRead: 0, cacheWrite: 0, totalTokens: 9, cost: { total: 1 } };
  const event = { type: 'message_end', message: { ...last.message, usage }, entryId: last.entryId };
  const n = numbered('event', { cwd: '/w', sessionId: 's', seq: early.seq + 1, event })!;
  const s = notified(joinedWith(began, early), n);
  assert.equal(s.view.session?.usage.totalTokens, 9);
  assert.equal(s.view.items.length, joinedWith(began, early).view.items.length);
});

test('a snapshot older than a branch switch is requested again', () => {
  const { snapshots } = everyMoment();
  const at5 = reduce(reduce(began, { type: 'asked', ask: 1 }), {
    type: 'notification',
    n: { of: 'session', cwd: '/w', sessionId: 's', seq: snapshots[5]!.seq + 1, reason: 'tree' },
  });
  const early = reduce(at5, { type: 'snapshot', ask: 1, snapshot: snapshots[5]! });
  assert.equal(wantsSnapshot(early), true);
  assert.equal(joinedWith(early, snapshots[6]!, 2).sync.live, true);
});

test('a snapshot older than a session switch is requested again', () => {
  const { snapshots } = everyMoment();
  let s = reduce(began, { type: 'asked', ask: 1 });
  s = notified(s, { of: 'session', cwd: '/w', sessionId: 'next', seq: 1, reason: 'resume' });
  s = reduce(s, { type: 'snapshot', ask: 1, snapshot: snapshots[3]! });
  assert.equal(s.sync.live, false);
  assert.equal(wantsSnapshot(s), true);
});

test('a server exit ends the running turn, and the next server numbers from 1', () => {
  const { log, snapshots } = everyMoment();
  const running = joinedWith(began, snapshots[12]!);
  assert.equal(running.view.running, true);
  const stopped = reduce(running, { type: 'server', state: 'stopped', message: 'It ended.' });
  assert.equal(stopped.view.running, false);
  assert.equal(
    stopped.view.items.some((i) => i.live),
    false,
  );
  assert.equal(stopped.view.items.length > 0, true, 'what was said stays on the screen');
  assert.equal(notified(stopped, log[13]!), stopped);
  const again = reduce(stopped, { type: 'server', state: 'running', message: '' });
  assert.equal(wantsSnapshot(again), true);
  const fresh = { ...snapshots.at(-1)!, seq: 1 };
  const back = joinedWith(again, fresh, 7);
  assert.equal(back.sync.seq, 1);
  assert.equal(notified(back, { ...log[0]!, seq: 2 }).sync.seq, 2);
});

test('messages keep their keys and unchanged ones stay the same object', () => {
  const { log, snapshots } = everyMoment();
  let s = joinedWith(began, snapshots[0]!);
  const keys = new Map<string, string>();
  for (const n of log) {
    const before = s.view.items;
    s = notified(s, n);
    for (const item of s.view.items) {
      if (!item.entryId) continue;
      assert.equal(keys.get(item.entryId) ?? item.key, item.key);
      keys.set(item.entryId, item.key);
    }
    if (n.of === 'event' && n.event.type === 'message_update') {
      s.view.items.slice(0, -1).forEach((item, i) => assert.equal(item, before[i]));
    }
  }
  const again = joinedWith(s, snapshots.at(-1)!, 9);
  for (const item of again.view.items) assert.equal(item.key, keys.get(item.entryId));
});

test('a call without a result is stopped when the run ends', () => {
  const { log, snapshots } = everyMoment();
  const until = log.findIndex((n) => n.of === 'event' && n.event.type === 'tool_execution_update');
  const s = notified(joinedWith(began, snapshots[until]!), {
    of: 'event',
    cwd: '/w',
    sessionId: 's',
    seq: until + 1,
    event: { type: 'agent_end', stopReason: 'aborted' },
  });
  const calls = s.view.items.flatMap((i) => Object.values(i.calls));
  assert.deepEqual(
    calls.map((c) => c.status),
    ['stopped', 'stopped'],
  );
});

test('unknown events change nothing', () => {
  const { snapshots } = everyMoment();
  const s = joinedWith(began, snapshots[4]!);
  const odd = [
    { type: 'hologram' },
    { type: 'message_update' },
    { type: 'message_update', assistantMessageEvent: { type: 'text_delta', contentIndex: 1e9, delta: 'x' } },
    { type: '__proto__' },
    { type: 'constructor' },
    { type: 'tool_execution_end', toolCallId: '__proto__' },
  ];
  odd.forEach((event, i) => {
    const n = numbered('event', { cwd: '/w', sessionId: 's', seq: s.sync.seq + 1, event });
    assert.ok(n, String(i));
    assert.equal(notified(s, n).view.items.length, s.view.items.length);
  });
  assert.equal(numbered('event', { sessionId: 1, seq: 2 }), undefined);
  assert.equal(numbered('session', { sessionId: 's', seq: -0.5, reason: 'new' }), undefined);
});

test('events and snapshots lead to the same state', () => {
  const { log, snapshots } = everyMoment();
  let s = joinedWith(began, snapshots[0]!);
  log.forEach((n, i) => {
    s = notified(s, n);
    assert.deepEqual(shown(s), shown(joinedWith(began, snapshots[i + 1]!)), `after ${i + 1}`);
  });
});

/** The state after the last event of a type, in a session with every kind of event. */
function after(type: string): ChatState {
  const { log, snapshots } = everyMoment();
  const at = log.findLastIndex((n) => n.of === 'event' && n.event.type === type);
  return joinedWith(began, snapshots[at + 1]!);
}

test('a page that joins late shows the approval mode, completed calls, and the retry', () => {
  const ended = after('tool_execution_end').view;
  assert.equal(ended.session?.approvalMode, 'auto-edit');
  assert.deepEqual(Object.fromEntries(Object.entries(ended.items.at(-1)!.calls).map(([id, c]) => [id, c.status])), {
    c1: 'failed',
    c2: 'done',
  });
  assert.deepEqual(after('auto_retry_start').view.retry, {
    attempt: 2,
    maxAttempts: 3,
    delayMs: 4000,
    message: 'busy again',
    limited: false,
  });
  assert.equal(after('auto_retry_end').view.retry, null);
  assert.equal(after('agent_end').view.retry, null);
});

test('a shell command of the user appears in its place without a new snapshot', () => {
  const { log, snapshots } = everyMoment();
  const s = joinedWith(began, snapshots.at(-1)!);
  const seq = log.length;
  const message = {
    role: 'bashExecution',
    command: 'ls',
    output: 'a',
    exitCode: 0,
    cancelled: false,
    truncated: false,
    timestamp: 1,
  };
  const running = notified(
    s,
    numbered('event', {
      cwd: '/w',
      sessionId: 's',
      seq: seq + 1,
      event: { type: 'bash_execution_update', text: 'a' },
    })!,
  );
  assert.equal(running.view.bash, 'a');
  const ended = (entryId?: string) =>
    notified(
      running,
      numbered('event', {
        cwd: '/w',
        sessionId: 's',
        seq: seq + 2,
        event: { type: 'bash_execution_end', message, ...(entryId ? { entryId } : {}) },
      })!,
    );
  const stored = ended('e9');
  assert.equal(stored.view.bash, null);
  assert.equal(stored.view.items.at(-1)?.entryId, 'e9');
  assert.equal(stored.view.session?.leafId, 'e9');
  assert.equal(wantsSnapshot(stored), false);
  assert.equal(wantsSnapshot(ended()), true, 'of one that is in no entry a snapshot tells');
});
