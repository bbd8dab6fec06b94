// Formulas in Markdown: $…$, $$…$$, \(…\) and \[…\]. They become tokens of the type "math"; what is not closed, or
// could be a price, stays text. Only the panel typesets formulas.

import type { StateBlock, StateInline } from 'markdown-it';
import type { markdown } from './parser';

/** The maximum length of a formula, in UTF-16 units. Longer ones are text. */
export const maxFormula = 2000;

/** The maximum number of lines of a formula. */
const maxLines = 200;

/** The meta data of a token: the formula without its delimiters is the content. */
export interface MathMeta {
  display: boolean;
  source: string; // with the delimiters
}

/** Adds formulas to a parser. */
export function addMath(md: typeof markdown): void {
  md.inline.ruler.before('escape', 'math', inlineMath);
  md.block.ruler.before('fence', 'math', blockMath, { alt: ['paragraph', 'reference', 'blockquote', 'list'] });
}

const closers: Readonly<Record<string, string>> = { $: '$', $$: '$$', '\\(': '\\)', '\\[': '\\]' };
const isSpace = (c: string) => c === '' || /\s/.test(c);
const isWord = (c: string) => /[\p{L}\p{N}_]/u.test(c);

/** Returns the delimiter that begins at an offset; "" if there is none. */
function openerAt(text: string, at: number): string {
  const two = text.slice(at, at + 2);
  if (Object.hasOwn(closers, two)) return two;
  return two[0] === '$' ? '$' : '';
}

/** Returns the offset of the delimiter that ends a formula, -1 if there is none before the end of the formula's largest size. */
function closerFrom(text: string, from: number, closer: string, end: number): number {
  const last = Math.min(end, from + maxFormula + closer.length);
  const first = text.indexOf(closer, from);
  if (first < 0 || first + closer.length > last) return -1;
  for (let at = from; at + closer.length <= last; at++) {
    if (text.startsWith(closer, at)) return at;
    if (text[at] === '\\') at++; // an escaped character, such as \$
  }
  return -1;
}

/** A number, alone or with words: "5 and US" of "$5 and US$". */
const price = /^\d[\d.,]*(?:[kKmMbB]|\s|[-–—/]\s?)?[\p{L}\s.,;:!?'’()-]*$/u;

/** Reports whether the text between two dollar signs can be a formula. */
function isFormula(text: string, from: number, at: number): boolean {
  const tex = text.slice(from, at);
  if (isSpace(tex[0] ?? '') || isSpace(tex.at(-1) ?? '') || tex.includes('`')) return false;
  if (isWord(text[from - 2] ?? '') || isWord(text[at + 1] ?? '') || text[at + 1] === '$') return false;
  return !(price.test(tex) && /\s|[-–—/]$/.test(tex));
}

function inlineMath(state: StateInline, silent: boolean): boolean {
  const { src, pos, posMax } = state;
  const opener = openerAt(src, pos);
  if (opener === '') return false;
  const closer = closers[opener]!;
  const from = pos + opener.length;
  const at = closerFrom(src, from, closer, posMax);
  const tex = at < 0 ? '' : src.slice(from, at).trim();
  const refused = opener === '$' ? !isFormula(src, from, at) : opener === '\\[' && src[at + 2] === '(';
  if (tex === '' || refused) {
    // A pair of dollar signs is not the beginning of another formula.
    if (opener !== '$$') return false;
    if (!silent) state.pending += opener;
    state.pos = from;
    return true;
  }
  if (!silent) {
    const token = state.push('math', '', 0);
    token.content = tex;
    const display = opener === '$$' || opener === '\\[';
    token.meta = { display, source: src.slice(pos, at + closer.length) } satisfies MathMeta;
  }
  state.pos = at + closer.length;
  return true;
}

/** A formula on lines of its own, without empty lines. */
function blockMath(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  if (state.sCount[startLine]! - state.blkIndent >= 4) return false;
  const lineOf = (n: number) => state.src.slice(state.bMarks[n]! + state.tShift[n]!, state.eMarks[n]).trimEnd();
  const opener = lineOf(startLine).slice(0, 2);
  if (opener !== '$$' && opener !== '\\[') return false;
  const closer = closers[opener]!;
  const start = state.bMarks[startLine]! + state.tShift[startLine]! + opener.length;
  if (!state.src.slice(start, start + 2 * maxFormula).includes(closer)) return false;
  let length = 0;
  for (let n = startLine; n < Math.min(endLine, startLine + maxLines); n++) {
    if (state.isEmpty(n) || (n > startLine && state.sCount[n]! < state.blkIndent)) return false;
    const line = lineOf(n).slice(n === startLine ? opener.length : 0);
    length += line.length + 1;
    if (length > maxFormula) return false;
    const at = line.indexOf(closer);
    if (at >= 0 && at + closer.length < line.length) return false; // text follows on the line
    if (at >= 0) return pushed(state, startLine, n + 1, opener, silent);
  }
  return false;
}

/**
 * Returns the offset of the line from which a growing text can become a formula when its end arrives; the length of the
 * text if there is none. A formula has no empty lines.
 */
export function openFrom(text: string): number {
  const from = Math.max(0, text.length - 2 * maxFormula);
  const tail = text.slice(from);
  const paragraph = /(?:^|\n)[ \t]*\n(?![^]*\n[ \t]*\n)/.exec(tail);
  const start = paragraph ? paragraph.index + paragraph[0].length : 0;
  const opener = /^[ ]{0,3}(?:\$\$|\\\[)/m.exec(tail.slice(start));
  return opener ? from + start + opener.index : text.length;
}

function pushed(state: StateBlock, from: number, to: number, opener: string, silent: boolean): boolean {
  const source = state.getLines(from, to, state.blkIndent, false).trim();
  const tex = source.slice(opener.length, -closers[opener]!.length).trim();
  if (tex === '' || silent) return tex !== '';
  const token = state.push('math', '', 0);
  token.content = tex;
  token.meta = { display: true, source } satisfies MathMeta;
  token.map = [from, to];
  state.line = to;
  return true;
}
