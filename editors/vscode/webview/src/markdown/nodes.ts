// Converts Markdown tokens to nodes, which the panel and the exported page render in the same way.
// Neither ever parses a string as HTML; each creates only elements with the tags listed here.

import type { Token } from 'markdown-it';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** A text, or an element: its tag, its attributes and its children. */
export type Node = string | readonly [tag: Tag, attributes: Attributes | null, ...children: Node[]];

/**
 * `check` is the box of a task, `code-block` a fenced or indented block, `math` a formula with its source as its text, `pre`
 * a text that was not parsed.
 */
export type Tag =
  | 'a'
  | 'blockquote'
  | 'br'
  | 'check'
  | 'code'
  | 'code-block'
  | 'em'
  | 'h1'
  | 'h2'
  | 'h3'
  | 'h4'
  | 'h5'
  | 'h6'
  | 'hr'
  | 'img'
  | 'li'
  | 'math'
  | 'ol'
  | 'p'
  | 'pre'
  | 's'
  | 'span'
  | 'strong'
  | 'table'
  | 'tbody'
  | 'td'
  | 'th'
  | 'thead'
  | 'tr'
  | 'ul';

export interface Link {
  href: string;
  title: string;
  /** The syntax of the link: `[x](href)`, `![x](href)`, `<href>` or a bare address. */
  form: 'link' | 'image' | 'autolink' | 'bare';
}

/** Decisions that differ between the panel and the exported page. */
export interface Policy {
  /** Returns the nodes of a link, possibly only its label. An image is a link, because nothing is loaded. */
  link(link: Link, label: readonly Node[]): readonly Node[];
  /** Added to the level of headings, to keep them below those of the page. */
  headingOffset?: number;
}

/** An element whose children are still being collected. */
interface Frame {
  children: Node[];
  finish(children: readonly Node[]): readonly Node[];
}

/** The maximum nesting of elements; markup nested more deeply, such as emphasis, is omitted. */
const maxDepth = 64;

const simple: Readonly<Record<string, Tag>> = {
  paragraph_open: 'p',
  blockquote_open: 'blockquote',
  bullet_list_open: 'ul',
  list_item_open: 'li',
  table_open: 'table',
  thead_open: 'thead',
  tbody_open: 'tbody',
  tr_open: 'tr',
  strong_open: 'strong',
  em_open: 'em',
  s_open: 's',
};

/** Returns the text of nodes, without markup. */
export const textOf = (nodes: readonly Node[]): string =>
  nodes.map((n) => (typeof n === 'string' ? n : textOf(n.slice(2) as Node[]))).join('');

/** Converts block tokens, with their inline children, to nodes. */
export function nodesOf(tokens: readonly Token[], policy: Policy): Node[] {
  const frames: Frame[] = [{ children: [], finish: (children) => children }];
  convert(tokens, policy, frames, false);
  return frames[0]!.children;
}

function convert(tokens: readonly Token[], policy: Policy, frames: Frame[], linked: boolean): void {
  for (const token of tokens) {
    const top = frames.at(-1)!;
    if (token.nesting > 0) {
      frames.push({ children: [], finish: frames.length < maxDepth ? opened(token, policy) : (children) => children });
    } else if (token.nesting < 0) {
      frames.pop();
      frames.at(-1)!.children.push(...top.finish(top.children));
    } else if (token.type === 'inline') convert(token.children ?? [], policy, frames, false);
    else top.children.push(...leaf(token, policy, linked));
    if (token.type === 'link_open') linked = true;
    if (token.type === 'link_close') linked = false;
  }
}

/** Returns the function that converts the children of an opening token. */
function opened(token: Token, policy: Policy): Frame['finish'] {
  const element = (tag: Tag, attributes: Attributes | null): Frame['finish'] => {
    return (children) => [[tag, attributes, ...children]];
  };
  if (token.hidden) return (children) => children; // the paragraphs of a tight list
  switch (token.type) {
    case 'heading_open':
      return element(`h${Math.min(6, Number(token.tag.slice(1)) + (policy.headingOffset ?? 0))}` as Tag, null);
    case 'ordered_list_open':
      return element('ol', { start: Number(token.attrGet('start') ?? 1) });
    case 'th_open':
    case 'td_open':
      return element(token.type === 'th_open' ? 'th' : 'td', alignment(token));
    case 'link_open':
      return (label) => policy.link(linkOf(token, 'href', formOf(token)), label);
  }
  const tag = Object.hasOwn(simple, token.type) ? simple[token.type] : undefined;
  return tag ? element(tag, null) : (children) => children;
}

function alignment(token: Token): Attributes | null {
  const align = /^text-align:(left|center|right)$/.exec(String(token.attrGet('style') ?? ''))?.[1];
  return align ? { align } : null;
}

function linkOf(token: Token, attribute: string, form: Link['form']): Link {
  return { href: String(token.attrGet(attribute) ?? ''), title: String(token.attrGet('title') ?? ''), form };
}

function formOf(token: Token): Link['form'] {
  if (token.markup === 'linkify') return 'bare';
  return token.markup === 'autolink' ? 'autolink' : 'link';
}

function leaf(token: Token, policy: Policy, linked: boolean): readonly Node[] {
  switch (token.type) {
    case 'text':
    case 'text_special':
      return token.content === '' ? [] : [token.content];
    case 'softbreak':
      return ['\n'];
    case 'hardbreak':
      return [['br', null]];
    case 'hr':
      return [['hr', null]];
    case 'code_inline':
      return [['code', null, token.content]];
    case 'check':
      return [['check', { done: token.content !== ' ' }]];
    case 'fence':
    case 'code_block':
      return [['code-block', { lang: token.info }, token.content.replace(/\n$/, '')]];
    case 'image':
      return image(token, policy, linked);
    case 'math':
      return [['math', { tex: token.content, display: token.meta?.display === true }, String(token.meta?.source)]];
  }
  return token.content === '' ? [] : [token.content];
}

const labelOnly: Policy = { link: (_, label) => label };

/** Converts an image. Inside a link it becomes its text, because links cannot be nested. */
function image(token: Token, policy: Policy, linked: boolean): readonly Node[] {
  const label = textOf(nodesOf(token.children ?? [], labelOnly));
  return linked ? [label] : policy.link(linkOf(token, 'src', 'image'), label === '' ? [] : [label]);
}
