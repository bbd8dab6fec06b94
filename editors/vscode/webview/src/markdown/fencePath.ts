// The file that a block of code belongs to, as far as the text says: in the line that opens the block, in its first line, or
// directly before it.

import type { Token } from 'markdown-it';
import { languageOf } from './highlight';
import { mentionsIn } from './mentions';
import { textOf } from './nodes';
import type { Node } from './nodes';
import type { markdown } from './parser';

/** A file that a text names. `fromFence` if the block itself names it: then it can be a new one. */
export interface NamedFile {
  path: string;
  fromFence: boolean;
}

/** Keeps the whole text after the opening of fences, of which the parser leaves the language only. */
export function keepInfo(md: typeof markdown): void {
  md.core.ruler.before('language', 'info', (state) => {
    for (const token of state.tokens) {
      if (token.type === 'fence') token.meta = { info: state.md.utils.unescapeAll(token.info).trim().slice(0, 400) };
    }
  });
}

const language = /^[\w+#.-]{1,30}/;

/** Returns the path if a text is one, with an optional place. */
function pathIn(text: string): string {
  const [found, ...more] = mentionsIn(text);
  return found && more.length === 0 && found.from === 0 && found.to === text.length ? found.path : '';
}

/** Reads the text after the opening of a fence: "ts", "ts src/a.ts", "ts title=src/a.ts", "ts:src/a.ts", "src/a.ts", "1:9:src/a.ts". */
export function infoOf(token: Token): { language: string; path: string } {
  const info = String(token.meta?.['info'] ?? token.info);
  const [first = '', ...rest] = info.split(/\s+/);
  const numbered = /^\d+:\d+:(.+)$/.exec(first)?.[1];
  const whole = pathIn(numbered ?? (/[\\/.]/.test(first) ? first : ''));
  if (whole) return { language: languageOf(whole), path: whole };
  const name = language.exec(first)?.[0]?.toLowerCase() ?? '';
  const prefixed = /^[\w+#-]{1,30}:(.+)$/.exec(first)?.[1] ?? '';
  const named = rest.map((word) =>
    word.replace(/^(?:title|file|filename|path|name)=/i, '').replace(/^["'{]+|["'}]+$/g, ''),
  );
  return { language: name, path: [prefixed, ...named].map(pathIn).find((p) => p !== '') ?? '' };
}

/** A comment that names the file of the code below it. */
const heading = /^\s*(?:\/\/|#|--|;|%|<!--|\/\*)\s*(?:file(?:name)?:|path:)?\s*(\S{1,300})\s*(?:\*\/|-->)?\s*$/i;

/** Returns the file of a block. The nodes before it name one if they are nothing else, or end with it and a colon. */
export function fileOfBlock(path: string, code: string, before: readonly Node[]): NamedFile | undefined {
  const [line = ''] = code.slice(0, 400).split('\n', 1);
  const own = path || pathIn(heading.exec(line)?.[1] ?? '');
  if (own) return { path: own, fromFence: true };
  const text = textOf(before).trim().slice(-400);
  const last = mentionsIn(text).at(-1);
  if (!last) return undefined;
  const isHeading = last.from === 0 && /^:?$/.test(text.slice(last.to));
  return isHeading || /^\S{0,2}:$/.test(text.slice(last.to)) ? { path: last.path, fromFence: false } : undefined;
}
