import assert from 'node:assert/strict';
import { test } from 'node:test';

import { highlight, languageOf, maxHighlighted } from '../src/markdown/highlight';
import { nothing, parse } from '../src/markdown/blocks';
import type { Block } from '../src/markdown/blocks';
import { pictureOf } from '../src/markdown/image';
import { targetOf } from '../src/markdown/links';
import { hostile } from './hostile';
import { html as markup } from './html';
import { random } from './random';

const all = (text: string): readonly Block[] => {
  const p = parse(text);
  return [...p.done, ...p.rest];
};
/** Returns the elements of a text. Code is text. */
const html = (text: string): string =>
  all(text)
    .map((b) => (b.kind === 'nodes' ? markup(b.nodes) : ''))
    .join('');

const sample = [
  '# Title',
  '',
  'A *paragraph* with `code` and [a link](src/a.ts:3).',
  '',
  '```go',
  'func main() {',
  '',
  '\tprintln(1)',
  '}',
  '```',
  '',
  '1. one',
  '',
  '   more of one',
  '2. two',
  '   - deep',
  '',
  '> quoted',
  '> on',
  '',
  '| a | b |',
  '|---|--:|',
  '| 1 | 2 |',
  '',
  '- [ ] open',
  '- [x] done',
  '',
  'Setext',
  '======',
  '',
  '~~~~',
  '```',
  '~~~~',
  '',
  '    indented',
  '',
  '***',
  'the end',
].join('\n');

test('a text parsed in pieces gives the same result as the whole text', () => {
  const whole = all(sample);
  for (let seed = 1; seed <= 200; seed++) {
    const next = random(seed);
    let parsed = nothing;
    for (let at = 0; at < sample.length;) {
      at = Math.min(sample.length, at + 1 + Math.floor(next() * 30));
      const done = parsed.done;
      parsed = parse(sample.slice(0, at), parsed);
      done.forEach((b, i) => assert.equal(parsed.done[i], b, 'what is done is not made again'));
    }
    assert.deepEqual([...parsed.done, ...parsed.rest], whole, `seed ${seed}`);
  }
});

test('a replaced text is parsed from the start', () => {
  const before = parse('one\n\ntwo\n\nthree');
  const after = parse('four', before);
  assert.deepEqual([...after.done, ...after.rest], all('four'));
});

test('code blocks have a language and a flag for completeness', () => {
  assert.deepEqual(all('```ts\na\n```'), [{ kind: 'code', language: 'ts', code: 'a', closed: true }]);
  assert.deepEqual(all('```ts\na'), [{ kind: 'code', language: 'ts', code: 'a', closed: false }]);
  assert.deepEqual(all('```<img>\na\n```'), [{ kind: 'code', language: '', code: 'a', closed: true }]);
});

test('HTML becomes text, and an image becomes a link', () => {
  assert.equal(html('a <b>x</b>'), '<p>a &lt;b&gt;x&lt;/b&gt;</p>');
  assert.equal(html('![cat](https://example.com/cat.png)'), '<p><a href="https://example.com/cat.png">cat</a></p>');
});

test('no hostile text becomes an element, an attribute, or an unsafe link', () => {
  for (const payload of hostile) {
    for (const text of [
      payload,
      `[x](${payload})`,
      `![${payload}](${payload})`,
      `[${payload}](a.ts)`,
      `<${payload}>`,
      '```' + payload + '\n' + payload,
      `| ${payload} |\n|---|\n| ${payload} |`,
      `[a]: ${payload}\n\n[a]`,
    ]) {
      const out = html(text);
      const tags = [...out.matchAll(/<([a-z][a-z0-9]*)([^>]*)>/g)].filter(
        ([, , attributes]) => !attributes!.includes(':'),
      );
      for (const [tag, name] of tags)
        assert.match(
          String(name),
          /^(?:a|blockquote|br|code|div|em|h[1-6]|hr|li|ol|p|pre|s|strong|table|tbody|td|th|thead|tr|ul)$/,
          `${text} → ${tag}`,
        );
      assert.doesNotMatch(out, /<[^>]*\son\w+=/i, text);
      for (const [, href] of out.matchAll(/<a href="([^"]*)"/g))
        assert.doesNotMatch(href!, /^\s*(?:javascript|data|vbscript|command|vscode)/i, text);
    }
  }
});

test('links open only web pages or files', () => {
  const file = (path: string, line?: number) => (line ? { kind: 'file', path, line } : { kind: 'file', path });
  const cases: [string, unknown][] = [
    ['https://example.com/a?b#c', { kind: 'web', url: 'https://example.com/a?b#c' }],
    ['HTTP://example.com', { kind: 'web', url: 'http://example.com/' }],
    ['https://you:secret@example.com', undefined],
    ['src/a.ts', file('src/a.ts')],
    ['src/a.ts:3', file('src/a.ts', 3)],
    ['src/a.ts:3:7', { ...file('src/a.ts', 3), column: 7 }],
    ['a.ts:10-20', { ...file('a.ts', 10), endLine: 20 }],
    ['a.ts:20-10', file('a.ts', 20)],
    ['./a%20b.ts#L7-L9', { ...file('./a b.ts', 7), endLine: 9 }],
    ['/w/a.ts', file('/w/a.ts')],
    ['file:///w/a.ts#L2', file('/w/a.ts', 2)],
    ['C:\\w\\a.ts', file('C:\\w\\a.ts')],
    ['100%', file('100%')],
    ['//host/share', undefined],
    ['\\\\host\\share', undefined],
    ['file://host/share', undefined],
    ['javascript:alert(1)', undefined],
    [' JaVaScRiPt:alert(1)', undefined],
    ['java\nscript:alert(1)', undefined],
    ['data:text/html,x', undefined],
    ['command:workbench.action.quit', undefined],
    ['vscode://x/y', undefined],
    ['mailto:a@b.c', undefined],
    ['a%00b', undefined],
    ['#top', undefined],
    ['', undefined],
  ];
  for (const [href, target] of cases) assert.deepEqual(targetOf(href), target, href);
});

test('rejected links show their address', () => {
  assert.equal(html('[x](javascript:hit) <command:hit>'), '<p>x (<code>javascript:hit</code>) &lt;command:hit&gt;</p>');
  assert.equal(html('[![cat](cat.png)](a.ts)'), '<p><a href="a.ts">cat</a></p>');
});

test('highlighting preserves the text and skips long or unknown code', () => {
  const text = (code: string, language: string) => highlight(code, language).map(([, part]) => part);
  assert.deepEqual(highlight('x', 'klingon'), [['', 'x']]);
  assert.equal(highlight('x '.repeat(maxHighlighted), 'python').length, 1);
  assert.deepEqual(highlight('f(1)', 'python').at(1), ['number', '1']);
  for (const code of [...hostile, sample])
    for (const language of ['typescript', 'xml', 'markdown', 'php']) assert.equal(text(code, language).join(''), code);
});

test('languages are detected by file name', () => {
  assert.deepEqual(
    ['a/b.ts', 'Dockerfile', 'x\\Makefile', 'a.unknown', 'constructor', 'a.toString', ''].map(languageOf),
    ['typescript', 'dockerfile', 'makefile', '', '', '', ''],
  );
});

test('images are shown if their bytes match their type', () => {
  const png = 'iVBORw0KGgo=';
  assert.deepEqual(pictureOf({ mimeType: 'image/png', data: png }), { source: 'data:image/png;base64,' + png });
  const wrong = [
    { mimeType: 'image/svg+xml', data: 'PHN2Zz4=' },
    { mimeType: 'image/png', data: 'PHN2Zz4=' },
    { mimeType: 'image/png', data: png + '"><b' },
    { mimeType: 'image/png', data: 'iVBORw0' },
    { mimeType: '__proto__', data: png },
    { mimeType: 'text/html', data: png },
    {},
    { mimeType: 'image/png', data: { toString: () => png } },
  ];
  for (const block of wrong) assert.equal('reason' in pictureOf(block), true, JSON.stringify(block));
});
