import assert from 'node:assert/strict';
import { test } from 'node:test';

import { denialReason, endedAs } from '../src/state/ended';
import { itemsOf } from '../src/state/items';
import { applyEvent } from '../src/state/live';
import { emptyView } from '../src/state/model';

const result = (text: string, details: object = {}) => ({ content: [{ type: 'text', text }], details });

// The texts of agent/approval/denial.go, agent/loop/tools.go, agent/tool/bash.go, agent/interrupted.go, pi and omp.
const denied = [
  'The user denied this bash call. Ask what to do instead, or continue without it.',
  "The user denied this edit call. The user's reason: use the parser\nof the library",
  'The user did not approve the plan, so plan mode is still on. End your turn and ask what to change.',
  'The user denied this call.',
  'Tool call denied by user: bash',
  'User rejected tool use',
];
const stopped = [
  'The user stopped the turn; this call did not finish.',
  'ok 1\nok 2\n\nCommand aborted',
  'Command aborted',
  `${'x'.repeat(100_000)}\n\nCommand aborted\n\n[A process started by the command is still running.]`,
  'Operation aborted',
  'aborted by signal',
  'Skipped due to queued user message.',
];
const failed = [
  'Command exited with code 1',
  'ENOENT: no such file',
  'grep: the log says: The user denied this bash call. Ask what to do instead, or continue without it.',
  'Command aborted by the linter',
  'assert "Operation aborted" == text',
  '',
];

test('a denied and a stopped call are told apart from one that failed by their results', () => {
  for (const text of denied) assert.equal(endedAs(result(text), true), 'denied', text);
  for (const text of stopped) assert.equal(endedAs(result(text), true), 'stopped', text.slice(-80));
  for (const text of failed) assert.equal(endedAs(result(text), true), 'failed', text);
  const lost = 'The call was not run: the server ended before its turn came.';
  assert.equal(endedAs(result(lost, { interrupted: true }), true), 'stopped');
  for (const text of [...denied, ...stopped]) assert.equal(endedAs(result(text), false), 'done', text.slice(-80));
  for (const value of [null, 7, { content: 7 }, { content: [{ type: 'text' }] }])
    assert.equal(endedAs(value, true), 'failed');
});

test('the reason for which the user denied a call is the text after the words of the program', () => {
  assert.equal(denialReason(result(denied[1]!)), 'use the parser\nof the library');
  const plan =
    "The user did not approve the plan, so plan mode is still on. Revise the plan. The user's reason: fewer steps";
  assert.equal(denialReason(result(plan)), 'fewer steps');
  for (const text of [denied[0]!, ...stopped, ...failed]) assert.equal(denialReason(result(text)), '');
});

test('a long result that repeats the words of a denial is searched in time that does not grow with its square', () => {
  const text = "The user denied this x call. The user's reason: ".repeat(20_000);
  const began = performance.now();
  assert.equal(endedAs(result(text), true), 'failed');
  assert.ok(performance.now() - began < 500);
});

test('events and the messages of a session give a call the same status', () => {
  const call = { role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 'bash', arguments: {} }] };
  for (const [texts, status] of [
    [denied, 'denied'],
    [stopped, 'stopped'],
    [failed, 'failed'],
  ] as const)
    for (const text of texts) {
      const message = { role: 'toolResult', toolCallId: 'c', toolName: 'bash', isError: true, ...result(text) };
      const items = itemsOf([
        { entryId: 'a', message: call },
        { entryId: 'b', message },
      ] as never);
      assert.equal(items[0]!.calls['c']!.status, status, text.slice(-80));
      const view = { ...emptyView, items: itemsOf([{ entryId: 'a', message: call }] as never) };
      const end = { type: 'tool_execution_end', toolCallId: 'c', isError: true, result: result(text) };
      assert.equal(applyEvent(view, end).items[0]!.calls['c']!.status, status);
      const recorded = applyEvent(view, { type: 'message_end', entryId: 'b', message });
      assert.equal(recorded.items[0]!.calls['c']!.status, status);
    }
});
