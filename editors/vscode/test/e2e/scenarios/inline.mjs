// A change requested in the editor is reviewed before it is applied: a rejected change leaves no
// trace; an accepted one is in the buffer, unsaved, and Undo reverts it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'local/m', 'files.autoSave': 'off' }),
  sessions(editor) {
    writeFileSync(join(editor.folder, 'a.txt'), 'one\ntwo\nthree\n');
  },
};

export default async function (editor) {
  const { page } = editor;
  const file = join(editor.folder, 'a.txt');
  const edit = (id) => ({
    text: 'I change it.',
    calls: [{ id, name: 'edit', args: { path: 'a.txt', edits: [{ oldText: 'two', newText: 'zwei' }] } }],
  });
  const model = await service(editor, [edit('c1'), { text: 'Then not.' }, edit('c2'), { text: 'It is zwei now.' }]);
  const diff = page.locator('.monaco-diff-editor');

  await editor.openFile('a.txt');
  await page.locator('.view-line', { hasText: 'two' }).click();

  await editor.palette('xcshLs.inlineChat');
  await editor.answer('say it in German');
  // The user keeps typing: the keys go to the text, and nothing opens.
  await page.locator('.view-line', { hasText: 'three' }).click();
  await page.keyboard.press('End');
  await editor.notification('xcsh wants to change a.txt.').waitFor();
  await page.keyboard.type(' mine a y');
  await until('what was typed', async () => (await editor.text()).includes('three mine a y'));
  assert.equal(await diff.count(), 0, 'the change waits to be opened');
  for (let i = 0; i < ' mine a y'.length; i++) await page.keyboard.press('Backspace');
  await editor.notified('xcsh wants to change a.txt.', 'Review');
  await diff.getByText('zwei').first().waitFor();
  await editor.shot('review');
  assert.match(JSON.stringify(model.requests[0].messages), /lines=\\{1,3}"2-2/, 'the selection goes with it');
  await editor.notified('Apply this change to a.txt?', 'Reject');
  await diff.waitFor({ state: 'detached' });
  await until('the end of the turn', () => model.requests.length === 2);
  assert.match(JSON.stringify(model.requests[1].messages), /denied this/);
  assert.equal((await editor.text()).includes('zwei'), false);

  await page.locator('.view-line', { hasText: 'two' }).click();
  await editor.palette('xcshLs.inlineChat');
  await editor.answer('say it in German');
  await editor.notification('xcsh wants to change a.txt.').waitFor();
  await editor.palette('xcshLs.inlineChat.review');
  await diff.getByText('zwei').first().waitFor();
  assert.equal(editor.read(file), 'one\ntwo\nthree\n');
  await editor.palette('xcshLs.inlineChat.accept');
  await diff.waitFor({ state: 'detached' });
  await until('the change', async () => (await editor.text()).includes('zwei'));
  assert.equal(editor.read(file), 'one\ntwo\nthree\n', 'it is in the buffer, and not saved');
  await editor.shot('accepted');
  await until('the end of the second turn', () => model.requests.length === 4);
  await page.locator('.view-line', { hasText: 'zwei' }).click();
  await page.keyboard.press('Control+Z');
  await until('the text before', async () => (await editor.text()).includes('two'));

  // The light bulb offers the same for the selection.
  model.answers.push({ text: 'Nothing to change.' });
  await page.locator('.view-line', { hasText: 'three' }).click();
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+End');
  await until('the menu of the light bulb', async () => {
    await page.keyboard.press('Control+.');
    const action = page.locator('.action-widget .monaco-list-row', { hasText: 'Change with xcsh…' });
    return action.click({ timeout: 1500 }).then(
      () => true,
      () => page.keyboard.press('Escape').then(() => false),
    );
  });
  await editor.answer('in French');
  await until('the question', () => model.requests.length === 5);
  assert.match(JSON.stringify(model.requests[4].messages), /lines=\\{1,3}"3-3/);
  await editor.notification('Nothing to change.').waitFor();
  model.close();
}
