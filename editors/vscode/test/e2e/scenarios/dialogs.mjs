// Lists, input boxes and confirmations that no other scenario opens. Canceling each of them changes
// nothing.
import assert from 'node:assert/strict';

import { until } from '../driver.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions(editor) {
    editor.session('xcsh', 'Travels', [
      ['where to?', 'To the sea.'],
      ['and then?', 'To the mountains.'],
    ]);
  },
};

export default async function (editor) {
  const { page } = editor;
  const cancel = async () => {
    await editor.input().press('Escape');
    await editor.input().waitFor({ state: 'hidden' });
  };
  const prompted = async (command, text) => {
    await editor.palette(command);
    await page.locator('.quick-input-message', { hasText: text }).waitFor();
    await editor.shot(command.replace('xcsh.', ''));
    await cancel();
  };
  const listed = async (command, placeholder, row) => {
    await editor.palette(command);
    await editor.waitForRow(row);
    assert.equal(await editor.input().getAttribute('placeholder'), placeholder);
    await editor.shot(command.replace('xcsh.', ''));
    await cancel();
  };
  const confirmed = async (name, text) => {
    await editor.dialog(text);
    await editor.shot(name);
    await editor.dialog(text, 'Cancel');
  };

  await editor.openChat();
  await editor.palette('xcsh.resume');
  await editor.pick('Travels');
  await editor.said('To the mountains.').waitFor();
  const [file] = editor.sessionFiles();
  const before = editor.read(file);

  await prompted('xcsh.prompt', 'Ask xcsh');
  await prompted('xcsh.rename', 'New title');
  await prompted('xcsh.describe', 'description');
  await prompted('xcsh.save', 'Title (leave empty to keep the current one)');
  await prompted('xcsh.bash', 'Command to run in this folder');
  await prompted('xcsh.steer', 'Message to send to the running turn');
  await prompted('xcsh.followUp', 'Message to send when the current turn ends');
  await prompted('xcshLs.sessions.search', 'All words must match.');

  await listed('xcsh.delete', 'Select a session to move to the trash', 'Travels');
  await listed('xcsh.setThinking', 'Select a thinking level', 'Off');
  await listed('xcsh.setMode', 'Select a session mode', 'Plan mode');
  await listed('xcsh.import', 'Select sessions to import (copies; the originals are not changed)', 'Folder…');
  await listed('xcsh.dump', 'Select where to dump the session', 'Clipboard');
  await listed('xcsh.label', 'Type to narrow the list', 'and then?');

  await editor.palette('xcsh.share');
  await confirmed('share', 'Anyone with the link can read all of it.');
  await editor.chat.getByRole('button', { name: /^Context: / }).click();
  await confirmed('compact', 'Compact the conversation?');
  assert.equal(editor.read(file), before, 'canceling changes nothing');

  await editor.palette('xcsh.purge');
  await editor.notified('Nothing to clean up');
  await editor.shot('purge');
  await editor.palette('xcsh.branch');
  await editor.pick('and then?');
  await until('the prompt', async () => (await editor.chat.locator('#composer').inputValue()) === 'and then?');
  await editor.shot('branched');
}
