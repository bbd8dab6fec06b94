// Runs the fixtures in testdata/reducer, which the Neovim plugin's reducer runs too (tests/reducer_test.lua).
// UPDATE_REDUCER=1 writes the expected states; review the difference, then run the Lua tests.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { initialState } from '../src/state/model';
import type { ChatState, Item, Notice } from '../src/state/model';
import { reduce, wantsSnapshot } from '../src/state/reduce';
import type { Action } from '../src/state/reduce';
import { blocks, numbered, obj, plainText, str } from '../src/state/wire';
import type { Obj, Snapshot } from '../src/state/wire';

/** One step of a fixture; testdata/reducer/README.md describes them. */
interface Step {
  event?: Obj;
  sessionChanged?: { reason: string };
  sessionId?: string;
  seq?: number;
  snapshot?: Snapshot;
  failed?: string;
  stale?: boolean;
  server?: 'running' | 'stopped';
  expect?: unknown;
}

interface Fixture {
  about: string;
  steps: Step[];
}

const dir = '../../testdata/reducer';
const files = readdirSync(dir).filter((name) => name.endsWith('.json'));
const read = (name: string): Fixture => JSON.parse(readFileSync(path.join(dir, name), 'utf8')) as Fixture;

/** Replays steps as a client does: it requests a snapshot whenever the reducer wants one. */
class Player {
  state: ChatState = initialState;
  noticed: readonly Notice[] = []; // in this session
  private requests = 0;

  constructor() {
    this.do({ type: 'folder', server: 'running' });
  }

  step(s: Step): void {
    const ask = this.state.sync.asked - (s.stale ? 1 : 0);
    if (s.snapshot) this.do({ type: 'snapshot', ask, snapshot: structuredClone(s.snapshot) });
    else if (s.failed !== undefined) this.do({ type: 'snapshotFailed', ask, message: s.failed });
    else if (s.server) this.do({ type: 'server', state: s.server, message: '' });
    else if (s.event || s.sessionChanged) this.notify(s);
  }

  private notify(s: Step): void {
    const base = { cwd: '/w', sessionId: s.sessionId ?? 's', seq: s.seq };
    const n = s.event
      ? numbered('event', { ...base, event: structuredClone(s.event) })
      : numbered('session', { ...base, ...s.sessionChanged });
    assert.ok(n, JSON.stringify(s));
    this.do({ type: 'notification', n });
  }

  private do(a: Action): void {
    const session = this.state.view.session?.sessionId;
    this.state = reduce(this.state, a);
    if (wantsSnapshot(this.state)) this.state = reduce(this.state, { type: 'asked', ask: ++this.requests });
    const { view } = this.state;
    // In this panel a notice disappears with its cause; in Neovim it is a line of the conversation.
    const known = session === view.session?.sessionId ? this.noticed : [];
    this.noticed = [...known, ...view.notices.filter((n) => !known.some(({ key }) => key === n.key))];
  }
}

/** The part of a state that both reducers share, in one shape. Lua has no null, so absent values are omitted. */
function normal({ state: { view, sync }, noticed }: Player): unknown {
  const { session, retry } = view;
  return JSON.parse(
    JSON.stringify({
      live: sync.live,
      requested: sync.asked !== 0,
      failed: sync.failed,
      sessionId: sync.sessionId,
      seq: sync.seq,
      running: view.running,
      compacting: view.compacting,
      queues: view.queues,
      background: view.background.length ? view.background.map((c) => c.id) : undefined,
      approvals: view.approvals.map((a) => a.id),
      todos: view.todos,
      contextTokens: view.context.tokens,
      retry: retry && {
        attempt: retry.attempt,
        maxAttempts: retry.maxAttempts,
        delayMs: retry.delayMs,
        message: retry.message,
      },
      bash: view.bash,
      foreign: view.foreign,
      notices: noticed.map((n) => ({ error: n.tone === 'error', text: n.text })),
      session: session && {
        leafId: session.leafId,
        model: session.model && `${session.model.provider}/${session.model.id}`,
        thinkingLevel: session.thinkingLevel,
        approvalMode: session.approvalMode,
        mode: session.mode,
        title: session.title || undefined,
        unsaved: str(obj(session).unsaved),
        totalTokens: session.usage.totalTokens,
        cost: session.usage.cost,
      },
      items: view.items.map(normalItem),
    }),
    (_, v: unknown) => (v === null ? undefined : v),
  );
}

function normalItem({ entryId, message, live, retried, calls }: Item): unknown {
  return {
    entryId,
    role: message.role,
    live,
    retried: retried || null,
    content: blocks(message.content).map((block) => {
      const { type, text, thinking, name, arguments: args, partialJson } = obj(block);
      return { type, text, thinking, name, arguments: args, partialJson };
    }),
    calls: Object.fromEntries(
      Object.entries(calls).map(([id, c]) => [
        id,
        { status: c.status, output: plainText(obj(c.output).content), entryId: c.entryId ?? '' },
      ]),
    ),
  };
}

for (const name of files) {
  const fixture = read(name);
  test(`${name}: ${fixture.about}`, () => {
    const player = new Player();
    let checked = 0;
    fixture.steps.forEach((step, i) => {
      player.step(step);
      if (!('expect' in step)) return;
      checked++;
      if (process.env['UPDATE_REDUCER']) step.expect = normal(player);
      else assert.deepEqual(normal(player), step.expect, `step ${i + 1}`);
    });
    assert.ok(checked > 0, 'a fixture without an expected state');
    if (process.env['UPDATE_REDUCER']) writeFileSync(path.join(dir, name), JSON.stringify(fixture, null, 1) + '\n');
  });
}

test('the fixtures contain every event type that docs/protocol.md lists', () => {
  const lines = readFileSync('../../docs/protocol.md', 'utf8').split('\n');
  const first = lines.findIndex((line) => line.startsWith('| `agent_start`'));
  const rows = lines.slice(first, lines.indexOf('', first));
  const documented = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map((m) => m[1]!));
  assert.ok(documented.length >= 25, String(documented));
  const played = new Set(files.flatMap((name) => read(name).steps.map((s) => str(s.event?.['type']))));
  assert.deepEqual(
    documented.filter((type) => !played.has(type)),
    [],
  );
});
