import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answer, answering, call, result, saying, text, user } from '../dev/script';
import { PlayedSession } from '../dev/session';
import type { FromPage } from '../../src/chat/messages';
import { itemsOf } from '../src/state/items';
import type { Item } from '../src/state/model';
import { Store } from '../src/state/store';
import { messagesOf } from '../src/state/wire';
import { maxMessages, messageCount, shownItems } from '../src/state/window';
import { random } from './random';

type Json = { [key: string]: unknown };
type Call = Extract<FromPage, { kind: 'call' }>;

/** A store, and a server that answers when the test says so. Everything arrives in the order in which it was sent. */
class World {
  readonly requests: Call[] = [];
  readonly asked: Call[] = [];
  readonly channel: (() => void)[] = [];
  readonly store = new Store((m) => m.kind === 'call' && (this.requests.push(m), this.asked.push(m)));
  readonly session = new PlayedSession('s', '/w', (t) => this.channel.push(() => this.notify(t.of, t.params)));
  failing = '';
  lost = 0; // notifications that are lost from now on

  private notify(kind: 'event' | 'session', params: Json): void {
    if (this.lost > 0) this.lost--;
    else this.store.receive({ kind, params });
  }

  begin(): void {
    const init = { kind: 'init', folders: [], cwd: '/w', commands: [], trusted: true, texts: {}, kept: null, now: 0 };
    this.store.receive({ ...init, server: 'running' });
  }

  /** Answers the oldest request with the session of now. */
  serve(): void {
    const m = this.requests.shift();
    if (!m) return;
    let reply: Json = { result: {} };
    if (m.command === 'xcsh.snapshot') reply = { result: this.session.snapshot(Number(m.args['last'])) };
    if (m.command === 'xcsh.messages') {
      const page = this.session.page(m.args);
      const kind = this.failing || (page === null ? 'stale' : page === undefined ? 'notFound' : '');
      reply = kind ? { error: { message: 'It failed.', kind } } : { result: page };
    }
    this.channel.push(() => this.store.receive({ kind: 'answer', id: m.id, ...reply }));
  }

  async deliver(): Promise<void> {
    this.channel.shift()?.();
    await new Promise(setImmediate);
  }

  /** Answers everything, until nothing is pending. */
  async settle(): Promise<void> {
    while (this.requests.length + this.channel.length > 0) {
      this.serve();
      await this.deliver();
    }
  }

  async load(to: 'older' | 'newer'): Promise<void> {
    void this.store.load(to);
    await this.settle();
  }

  get view() {
    return this.store.state.view;
  }

  /** Checks that items are consecutive messages of the session, each once, with results at their calls. */
  check(items: readonly Item[], what: string): { from: number; to: number } {
    const place = new Map(this.session.messages.map((m, i) => [m.entryId, i]));
    const ids = items.flatMap((i) => [i.entryId, ...Object.values(i.calls).flatMap((c) => c.entryId ?? [])]);
    const places = ids.filter(Boolean).map((id) => place.get(id) ?? -1);
    const sorted = places.toSorted((a, b) => a - b);
    const from = sorted[0] ?? 0;
    assert.deepEqual(
      sorted,
      sorted.map((_, i) => from + i),
      `${what}: not consecutive`,
    );
    const others = items.slice(items.findIndex((i) => i.message.role !== 'toolResult'));
    assert.ok(
      others.every((i) => i.message.role !== 'toolResult'),
      `${what}: a result without its call`,
    );
    assert.equal(new Set(items.map((i) => i.key)).size, items.length, `${what}: two items have one key`);
    return { from, to: from + places.length };
  }
}

/** Records messages: of four, one is a prompt, one a call, one its result, and one an answer. */
function recorded(s: PlayedSession, n: number): void {
  for (let i = 0; i < n; i++) {
    const id = `c${Math.floor(i / 4)}`;
    if (i % 4 === 0) s.record(user(`prompt ${i}`));
    if (i % 4 === 1) s.record(answer([text('It runs'), call(id, 'bash', {})], { stopReason: 'toolUse' }));
    if (i % 4 === 2) s.record(result(id, 'bash', `output ${i}`));
    if (i % 4 === 3) s.record(answer([text(`answer ${i}`)]));
  }
}

async function opened(n: number): Promise<World> {
  const w = new World();
  recorded(w.session, n);
  w.begin();
  await w.settle();
  return w;
}

/** Emits some messages as a running session does. */
function say(s: PlayedSession, n: number): void {
  const id = `live${Math.floor(n / 3)}`;
  const events = [
    saying(user(`said ${n}`)),
    answering(answer([text('x'), call(id, 'bash', {})], { stopReason: 'toolUse' })),
    saying(result(id, 'bash', 'done')),
  ];
  for (const e of events[n % 3]!) s.emit(e);
}

test('the page asks for the newest messages, and shows how many are before them', async () => {
  const w = await opened(12_345);
  assert.deepEqual(w.asked.find((m) => m.command === 'xcsh.snapshot')?.args, { last: 100, history: true });
  assert.equal(messageCount(w.view.items), 100);
  assert.equal(w.view.older?.count, 12_245);
  await w.load('older');
  assert.equal(messageCount(w.view.items), 200);
  assert.equal(w.view.older?.count, 12_145);
  const [page] = w.asked.filter((m) => m.command === 'xcsh.messages');
  assert.equal(page?.args['limit'], 100);
  assert.ok(page.args['cursor'], 'the cursor of the snapshot is used');
});

test('12,345 messages are walked up and down with at most 1,000 in the page', async () => {
  const w = await opened(12_345);
  const begun = performance.now();
  let walked = 0;
  for (; w.view.away?.older ?? (w.view.away ? null : w.view.older); walked++) {
    w.store.reading = shownItems(w.view)[0]!.key;
    await w.load('older');
    const held = messageCount(w.view.items) + messageCount(w.view.away?.items ?? []);
    assert.ok(held <= maxMessages, `${held} messages after ${walked} pages`);
    w.check(shownItems(w.view), 'up');
  }
  assert.equal(w.check(shownItems(w.view), 'top').from, 0);
  assert.equal(shownItems(w.view)[0]?.entryId, w.session.messages[0]?.entryId);
  assert.ok(w.view.away && w.view.away.newer.count > 11_000);
  for (let pages = 0; w.view.away; pages++) {
    assert.ok(pages < 2 * walked, 'it never arrives');
    w.store.reading = shownItems(w.view).at(-1)!.key;
    await w.load('newer');
    const held = messageCount(w.view.items) + messageCount(w.view.away?.items ?? []);
    assert.ok(held <= maxMessages, `${held} messages`);
    w.check(shownItems(w.view), 'down');
  }
  assert.equal(w.check(w.view.items, 'bottom').to, 12_345);
  assert.equal(w.view.items.at(-1)?.entryId, w.session.messages.at(-1)?.entryId);
  const took = performance.now() - begun;
  assert.ok(took < 20_000, `${took} ms`);
});

test('messages far from the reader are dropped, and none near', async () => {
  const w = await opened(3000);
  for (let i = 0; i < 11; i++) {
    w.store.reading = shownItems(w.view)[3]!.key;
    await w.load('older');
    assert.ok(
      shownItems(w.view).some((item) => item.key === w.store.reading),
      'the message in view is still there',
    );
  }
  assert.ok(w.view.away);
  // At the end, the oldest ones are dropped.
  const end = await opened(50);
  for (let n = 0; n < 1200; n++) say(end.session, n);
  await end.settle();
  assert.equal(end.view.away, null);
  const { from, to } = end.check(end.view.items, 'at the end');
  assert.equal(to, end.session.messages.length);
  assert.equal(end.view.older?.count, from, 'the count includes those that were dropped');
  assert.ok(to - from <= maxMessages && to - from >= 500);
});

test('a page that arrives after its edge was dropped is ignored', async () => {
  const w = await opened(800);
  for (let i = 0; i < 6; i++) await w.load('older');
  void w.store.load('older');
  w.store.reading = '';
  for (let n = 0; n < 900; n++) say(w.session, n);
  while (w.channel.length > 0) await w.deliver();
  const before = w.view.items;
  await w.settle();
  assert.equal(w.view.items, before);
  assert.equal(w.view.loading, null);
  const { from } = w.check(w.view.items, 'after it');
  w.store.reading = before[0]!.key;
  await w.load('older');
  assert.equal(w.check(shownItems(w.view), 'another page').from, from - 100);
});

test('whatever happens while a page is loading, no message is lost or doubled', async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const next = random(seed);
    const pick = (n: number) => Math.floor(next() * n);
    const w = await opened(1500 + pick(300));
    w.session.searched = 50;
    let n = 0;
    for (let step = 0; step < 300; step++) {
      const shown = shownItems(w.view);
      const at = next();
      if (at < 0.3) await w.deliver();
      else if (at < 0.5) w.serve();
      else if (at < 0.62) say(w.session, n++);
      else if (at < 0.78) void w.store.load('older');
      else if (at < 0.9) void w.store.load('newer');
      else if (at < 0.94) w.store.reading = shown[pick(shown.length)]?.key ?? '';
      else if (at < 0.96)
        void w.store.jump(w.session.messages[pick(w.session.messages.length)]!.entryId).catch(() => undefined);
      else if (at < 0.97) w.store.dispatch({ type: 'toEnd' });
      else if (at < 0.98) w.lost++;
      else if (at < 0.985) w.session.rewrite();
      else if (at < 0.99) w.session.changed('reload');
      else w.store.reading = '';
      const what = `seed ${seed}, step ${step}`;
      w.check(w.view.items, what);
      if (w.view.away) w.check(w.view.away.items, `${what}, away`);
      const held = messageCount(w.view.items) + messageCount(w.view.away?.items ?? []);
      assert.ok(held <= maxMessages, `${what}: ${held}`);
    }
    await w.settle();
    w.lost = 0;
    w.session.changed('reload'); // a lost notification at the end is noticed with the next one
    await w.settle();
    assert.equal(w.check(w.view.items, `seed ${seed}, end`).to, w.session.messages.length);
    for (let pages = 0; w.view.away ? w.view.away.older : w.view.older; pages++) {
      assert.ok(pages < 100, `seed ${seed}: it never arrives`);
      w.store.reading = shownItems(w.view)[0]!.key;
      await w.load('older');
    }
    assert.equal(w.check(shownItems(w.view), `seed ${seed}, start`).from, 0);
    for (let pages = 0; w.view.away; pages++) {
      assert.ok(pages < 100, `seed ${seed}: it never comes back`);
      w.store.reading = shownItems(w.view).at(-1)!.key;
      await w.load('newer');
    }
    assert.equal(w.check(w.view.items, `seed ${seed}, back`).to, w.session.messages.length);
  }
});

test('a result that is on another page than its call is shown at the call', async () => {
  const w = await opened(202); // the newest 100 begin with the result of a call
  assert.equal(w.view.items[0]?.message.role, 'toolResult');
  for (let i = 0; i < 2; i++) {
    w.check(w.view.items, 'page');
    await w.load('older');
  }
  assert.equal(w.view.items.filter((i) => i.message.role === 'toolResult').length, 0);
  const all = itemsOf(messagesOf(w.session.messages)!);
  assert.deepEqual(
    w.view.items.slice(0, -1).map((i) => [i.entryId, i.calls]),
    all.slice(0, -1).map((i) => [i.entryId, i.calls]), // the last call has no result
  );
});

test('the two messages of a compaction, which are of one entry, stay together', async () => {
  const w = new World();
  recorded(w.session, 600);
  w.session.messages.splice(300, 0, { ...w.session.messages[300]!, message: { role: 'system', content: 'before' } });
  const pair = w.session.messages[301]!.entryId;
  w.begin();
  await w.settle();
  while (w.view.older) await w.load('older');
  assert.equal(w.view.items.filter((i) => i.entryId === pair).length, 2);
  assert.equal(new Set(w.view.items.map((i) => i.key)).size, w.view.items.length);
});

test('a stale cursor replaces all messages by a new snapshot', async () => {
  const w = await opened(1000);
  await w.load('older');
  w.session.rewrite();
  await w.load('older');
  assert.equal(w.asked.filter((m) => m.command === 'xcsh.snapshot').length, 2);
  assert.equal(messageCount(w.view.items), 100, 'the earlier messages can be others now');
  assert.equal(w.view.loadError, '');
  await w.load('older');
  assert.equal(messageCount(w.view.items), 200, 'with the new cursor');
});

test('an entry that no longer exists at an edge has the same effect', async () => {
  const w = await opened(3000);
  for (let i = 0; i < 12; i++) {
    w.store.reading = shownItems(w.view)[0]!.key;
    await w.load('older');
  }
  assert.ok(w.view.away);
  w.failing = 'notFound';
  void w.store.load('newer');
  w.serve();
  w.failing = '';
  await w.settle();
  assert.equal(w.view.away, null);
  assert.equal(messageCount(w.view.items), 100);
});

test('after lost events the loaded messages stay, unless the session was changed', async () => {
  const w = await opened(1000);
  for (let i = 0; i < 4; i++) await w.load('older');
  const before = w.view.items;
  w.lost = 1;
  for (let n = 0; n < 3; n++) say(w.session, n);
  await w.settle();
  assert.equal(messageCount(w.view.items), 503);
  assert.equal(w.view.items[0], before[0], 'unchanged messages are the same objects');
  w.check(w.view.items, 'after the gap');
  w.session.changed('reload');
  await w.settle();
  assert.equal(messageCount(w.view.items), 100);
});

test('a failure is shown, and loading can be tried again', async () => {
  const w = await opened(300);
  w.failing = 'internal';
  await w.load('older');
  assert.equal(w.view.loadError, 'It failed.');
  assert.equal(w.view.loading, null);
  w.failing = '';
  await w.load('older');
  assert.equal(w.view.loadError, '');
  assert.equal(messageCount(w.view.items), 200);
});

test('odd pages do no harm', async () => {
  const w = await opened(300);
  for (const odd of [
    null,
    5,
    {},
    { messages: 'x' },
    { messages: [null, 5, {}, { entryId: 7 }], older: { cursor: 8 } },
  ]) {
    const before = w.view.items.length;
    void w.store.load('older');
    const m = w.requests.shift();
    if (m) w.store.receive({ kind: 'answer', id: m.id, result: odd });
    await new Promise(setImmediate);
    assert.ok(w.view.items.length - before <= 4);
    assert.equal(w.view.loading, null);
  }
});

test('a jump shows the messages around an entry, and the way back leads to the newest', async () => {
  const w = await opened(5000);
  const target = w.session.messages[2000]!.entryId;
  void w.store.jump(target);
  await w.settle();
  const { from, to } = w.check(shownItems(w.view), 'there');
  assert.ok(from <= 2000 && to > 2000 && to - from === 100);
  for (let n = 0; n < 500; n++) say(w.session, n); // new messages still arrive at the end
  await w.settle();
  assert.equal(w.check(w.view.items, 'tail').to, 5500);
  assert.equal(w.view.away!.newer.count, 5500 - to);
  // A jump to one of the newest messages, which are loaded, asks for nothing.
  const asked = w.asked.length;
  await w.store.jump(w.session.messages.at(-1)!.entryId);
  assert.equal(w.view.away, null);
  assert.equal(w.asked.length, asked);
  // A jump close to them joins them.
  const tail = w.check(w.view.items, 'tail').from;
  void w.store.jump(w.session.messages[tail - 10]!.entryId);
  await w.settle();
  assert.equal(w.view.away, null);
  assert.deepEqual(w.check(w.view.items, 'near the end'), { from: tail - 60, to: 5500 });
  const failing = assert.rejects(w.store.jump('nowhere'));
  await w.settle();
  await failing;
  assert.equal(w.view.loadError, '', 'it concerns no end of the messages');
});

test('a call whose result is on the next page is not shown as stopped', async () => {
  const w = await opened(5000);
  const target = w.session.messages.findIndex((m, i) => i > 1900 && m.message['role'] === 'user');
  // The page ends with a call: 50 messages follow its middle.
  void w.store.jump(w.session.messages[target]!.entryId);
  await w.settle();
  const { to } = w.check(shownItems(w.view), 'there');
  assert.equal(w.session.messages[to]?.message['role'], 'toolResult', 'the test is set up');
  const statuses = () => shownItems(w.view).flatMap((i) => Object.values(i.calls).map((c) => c.status));
  assert.equal(statuses().at(-1), 'waiting');
  await w.load('newer');
  assert.deepEqual([...new Set(statuses().slice(0, -1))], ['done']);
});

test('results of parallel calls, in any order and on several pages, are shown once', async () => {
  const w = new World();
  recorded(w.session, 1000);
  const ids = Array.from({ length: 250 }, (_, i) => `p${i}`);
  w.session.record(answer([text('many'), ...ids.map((id) => call(id, 'bash', {}))], { stopReason: 'toolUse' }));
  for (const id of ids.toReversed()) w.session.record(result(id, 'bash', `output of ${id}`));
  recorded(w.session, 300);
  w.begin();
  await w.settle();
  void w.store.jump(w.session.messages[985]!.entryId);
  await w.settle();
  for (let pages = 0; w.view.away; pages++) {
    assert.ok(pages < 30, 'it never arrives');
    // Without a cursor, the page continues behind the result of the last call, which came first.
    const { away } = w.view;
    w.view.away = { ...away, newer: { ...away.newer, cursor: '' } };
    w.store.reading = shownItems(w.view).at(-1)!.key;
    await w.load('newer');
    w.check(shownItems(w.view), `page ${pages}`);
  }
  const many = w.view.items.find((i) => Object.keys(i.calls).length === 250);
  assert.ok(many && Object.values(many.calls).every((c) => c.status === 'done'));
});
