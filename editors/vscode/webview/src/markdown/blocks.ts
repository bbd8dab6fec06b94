// Markdown in parts, so that a text that grows is not parsed and drawn from its beginning each time:
// a block that was followed by another one never changes again.

import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import { t } from '../l10n';
import { targetOf } from './links';

/** A part of a text that is drawn by itself. */
export type Block = { kind: 'html'; html: string } | { kind: 'code'; language: string; code: string; closed: boolean };

const md = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
md.linkify.set({ fuzzyEmail: false, fuzzyIP: false, fuzzyLink: false });
md.validateLink = (href) => targetOf(href) !== undefined;
md.disable(['html_block', 'html_inline'], true);

// A picture would be fetched from somewhere: it becomes a link to where it is.
md.renderer.rules.image = (tokens, i) => {
  const token = tokens[i]!;
  const name = md.utils.escapeHtml(token.content || t('image'));
  return `<a href="${md.utils.escapeHtml(String(token.attrGet('src') ?? ''))}">${name}</a>`;
};

// Lists of things to do are read out as what they are.
md.core.ruler.after('inline', 'tasks', (state) => {
  state.tokens.forEach((token, i) => {
    const first = token.children?.[0];
    if (token.type !== 'inline' || first?.type !== 'text' || state.tokens[i - 2]?.type !== 'list_item_open') return;
    const m = /^\[([ xX])\] /.exec(first.content);
    if (m) first.content = (m[1] === ' ' ? '☐ ' : '☑ ') + first.content.slice(m[0].length);
  });
});

// The policy of the page forbids styles in elements: the side that a column is set to is a class.
md.core.ruler.push('columns', (state) => {
  for (const token of state.tokens) {
    if (token.type !== 'th_open' && token.type !== 'td_open') continue;
    const side = /^text-align:(center|right)$/.exec(String(token.attrGet('style') ?? ''))?.[1];
    token.attrs = side ? [['class', `column-${side}`]] : null;
  }
});

md.renderer.rules.table_open = () => '<div class="table"><table>';
md.renderer.rules.table_close = () => '</table></div>';

/** The text, cut before the line. */
function lineOffset(text: string, line: number): number {
  let at = 0;
  for (let n = 0; n < line && at >= 0; n++) at = text.indexOf('\n', at) + 1 || text.length;
  return at;
}

const isFence = (t: Token) => t.type === 'fence' || t.type === 'code_block';

/** The ranges of tokens that are one block each. */
function* topLevel(tokens: Token[]): Generator<Token[]> {
  let from = 0;
  let depth = 0;
  for (let i = 0; i < tokens.length; i++) {
    depth += tokens[i]!.nesting;
    if (depth > 0) continue;
    yield tokens.slice(from, i + 1);
    from = i + 1;
  }
}

function fenceBlock(token: Token, closed: boolean): Block {
  const language = /^[\w+#.-]{1,30}/.exec(token.info.trim())?.[0]?.toLowerCase() ?? '';
  return { kind: 'code', language, code: token.content.replace(/\n$/, ''), closed };
}

/** Parsed as far as it went. `done` are blocks that stay; `from` is where the rest of the text begins. */
export interface Parsed {
  text: string;
  done: readonly Block[];
  from: number;
  rest: readonly Block[];
}

export const nothing: Parsed = { text: '', done: [], from: 0, rest: [] };

/** All blocks of a text, going on from what was parsed of its beginning. */
export function parse(text: string, before: Parsed = nothing): Parsed {
  const goesOn = text.startsWith(before.text);
  const done = goesOn ? [...before.done] : [];
  const from = goesOn ? before.from : 0;
  const tail = text.slice(from);
  const env = {};
  const groups = [...topLevel(md.parse(tail, env))];
  const blocks = groups.map((tokens): Block => {
    const only = tokens[0]!;
    if (tokens.length === 1 && isFence(only)) return fenceBlock(only, isClosed(tail, only));
    return { kind: 'html', html: md.renderer.render(tokens, md.options, env) };
  });
  const last = groups.at(-1)?.[0];
  if (!last?.map || groups.length < 2) return { text, done, from, rest: blocks };
  done.push(...blocks.slice(0, -1));
  return { text, done, from: from + lineOffset(tail, last.map[0]), rest: blocks.slice(-1) };
}

/** Whether a fence has its end; one without is still being written, or the text was cut off. */
function isClosed(text: string, fence: Token): boolean {
  if (fence.type !== 'fence' || !fence.map) return true;
  const lines = text.slice(lineOffset(text, fence.map[0]), lineOffset(text, fence.map[1])).trimEnd().split('\n');
  return lines.length > 1 && (lines.at(-1) ?? '').trim().startsWith(fence.markup);
}
