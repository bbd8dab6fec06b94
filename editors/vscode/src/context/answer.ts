/** What a prompt can refer to in the editor. The server asks for it while the prompt is being sent. */
export const contextKinds = ['problems', 'buffer', 'selection', 'terminal', 'symbol'] as const;
export type ContextKind = (typeof contextKinds)[number];

/** A position in a text, as in LSP: both numbers from 0. */
interface Position {
  line: number;
  character: number;
}

/** A part of a file. */
export interface Part {
  start: Position;
  end: Position;
}

export type { ContextParams } from '../wire.gen';

/** The answer to it: a text, or a file or a part of one, whose unsaved text counts. null means that there is nothing. */
export type ContextAnswer = { text: string; label: string } | { uri: string; range?: Part; label: string } | null;

/** The longest text of an answer, in bytes. */
export const maxBytes = 64 << 10;

/** Returns the beginning of a text, or its end, with at most a number of bytes in UTF-8. */
export function cut(text: string, keep: 'start' | 'end', most = maxBytes): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= most) {
    return text;
  }
  const isInside = (at: number): boolean => at < bytes.length && (bytes[at]! & 0xc0) === 0x80;
  if (keep === 'start') {
    let end = most;
    while (isInside(end)) end--;
    return bytes.subarray(0, end).toString('utf8');
  }
  let start = bytes.length - most;
  while (isInside(start)) start++;
  return bytes.subarray(start).toString('utf8');
}
