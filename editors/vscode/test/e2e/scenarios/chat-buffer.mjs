// An edit of an open file with unsaved changes goes to its buffer, next to the user's own text, as
// one undo step; the file on disk is not changed.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo', 'files.autoSave': 'off' }),
  sessions(editor) {
    writeFileSync(join(editor.folder, 'a.txt'), 'one\ntwo\nthree\n');
  },
};

export default async function (editor) {
  const { page } = editor;
  const file = join(editor.folder, 'a.txt');
  await editor.openFile('a.txt');
  await page.locator('.view-line', { hasText: 'one' }).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('mine ');
  await until('what was typed', async () => (await editor.text()).startsWith('mine one'));
  await page.locator('.tab.dirty', { hasText: 'a.txt' }).waitFor();

  // Requested from the palette, answered in the panel.
  await editor.palette('xcsh.prompt');
  await editor.answer('edit a.txt: two => zwei');
  await editor.chat.locator('.approval .diff .added', { hasText: 'zwei' }).waitFor();
  await editor.shot('asked');
  await editor.chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  await editor.said('The tool edit returned').waitFor();
  await until('the change', async () => /^mine one\nzwei\nthree/.test(await editor.text()));
  assert.equal(editor.read(file), 'one\ntwo\nthree\n', 'the buffer is changed, and not saved');
  await editor.shot('edited');

  await page.locator('.view-line', { hasText: 'zwei' }).click();
  await page.keyboard.press('Control+Z');
  await until('the text before', async () => /^mine one\ntwo\nthree/.test(await editor.text()));
  await page.keyboard.press('Control+Y');
  await until('the change again', async () => /^mine one\nzwei\nthree/.test(await editor.text()));
  await page.keyboard.press('Control+S');
  await until('the file', () => editor.read(file) === 'mine one\nzwei\nthree\n');
}
