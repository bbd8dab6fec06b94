// Splits Markdown into blocks, so that growing text is not parsed and rendered from the start each
// time: a block that is followed by another one never changes.

import type { Token } from 'markdown-it';
import { t } from '../l10n';
import { targetOf } from './links';
import { fileOfBlock, infoOf, keepInfo } from './fencePath';
import type { NamedFile } from './fencePath';
import { addMath, openFrom } from './math';
import { nodesOf } from './nodes';
import type { Link, Node, Policy } from './nodes';
import { markdown, tokensOf } from './parser';

addMath(markdown);
keepInfo(markdown);

/** A part of a text that is rendered separately. */
export type Block =
  | { kind: 'nodes'; nodes: readonly Node[] }
  | { kind: 'code'; language: string; code: string; closed: boolean; file?: NamedFile };

const policy: Policy = { link };

/** Links that cannot be followed show their address. */
function link({ href, title, form }: Link, label: readonly Node[]): readonly Node[] {
  const shown = label.length > 0 || form !== 'image' ? label : [t('image')];
  if (targetOf(href)) return [['a', title ? { href, title } : { href }, ...shown]];
  if (form === 'autolink') return ['<', ...shown, '>'];
  if (form === 'bare' || href === '') return shown;
  return [...shown, ' (', ['code', null, href.slice(0, 300)], ')'];
}

/** Returns the offset of a line. */
function lineOffset(text: string, line: number): number {
  let at = 0;
  for (let n = 0; n < line && at >= 0; n++) at = text.indexOf('\n', at) + 1 || text.length;
  return at;
}

const isFence = (t: Token) => t.type === 'fence' || t.type === 'code_block';

/** Yields the tokens of each block. */
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

function fenceBlock(token: Token, closed: boolean, before: Block | undefined): Block {
  const code = token.content.replace(/\n$/, '');
  const { language, path } = infoOf(token);
  const file = fileOfBlock(path, code, before?.kind === 'nodes' ? before.nodes : []);
  return { kind: 'code', language, code, closed, ...(file ? { file } : {}) };
}

/** A parsed text. The blocks in `done` are final; `from` is the offset of the text of the remaining blocks. */
export interface Parsed {
  text: string;
  done: readonly Block[];
  from: number;
  rest: readonly Block[];
}

export const nothing: Parsed = { text: '', done: [], from: 0, rest: [] };

/** Parses a text. If it extends the previously parsed text, the final blocks are reused. */
export function parse(text: string, before: Parsed = nothing): Parsed {
  const continued = text.startsWith(before.text);
  const done = continued ? [...before.done] : [];
  const from = continued ? before.from : 0;
  const tail = text.slice(from);
  const tokens = tokensOf(tail);
  if (!tokens) return { text, done, from, rest: [{ kind: 'nodes', nodes: [['pre', null, tail]] }] };
  const groups = [...topLevel(tokens)];
  const blocks: Block[] = [];
  for (const group of groups) {
    const only = group[0]!;
    if (group.length > 1 || !isFence(only)) blocks.push({ kind: 'nodes', nodes: nodesOf(group, policy) });
    else blocks.push(fenceBlock(only, isClosed(tail, only), blocks.at(-1) ?? done.at(-1)));
  }
  const final = finalOf(groups, tail);
  const next = groups[final]?.[0];
  if (!next?.map || final === 0) return { text, done, from, rest: blocks };
  done.push(...blocks.slice(0, final));
  return { text, done, from: from + lineOffset(tail, next.map[0]), rest: blocks.slice(final) };
}

/** Returns the number of blocks that more text does not change: not the last one, nor those that can become a formula. */
function finalOf(groups: readonly Token[][], text: string): number {
  const open = openFrom(text);
  if (open === text.length) return groups.length - 1;
  const line = text.slice(0, open).split('\n').length - 1;
  const first = groups.findIndex(([token]) => !token?.map || token.map[1] > line);
  return first < 0 ? groups.length - 1 : Math.min(first, groups.length - 1);
}

/** Reports whether a fence has its closing line, which is missing while the text is being streamed. */
function isClosed(text: string, fence: Token): boolean {
  if (fence.type !== 'fence' || !fence.map) return true;
  const lines = text.slice(lineOffset(text, fence.map[0]), lineOffset(text, fence.map[1])).trimEnd().split('\n');
  return lines.length > 1 && (lines.at(-1) ?? '').trim().startsWith(fence.markup);
}
