// Permission is asked for beside the panel when that is not on the screen, whoever
// answers first is heard, and an edit of an open file lands on its undo stack.
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
  const chat = page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  const file = join(editor.folder, 'a.txt');
  const text = async () =>
    (await page.locator('.editor-instance .view-lines').first().innerText()).replaceAll('\u00a0', ' ');

  await page.keyboard.press('Control+Shift+E');
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'a.txt' }).dblclick();
  await page.locator('.editor-instance .view-lines', { hasText: 'two' }).waitFor();

  await editor.palette('xcsh: Ask…');
  await editor.answer('edit a.txt: two => zwei');
  await editor.notified('xcsh wants to: Edit a.txt', 'Allow');
  await page.locator('.editor-instance .view-lines', { hasText: 'zwei' }).waitFor();
  assert.equal(editor.read(file), 'one\ntwo\nthree\n', 'the buffer is changed, and not saved');
  await editor.shot('edited');
  await page.locator('.editor-instance .view-lines').first().click();
  await page.keyboard.press('Control+Z');
  await until('the text before', async () => (await text()).includes('two'));

  // What a notification asks waits in the panel too.
  await editor.palette('xcsh: Ask…');
  await editor.answer('edit a.txt: three => drei');
  await editor.notification('xcsh wants to: Edit a.txt').waitFor();
  await editor.palette('xcsh: Open Chat');
  await chat.locator('.approval .diff .added', { hasText: 'drei' }).waitFor();
  await editor.shot('both');
  await chat.locator('.approval').getByRole('button', { name: 'Deny' }).click();
  await chat.locator('.conversation').getByText('The tool edit failed').waitFor();
  assert.ok((await text()).includes('three'));
}
