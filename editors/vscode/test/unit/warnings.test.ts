import assert from 'node:assert/strict';
import { test } from 'node:test';

import { scopeOf, warningsOf, widerScopeOf } from '../../src/chat/warnings';
import { editTexts } from '../../src/server/edits';

test('warnings about a tool call are ordered by severity', () => {
  // The fake vscode.l10n returns the text without its arguments.
  assert.deepEqual(
    warningsOf({ outside: ['/x'], protected: ['.git/hooks/x'], unsandboxed: true, blocked: ['write /etc'] }),
    [
      'Runs once outside the sandbox. Blocked: {0}.',
      'Changes protected files: {0}.',
      'Outside the workspace folder: {0}.',
    ],
  );
  assert.deepEqual(warningsOf({ unsandboxed: true }), ['Runs once outside the sandbox.']);
  assert.deepEqual(warningsOf({ outside: null, protected: [], blocked: ['x'] }), [
    'Runs again with write and network access. Blocked: {0}.',
  ]);
  assert.deepEqual(warningsOf({ tool: 'bash', protected: ['.envrc'] }), ['Refers to protected files: {0}.']);
  assert.deepEqual(warningsOf({ tool: 'bash', protected: ['.envrc'], changed: true }), [
    'Changed protected files: {0}.',
  ]);
});

test("the scope uses the server's text, or else is built from the rule", () => {
  assert.equal(scopeOf({ rules: [{ text: 'git push to origin', words: ['git', 'push'] }] }), 'git push to origin');
  assert.equal(scopeOf({ rules: [{ words: ['go', 'test'] }, { line: 'make' }] }), 'go test …; make');
  assert.equal(scopeOf({ rules: null }), '');
  const wider = { rules: [{ text: 'the tool list of s' }], wider: [{ text: 'all reading tools of s' }] };
  assert.equal(widerScopeOf(wider), 'all reading tools of s');
  assert.equal(widerScopeOf({ rules: wider.rules }), '');
});

test('the text edits of a workspace edit are grouped by document', () => {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const texts = editTexts({
    changes: { 'file:///a': [{ range, newText: 'x' }] },
    documentChanges: [
      { textDocument: { uri: 'file:///b', version: 1 }, edits: [{ range, newText: 'y', annotationId: 'xcsh' }] },
      { kind: 'delete', uri: 'file:///c' },
    ],
  });
  assert.deepEqual(Object.fromEntries(texts), { 'file:///a': ['x'], 'file:///b': ['y'] });
});
