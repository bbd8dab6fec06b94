// The search over all sessions: exact results first, similar ones apart, with the text that was found. A click on it goes to
// the message. A word that is nowhere finds nothing.
import assert from 'node:assert/strict';

import { until } from '../driver.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions(editor) {
    const turns = Array.from({ length: 150 }, (_, i) => [`prompt number ${i}`, `answer number ${i}`]);
    turns[40] = ['what is an albatross?', 'A large seabird.'];
    editor.session('xcsh', 'Seabirds', turns, { age: 3 });
    editor.session('xcsh', 'Albatross tickets', [['book it', 'Done.']], { age: 9 });
    editor.session('xcsh', 'Albtross, misspelled', [['hello', 'Hello.']], { age: 1 });
    editor.session('xcsh', 'Puzzles', [['quick jazz, exact axes, zoos and quizzes, a quartz box', 'Fun.']], { age: 5 });
  },
};

export default async function (editor) {
  const { page, chat } = editor;
  await editor.sessionsView();
  await editor.treeRow('Seabirds').waitFor();
  const view = page.locator('.pane').filter({ has: page.locator('.pane-header[aria-label^="Sessions"]') });
  const rows = () => view.locator('.monaco-list-row').allInnerTexts();

  await editor.palette('xcshLs.sessions.search');
  await editor.answer('zzqqxx');
  await view.getByText('No sessions match “zzqqxx”.').waitFor();
  // The editor requests the lines again shortly after the message.
  await until('an empty list', async () => (await rows()).length === 0);

  await editor.palette('xcshLs.sessions.search');
  await editor.answer('albatross');
  await editor.treeRow('what is an albatross?').waitFor();
  const listed = (await rows()).map((text) => text.replace(/\s+/g, ' '));
  const at = (text) => listed.findIndex((row) => row.includes(text));
  assert.ok(at('Albatross tickets') < at('Seabirds'), listed.join('\n'));
  assert.ok(at('Seabirds') < at('Similar') || at('Similar') < 0, listed.join('\n'));
  assert.equal(await view.locator('.monaco-list-row .highlight', { hasText: /^albatross$/i }).count(), 2);
  await editor.shot('found');

  await editor.treeRow('what is an albatross?').click();
  await chat.locator('article[data-found]', { hasText: 'what is an albatross?' }).waitFor();
  await editor.status('Seabirds');
  assert.equal(await chat.locator('.message', { hasText: 'answer number 149' }).count(), 0);
  await editor.shot('message');

  await editor.palette('xcshLs.sessions.search');
  await editor.answer('misspeled');
  await editor.treeRow('Similar').waitFor();
  await editor.treeRow('Albtross, misspelled').waitFor();
  await editor.shot('similar');
}
