// Applies one event of the agent to the view.

import { isPrompt } from './prompt';
import type { ApprovalMode, ContentBlock, SessionUsage, StoredMessage } from './wire';
import { approvalOf, blocks, foreignOf, list, num, obj, str, texts } from './wire';
import type { Obj } from './wire';
import {
  actionsOf,
  engineChanged,
  engineText,
  prefilled,
  questionAsked,
  withUnanswered,
  withoutQuestion,
} from './engine';
import type { Action } from './engine';
import { endedAs } from './ended';
import {
  isAnswer,
  messageOf,
  newItem,
  planOf,
  withApprovals,
  withCall,
  withEntry,
  withMessage,
  withRetried,
  withoutRetried,
  withoutRunning,
} from './items';
import type { BackgroundCommand, Call, Cause, Notice, Retry, View } from './model';

type Apply = (v: View, e: Obj) => View;

const filesChanged: Apply = (v) => ({ ...v, changed: v.changed + 1 });

const apply: Record<string, Apply> = {
  agent_start: (v) => ({ ...turnBegan(v), running: true, retry: null }),
  agent_end: agentEnd,
  turn_start: (v) => ({ ...v, running: true, retry: v.retry && { ...v.retry, delayMs: 0 } }),
  message_start: messageStart,
  message_update: messageUpdate,
  message_end: messageEnd,
  tool_execution_start: (v, e) => callChanged(v, e, (c) => ({ ...c, status: 'running' })),
  tool_execution_update: (v, e) => callChanged(v, e, (c) => (c.entryId ? c : { ...c, output: e.partialResult })),
  tool_execution_end: (v, e) =>
    callChanged(v, e, (c) => (c.entryId ? c : { ...c, status: endedAs(e.result, e.isError), output: e.result })),
  approvals_changed: (v, e) => {
    const approvals = list(e.approvals).map(approvalOf);
    return { ...v, approvals, items: withApprovals(v.items, v.approvals, approvals) };
  },
  background_changed: (v, e) => ({ ...v, background: backgroundOf(e.running) }),
  queue_changed: (v, e) => ({ ...v, queues: { steering: texts(e.steering), followUp: texts(e.followUp) } }),
  model_changed: modelChanged,
  thinking_level_changed: (v, e) =>
    v.session ? { ...v, session: { ...v.session, thinkingLevel: str(e.thinkingLevel) } } : v,
  approval_mode_changed: (v, e) =>
    v.session ? { ...v, session: { ...v.session, approvalMode: str(e.mode) as ApprovalMode } } : v,
  mode_changed: (v, e) =>
    v.session && typeof e.mode === 'string' ? { ...v, session: { ...v.session, mode: e.mode } } : v,
  session_info_changed: (v, e) =>
    v.session ? { ...v, session: { ...v.session, title: str(e.name) || undefined } } : v,
  auto_retry_start: (v, e) => ({ ...v, retry: retryOf(e), items: withRetried(v.items) }),
  auto_retry_end: (v, e) => ({ ...v, retry: null, items: e.success === true ? v.items : withoutRetried(v.items) }),
  auto_compaction_start: (v) => ({ ...settled(v, 'compaction'), compacting: true }),
  auto_compaction_end: (v, e) => {
    const next = { ...v, compacting: false };
    if (!str(e.errorMessage) || e.aborted === true) return next;
    return noticed(next, 'error', str(e.errorMessage), [compactAgain], 'compaction');
  },
  bash_execution_update: (v, e) => ({ ...v, bash: str(e.text) }),
  bash_execution_end: (v, e) => (str(e.entryId) ? { ...messageEnd(v, e), bash: null } : { ...v, bash: null }),
  persistence_error: (v, e) => {
    const text = str(e.errorMessage);
    const next = v.session ? { ...v, session: { ...v.session, unsaved: text } } : v;
    return noticed(next, 'error', text, [], 'saving');
  },
  changes_changed: filesChanged,
  rewound: filesChanged,
  foreign_branch: (v, e) => ({ ...v, foreign: foreignOf(e) }),
  engine_changed: engineChanged,
  question_asked: questionAsked,
  question_gone: (v, e) => withoutQuestion(v, str(e.id)),
  engine_status: engineText,
  prefill: prefilled,
  notice: (v, e) => noticed(v, 'info', str(e.text), actionsOf(e.actions)),
  error: (v, e) => noticed(v, 'error', str(e.errorMessage)),
};

/** Returns the view after an event. Unknown events are ignored. */
export function applyEvent(view: View, event: Obj): View {
  const type = str(event.type);
  return Object.hasOwn(apply, type) ? apply[type]!(view, event) : view;
}

/** Reports whether an event changes the session in a way that requires a snapshot. */
export function needsSnapshot(event: Obj): boolean {
  if (event.type === 'bash_execution_end') return !str(event.entryId);
  return event.type === 'auto_compaction_end' && event.aborted !== true && !str(event.errorMessage);
}

/** Returns the background commands of an event or of a snapshot. */
export function backgroundOf(v: unknown): BackgroundCommand[] {
  return list(v).map((c) => ({ id: str(obj(c).id), command: str(obj(c).command) }));
}

/** Returns the retry of an event or of a snapshot. */
export function retryOf(v: unknown): Retry {
  const o = obj(v);
  return {
    attempt: num(o.attempt),
    maxAttempts: num(o.maxAttempts),
    delayMs: num(o.delayMs),
    message: str(o.errorMessage),
    limited: o.reason === 'rate_limit',
  };
}

const maxNotices = 20;

/** The button of a failed compaction. Its title is in the language of the window; see titleOf. */
const compactAgain: Action = { title: 'window.compact', command: 'window.compact', args: {} };

/** Returns the view with a notice. It replaces an equal one. */
export function noticed(
  v: View,
  tone: Notice['tone'],
  text: string,
  actions: readonly Action[] = [],
  cause: Cause = 'turn',
): View {
  if (!text) return v;
  const counter = v.counter + 1;
  const buttons = actions.length > 0 ? { actions } : {};
  const notice: Notice = { key: 'n' + counter, tone, text, cause, turns: v.turns, ...buttons };
  const others = v.notices.filter((n) => n.text !== text);
  return { ...v, counter, notices: [...others.slice(1 - maxNotices), notice] };
}

/** Returns the view without the notices whose causes are gone. */
export function settled(v: View, ...causes: Cause[]): View {
  const notices = v.notices.filter((n) => !causes.includes(n.cause));
  return notices.length === v.notices.length ? v : { ...v, notices };
}

/** A turn begins: failures of earlier ones are over. Information stays until the turn after the one that it is about. */
function turnBegan(v: View): View {
  const turns = v.turns + 1;
  const lasting = (n: Notice) => n.tone === 'info' && n.turns >= v.turns;
  const notices = v.notices.filter((n) => (n.cause !== 'turn' && n.cause !== 'model') || lasting(n));
  return { ...v, turns, notices: notices.length === v.notices.length ? v.notices : notices };
}

/** An answer arrived: what made an earlier one fail is over. */
function answered(v: View, message: StoredMessage): View {
  if (str(message.errorMessage) || message.stopReason === 'error') return v;
  const notices = v.notices.filter((n) => n.tone === 'info' || (n.cause !== 'turn' && n.cause !== 'model'));
  return notices.length === v.notices.length ? v : { ...v, notices };
}

function agentEnd(v: View, e: Obj): View {
  const items = withoutRunning(v.items.filter((item) => !item.live));
  const ended: View = {
    ...v,
    running: false,
    changed: v.changed + 1,
    retry: null,
    items,
    queues: { steering: [], followUp: [] },
  };
  const next = withUnanswered(ended, e);
  // A failed answer contains its error, and so does a failed engine. A notice shows another one, such as why there
  // is no retry.
  const last = items.at(-1);
  const reported =
    v.crash?.message === str(e.errorMessage) ||
    (last && isAnswer(last.message) && str(last.message.errorMessage) === str(e.errorMessage));
  return str(e.errorMessage) && e.stopReason !== 'aborted' && !reported
    ? noticed(next, 'error', str(e.errorMessage))
    : next;
}

function messageStart(v: View, e: Obj): View {
  const message = messageOf(e.message);
  if (!isAnswer(message)) return v; // other messages arrive complete with message_end
  const counter = v.counter + 1;
  // The retry ends with the first piece of an answer: this attempt may fail, too.
  const kept = withRetried(v.items.filter((item) => !item.live));
  return { ...v, counter, items: [...kept, newItem('m' + counter, '', message, true)] };
}

function messageUpdate(v: View, e: Obj): View {
  const last = v.items.at(-1);
  if (!last?.live) return v;
  const content = extended(blocks(last.message.content), obj(e.assistantMessageEvent));
  return { ...v, retry: null, items: v.items.with(-1, withMessage(last, { ...last.message, content })) };
}

/** A streaming block has the text of its arguments so far in `partialJson`. */
type Growing = ContentBlock & { partialJson?: string };

function extended(content: Growing[], u: Obj): Growing[] {
  const at = num(u.contentIndex);
  if (at > content.length + 1000) return content; // an implausible index
  const out = [...content];
  while (out.length <= at) out.push({ type: '' });
  const b = out[at]!;
  const delta = str(u.delta);
  if (u.type === 'text_delta') out[at] = { ...b, type: 'text', text: str(b.text) + delta };
  else if (u.type === 'thinking_delta') out[at] = { ...b, type: 'thinking', thinking: str(b.thinking) + delta };
  else if (u.type === 'toolcall_start') out[at] = { type: 'toolCall', id: str(u.toolCallId), name: str(u.toolName) };
  else if (u.type === 'toolcall_delta') out[at] = { ...b, partialJson: str(b.partialJson) + delta };
  else if (Object.keys(obj(u.block)).length > 0) out[at] = { ...obj(u.block), type: str(obj(u.block).type) };
  return out;
}

function messageEnd(v: View, e: Obj): View {
  const message = messageOf(e.message);
  const entryId = str(e.entryId);
  const last = v.items.at(-1);
  const counter = v.counter + 1;
  const known = entryId !== '' && v.items.some((item) => item.entryId === entryId);
  let items: View['items'];
  if (isAnswer(message) && last?.live) {
    const ended = { ...withMessage(last, message), entryId, live: false };
    items = known ? v.items.slice(0, -1) : v.items.with(-1, ended);
  } else {
    items = withEntry(v.items, entryId, message, 'm' + counter);
    const added = items.length > v.items.length ? items.at(-1) : undefined;
    if (added && str(e.typed)) items = items.with(-1, { ...added, typed: str(e.typed) });
  }
  const plan = planOf(message);
  const lastPrompt = isPrompt(message) && entryId ? entryId : v.lastPrompt;
  const next = { ...v, counter, items, lastPrompt, todos: plan ?? v.todos };
  // A snapshot can contain an entry before its event arrives, and later entries.
  if (known) return next;
  return isAnswer(message) ? counted(answered(next, message), message, entryId) : withLeaf(next, entryId);
}

function withLeaf(v: View, entryId: string): View {
  return v.session && entryId ? { ...v, session: { ...v.session, leafId: entryId } } : v;
}

/** Returns the view with the usage of an answer added. */
function counted(v: View, message: StoredMessage, entryId: string): View {
  if (!v.session) return v;
  const u = obj(message.usage);
  const was = v.session.usage as SessionUsage | null; // null while the session is being read
  if (!was) return withLeaf(v, entryId);
  const usage: SessionUsage = {
    input: was.input + num(u.input),
    output: was.output + num(u.output),
    cacheRead: was.cacheRead + num(u.cacheRead),
    cacheWrite: was.cacheWrite + num(u.cacheWrite),
    totalTokens: was.totalTokens + num(u.totalTokens),
    cost: was.cost + num(obj(u.cost).total),
  };
  const next = withLeaf({ ...v, session: { ...v.session, usage } }, entryId);
  const tokens = num(u.totalTokens);
  const window = num(v.context.contextWindow);
  return tokens > 0
    ? { ...next, context: { ...v.context, tokens, ...(window ? { percent: (100 * tokens) / window } : {}) } }
    : next;
}

function callChanged(v: View, e: Obj, change: (c: Call) => Call): View {
  return { ...v, items: withCall(v.items, str(e.toolCallId), change) };
}

function modelChanged(v: View, e: Obj): View {
  const role = str(e.role);
  if (!v.session || (role !== '' && role !== 'default')) return v;
  const model = obj(e.model);
  const chosen = settled(v, 'model');
  return { ...chosen, session: { ...v.session, model: { provider: str(model.provider), id: str(model.id) } } };
}
