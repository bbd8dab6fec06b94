// The files that are attached to a prompt by a button, a drop or a selection. References in the text are none of them.

import type { Attachment } from '../../../src/chat/messages';
import { referencesIn } from './references';
import { userMessageOf } from './userMessage';

export const attachmentKey = (a: Attachment) => a.uri + (a.range ? `:${a.range.start.line}-${a.range.end.line}` : '');

/** The label of an attachment. */
export function attachmentLabel(a: Attachment): string {
  if (!a.range) return a.name;
  const from = a.range.start.line + 1;
  const last =
    a.range.end.character === 0 && a.range.end.line > a.range.start.line ? a.range.end.line : a.range.end.line + 1;
  return from === last ? `${a.name}:${from}` : `${a.name}:${from}–${last}`;
}

/** Returns the attachments with others added, each once. */
export function attached(list: readonly Attachment[], added: readonly Attachment[]): Attachment[] {
  const all = new Map<string, Attachment>();
  for (const a of [...list, ...added]) if (!all.has(attachmentKey(a))) all.set(attachmentKey(a), a);
  return [...all.values()];
}

/** What the server asks the editor for, and sends as a part of a file. */
const places = /^(buffer|selection|symbol:.*)$/;

/**
 * Returns the words of a message and the files that were attached to it, for editing. What the words refer to is
 * attached by the server again. typed are the words if the message was made of them. It comes after the other files, in the order of the words.
 */
export function draftOf(content: unknown, typed?: string): { text: string; attachments: Attachment[] } {
  const { text: whole, files } = userMessageOf(content);
  const text = typed ?? whole;
  const names = referencesIn(text).map(({ name }) => name);
  const mentioned = names.map((name) => name.replace(/^(\.\/|~\/)/, ''));
  const isMentioned = (path: string) => {
    const plain = path.replaceAll('\\', '/');
    return mentioned.some((name) => plain === name || plain.endsWith(`/${name}`));
  };
  const own = files.filter((f) => (!f.type || f.type.startsWith('image/')) && !isMentioned(f.path));
  const asked = names.filter((name) => places.test(name)).length;
  const attachments = own.slice(0, Math.max(0, own.length - asked)).map((f): Attachment => ({
    uri: f.path,
    name: f.path.split(/[\\/]/).at(-1) ?? f.path,
    ...(f.from && f.to
      ? { range: { start: { line: f.from - 1, character: 0 }, end: { line: f.to, character: 0 } } }
      : {}),
  }));
  return { text, attachments };
}
