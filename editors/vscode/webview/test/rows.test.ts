import assert from 'node:assert/strict';
import { test } from 'node:test';

import { setTexts } from '../src/l10n';
import { itemsOf } from '../src/state/items';
import { rowKey, rowsIn } from '../src/view/rows';

setTexts({});

const call = (name: string, args: object, id: string) => ({ type: 'toolCall', id, name, arguments: args });
const answer = (content: object[], entryId: string) => ({ entryId, message: { role: 'assistant', content } });

/** Returns the part of each row that stays in view, with its number among equal rows. */
function shown(name: string, args: object[], key: string): string[] {
  const messages = args.flatMap((a, i) => [
    answer([call(name, a, `c${i}`)], `e${i}`),
    { entryId: `r${i}`, message: { role: 'toolResult', toolCallId: `c${i}`, content: [] } },
  ]);
  const rows = rowsIn(itemsOf(messages as never), '/w');
  return args.map((a, i) => {
    const row = rows.get(rowKey(`e${i}`, 0));
    const text = String((a as { [key: string]: string })[key]);
    if (!row) return 'alone';
    const part = row.from < text.length ? text.slice(row.from) : 'all';
    return row.nth > 0 ? `${part} #${row.nth}` : part;
  });
}

test('rows of commands with the same beginning keep the words in which they differ', () => {
  const commands = ['npm test -- parse', 'npm test -- scan', 'go vet ./...'].map((c) => ({
    command: `cd /home/you/projects/calculator && ${c}`,
  }));
  assert.deepEqual(shown('bash', commands, 'command'), ['npm test -- parse', 'npm test -- scan', 'go vet ./...']);
  assert.deepEqual(shown('bash', [{ command: 'ls a' }, { command: 'ls b' }], 'command'), ['all', 'all']);
});

test('equal rows have numbers', () => {
  const same = { command: 'npm test' };
  assert.deepEqual(shown('bash', [same, same, { command: 'go test' }, same], 'command'), [
    'all #1',
    'all #2',
    'all',
    'all #3',
  ]);
  assert.deepEqual(shown('bash', [same], 'command'), ['alone']);
});

test('rows of files with the same name keep the folder in which they differ', () => {
  const paths = ['src/a/deep/index.ts', 'src/b/deep/index.ts', 'src/b/deep/other.ts'].map((path) => ({ path }));
  assert.deepEqual(shown('read', paths, 'path'), ['a/deep/index.ts', 'b/deep/index.ts', 'other.ts']);
});

test('only rows without a text between them are compared', () => {
  const a = call('bash', { command: 'npm test' }, 'a');
  const b = call('bash', { command: 'npm test' }, 'b');
  const rows = rowsIn(itemsOf([answer([a, { type: 'text', text: 'Again.' }, b], 'e')] as never), '/w');
  assert.equal(rows.size, 0);
});

test('a conversation of a thousand calls is compared in bounded time, again only where it changed', () => {
  const command = `${'x'.repeat(990)} `;
  const messages = Array.from({ length: 1000 }, (_, i) =>
    answer([call('bash', { command: command + i }, `c${i}`)], `e${i}`),
  );
  const items = itemsOf(messages as never);
  const began = performance.now();
  assert.equal(rowsIn(items, '/w').size, 1000);
  const first = performance.now() - began;
  const growing = { ...items[0]!, key: 'm1', message: { role: 'assistant', content: [{ type: 'text', text: 'x' }] } };
  for (let i = 0; i < 50; i++) rowsIn([...items, growing as never], '/w');
  assert.ok(first < 2000, `${first} ms`);
  assert.ok(performance.now() - began - first < 2000);
});
