// References in a prompt, such as @src/a.ts, @"a file", @problems or #selection. The server resolves them; the page
// completes and highlights them.

import { written } from '../../../src/chat/written';

/** The reference that is being typed before the cursor. */
export interface Typed {
  from: number; // offset of its mark
  mark: '@' | '#';
  query: string; // without the mark and the quotation mark
}

/** A reference in a text. */
export interface Reference {
  from: number;
  to: number;
  kind: 'context' | 'symbol' | 'path';
  name: string; // for a path, without its lines
}

const maxQuery = 200;

/** Returns the reference that ends at the cursor, undefined if there is none. */
export function typedAt(text: string, cursor: number): Typed | undefined {
  const m = /(?:^|[\s(])([@#])("[^"\n]*|[^\s@#"]*)$/.exec(text.slice(0, cursor));
  if (!m || m[2]!.length > maxQuery) return undefined;
  const mark = m[1] as Typed['mark'];
  return { from: cursor - m[2]!.length - 1, mark, query: m[2]!.replace(/^"/, '') };
}

/** Returns the text with a typed reference replaced, and the new cursor position. A finished one is followed by a space. */
export function complete(
  text: string,
  cursor: number,
  { from }: Typed,
  reference: string,
  finished: boolean,
): { text: string; cursor: number } {
  const head = text.slice(0, from) + reference + (finished ? ' ' : '');
  const rest = text.slice(cursor).replace(/^"/, '');
  return { text: head + (finished ? rest.replace(/^ /, '') : rest), cursor: head.length };
}

/** Returns the beginning of a reference to a folder, which the user can continue. */
export function opened(folder: string): string {
  const whole = written(folder);
  return whole.endsWith('"') ? whole.slice(0, -1) : whole;
}

const contexts = ['problems', 'diagnostics', 'buffer', 'selection', 'terminal'];
const pattern = /(^|[\s(])(@"[^"\n]+"|@[^\s@"]+|#selection(?![\w-]))/g;
const lines = /(?::\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)$/;

// The server does not look into fenced code.
const fences = /^ *(`{3,}|~{3,})[^]*?(?:^ *\1[^\n]*$|$(?![^]))/gm;

/** Returns the references in a text, in order. Only some of the paths exist. */
export function referencesIn(text: string): Reference[] {
  const out: Reference[] = [];
  const outside = text.replace(fences, (code) => code.replace(/[^\n]/g, ' '));
  for (const m of outside.matchAll(pattern)) {
    const from = m.index + m[1]!.length;
    const quoted = m[2]!.startsWith('@"');
    const token = quoted ? m[2]! : m[2]!.replace(/[.,;:!?)\]}'>]+$/, '');
    let to = from + token.length;
    const after = quoted ? /^(?::\d+(?:-\d+)?|#L\d+(?:-L?\d+)?)/.exec(text.slice(to)) : null;
    if (after) to += after[0].length;
    const name = quoted ? token.slice(2, -1) : token.slice(1).replace(lines, '');
    if (name === '') continue;
    if (contexts.includes(name)) out.push({ from, to, kind: 'context', name });
    else if (!quoted && /^symbol:./.test(name)) out.push({ from, to, kind: 'symbol', name });
    else out.push({ from, to, kind: 'path', name });
  }
  return out;
}

/** Returns the text with references added at its end. */
export function withReferences(text: string, references: readonly string[]): string {
  if (references.length === 0) return text;
  const space = text === '' || /\s$/.test(text) ? '' : ' ';
  return `${text}${space}${references.join(' ')} `;
}
