import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import MarkdownIt from 'markdown-it';
import { textOf } from '../src/markdown/nodes';
import type { Attributes, Policy } from '../src/markdown/nodes';
import { parseMarkdown } from '../src/markdown/parser';
import { html } from './html';

interface Example {
  number: number;
  markdown: string;
  html: string;
}

/** The examples of the specification, which the package commonmark-spec provides as a text. */
const examples: Example[] = [
  ...readFileSync('node_modules/commonmark-spec/spec.txt', 'utf8').matchAll(
    /^`{32} example\n([^]*?)^\.\n([^]*?)^`{32}$/gm,
  ),
].map(([, markdown, html], i) => ({
  number: i + 1,
  markdown: markdown!.replaceAll('→', '\t'),
  html: html!.replaceAll('→', '\t'),
}));

/** Every link can be followed, and an image is a link: the form that the specification expects. */
const anything: Policy = {
  link({ href, title, form }, label) {
    const titled: Attributes = title ? { title } : {};
    if (form === 'image') return [['img', { src: href, alt: textOf(label), ...titled }]];
    return [['a', { href, ...titled }, ...label]];
  },
};

/** Returns HTML without the line breaks around blocks, which have no meaning. */
const normalized = (text: string): string =>
  text.replace(/\s*(<\/?(?:blockquote|h[1-6]|hr|li|ol|p|pre|ul|br)\b[^>]*>)\s*/g, '$1').trim();

const withHTML = new MarkdownIt('commonmark');
const withoutHTML = new MarkdownIt('commonmark', { html: false });

/** Reports whether an example contains HTML, which is shown as text here. */
const hasHTML = ({ markdown }: Example): boolean =>
  withHTML
    .parse(markdown, {})
    .some((token) => token.type === 'html_block' || token.children?.some((child) => child.type === 'html_inline'));

/** Examples that differ on purpose: an image in a link is its text, and bare addresses are links. */
const different = [517, 531, 602, 608, 611];

test("CommonMark's examples are rendered as specified, except for HTML", () => {
  assert.equal(examples.length, 652);
  assert.ok(examples.filter(hasHTML).length < 100);
  const failed = examples.filter((example) => {
    const want = hasHTML(example) ? withoutHTML.render(example.markdown) : example.html;
    return normalized(html(parseMarkdown(example.markdown, anything))) !== normalized(want);
  });
  assert.deepEqual(
    failed.map(({ number }) => number),
    different,
  );
});
