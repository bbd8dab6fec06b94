import assert from 'node:assert/strict';
import test from 'node:test';

import { questionOf } from '../src/state/engine';
import { planOf, todosOf } from '../src/state/items';
import type { StoredMessage } from '../src/state/wire';

const result = (toolName: string, details: unknown, isError = false) =>
  ({ role: 'toolResult', toolCallId: 'c', toolName, content: [], details, isError }) as unknown as StoredMessage;

test('the plan is that of the tool of either program', () => {
  const phases = [
    {
      name: 'Setup',
      tasks: [
        { content: 'read it', status: 'completed' },
        { content: 'do it', status: 'blocked', blocker: 'a review' },
      ],
    },
  ];
  const shown = [
    {
      name: 'Setup',
      todos: [
        { text: 'read it', status: 'completed', blocker: '' },
        { text: 'do it', status: 'blocked', blocker: 'a review' },
      ],
    },
  ];
  for (const name of ['todo', 'todo_write']) assert.deepEqual(planOf(result(name, { op: 'done', phases })), shown);
  assert.deepEqual(todosOf(phases), shown);
  assert.equal(planOf(result('todo', { op: 'view', phases: [] })), undefined, 'a view changes nothing');
  assert.equal(planOf(result('todo', { phases }, true)), undefined, 'nor does an error');
  assert.equal(planOf(result('todo', {})), undefined);
  assert.equal(planOf(result('read', { phases })), undefined);
});

test('a question of the model has descriptions, a recommendation and own answers', () => {
  const q = questionOf({
    id: 'ask1',
    method: 'select',
    from: 'model',
    title: 'Which?',
    options: ['a', 'b'],
    descriptions: ['first', ''],
    recommended: 1,
    multi: true,
    other: true,
    number: 1,
    of: 2,
  });
  assert.deepEqual(
    [q?.from, q?.descriptions, q?.recommended, q?.multi, q?.other, q?.optional, q?.number, q?.of],
    ['model', ['first', ''], 1, true, true, false, 1, 2],
  );
  const plain = questionOf({
    id: 'q1',
    method: 'select',
    title: 'Which?',
    options: ['a'],
    from: 'somebody',
    recommended: 'x',
  });
  assert.deepEqual([plain?.from, plain?.recommended, plain?.multi], ['extension', -1, false]);
});
