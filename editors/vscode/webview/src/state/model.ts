// What the page shows, as plain data that is never changed in place: what stayed the same is the
// same object, so that a view is drawn again only when its part is another one.

import type { ServerState } from '../../../src/chat/messages';
import type { ApprovalPrompt, ContextUsage, Numbered, SessionState, StoredMessage } from './wire';

/** How far a tool call is. `stopped` is one that has no result and will not get one. */
export type CallStatus = 'waiting' | 'asking' | 'running' | 'done' | 'failed' | 'stopped';

/** A tool call of an answer. */
export interface Call {
  status: CallStatus;
  output?: unknown; // a result {content, details}, of a running call as far as it came
  entryId?: string; // of the message with the result
}

/** One message in the conversation. Results of tools are in `calls` of the answer that made them. */
export interface Item {
  key: string; // stays the same while the message is on the page
  entryId: string; // "" until it is in the session
  message: StoredMessage;
  live: boolean; // it is being written
  calls: Readonly<Record<string, Call>>;
}

/** A notice is told by no snapshot: it is gone when the page is. */
export interface Notice {
  key: string;
  tone: 'info' | 'warning' | 'error';
  text: string;
}

export interface Retry {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  message: string;
}

/** A task of the model's plan. */
export interface Todo {
  text: string;
  status: 'pending' | 'in_progress' | 'completed' | 'abandoned';
}

export interface TodoPhase {
  name: string;
  todos: Todo[];
}

/** What is known of the session and may be drawn. */
export interface View {
  session: SessionState | null;
  items: readonly Item[];
  running: boolean;
  compacting: boolean;
  queues: { steering: readonly string[]; followUp: readonly string[] };
  approvals: readonly ApprovalPrompt[];
  todos: readonly TodoPhase[];
  context: ContextUsage;
  retry: Retry | null;
  bash: string | null; // output of a command of the person that runs
  notices: readonly Notice[];
  counter: number; // for keys
}

/** Where the page stands in the stream of notifications. */
export interface Sync {
  server: ServerState;
  serverMessage: string;
  live: boolean; // the view is everything up to seq of the session
  asked: number; // number of the snapshot that is under way; 0 is none
  failed: string; // why the last one did not come
  sessionId: string;
  seq: number;
  expect: { sessionId: string; seq: number } | null; // a snapshot before this is too old
  held: readonly Numbered[]; // what came since the snapshot was asked for
  left: readonly string[]; // sessions that were left: what still comes of them is not shown
}

export interface ChatState {
  view: View;
  sync: Sync;
}

export const emptyView: View = {
  session: null,
  items: [],
  running: false,
  compacting: false,
  queues: { steering: [], followUp: [] },
  approvals: [],
  todos: [],
  context: { tokens: 0 },
  retry: null,
  bash: null,
  notices: [],
  counter: 0,
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
