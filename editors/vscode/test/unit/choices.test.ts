import assert from 'node:assert/strict';
import test from 'node:test';

import { choicesOf } from '../../src/native/choices';

const known = new Set(['xcsh.branch', 'xcsh.compact']);

test('the end of a turn offers the commands that exist, in its folder', () => {
  const actions = [
    { title: 'Go Back', command: 'xcsh.branch', arguments: { entryId: 'e', cwd: '/elsewhere' } },
    { title: 'Run', command: 'workbench.action.terminal.sendSequence', arguments: {} },
    { title: '', command: 'xcsh.compact', arguments: {} },
  ];
  assert.deepEqual(choicesOf({ type: 'agent_end', stopReason: 'error', errorMessage: 'No.', actions }, '/w', known), {
    message: 'No.',
    choices: [{ title: 'Go Back', command: 'xcsh.branch', args: { entryId: 'e', cwd: '/w' } }],
  });
  assert.equal(
    choicesOf({ type: 'agent_end', stopReason: 'error', actions: actions.slice(1) }, '/w', known),
    undefined,
  );
  assert.equal(choicesOf({ type: 'agent_end', stopReason: 'stop' }, '/w', known), undefined);
  assert.equal(choicesOf({ type: 'agent_start' }, '/w', known), undefined);
});
