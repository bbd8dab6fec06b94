import assert from 'node:assert/strict';
import { test } from 'node:test';

import { placed } from '../../src/chat/placing';

const file = `import { scan } from './scan';

// Parses a source.
export function parse(source: string): Tree {
  const tokens = scan(source);
  return tree(tokens);
}

class Reader {
  next(): Token {
    return this.tokens[this.at++];
  }
}

function tree(tokens: Token[]): Tree {
  return new Tree(tokens);
}
`;

test('a function takes the place of the one with its name, also with another signature', () => {
  const code =
    'function tree(tokens: readonly Token[]): Tree | undefined {\n  return tokens.length ? new Tree(tokens) : undefined;\n}';
  const [before] = file.split('function tree');
  assert.equal(placed(file, code), `${before}${code}\n`);
});

test('comments above a function are replaced only by other comments', () => {
  const bare = 'export function parse(source: string): Tree {\n  return tree(scan(source));\n}';
  assert.match(placed(file, bare)!, /\/\/ Parses a source\.\nexport function parse/);
  const commented = placed(file, '// Parses it.\n' + bare)!;
  assert.match(commented, /';\n\n\/\/ Parses it\.\nexport function parse/);
  assert.doesNotMatch(commented, /Parses a source/);
});

test('a new function follows the one before it, and the other code stays', () => {
  const code = `export function parse(source: string): Tree {
  return tree(check(source));
}

function check(source: string): Token[] {
  return scan(source);
}`;
  const out = placed(file, code)!;
  assert.match(
    out,
    /return tree\(check\(source\)\);\n\}\n\nfunction check\(source: string\): Token\[\] \{\n {2}return scan\(source\);\n\}\n\nclass Reader/,
  );
  assert.match(out, /next\(\): Token/);
});

test('a method keeps the indentation of its class', () => {
  const python = 'class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 2\n';
  assert.equal(
    placed(python, 'def one(self):\n    x = 3\n    return x'),
    'class A:\n    def one(self):\n        x = 3\n        return x\n\n    def two(self):\n        return 2\n',
  );
});

test('a whole file replaces the file, but a part of it does not', () => {
  const changed = file.replace('new Tree(tokens)', 'new Tree([...tokens])');
  assert.equal(placed(file, changed), changed);
  const two = 'function a() {\n  one();\n  two();\n  three();\n}\n\nfunction b() {\n  four();\n}\n';
  assert.equal(
    placed(two, 'function a() {\n  one();\n  two();\n  zwei();\n}'),
    'function a() {\n  one();\n  two();\n  zwei();\n}\n\nfunction b() {\n  four();\n}\n',
  );
  assert.equal(placed('', 'x = 1'), 'x = 1\n');
});

test('lines without declarations are placed between the lines that they begin and end with', () => {
  const text = 'a: 1\nlist:\n  - b\n  - c\nd: 2\n';
  assert.equal(placed(text, 'list:\n  - b\n  - x\n  - c'), 'a: 1\nlist:\n  - b\n  - x\n  - c\nd: 2\n');
});

test('a selection is replaced, with its indentation', () => {
  const text = 'if x:\n    one()\n    two()\nend()\n';
  const start = text.indexOf('one');
  const end = text.indexOf('\nend');
  assert.equal(placed(text, 'three()\nfour()', { start, end }), 'if x:\n    three()\n    four()\nend()\n');
  const whole = { start: text.indexOf('    one'), end: end + 1 };
  assert.equal(placed(text, 'three()', whole), 'if x:\n    three()\nend()\n');
});

test('line endings are those of the file', () => {
  const out = placed(file.replaceAll('\n', '\r\n'), 'function tree(t: Token[]): Tree {\n  return new Tree(t);\n}')!;
  assert.doesNotMatch(out, /[^\r]\n/);
});

test('code without a certain place has none', () => {
  for (const code of [
    'const a = 1;\nunrelated();',
    'export function parse() {\n  // ... existing code ...\n}',
    'function unknown() {}',
    'import x from "y";\n\nfunction tree() {\n}',
    '}',
    '',
  ])
    assert.equal(placed(file, code), undefined, code);
  const twice = 'function a() {\n  1;\n}\nfunction a() {\n  2;\n}\n';
  assert.equal(placed(twice + 'x();\ny();\nz();\nw();\nv();\n', 'function a() {\n  3;\n}'), undefined);
});

test('hostile code takes bounded time', () => {
  for (const code of [
    ' '.repeat(200_000) + 'x',
    'export '.repeat(50_000),
    'function a\n'.repeat(9000),
    '('.repeat(200_000),
    '\n'.repeat(500_000),
    'func (' + 'a'.repeat(300_000),
  ]) {
    const began = performance.now();
    placed(file, code);
    placed(code, code);
    assert.ok(performance.now() - began < 5000, JSON.stringify(code.slice(0, 20)));
  }
});
