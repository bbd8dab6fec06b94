// Converts nodes to HTML, for comparison.

import type { Node } from '../src/markdown/nodes';

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export function html(nodes: readonly Node[]): string {
  return nodes.map((n) => (typeof n === 'string' ? escape(n) : element(n))).join('');
}

function element([tag, attributes, ...children]: Exclude<Node, string>): string {
  if (tag === 'code-block') return codeBlock(String(attributes?.lang), String(children[0] ?? ''));
  const shown = Object.entries(attributes ?? {})
    .filter(([name, value]) => name !== 'start' || value !== 1)
    .map(([name, value]) => ` ${name}="${escape(String(value))}"`)
    .join('');
  if (['br', 'hr', 'img'].includes(tag)) return `<${tag}${shown} />`;
  return `<${tag}${shown}>${html(children)}</${tag}>`;
}

function codeBlock(lang: string, code: string): string {
  return `<pre><code${lang && ` class="language-${escape(lang)}"`}>${escape(code)}${code && '\n'}</code></pre>`;
}
