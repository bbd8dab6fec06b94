import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nothing, parse } from '../src/markdown/blocks';
import { maxFormula } from '../src/markdown/math';
import type { Node } from '../src/markdown/nodes';
import { random } from './random';

/** Returns the formulas of a text, display formulas in double brackets. */
function formulas(text: string): string[] {
  const { done, rest } = parse(text);
  const out: string[] = [];
  const visit = (nodes: readonly Node[]): void => {
    for (const node of nodes) {
      if (typeof node === 'string') continue;
      const [tag, attributes, ...children] = node;
      if (tag === 'math') out.push(attributes?.display ? `[[${attributes.tex}]]` : `[${attributes?.tex}]`);
      else visit(children);
    }
  };
  for (const block of [...done, ...rest]) if (block.kind === 'nodes') visit(block.nodes);
  return out;
}

test('formulas have four kinds of delimiters', () => {
  const cases: [string, string[]][] = [
    ['Let $x^2$ be.', ['[x^2]']],
    ['$a$, $b$; ($c$)', ['[a]', '[b]', '[c]']],
    ['$n$-th and $2n$', ['[n]', '[2n]']],
    ['\\(a+b\\) and \\[ c \\] here', ['[a+b]', '[[c]]']],
    ['inline $$E=mc^2$$.', ['[[E=mc^2]]']],
    [
      '$$\n\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}\n$$',
      ['[[\\begin{aligned}\na &= b \\\\\n- c &= d\n\\end{aligned}]]'],
    ],
    ['as follows:\n\\[\nx = 1\n\\]\nand so on', ['[[x = 1]]']],
    ['- one\n  $$\n  a\n  $$\n- two', ['[[a]]']],
    ['> $$a$$', ['[[a]]']],
    ['# The $\\alpha$ case\n\n| $a$ | b |\n|---|---|\n| $b$ | **$c$** |', ['[\\alpha]', '[a]', '[b]', '[c]']],
    ['costs \\$5, is $\\$5$', ['[\\$5]']],
    ['$5$ and $1.5$', ['[5]', '[1.5]']],
    ['$5 + 3 = 8$', ['[5 + 3 = 8]']],
  ];
  for (const [text, expected] of cases) assert.deepEqual(formulas(text), expected, text);
});

test('prices, variables of a shell, code and unfinished formulas are text', () => {
  for (const text of [
    'between $5 and $6',
    '$5, $6 and $7.50',
    'from $5-$6',
    'pay $20/$30',
    'US$ 5 and US$ 6',
    '$5 and US$',
    'It costs $10k–$20k.',
    '$HOME and $PATH',
    '$HOME/$USER:$HOME',
    'echo "$a" "$b"',
    '`$x$` and ``$$y$$``',
    '```\n$$\nx\n$$\n```',
    '    $$\n    x\n    $$',
    'an open $x^2 and more',
    '$$\nx = 1',
    '$$\nx\n\ny\n$$',
    '\\[x\\](https://example.com)',
    'f\\(x and no end',
    '\\\\(a\\\\)',
    '$ x $',
    '$$$$',
    '$$',
    '\\(\\)',
    `$${'x'.repeat(maxFormula + 1)}$`,
  ])
    assert.deepEqual(formulas(text), [], text.slice(0, 60));
});

const sample = [
  'Then $a_1$ follows from \\(b\\), for $5 and $6:',
  '$$',
  '\\begin{matrix}',
  '- a \\\\',
  '# b \\\\',
  '> c',
  '=',
  '\\end{matrix}',
  '$$',
  '',
  'A list:',
  '- \\[',
  '  x',
  '  \\]',
  '- two',
  '$$ open',
  '- three',
  '',
  '```sh',
  'echo $$',
  '```',
  '',
  '\\[ y \\]',
  'the end $z$',
].join('\n');

test('a text with formulas parsed in pieces gives the same result as the whole text', () => {
  const whole = parse(sample);
  const blocks = [...whole.done, ...whole.rest];
  for (let seed = 1; seed <= 300; seed++) {
    const next = random(seed);
    let parsed = nothing;
    for (let at = 0; at < sample.length;) {
      at = Math.min(sample.length, at + 1 + Math.floor(next() * 12));
      parsed = parse(sample.slice(0, at), parsed);
    }
    assert.deepEqual([...parsed.done, ...parsed.rest], blocks, `seed ${seed}`);
  }
});

test('many delimiters take bounded time', () => {
  for (const piece of ['$', '$$', '$x', '\\(', '\\[', '$$\n', '\\[\n', '\\(x\\]', '$a b', '\\[x\\](', '- $$\n']) {
    const text = piece.repeat(Math.floor(60_000 / piece.length));
    const began = performance.now();
    parse(text);
    assert.ok(performance.now() - began < 5000, JSON.stringify(piece));
  }
});
