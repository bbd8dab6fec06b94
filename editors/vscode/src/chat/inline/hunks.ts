import { pieces, replaced, type Replacement } from '../applied';

/** A part of a proposed change that the user keeps or rejects as a whole. */
export interface Hunk extends Replacement {
  /** The first line in the text without the change, from 0. */
  readonly line: number;
  /** The number of lines that are replaced; 0 for an insertion. */
  readonly lines: number;
  /** The replaced and the new text, in the form of a diff. */
  readonly diff: string;
}

const linesOf = (text: string): string[] => text.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n');

const marked = (mark: string, text: string): string[] => (text === '' ? [] : linesOf(text).map((line) => mark + line));

/** Returns a replacement in the form of a diff, without context. */
export const diffOf = (old: string, text: string): string => [...marked('-', old), ...marked('+', text)].join('\n');

/** Returns the differences between two texts, in order. */
export function hunksOf(before: string, after: string): Hunk[] {
  let line = 0;
  let last = 0;
  return pieces(before, after).map((piece) => {
    const old = before.slice(piece.offset, piece.offset + piece.length);
    line += before.slice(last, piece.offset).split('\n').length - 1;
    last = piece.offset;
    return { ...piece, line, lines: old === '' ? 0 : linesOf(old).length, diff: diffOf(old, piece.text) };
  });
}

/** Returns the text with some of its hunks applied. */
export const withHunks = (before: string, hunks: readonly Replacement[]): string =>
  [...hunks].sort((a, b) => b.offset - a.offset).reduce(replaced, before);
