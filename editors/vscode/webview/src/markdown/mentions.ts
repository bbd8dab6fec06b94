// Paths of files in texts, with line numbers in the forms that models and tools write. Whether there is such a file, only
// the extension knows.

/** A place in a file. Lines and columns are counted from 1; 0 if unknown. */
export interface Place {
  path: string;
  line: number;
  column: number;
  endLine: number;
}

/** A place that is mentioned between two offsets of a text. */
export interface Mention extends Place {
  from: number;
  to: number;
}

/** The maximum number of mentions of a text; further ones are text. */
export const maxMentions = 200;
const maxPath = 300;

// A path has a slash, an ending, or a line. Its characters exclude those that end a path in prose and in the output of tools.
const name = String.raw`[\p{L}\p{N}_@+$%~.[\]{}-]`;
const path = String.raw`(?:[A-Za-z]:[\\/]|~?[\\/]|\.{1,2}[\\/])?${name}{1,100}(?:[\\/]${name}{1,100}){0,30}`;
const line = [
  String.raw`:(?<a>\d{1,7})(?:-(?<b>\d{1,7})|:(?<c>\d{1,6})(?:-\d{1,7}(?::\d{1,6})?)?)?`, // a.ts:1, a.ts:1-2, a.ts:1:2
  String.raw`#L(?<d>\d{1,7})(?:C\d{1,6})?(?:-L?(?<e>\d{1,7}))?`, // a.ts#L1, a.ts#L1-L2
  String.raw`\((?<f>\d{1,7}),(?<g>\d{1,6})\)`, // a.ts(1,2)
  String.raw`", line (?<h>\d{1,7})`, // File "a.py", line 1
].join('|');
const mention = new RegExp(String.raw`(?<![\p{L}\p{N}_@+$%~.\\/:-])(?<path>${path})(?:${line})?`, 'gu');

/** Returns the place of a match. A sentence can end with its path. */
function placeOf(m: RegExpExecArray): Mention | undefined {
  const g = m.groups!;
  const n = (digits: string | undefined) => Number(digits ?? 0);
  const at = n(g.a ?? g.d ?? g.f ?? g.h);
  let file = g.path!;
  let to = m.index + m[0].length;
  if (at === 0) {
    const bare = file.replace(/[.\]}[{]+$/, '');
    to -= file.length - bare.length;
    file = bare;
  }
  const isPath = /[\\/][^\\/]/.test(file) || /[^.\\/]\.\p{L}[\p{L}\p{N}]{0,14}$/u.test(file) || at > 0;
  if (!isPath || file.length > maxPath || /^[\\/]{2}/.test(file) || !/\p{L}/u.test(file)) return undefined;
  const end = n(g.b ?? g.e);
  return { path: file, line: at, column: n(g.c ?? g.g), endLine: end > at ? end : 0, from: m.index, to };
}

/** Returns the places that a text mentions, in order. Web addresses are none. */
export function mentionsIn(text: string): Mention[] {
  const out: Mention[] = [];
  for (const m of text.matchAll(mention)) {
    const found = /[a-z]:\/{0,2}$/i.test(text.slice(Math.max(0, m.index - 3), m.index)) ? undefined : placeOf(m);
    if (found) out.push(found);
    if (out.length >= maxMentions) break;
  }
  return out;
}

/** Returns the target of a link to a place, which targetOf reads. */
export function hrefOf({ path: file, line, column, endLine }: Place): string {
  const start = /^(?:[A-Za-z]:[\\/]|[\\/~.])/.test(file) ? '' : './';
  const places = line === 0 ? '' : `:${line}${endLine ? `-${endLine}` : column ? `:${column}` : ''}`;
  return start + file.replaceAll('%', '%25') + places;
}
