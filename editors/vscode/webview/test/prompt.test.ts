import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isPrompt, promptOf } from '../src/state/prompt';
import { messageOf } from '../src/state/items';
import { user as said } from '../dev/script';

const user = (text: string) => messageOf(said(text));

const omp = {
  role: 'custom',
  customType: 'skill-prompt',
  content: '[IMPORTANT: …]\n\nBODY',
  display: true,
  attribution: 'user',
  timestamp: 0,
};

test('an invoked skill is a prompt with the line that the user typed', () => {
  const details = { name: 'pdf-tools', path: '/s/SKILL.md', args: 'extract a.pdf', lineCount: 2 };
  const skill = '<skill name="pdf-tools" location="/s/SKILL.md">\nReferences are relative to /s.\n\nBODY\n</skill>';
  for (const message of [
    { ...omp, details: { ...details, prompt: '/skill:pdf-tools extract a.pdf' } }, // oh-my-pi
    { ...omp, details }, // xcsh
    user(`${skill}\n\nextract a.pdf`), // pi
  ]) {
    assert.equal(isPrompt(message), true);
    const { text, made } = promptOf({ message });
    assert.equal(text, '/skill:pdf-tools extract a.pdf');
    assert.match(made ?? '', /BODY/);
  }
  assert.equal(promptOf({ message: user(skill) }).text, '/skill:pdf-tools');
  assert.equal(promptOf({ message: { ...omp, details: { name: 's' } } }).text, '/skill:s');
});

test('what the user typed stands over the text of a template', () => {
  const message = user('<file path="a.go">\nx\n</file>\n\nReview a.go.');
  const { text, made, files } = promptOf({ message, typed: '/review @a.go' });
  assert.deepEqual([text, made, files.length], ['/review @a.go', 'Review a.go.', 1]);
  assert.deepEqual(promptOf({ message }), { files: [{ path: 'a.go' }], text: 'Review a.go.' });
});

test('other messages are shown as they are', () => {
  for (const message of [
    { ...omp, customType: 'note' },
    { ...omp, display: false },
    { ...omp, role: 'assistant' },
  ])
    assert.equal(isPrompt(message), false);
  for (const text of [
    '<skill name="x">',
    'see <skill name="x" location="y">\n\n</skill>',
    '<skill name="x" location="y">\nz',
  ])
    assert.deepEqual(promptOf({ message: user(text) }), { files: [], text });
  assert.equal(promptOf({ message: omp }).text, '[IMPORTANT: …]\n\nBODY', 'without details');
});
