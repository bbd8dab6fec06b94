// A conversation is forked at an earlier message, and exported to a page that opens.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { until } from '../driver.mjs';

let original;

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions(editor) {
    original = editor.session('pi', 'Travels', [
      ['where to?', 'To the sea.'],
      ['and then?', 'To the mountains.'],
    ]);
  },
};

export default async function (editor) {
  const { page } = editor;
  const composer = editor.chat.locator('#composer');
  const button = async (text, name) => {
    const message = editor.chat.locator('.message').filter({ hasText: text });
    await message.hover({ position: { x: 12, y: 8 } }); // its middle may be below the button to the end
    await message.getByRole('button', { name }).click();
  };
  const forked = (known) => until('the copy', () => editor.sessionFiles().find((file) => !known.includes(file)));

  await editor.openChat();
  await editor.palette('xcsh.resume');
  await editor.pick('Travels');
  await editor.said('To the mountains.').waitFor();
  const before = editor.read(original);

  // After an answer: the copy does not contain later messages.
  let known = editor.sessionFiles();
  await button('To the sea.', 'Fork after this answer');
  await editor.said('To the mountains.').waitFor({ state: 'detached' });
  await editor.said('To the sea.').waitFor();
  const first = await forked(known);
  assert.ok((await editor.header(first)).parentSession, 'it says where it comes from');
  assert.doesNotMatch(editor.read(first), /mountains/);
  assert.equal(await composer.inputValue(), '');
  await editor.shot('forked');

  // Before a prompt: the prompt comes back for editing.
  await editor.palette('xcsh.resume');
  await editor.pick('1h ago');
  await editor.said('To the mountains.').waitFor();
  known = editor.sessionFiles();
  await button('and then?', 'Fork before this prompt');
  await until('the prompt', async () => (await composer.inputValue()) === 'and then?');
  await editor.useDemo();
  await editor.say('list it');
  await editor.said('It lists this folder').waitFor();
  await editor.turnEnds();
  const second = await forked(known);
  assert.match(editor.read(second), /To the sea/);
  assert.doesNotMatch(editor.read(second), /mountains/);
  assert.equal(editor.read(original), before, 'what was forked stays as it was');

  const target = join(editor.folder, 'out.html');
  await editor.palette('xcsh.export');
  await editor.saveAs(target, '.html');
  assert.match(await editor.file(target), /To the sea/);
  await editor.notified('Exported to', 'Open');
  await page.locator('.tab', { hasText: 'out.html' }).waitFor();
  await editor.shot('exported');
}
