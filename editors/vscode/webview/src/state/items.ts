// The conversation as a list: messages in order, with tool results attached to their calls.

import type { ApprovalPrompt, SnapshotMessage, StoredMessage } from './wire';
import { blocks, list, obj, str } from './wire';
import { endedAs } from './ended';
import type { Call, Item, Todo, TodoPhase } from './model';

export const isAnswer = (m: StoredMessage) => m.role === 'assistant';
export const isResult = (m: StoredMessage) => m.role === 'toolResult';

/** Reads a message from any value. */
export function messageOf(v: unknown): StoredMessage {
  const o = obj(v);
  return { ...o, role: str(o.role) } as StoredMessage;
}

/** Returns the ids of the calls in an answer. */
export function callIds(m: StoredMessage): string[] {
  return blocks(m.content)
    .filter((b) => b.type === 'toolCall')
    .map((b) => str(b.id));
}

export function newItem(key: string, entryId: string, message: StoredMessage, live = false): Item {
  const calls: Record<string, Call> = {};
  if (isAnswer(message)) for (const id of callIds(message)) calls[id] = { status: 'waiting' };
  return { key, entryId, message, live, calls };
}

/** Returns the item with another message. The state of its calls is kept. */
export function withMessage(item: Item, message: StoredMessage): Item {
  const next = newItem(item.key, item.entryId, message, item.live);
  const calls: Record<string, Call> = {};
  for (const id of Object.keys(next.calls)) calls[id] = item.calls[id] ?? next.calls[id]!;
  return { ...next, calls };
}

/** Returns the index of the newest answer with the call, -1 if none. Providers reuse ids. */
export function answerWith(items: readonly Item[], callId: string): number {
  return items.findLastIndex((item) => Object.hasOwn(item.calls, callId));
}

/** Returns the items with the newest call of that id replaced. */
export function withCall(items: readonly Item[], callId: string, change: (c: Call) => Call): readonly Item[] {
  const at = answerWith(items, callId);
  if (at < 0) return items;
  const item = items[at]!;
  return items.with(at, { ...item, calls: { ...item.calls, [callId]: change(item.calls[callId]!) } });
}

/** Returns the items with a stored message appended, or the same items if they already contain it. */
export function withEntry(
  items: readonly Item[],
  entryId: string,
  message: StoredMessage,
  key: string,
): readonly Item[] {
  if (!isResult(message)) {
    return items.some((item) => item.entryId === entryId && entryId !== '')
      ? items
      : [...items, newItem(key, entryId, message)];
  }
  const at = answerWith(items, str(message.toolCallId));
  if (at < 0) return [...items, newItem(key, entryId, message)]; // its answer is no longer in the context
  const status = endedAs(message, message.isError);
  return withCall(items, str(message.toolCallId), () => ({ status, output: message, entryId }));
}

const failed = (item: Item) => isAnswer(item.message) && !item.live && item.message.stopReason === 'error';

/** Returns the items with the last one marked as repeated, if it is a failed answer. */
export function withRetried(items: readonly Item[]): readonly Item[] {
  const last = items.at(-1);
  return last && failed(last) && !last.retried ? items.with(-1, { ...last, retried: true }) : items;
}

/** Returns the items with a failed answer at the end shown again, because its request is not repeated. */
export function withoutRetried(items: readonly Item[]): readonly Item[] {
  const last = items.at(-1);
  return last?.retried ? items.with(-1, { ...last, retried: false }) : items;
}

/** Returns the items of consecutive messages. The list is built in place, because there can be thousands. */
export function itemsOf(messages: readonly SnapshotMessage[]): Item[] {
  const items: Item[] = [];
  const owners = new Map<string, Item>();
  for (const { entryId, message: raw } of messages) {
    const message = messageOf(raw);
    const owner = isResult(message) ? owners.get(str(message.toolCallId)) : undefined;
    if (owner) {
      const status = endedAs(message, message.isError);
      (owner.calls as Record<string, Call>)[str(message.toolCallId)] = { status, output: message, entryId };
      continue;
    }
    const before = items.at(-1);
    const key = before?.entryId === entryId ? `${entryId}/${message.role}` : entryId; // two can be of one entry
    const item = newItem(key, entryId, message);
    if (before && isAnswer(message) && failed(before)) before.retried = true;
    items.push(item);
    for (const id of Object.keys(item.calls)) owners.set(id, item);
  }
  return items;
}

/**
 * Returns the items of two consecutive parts. Results whose calls are in the older part are attached
 * to them, and a failed answer at its end is marked as repeated.
 */
export function joinedItems(older: readonly Item[], newer: readonly Item[]): readonly Item[] {
  let out = older;
  const rest = newer.filter((item) => {
    if (!isResult(item.message)) return true;
    const id = str(item.message.toolCallId);
    const owner = out[answerWith(out, id)];
    if (!owner || owner.calls[id]!.entryId) return true;
    out = withEntry(out, item.entryId, item.message, item.key);
    return false;
  });
  const [last, first] = [out.at(-1), rest[0]];
  if (last && last.key === first?.key) out = out.with(-1, { ...last, key: `${last.key}/${last.message.role}` });
  return [...(first && isAnswer(first.message) ? withRetried(out) : out), ...rest];
}

/** Returns the items with every call that has no result marked as stopped. */
export function withoutRunning(items: readonly Item[]): readonly Item[] {
  let out: Item[] | undefined;
  items.forEach((item, i) => {
    const open = Object.entries(item.calls).filter(
      ([, c]) => c.status === 'waiting' || c.status === 'asking' || c.status === 'running',
    );
    if (open.length === 0) return;
    const calls = { ...item.calls };
    for (const [id, c] of open) calls[id] = { ...c, status: 'stopped' };
    out ??= [...items];
    out[i] = { ...item, calls };
  });
  return out ?? items;
}

/** Returns the id of the call of an approval prompt: ids can repeat in a session. */
export const callOfPrompt = (p: ApprovalPrompt) => p.id.replace(/#\d+$/, '');

/** Reports whether a call has its result. */
const isOver = ({ status, entryId }: Call) =>
  entryId !== undefined || status === 'done' || status === 'failed' || status === 'denied';

/** Returns the items with exactly the calls that have a pending approval marked so. */
export function withApprovals(
  items: readonly Item[],
  before: readonly ApprovalPrompt[],
  now: readonly ApprovalPrompt[],
): readonly Item[] {
  for (const p of before)
    items = withCall(items, callOfPrompt(p), (c) => (c.status === 'asking' ? { ...c, status: 'running' } : c));
  for (const p of now) items = withCall(items, callOfPrompt(p), (c) => (isOver(c) ? c : { ...c, status: 'asking' }));
  return items;
}

const todoStates = ['pending', 'in_progress', 'completed', 'abandoned', 'blocked'] as const;

/** Returns the plan of a successful todo or todo_write. */
export function todosOf(v: unknown): TodoPhase[] {
  return list(v)
    .map(obj)
    .map((phase) => ({
      name: str(phase.name) || str(phase.title),
      todos: list(phase.tasks ?? phase.todos)
        .map(obj)
        .map((task): Todo => ({
          text: str(task.content) || str(task.title) || str(task.text),
          status: todoStates.find((s) => s === task.status) ?? 'pending',
          blocker: str(task.blocker),
        })),
    }));
}

/** Returns the plan in a message, undefined if it contains none. */
export function planOf(m: StoredMessage): TodoPhase[] | undefined {
  if (!isResult(m) || (m.toolName !== 'todo_write' && m.toolName !== 'todo') || m.isError === true) return undefined;
  const { op, phases } = obj(m.details);
  return op === 'view' || !Array.isArray(phases) ? undefined : todosOf(phases);
}
