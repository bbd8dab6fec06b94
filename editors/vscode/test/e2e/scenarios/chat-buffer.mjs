// An edit of an open file with unsaved changes goes to its buffer, next to the user's own text, as
// one undo step; the file on disk is not changed. A command sees the agent's edits, which are saved
// before it, and those of the user only with the user's consent.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo', 'files.autoSave': 'off' }),
  sessions(editor) {
    for (const name of ['a.txt', 'b.txt']) {
      writeFileSync(join(editor.folder, name), 'one\ntwo\nthree\n');
    }
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

  await changedBy(editor, 'b.txt', 'two => zwei');
  await editor.say('!cat b.txt');
  await editor.chat.locator('.output', { hasText: 'zwei' }).first().waitFor();
  assert.equal(editor.read(join(editor.folder, 'b.txt')), 'one\nzwei\nthree\n', 'it is saved before the command');
  assert.equal(await page.locator('.tab.dirty').count(), 0);
  await editor.shot('saved');

  await page.locator('.view-line', { hasText: 'zwei' }).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('mine ');
  await changedBy(editor, 'b.txt', 'three => drei');
  await editor.say('!cat ./b.txt');
  await editor.notified("Save b.txt before the agent's command runs? It has unsaved changes.", "Don't Save");
  await until('the end of the command', async () => (await editor.chat.locator('.output').count()) >= 2);
  assert.equal(editor.read(join(editor.folder, 'b.txt')), 'one\nzwei\nthree\n', 'the user did not agree');
  await page.locator('.tab.dirty', { hasText: 'b.txt' }).waitFor();
}

/** Opens a file and has it changed by the agent. */
async function changedBy(editor, name, change) {
  const text = change.split(' => ')[1];
  await editor.openFile(name);
  await editor.say(`edit ${name}: ${change}`);
  await editor.chat.locator('.approval .diff .added', { hasText: text }).waitFor();
  await editor.chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  await until('the change', async () => (await editor.text()).includes(text));
  await editor.turnEnds();
}
