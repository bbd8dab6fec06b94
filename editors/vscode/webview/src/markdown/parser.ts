// The Markdown parser of the panel and the exported page: CommonMark with tables, strikethrough,
// tasks and bare addresses, without HTML. The work per text is bounded: parts that exceed a limit
// are shown as plain text.

import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import { nodesOf } from './nodes';
import type { Node, Policy } from './nodes';

/** The maximum length of a parsed text, in UTF-16 units. */
export const maxText = 300_000;

/**
 * The maximum length of a paragraph that is searched for markup, in UTF-16 units. Some searches
 * take quadratic time.
 */
export const maxInline = 20_000;

/** The maximum nesting of quotes and lists. */
const maxNesting = 20;

export const markdown = new MarkdownIt('default', { html: false, linkify: true, maxNesting });
markdown.disable(['html_block', 'html_inline']);
markdown.linkify.set({ fuzzyEmail: false, fuzzyIP: false, fuzzyLink: false });
// Every link is parsed; the policy decides which of them can be followed.
markdown.validateLink = () => true;
// An address is shown as written; a decoded one could look like another address.
markdown.normalizeLinkText = (address) => address;

markdown.core.ruler.at('inline', (state) => {
  for (const token of state.tokens) {
    if (token.type !== 'inline') continue;
    token.children ??= [];
    if (token.content.length <= maxInline) state.md.inline.parse(token.content, state.md, state.env, token.children);
    else token.children.push(Object.assign(new state.Token('text', '', 0), { content: token.content }));
  }
});

// Only the first word of a fence's info string, the language, has a meaning.
markdown.core.ruler.after('block', 'language', (state) => {
  for (const token of state.tokens) {
    if (token.type === 'fence') token.info = state.md.utils.unescapeAll(token.info).trim().split(/\s/)[0] ?? '';
  }
});

markdown.core.ruler.after('inline', 'tasks', (state) => {
  state.tokens.forEach((token, i) => {
    const first = token.children?.[0];
    if (token.type !== 'inline' || first?.type !== 'text' || state.tokens[i - 2]?.type !== 'list_item_open') return;
    const m = /^\[([ xX])\] /.exec(first.content);
    if (!m) return;
    first.content = first.content.slice(m[0].length);
    token.children!.unshift(Object.assign(new state.Token('check', '', 0), { content: m[1] }));
  });
});

const containers = new Set(['blockquote_open', 'list_item_open']);

/** Returns the tokens of a text, undefined if a limit is exceeded. */
export function tokensOf(text: string): Token[] | undefined {
  if (text.length > maxText) return undefined;
  const tokens = markdown.parse(text, {});
  // markdown-it drops the content of blocks that are nested too deeply.
  const dropped = tokens.some((t) => containers.has(t.type) && t.level >= maxNesting - 1);
  return dropped ? undefined : tokens;
}

/** Parses a text to nodes. A text that exceeds a limit is one `pre` node. */
export function parseMarkdown(text: string, policy: Policy): Node[] {
  const tokens = tokensOf(text);
  return tokens ? nodesOf(tokens, policy) : [['pre', null, text]];
}
