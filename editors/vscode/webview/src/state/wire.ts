// Reads values received from the server. Their types are generated, but messages are in the format
// of session files, which several programs write, so nothing inside them is trusted.

import type {
  ApprovalPrompt as Prompt,
  ApprovalRule,
  ContentBlock,
  EventParams,
  ForeignBranch,
  SessionChangedParams,
  Snapshot,
  SnapshotMessage,
  StoredMessage,
} from '../../../src/wire.gen';

export type {
  ApprovalMode,
  ApprovalRule,
  ContentBlock,
  BranchChoice,
  ContextUsage,
  ForeignBranch,
  ModelRef,
  SessionState,
  SessionUsage,
  Snapshot,
  SnapshotMessage,
  StoredMessage,
} from '../../../src/wire.gen';

export type Obj = { [key: string]: unknown };

export const obj = (v: unknown): Obj => (typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Obj) : {});
export const str = (v: unknown): string => (typeof v === 'string' ? v : '');
export const num = (v: unknown): number => (typeof v === 'number' && Number.isFinite(v) ? v : 0);
export const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
export const texts = (v: unknown): string[] => list(v).filter((s): s is string => typeof s === 'string');

/** Returns the blocks of a message's content, which can also be a string. */
export function blocks(content: unknown): ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return list(content).map((b) => ({ ...obj(b), type: str(obj(b).type) }));
}

/** Returns the text blocks of a content, concatenated. */
export function plainText(content: unknown): string {
  return blocks(content)
    .filter((b) => b.type === 'text')
    .map((b) => str(b.text))
    .join('\n');
}

/** A pending approval of a tool call. The server can add warnings about the call. */
export type ApprovalPrompt = Prompt & {
  protected?: string[];
  unsandboxed?: boolean;
  blocked?: string[];
  task?: string; // the subagent that makes the call
};

/** Reads an approval prompt; missing members are empty. */
export function approvalOf(v: unknown): ApprovalPrompt {
  const o = obj(v);
  const preview = obj(o.preview);
  return {
    id: str(o.id),
    tool: str(o.tool),
    task: str(o.task),
    args: o.args,
    shown: o.shown === true,
    preview: { title: str(preview.title), diff: str(preview.diff), paths: texts(preview.paths) },
    rules: list(o.rules).map((r) => obj(r) as ApprovalRule),
    wider: list(o.wider).map((r) => obj(r) as ApprovalRule),
    outside: texts(o.outside),
    protected: texts(o.protected),
    unsandboxed: o.unsandboxed === true,
    blocked: texts(o.blocked),
  };
}

/** Reads the prompt of an xcsh/approve request, which has the preview's members at its top level. */
export function approvalOfRequest(v: unknown): ApprovalPrompt {
  const { title, diff, paths, ...rest } = obj(v);
  return approvalOf({ ...rest, preview: { title, diff, paths } });
}

/** Reads another program's branch from an event or a snapshot; null if there is none. */
export function foreignOf(v: unknown): ForeignBranch | null {
  const o = obj(v);
  const branchId = str(o.branchId);
  if (branchId === '') return null;
  return {
    branchId,
    entryId: str(o.entryId),
    entries: num(o.entries),
    program: str(o.program),
    prompt: str(o.prompt),
    text: str(o.text),
  };
}

/** Whether a model can answer, and if not, why. */
export interface Ready {
  ok: boolean;
  reason: string;
  provider: string; // whose key is missing; "" if none
  message: string; // a sentence
}

export const isReady: Ready = { ok: true, reason: '', provider: '', message: '' };

/** Reads whether a model can answer. It can if the value says nothing, as with older servers. */
export function readyOf(v: unknown): Ready {
  const o = obj(v);
  if (o.ok !== false) return isReady;
  return { ok: false, reason: str(o.reason), provider: str(o.provider), message: str(o.message) };
}

/** Returns the names of the values that are unknown because the session is still being read. */
export const pendingOf = (v: unknown): string[] => texts(obj(v).pending);

/** A notification about one session, with its number. */
export type Numbered = ({ of: 'event' } & EventParams) | ({ of: 'session' } & SessionChangedParams);

export function numbered(of: 'event' | 'session', v: unknown): Numbered | undefined {
  const o = obj(v);
  if (typeof o.sessionId !== 'string' || !Number.isSafeInteger(o.seq)) return undefined;
  if (of === 'event' && typeof obj(o.event).type !== 'string') return undefined;
  if (of === 'session' && typeof o.reason !== 'string') return undefined;
  return { ...o, of } as Numbered;
}

export function isSnapshot(v: unknown): v is Snapshot {
  const o = obj(v);
  return (
    Number.isSafeInteger(o.seq) &&
    typeof obj(o.state).sessionId === 'string' &&
    (o.messages === null || Array.isArray(o.messages))
  );
}

/** What is beyond an end of a page: an opaque position, and the number of messages there. */
export interface PageEnd {
  cursor: string;
  count: number;
}

/** Reads an end of a page; null if the conversation has no more messages there. */
export function pageEndOf(v: unknown): PageEnd | null {
  const { cursor, count } = obj(v);
  return typeof cursor === 'string' && cursor !== '' ? { cursor, count: Math.max(0, num(count)) } : null;
}

/** A message with the text of a search. */
export interface Hit {
  entryId: string;
  role: string;
  excerpt: string; // the text around the match
  index: number; // place in the conversation, from 0
}

export function hitsOf(v: unknown): Hit[] {
  return list(v)
    .map(obj)
    .map((h) => ({ entryId: str(h.entryId), role: str(h.role), excerpt: str(h.excerpt), index: num(h.index) }))
    .filter((h) => h.entryId !== '');
}

/** Reads consecutive messages; undefined if the value is something else. */
export function messagesOf(v: unknown): SnapshotMessage[] | undefined {
  if (!Array.isArray(v)) return v === null ? [] : undefined;
  return v.map((m) => {
    const { entryId, message } = obj(m);
    return { entryId: str(entryId), message: { ...obj(message), role: str(obj(message).role) } as StoredMessage };
  });
}
