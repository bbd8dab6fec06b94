// The state of the page as a function of its inputs. Notifications are numbered without gaps per
// session. Duplicates are ignored. A gap or another live session requires a snapshot; notifications
// that arrive meanwhile are held and applied to the snapshot.

import { isPrompt } from './prompt';
import type { ServerState } from '../../../src/chat/messages';
import { crashOf, engineOf, engineTextsOf, questionsOf, withAbilities, withoutQuestion } from './engine';
import type { Action as EngineAction } from './engine';
import { endedAs } from './ended';
import { applyEvent, backgroundOf, needsSnapshot, noticed, retryOf, settled } from './live';
import {
  itemsOf,
  messageOf,
  newItem,
  todosOf,
  withApprovals,
  withCall,
  withRetried,
  withoutRetried,
  withoutRunning,
} from './items';
import { approvalOf, foreignOf, num, obj, pageEndOf, readyOf, str, texts } from './wire';
import type { ContextUsage, Numbered, Ready, SessionState, Snapshot } from './wire';
import { emptyView, initialState } from './model';
import type { CallStatus, Cause, ChatState, Edge, Notice, Sync, View } from './model';
import { atEnd, jumpedTo, olderEdge, retained, withPage } from './window';
import type { MessagePage } from './window';

/** The inputs of the state. */
export type Action =
  | { type: 'folder'; server: ServerState } // another folder, or the first one
  | { type: 'server'; state: ServerState; message: string }
  | { type: 'notification'; n: Numbered }
  | { type: 'asked'; ask: number }
  | { type: 'snapshot'; ask: number; snapshot: Snapshot }
  | { type: 'snapshotFailed'; ask: number; message: string }
  | { type: 'again' } // the user retries a failed snapshot
  | { type: 'read'; sessionId: string } // the rest of an early snapshot is known
  | { type: 'context'; sessionId: string; usage: ContextUsage }
  | { type: 'engine'; sessionId: string; state: unknown } // the session's state after a change of its engine
  | { type: 'ready'; sessionId: string; ready: unknown; level?: string } // whether a model can answer now, and its level
  | { type: 'questionGone'; id: string } // it was answered here, or its time is over
  | { type: 'approvalAsked'; prompt: unknown }
  | { type: 'pageAsked'; ask: number; edge: Edge | null }
  | { type: 'page'; ask: number; page: MessagePage }
  | { type: 'pageFailed'; ask: number; message: string } // "" if the user need not know
  | { type: 'stale'; ask: number } // the session was rewritten
  | { type: 'toEnd' } // the user wants to see the newest messages
  | { type: 'notice'; tone: Notice['tone']; text: string; actions: readonly EngineAction[]; cause: Cause }
  | { type: 'dismiss'; key: string };

/** Reports whether a snapshot must be requested now. */
export function wantsSnapshot({ sync }: ChatState): boolean {
  return sync.server === 'running' && !sync.live && sync.asked === 0 && sync.failed === '';
}

export function reduce(s: ChatState, a: Action): ChatState {
  switch (a.type) {
    case 'folder':
      return { ...initialState, sync: { ...initialState.sync, server: a.server } };
    case 'server':
      return serverChanged(s, a.state, a.message);
    case 'notification':
      return notified(s, a.n);
    case 'asked':
      return { ...s, sync: { ...s.sync, asked: a.ask, failed: '' } };
    case 'snapshot':
      return a.ask === s.sync.asked ? joined(s, a.snapshot) : s;
    case 'snapshotFailed':
      return a.ask === s.sync.asked ? { ...s, sync: { ...s.sync, asked: 0, failed: a.message } } : s;
    case 'again':
      return { ...s, sync: { ...s.sync, failed: '' } };
    case 'read':
      return read(s, a.sessionId);
    case 'stale':
      return a.ask === s.view.loading?.ask ? anew(s) : s;
    default: {
      const view = viewed(s, a);
      return view === s.view ? s : { ...s, view };
    }
  }
}

type Viewed =
  | 'context'
  | 'engine'
  | 'ready'
  | 'questionGone'
  | 'approvalAsked'
  | 'notice'
  | 'dismiss'
  | 'pageAsked'
  | 'page'
  | 'pageFailed'
  | 'toEnd';

function viewed({ view, sync }: ChatState, a: Extract<Action, { type: Viewed }>): View {
  switch (a.type) {
    case 'pageAsked':
      return { ...view, loading: { ask: a.ask, edge: a.edge }, loadError: '' };
    case 'page':
      return a.ask === view.loading?.ask ? arrived(view, view.loading.edge, a.page) : view;
    case 'pageFailed':
      return a.ask === view.loading?.ask ? { ...view, loading: null, loadError: a.message } : view;
    case 'toEnd':
      return atEnd(view);
    case 'context':
      return a.sessionId === sync.sessionId ? { ...view, context: a.usage } : view;
    case 'engine':
      return a.sessionId === sync.sessionId ? withAbilities(view, a.state) : view;
    case 'ready': {
      if (a.sessionId !== sync.sessionId) return view;
      const ready = readyOf(a.ready);
      const session = view.session && a.level ? { ...view.session, thinkingLevel: a.level } : view.session;
      return { ...(ready.ok ? settled(view, 'model') : view), ready, session };
    }
    case 'questionGone':
      return withoutQuestion(view, a.id);
    case 'approvalAsked': {
      // The request and the event about it can arrive in any order.
      const prompt = approvalOf(a.prompt);
      if (!prompt.id || view.approvals.some((p) => p.id === prompt.id)) return view;
      const approvals = [...view.approvals, prompt];
      return { ...view, approvals, items: withApprovals(view.items, view.approvals, approvals) };
    }
    case 'notice':
      return noticed(view, a.tone, a.text, a.actions, a.cause);
    case 'dismiss':
      return { ...view, notices: view.notices.filter((n) => n.key !== a.key) };
  }
}

/** Requests a snapshot with the values that were pending. Messages that are loaded stay. */
function read(s: ChatState, sessionId: string): ChatState {
  const { sync } = s;
  const waiting = sync.asked !== 0 || sync.live;
  if (!waiting || (sync.live && sessionId !== sync.sessionId)) return s;
  // The answer of a pending request can be an early one.
  return { ...s, sync: { ...sync, live: false, asked: 0, failed: '', held: sync.live ? [] : sync.held } };
}

/** Requests a snapshot that replaces all messages. */
function anew({ view, sync }: ChatState): ChatState {
  const expect = { sessionId: sync.sessionId, seq: sync.seq };
  return { view: { ...view, loading: null }, sync: { ...sync, live: false, asked: 0, held: [], failed: '', expect } };
}

function arrived(view: View, edge: Edge | null, page: MessagePage): View {
  const next = { ...view, loading: null };
  return edge ? withPage(next, edge, page) : jumpedTo(next, page);
}

/** Handles a restart: a new server numbers from 1 and knows nothing about the old one's work. */
function serverChanged(s: ChatState, server: ServerState, serverMessage: string): ChatState {
  if (server === s.sync.server) return { ...s, sync: { ...s.sync, serverMessage } };
  const sync: Sync = { ...initialState.sync, server, serverMessage, sessionId: s.sync.sessionId };
  if (server !== 'stopped') return { view: { ...settled(s.view, 'server'), loading: null }, sync };
  const { view } = s;
  return {
    view: {
      ...view,
      running: false,
      compacting: false,
      retry: null,
      bash: null,
      background: [],
      approvals: [],
      questions: [],
      engineTexts: [],
      crash: null,
      engine: { ...view.engine, state: 'known', message: '', can: null },
      foreign: null,
      items: withoutRetried(withoutRunning(view.items.filter((i) => !i.live))),
      loading: null,
    },
    sync,
  };
}

function notified(s: ChatState, n: Numbered): ChatState {
  if (s.sync.server !== 'running') return s;
  if (!s.sync.live) return held(s, n);
  const same = n.sessionId === s.sync.sessionId;
  if (same && n.seq <= s.sync.seq) return s;
  if (n.of === 'session') return n.reason === 'shutdown' ? ended(s, same) : lost(s, n);
  if (!same && s.sync.left.includes(n.sessionId)) return s;
  if (!same || n.seq !== s.sync.seq + 1) return lost(s, n);
  return advanced(s, n);
}

/** Applies the next notification of the current session. */
function advanced(s: ChatState, n: Numbered): ChatState {
  const sync = { ...s.sync, seq: n.seq };
  if (n.of === 'session') return lost({ ...s, sync }, n);
  const event = obj(n.event);
  const next = { view: applyEvent(s.view, event), sync };
  return needsSnapshot(event) ? { ...next, sync: { ...sync, live: false } } : next;
}

/** Handles the end of the folder's session. If another one starts, it sends its own notification. */
function ended(s: ChatState, same: boolean): ChatState {
  return same ? { ...s, view: { ...s.view, running: false } } : s;
}

/** Marks the state as stale, which requests a snapshot. */
function lost(s: ChatState, n: Numbered): ChatState {
  return held({ ...s, sync: { ...s.sync, live: false, asked: 0, held: [] } }, n);
}

function held(s: ChatState, n: Numbered): ChatState {
  if (n.of !== 'session') return { ...s, sync: { ...s.sync, held: [...s.sync.held, n] } };
  if (n.reason === 'shutdown') return s;
  return { ...s, sync: { ...s.sync, expect: { sessionId: n.sessionId, seq: n.seq } } };
}

/** Applies held notifications to a snapshot. */
function joined(s: ChatState, snapshot: Snapshot): ChatState {
  const { sessionId } = snapshot.state;
  const { expect, held: waiting } = s.sync;
  const again: ChatState = { ...s, sync: { ...s.sync, asked: 0 } };
  if (expect && (expect.sessionId !== sessionId || expect.seq > snapshot.seq)) return again;
  const left = s.sync.sessionId && s.sync.sessionId !== sessionId ? [...s.sync.left, s.sync.sessionId] : s.sync.left;
  const sync: Sync = {
    ...s.sync,
    live: true,
    asked: 0,
    failed: '',
    expect: null,
    held: [],
    sessionId,
    seq: snapshot.seq,
    left: left.filter((id) => id !== sessionId),
  };
  const view = viewOf(snapshot, s.view);
  // A notification about the session means that its earlier messages can be others now.
  const same = !expect && s.view.session?.sessionId === sessionId;
  let out: ChatState = { view: same ? retained(view, s.view) : view, sync };
  // Notifications of another session belong to a previous one.
  for (const n of waiting) if (n.sessionId === sessionId) out = notified(out, n);
  return out;
}

/** Returns the view of a snapshot. For the same session, the notices and the keys of messages are kept. */
function viewOf(snapshot: Snapshot, was: View): View {
  const { state } = snapshot;
  const same = was.session?.sessionId === state.sessionId;
  const approvals = (snapshot.approvals ?? []).map(approvalOf);
  const counter = was.counter + 1;
  const engine = engineOf(state.engine);
  const ready = readyOf(obj(state).ready);
  const sameEngine = same && was.engine.name === engine.name;
  let items: readonly Item[] = kept(itemsOf(snapshot.messages ?? []), same ? was.items : []);
  const older = olderEdge(items, pageEndOf(snapshot.older));
  const said = items.findLast((i) => isPrompt(i.message))?.entryId;
  for (const t of snapshot.tools ?? []) {
    items = withCall(items, str(t.toolCallId), (c) =>
      c.entryId ? c : { status: statusOf(t), output: t.partialResult ?? c.output },
    );
  }
  items = withApprovals(items, [], approvals);
  const partial = obj(snapshot.partial);
  if (snapshot.retry || Object.keys(partial).length > 0) items = withRetried(items);
  if (Object.keys(partial).length > 0)
    items = [...items, newItem(liveKey(was, same) ?? 'm' + counter, '', messageOf(partial), true)];
  if (!state.isStreaming) items = withoutRunning(items);
  return {
    ...emptyView,
    session: state,
    items,
    older,
    counter,
    changed: was.changed + 1,
    lastPrompt: said ?? (same ? was.lastPrompt : ''),
    approvals,
    running: state.isStreaming,
    compacting: state.isCompacting,
    queues: { steering: texts(snapshot.queues?.steering), followUp: texts(snapshot.queues?.followUp) },
    background: backgroundOf(snapshot.background),
    todos: todosOf(snapshot.todos),
    context: { ...snapshot.contextUsage, tokens: num(obj(snapshot.contextUsage).tokens) },
    notices: same ? was.notices.filter(lasting(ready, state)) : [],
    turns: same ? was.turns : 0,
    ready,
    engine,
    crash: crashOf(engine, same ? was.crash : null, 'x' + counter),
    questions: questionsOf(snapshot.questions),
    engineTexts: engineTextsOf(obj(snapshot).engineTexts) ?? (sameEngine ? was.engineTexts : []),
    prefill: same ? was.prefill : null,
    unanswered: same ? was.unanswered : null,
    bash: same ? was.bash : null,
    foreign: foreignOf(snapshot.foreignBranch),
    retry: snapshot.retry ? retryOf(snapshot.retry) : null,
  };
}

/** Reports which notices still have a cause. */
const lasting =
  (ready: Ready, { unsaved }: SessionState) =>
  ({ cause }: Notice): boolean =>
    !((cause === 'model' && ready.ok) || (cause === 'saving' && !unsaved));

type Item = View['items'][number];

const liveKey = (was: View, same: boolean) => (same ? was.items.findLast((i) => i.live)?.key : undefined);

/** Returns the status of a call of the running turn without a result in the session. */
function statusOf(t: { ended?: boolean; isError?: boolean; partialResult?: unknown }): CallStatus {
  return t.ended === true ? endedAs(t.partialResult, t.isError) : 'running';
}

/** Keeps the keys of messages that are already shown, so that the page does not rebuild them. */
function kept(items: Item[], was: readonly Item[]): Item[] {
  // Two messages can be of one entry; they have different roles.
  const identity = (i: Item) => `${i.entryId} ${i.message.role}`;
  const keys = new Map(was.filter((i) => i.entryId).map((i) => [identity(i), i.key]));
  return items.map((item) => {
    const key = keys.get(identity(item));
    return key === undefined ? item : { ...item, key };
  });
}
