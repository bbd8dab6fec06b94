// Holds the state, handles the extension's messages and requests snapshots when necessary.

import { toPage } from '../../../src/chat/messages';
import type { CallError, FromPage, Init, JsonObject, ToPage } from '../../../src/chat/messages';
import { t } from '../l10n';
import { own } from './engine';
import { initialState } from './model';
import type { ChatState, Edge } from './model';
import { reduce, wantsSnapshot } from './reduce';
import type { Action } from './reduce';
import { bounded, edgeOf, itemWith, pageMessages, shownItems } from './window';
import type { MessagePage } from './window';
import { approvalOfRequest, isSnapshot, messagesOf, num, numbered, obj, pageEndOf, str } from './wire';

/** A failed call, as reported by the server. */
export class Failure extends Error {
  readonly kind: string;
  readonly data: JsonObject;
  constructor(e: CallError) {
    super(e.message);
    this.kind = e.kind;
    this.data = e.data ?? {};
  }
}

/** Receives the messages that do not concern the session. */
export interface Listener {
  init(m: Init): void;
  message(m: ToPage): void;
  /** The file of the session is not what was shown of it: all messages are requested again. */
  reloading(): void;
}

/** Limits the messages in the page, if they changed. */
function limited(now: ChatState, before: ChatState, reading: string): ChatState {
  if (now.view.items === before.view.items && now.view.away === before.view.away) return now;
  const view = bounded(now.view, reading);
  return view === now.view ? now : { ...now, view };
}

/** Reads a page of messages. It throws a Failure if the value is none. */
function pageOf(v: unknown): MessagePage {
  const { messages, older, newer } = obj(v);
  const read = messagesOf(messages);
  if (!read) throw new Failure({ message: t('The server returned an invalid response.'), kind: 'internal' });
  return { messages: read, older: pageEndOf(older), newer: pageEndOf(newer) };
}

interface Waiting {
  resolve: (result: unknown) => void;
  reject: (e: Failure) => void;
}

export class Store {
  state: ChatState = initialState;
  reading = ''; // key of the first message in view; "" while the user follows the end
  listener: Listener | undefined;
  private readonly watchers = new Set<() => void>();
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;
  private loaded = Promise.resolve(); // the end of the pending load

  constructor(private readonly post: (m: FromPage) => void) {}

  /** Calls f after every change, until the returned function is called. */
  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  getState = (): ChatState => this.state;

  send(m: FromPage): void {
    this.post(m);
  }

  /** The number of the next request. */
  get upcoming(): number {
    return this.next;
  }

  /** Runs a command of the server. It rejects with a Failure. */
  call(command: string, args: JsonObject = {}): Promise<unknown> {
    return this.request((id) => ({ kind: 'call', id, command, args }));
  }

  /** Sends the extension a request that is answered like a command. */
  request(make: (id: number) => FromPage): Promise<unknown> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.post(make(id));
    });
  }

  dispatch(a: Action): void {
    const before = this.state;
    this.state = limited(reduce(before, a), before, this.reading);
    if (wantsSnapshot(this.state)) this.ask();
    if (this.state !== before) for (const f of this.watchers) f();
  }

  /** Handles a message from the extension; invalid messages are ignored. */
  receive(raw: unknown): void {
    const m = toPage(raw);
    if (!m) return;
    switch (m.kind) {
      case 'init':
        this.listener?.init(m);
        return this.dispatch({ type: 'folder', server: m.cwd === null ? 'stopped' : m.server });
      case 'answer':
        return this.answered(m.id, m.result, m.error);
      case 'event':
      case 'session': {
        const n = numbered(m.kind, m.params);
        if (n?.of === 'session' && n.reason === 'reload') this.listener?.reloading();
        return n ? this.notified(n) : undefined;
      }
      case 'models':
        this.listener?.message(m);
        return void this.refreshReady();
      case 'read':
        return this.dispatch({ type: 'read', sessionId: str(obj(m.params).sessionId) });
      case 'server':
        return this.dispatch({ type: 'server', state: m.state, message: m.message ?? '' });
      case 'approve':
        return this.dispatch({ type: 'approvalAsked', prompt: approvalOfRequest(m.request) });
      default:
        this.listener?.message(m);
    }
  }

  private notified(n: NonNullable<ReturnType<typeof numbered>>): void {
    this.dispatch({ type: 'notification', n });
    if (n.of === 'event' && (n.event.type === 'agent_end' || n.event.type === 'model_changed'))
      void this.refreshContext(n.sessionId);
    // Another model supports other thinking levels, and plan mode can have its own model.
    if (n.of === 'event' && (n.event.type === 'model_changed' || n.event.type === 'mode_changed'))
      void this.refreshReady();
    if (n.of === 'event' && n.event.type === 'engine_changed') void this.refreshEngine(n.sessionId);
  }

  /** Reads whether a model can answer, and the thinking level that is sent to it. On failure the last state is kept. */
  async refreshReady(): Promise<void> {
    const { sessionId, live } = this.state.sync;
    if (!live) return; // the snapshot has it
    try {
      const { ready, thinkingLevel } = obj(await this.call('xcsh.state'));
      this.dispatch({ type: 'ready', sessionId, ready, level: str(thinkingLevel) });
    } catch {
      // a prompt shows why it is refused
    }
  }

  /** Reads what the engine can do and its model, which events do not contain. On failure everything is offered. */
  private async refreshEngine(sessionId: string): Promise<void> {
    const { can, name, state } = this.state.view.engine;
    if (name === own || can !== null || (state !== 'ready' && state !== 'running')) return;
    try {
      this.dispatch({ type: 'engine', sessionId, state: await this.call('xcsh.state') });
    } catch {
      // the server refuses what the engine cannot do
    }
  }

  private answered(id: number, result: unknown, error: CallError | undefined): void {
    const w = this.waiting.get(id);
    this.waiting.delete(id);
    if (error) w?.reject(new Failure(error));
    else w?.resolve(result);
  }

  private ask(): void {
    const id = this.next; // number of the call below, which also identifies the snapshot
    this.state = reduce(this.state, { type: 'asked', ask: id });
    this.call('xcsh.snapshot', { last: pageMessages, history: true }).then(
      (snapshot) =>
        this.dispatch(
          isSnapshot(snapshot)
            ? { type: 'snapshot', ask: id, snapshot }
            : { type: 'snapshotFailed', ask: id, message: t('The server returned an invalid response.') },
        ),
      (e: unknown) =>
        this.dispatch({ type: 'snapshotFailed', ask: id, message: e instanceof Error ? e.message : String(e) }),
    );
  }

  /**
   * Loads messages beyond an end of the drawn ones, or waits for the request that is pending. It does
   * not reject: the view contains the error.
   */
  async load(to: 'older' | 'newer'): Promise<void> {
    const { view, sync } = this.state;
    const edge = edgeOf(view, to);
    if (view.loading?.edge) return this.loaded;
    if (!edge || view.loading || !sync.live) return;
    const byEntry = to === 'older' ? { before: edge.entryId } : { after: edge.entryId };
    this.loaded = this.page(edge, edge.cursor ? { cursor: edge.cursor } : byEntry).catch(() => undefined);
    await this.loaded;
  }

  /** Loads the messages around an entry in place of the drawn ones, unless it is drawn. It rejects with a Failure. */
  async jump(entryId: string): Promise<void> {
    if (itemWith(shownItems(this.state.view), entryId)) return;
    if (itemWith(this.state.view.items, entryId)) return this.dispatch({ type: 'toEnd' });
    await this.page(null, { around: entryId });
  }

  /** Requests messages and adds them to the view. */
  private async page(edge: Edge | null, from: JsonObject): Promise<void> {
    const ask = this.upcoming; // number of the call below
    this.dispatch({ type: 'pageAsked', ask, edge });
    try {
      const page = pageOf(await this.call('xcsh.messages', { ...from, limit: pageMessages, history: true }));
      this.dispatch({ type: 'page', ask, page });
    } catch (e) {
      const failure = e instanceof Failure ? e : new Failure({ message: String(e), kind: 'internal' });
      // An entry at an edge was there before.
      if (failure.kind === 'stale' || (edge && failure.kind === 'notFound')) this.dispatch({ type: 'stale', ask });
      else this.dispatch({ type: 'pageFailed', ask, message: edge ? failure.message : '' });
      throw failure;
    }
  }

  /** Reads the context usage, which events do not contain. On failure the estimate is kept. */
  private async refreshContext(sessionId: string): Promise<void> {
    try {
      const usage = obj(obj(await this.call('xcsh.stats')).contextUsage);
      const { contextWindow, percent } = usage;
      this.dispatch({
        type: 'context',
        sessionId,
        usage: {
          tokens: num(usage.tokens),
          ...(contextWindow === undefined ? {} : { contextWindow: num(contextWindow), percent: num(percent) }),
        },
      });
    } catch {
      // the number is only informative
    }
  }
}
