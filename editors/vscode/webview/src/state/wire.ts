// How the page reads what came over the wire. The shapes are generated; but messages are as session
// files have them, written by several programs, and so nothing inside them is taken for granted.

import type {
  ApprovalPrompt,
  ApprovalRule,
  ContentBlock,
  EventParams,
  SessionChangedParams,
  Snapshot,
} from '../../../src/wire.gen';

export type {
  ApprovalMode,
  ApprovalPrompt,
  ApprovalRule,
  ContentBlock,
  ContextUsage,
  ModelRef,
  SessionState,
  SessionUsage,
  Snapshot,
  StoredMessage,
  TreeNode,
} from '../../../src/wire.gen';

export type Obj = { [key: string]: unknown };

export const obj = (v: unknown): Obj => (typeof v === 'object' && v !== null && !Array.isArray(v) ? (v as Obj) : {});
export const str = (v: unknown): string => (typeof v === 'string' ? v : '');
export const num = (v: unknown): number => (typeof v === 'number' && Number.isFinite(v) ? v : 0);
export const list = (v: unknown): unknown[] => (Array.isArray(v) ? v : []);
export const texts = (v: unknown): string[] => list(v).filter((s): s is string => typeof s === 'string');

/** The blocks of a message's content, which may also be a plain text. */
export function blocks(content: unknown): ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return list(content).map((b) => ({ ...obj(b), type: str(obj(b).type) }));
}

/** The text blocks of a content, put together. */
export function plainText(content: unknown): string {
  return blocks(content)
    .filter((b) => b.type === 'text')
    .map((b) => str(b.text))
    .join('\n');
}

/** A tool call that waits for the person's word, whatever of it is missing. */
export function approvalOf(v: unknown): ApprovalPrompt {
  const o = obj(v);
  const preview = obj(o.preview);
  return {
    id: str(o.id),
    tool: str(o.tool),
    args: o.args,
    shown: o.shown === true,
    preview: { title: str(preview.title), diff: str(preview.diff), paths: texts(preview.paths) },
    rules: list(o.rules).map((r) => obj(r) as ApprovalRule),
    outside: texts(o.outside),
  };
}

/** The same of a request xcsh/approve, which has the members of the preview beside the others. */
export function approvalOfRequest(v: unknown): ApprovalPrompt {
  const { title, diff, paths, ...rest } = obj(v);
  return approvalOf({ ...rest, preview: { title, diff, paths } });
}

/** A notification about one session, in its place. */
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
