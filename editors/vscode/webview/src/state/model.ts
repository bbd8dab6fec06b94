// The state of the page, as plain data that is never modified in place: unchanged parts are the
// same objects, so that a component is rendered again only if its part is a different object.

import type { ServerState } from '../../../src/chat/messages';
import { ownEngine } from './engine';
import type { Action, Crash, Engine, EngineText, Question, Returned } from './engine';
import { isReady } from './wire';
import type { ApprovalPrompt, ContextUsage, ForeignBranch, Numbered, Ready, SessionState, StoredMessage } from './wire';

/** The status of a tool call. `stopped` means that it did not end, or never began; `denied` that the user did not allow it. */
export type CallStatus = 'waiting' | 'asking' | 'running' | 'done' | 'failed' | 'stopped' | 'denied';

/** A tool call of an answer. */
export interface Call {
  status: CallStatus;
  output?: unknown; // a result {content, details}; partial while the call is running
  entryId?: string; // entry of the message with the result
}

/** One message in the conversation. Tool results are in `calls` of the answer that made the calls. */
export interface Item {
  key: string; // constant while the message is on the page
  entryId: string; // "" until it is in the session
  message: StoredMessage;
  live: boolean; // still streaming
  typed?: string; // what the user typed, if the message was made of it
  retried?: boolean; // the answer failed, and its request was repeated
  calls: Readonly<Record<string, Call>>;
}

/** The causes of notices. A notice disappears with its cause: a notice about a turn when the next one begins or answers. */
export type Cause = 'turn' | 'model' | 'engine' | 'compaction' | 'saving' | 'server';

/** A notice is not part of any snapshot: it is lost with the page. */
export interface Notice {
  key: string;
  tone: 'info' | 'warning' | 'error';
  text: string;
  cause: Cause;
  turns: number; // turns that had begun when it appeared
  actions?: readonly Action[]; // ways to continue
}

export interface Retry {
  attempt: number;
  maxAttempts: number;
  delayMs: number; // before the request is sent again; 0 if it was
  message: string;
  limited: boolean; // the service limits the rate of requests
}

/** A task of the model's plan. */
export interface Todo {
  text: string;
  status: 'pending' | 'in_progress' | 'completed' | 'abandoned' | 'blocked';
  blocker: string; // what a blocked task waits for; "" if unknown
}

export interface TodoPhase {
  name: string;
  todos: Todo[];
}

/** A command that runs in the background. */
export interface BackgroundCommand {
  id: string;
  command: string;
}

/** The end of a loaded part of the conversation that has more messages beyond it. */
export interface Edge {
  entryId: string; // the message at the end, which is loaded
  cursor: string; // the server's; "" if the part was cut here
  count: number; // messages between this end and that end of the conversation
}

/** Consecutive messages, and the end towards older ones; null if there are none. */
export interface Part {
  items: readonly Item[];
  older: Edge | null;
}

/** An earlier part of the conversation, with messages between it and the newest ones. */
export interface Away extends Part {
  newer: Edge;
}

/** The pending request for messages. A page at an edge is dropped if the edge was replaced meanwhile. */
export interface Loading {
  ask: number;
  edge: Edge | null; // null for messages from anywhere
}

/** The state of the session that can be shown. */
export interface View extends Part {
  session: SessionState | null;
  items: readonly Item[]; // the newest messages, up to the end
  away: Away | null; // shown instead of items while the user reads far from the end
  loading: Loading | null;
  loadError: string; // why the last page could not be loaded; "" if it could
  running: boolean;
  compacting: boolean;
  queues: { steering: readonly string[]; followUp: readonly string[] };
  approvals: readonly ApprovalPrompt[];
  background: readonly BackgroundCommand[];
  todos: readonly TodoPhase[];
  context: ContextUsage;
  retry: Retry | null;
  foreign: ForeignBranch | null; // another program continued there
  bash: string | null; // output of the user's running shell command
  notices: readonly Notice[];
  turns: number; // turns that began on the page
  ready: Ready;
  engine: Engine;
  crash: Crash | null; // the engine failed
  questions: readonly Question[]; // of extensions of the engine, oldest first
  engineTexts: readonly EngineText[];
  prefill: Returned | null; // a proposed prompt
  unanswered: Returned | null; // messages of a failed run
  counter: number; // generates keys
  changed: number; // incremented when the changes of files may differ
  lastPrompt: string; // entry of the newest prompt that arrived, loaded or not; "" if unknown
}

/** The position in the stream of notifications. */
export interface Sync {
  server: ServerState;
  serverMessage: string;
  live: boolean; // the view is up to date with seq
  asked: number; // number of the pending snapshot request; 0 is none
  failed: string; // error of the last request
  sessionId: string;
  seq: number;
  expect: { sessionId: string; seq: number } | null; // minimum version of the next snapshot
  held: readonly Numbered[]; // notifications received since the snapshot was requested
  left: readonly string[]; // previous sessions, whose late notifications are ignored
}

export interface ChatState {
  view: View;
  sync: Sync;
}

export const emptyView: View = {
  session: null,
  items: [],
  older: null,
  away: null,
  loading: null,
  loadError: '',
  running: false,
  compacting: false,
  queues: { steering: [], followUp: [] },
  approvals: [],
  background: [],
  todos: [],
  context: { tokens: 0 },
  retry: null,
  foreign: null,
  bash: null,
  notices: [],
  turns: 0,
  ready: isReady,
  engine: ownEngine,
  crash: null,
  questions: [],
  engineTexts: [],
  prefill: null,
  unanswered: null,
  counter: 0,
  changed: 0,
  lastPrompt: '',
};

export const initialState: ChatState = {
  view: emptyView,
  sync: {
    server: 'starting',
    serverMessage: '',
    live: false,
    asked: 0,
    failed: '',
    sessionId: '',
    seq: 0,
    expect: null,
    held: [],
    left: [],
  },
};
