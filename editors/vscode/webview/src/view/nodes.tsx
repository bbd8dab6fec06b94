// Elements of Markdown nodes and of highlighted code. No string becomes HTML.

import { h } from 'preact';
import type { ComponentChildren, JSX } from 'preact';
import { memo } from 'preact/compat';
import { t } from '../l10n';
import { highlight } from '../markdown/highlight';
import { targetOf } from '../markdown/links';
import { textOf } from '../markdown/nodes';
import type { Attributes, Node, Tag } from '../markdown/nodes';
import { Formula } from './formula';
import { withFileLinks } from './mentions';

/** Nodes of Markdown. With files, the files that a text mentions are links. */
export const Nodes = memo(function Nodes({ nodes, files }: { nodes: readonly Node[]; files: boolean }): JSX.Element {
  return <div class="html">{elements(nodes, files)}</div>;
});

const elements = (nodes: readonly Node[], files: boolean): ComponentChildren[] =>
  nodes.map((node) => {
    if (typeof node === 'string') return files ? withFileLinks(node) : node;
    const [tag, attributes, ...children] = node;
    return element(tag, attributes ?? {}, children, files);
  });

function element(tag: Tag, attributes: Attributes, children: readonly Node[], files: boolean): ComponentChildren {
  const drawn = (nodes: readonly Node[]) => elements(nodes, files);
  switch (tag) {
    case 'a':
      return anchor(String(attributes.href), attributes.title, children);
    case 'ol':
      return h('ol', { start: Number(attributes.start) }, ...drawn(children));
    case 'td':
    case 'th':
      return h(tag, columnOf(attributes), ...drawn(children));
    case 'table':
      return (
        <div class="table" role="group" aria-label={t('Table')} tabIndex={0}>
          {h('table', null, ...drawn(children))}
        </div>
      );
    case 'check':
      return attributes.done ? '☑ ' : '☐ ';
    case 'code-block':
      return h('pre', null, h('code', null, ...drawn(children)));
    case 'img':
      return null; // nothing is loaded
    case 'math':
      return <Formula tex={String(attributes.tex)} display={attributes.display === true} source={textOf(children)} />;
    default:
      return h(tag, null, ...drawn(children));
  }
}

function anchor(href: string, title: unknown, children: readonly Node[]): ComponentChildren {
  const drawn = (nodes: readonly Node[]) => elements(nodes, false); // links cannot be nested
  if (!targetOf(href)) return h('span', null, ...drawn(children));
  return h('a', { href, title: typeof title === 'string' ? title : undefined }, ...drawn(children));
}

function columnOf({ align }: Attributes): { class: string } | null {
  return align === 'center' || align === 'right' ? { class: `column-${align}` } : null;
}

/** Returns the classes of a scope of highlight.js: `hljs-title function_` of `title.function`. */
function classOf(scope: string): string {
  const [first, ...rest] = scope.split('.');
  return [`hljs-${first}`, ...rest.map((part, i) => part + '_'.repeat(i + 1))].join(' ');
}

export function highlighted(code: string, language: string): ComponentChildren[] {
  return highlight(code, language).map(([scope, text]) => (scope ? <span class={classOf(scope)}>{text}</span> : text));
}
