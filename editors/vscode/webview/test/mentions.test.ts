import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Files } from '../src/files';
import { parse } from '../src/markdown/blocks';
import { targetOf } from '../src/markdown/links';
import { hrefOf, maxMentions, mentionsIn } from '../src/markdown/mentions';
import { hostile } from './hostile';

/** Returns the mentions of a text as targets of links, which must name the same place. */
function places(text: string): string[] {
  return mentionsIn(text).map((m) => {
    const target = targetOf(hrefOf(m));
    assert.equal(target?.kind, 'file', text);
    const { path, line, column, endLine } = m;
    const { path: opened, ...spot } = target as { path: string };
    assert.equal(opened, /^(?:[A-Za-z]:|[/\\~.])/.test(path) ? path : `./${path}`);
    assert.deepEqual({ line: 0, column: 0, endLine: 0, ...spot, kind: '' }, { line, column, endLine, kind: '' }, text);
    return `${path} ${line} ${column} ${endLine}`;
  });
}

test('paths are found with their lines in the forms of models and tools', () => {
  const cases: [string, string[]][] = [
    ['see src/a.ts:12.', ['src/a.ts 12 0 0']],
    ['src/a.ts:12:3: error', ['src/a.ts 12 3 0']],
    ['(src/a.ts#L12)', ['src/a.ts 12 0 0']],
    ['src/a.ts#L12-L20', ['src/a.ts 12 0 20']],
    ['a.go:10-20', ['a.go 10 0 20']],
    ['src/a.ts(12,3): error TS2552', ['src/a.ts 12 3 0']],
    ['  File "src/a.py", line 7, in f', ['src/a.py 7 0 0']],
    ['grep/out.go:15:  func', ['grep/out.go 15 0 0']],
    ['/w/a.ts, ./b.ts and ../c.ts', ['/w/a.ts 0 0 0', './b.ts 0 0 0', '../c.ts 0 0 0']],
    ['C:\\w\\a.ts:3', ['C:\\w\\a.ts 3 0 0']],
    ['Makefile:12 and README.md.', ['Makefile 12 0 0', 'README.md 0 0 0']],
    ['src/größe.ts, a%20b.ts:1', ['src/größe.ts 0 0 0', 'a%20b.ts 1 0 0']],
    ['app/[id]/page.tsx', ['app/[id]/page.tsx 0 0 0']],
  ];
  for (const [text, expected] of cases) assert.deepEqual(places(text), expected, text);
});

test('web addresses, other machines, times and words are no paths', () => {
  for (const text of [
    'https://example.com/a/b.ts:12',
    'file:///etc/passwd',
    '//host/share/a.ts',
    '\\\\host\\share\\a.ts',
    'at 12:30 or 1.5',
    'yes, and… no',
    'a'.repeat(400) + '/b.ts',
  ])
    assert.deepEqual(
      mentionsIn(text)
        .map((m) => m.path)
        .filter((p) => !/^a+$/.test(p)),
      [],
      text,
    );
});

test('hostile and long texts have a bounded number of mentions, in bounded time', () => {
  for (const text of hostile) for (const m of mentionsIn(text)) assert.notEqual(targetOf(hrefOf(m))?.kind, 'web', text);
  for (const piece of ['a/', 'a.b:1 ', '../', 'x.y', '[', 'a:1:', 'C:\\', '/', 'a'.repeat(99), '(1,2)', '.'])
    for (const text of [piece.repeat(50_000 / piece.length)]) {
      const began = performance.now();
      assert.ok(mentionsIn(text).length <= maxMentions);
      assert.ok(performance.now() - began < 2000, piece);
    }
});

test('a path is asked for once, in batches, and again after a turn if it was missing', async () => {
  const asked: string[][] = [];
  const exist = new Set(['a.ts']);
  const files = new Files((paths) => {
    asked.push(paths);
    return Promise.resolve(paths.map((p) => exist.has(p)));
  });
  const settled = () => new Promise(setImmediate);
  files.want('a.ts');
  files.want('b.ts');
  files.want('a.ts');
  await settled();
  assert.deepEqual(asked, [['a.ts', 'b.ts']]);
  assert.deepEqual(
    [...files.getState()],
    [
      ['a.ts', true],
      ['b.ts', false],
    ],
  );
  exist.add('b.ts');
  files.want('b.ts');
  files.again();
  await settled();
  assert.deepEqual(asked.slice(1), [['b.ts']]);
  assert.equal(files.getState().get('b.ts'), true);
  for (let i = 0; i < 250; i++) files.want(`x${i}.ts`);
  await settled();
  assert.deepEqual(
    asked.slice(2).map((paths) => paths.length),
    [100, 100, 50],
  );
});

test('an answer about another folder is ignored, and a failed question finds nothing', async () => {
  let answer: (is: boolean[]) => void = () => undefined;
  const files = new Files(() => new Promise((resolve) => (answer = resolve)));
  files.want('a.ts');
  await new Promise(setImmediate);
  files.clear();
  answer([true]);
  await new Promise(setImmediate);
  assert.equal(files.getState().size, 0);
  const failing = new Files(() => Promise.reject(new Error('gone')));
  failing.want('a.ts');
  await new Promise(setImmediate);
  assert.equal(failing.getState().get('a.ts'), false);
});

test('a block of code has the file that its fence, its first line or the text before it names', () => {
  const fileOf = (text: string): string => {
    const { done, rest } = parse(text);
    const block = [...done, ...rest].find((b) => b.kind === 'code');
    return block?.kind === 'code'
      ? `${block.language} ${block.file?.path ?? '-'} ${block.file?.fromFence ?? ''}`.trim()
      : '';
  };
  const cases: [string, string][] = [
    ['```ts src/a.ts\nx\n```', 'ts src/a.ts true'],
    ['```ts title="src/a.ts"\nx\n```', 'ts src/a.ts true'],
    ['```ts:src/a.ts\nx\n```', 'ts src/a.ts true'],
    ['```src/a.ts\nx\n```', 'typescript src/a.ts true'],
    ['```3:9:src/a.ts\nx\n```', 'typescript src/a.ts true'],
    ['```ts\n// src/a.ts\nx\n```', 'ts src/a.ts true'],
    ['```py\n# File: a.py\nx\n```', 'py a.py true'],
    ['In `src/a.ts`:\n```ts\nx\n```', 'ts src/a.ts false'],
    ['**src/a.ts**\n\n```ts\nx\n```', 'ts src/a.ts false'],
    ['### src/a.ts:\n\n```ts\nx\n```', 'ts src/a.ts false'],
    ['I looked at `src/a.ts` first.\n\n```ts\nx\n```', 'ts -'],
    ['Change it:\n\n```ts\n// a comment about src/a.ts\nx\n```', 'ts -'],
    ['```c++\nx\n```', 'c++ -'],
    ['```sh\n#!/bin/sh\nx\n```', 'sh -'],
  ];
  for (const [text, expected] of cases) assert.equal(fileOf(text), expected, text);
});
