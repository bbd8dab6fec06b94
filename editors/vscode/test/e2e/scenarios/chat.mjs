// The chat panel against the real server: ask, allow and deny an edit, run a command, hide, reload, kill the server; the
// conversation is restored each time, and can be continued.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions(editor) {
    writeFileSync(join(editor.folder, 'a.txt'), 'one\ntwo\nthree\n');
  },
};

/** Waits until a text field has the focus. */
const focused = (field) => until('the focus', () => field.evaluate((el) => el.ownerDocument.activeElement === el));

export default async function (editor) {
  const { page } = editor;
  const { chat } = editor;
  const composer = chat.locator('#composer');
  const count = () => chat.locator('.message').count();

  await editor.openChat();
  await editor.shot('empty');
  await editor.say('what is in a.txt?');
  await editor.said('The tool read returned 3 lines.').waitFor();
  assert.equal(await composer.inputValue(), '');
  await editor.shot('answered');

  // An edit waits for approval, with its change visible.
  await editor.say('edit a.txt: two => zwei');
  await chat.locator('.approval .diff .added', { hasText: 'zwei' }).waitFor();
  assert.equal(
    editor.read(join(editor.folder, 'a.txt')),
    'one\ntwo\nthree\n',
    'nothing is written before it is allowed',
  );
  await editor.shot('approval');
  await chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  await editor.said('The tool edit returned').waitFor();
  assert.equal(editor.read(join(editor.folder, 'a.txt')), 'one\nzwei\nthree\n');
  await editor.shot('edited');

  await editor.say('edit a.txt: three => drei');
  // A denial has a reason, which the model gets.
  await chat.locator('.approval').getByRole('button', { name: 'Deny, because…' }).click();
  await chat.locator('.denial input').fill('Three stays three.');
  await editor.shot('reason');
  await chat.locator('.denial input').press('Enter');
  await editor.said('The tool edit failed').waitFor();
  await until('the reason in the file', () => editor.read(editor.sessionFiles()[0]).includes('Three stays three.'));
  await focused(composer);
  assert.equal(editor.read(join(editor.folder, 'a.txt')), 'one\nzwei\nthree\n');
  const messages = await count();

  // The answer of a command is a note, and not a part of the session.
  await composer.fill('/sta');
  await chat.locator('.suggestions li.chosen', { hasText: '/stats' }).waitFor();
  await composer.press('Tab');
  await composer.press('Enter');
  await chat.locator('.local-note table, .local-note p, .local-note li').first().waitFor();
  await editor.shot('command');
  assert.equal(await count(), messages);
  assert.ok(!editor.read(editor.sessionFiles()[0]).includes('/stats'));
  await chat.locator('.local-note').getByRole('button', { name: 'Dismiss' }).click();
  await chat.locator('.local-note').waitFor({ state: 'detached' });
  await focused(composer);
  await composer.fill('a draft');

  // Hidden and shown again.
  await editor.hideChat();
  await editor.openChat();
  await until('the messages after hiding', async () => (await count()) === messages);
  assert.equal(await composer.inputValue(), 'a draft');

  // A new window: a new page, a new extension host and a new server.
  const [before] = editor.serverPids();
  await page.reload();
  await page.waitForSelector('.statusbar-item');
  await editor.openChat();
  await until('the messages after a reload', async () => (await count()) === messages);
  assert.equal(await composer.inputValue(), 'a draft');
  await editor.shot('reloaded');

  // The server is killed and restarts.
  const pid = await until('a server', () => editor.serverPids().find((p) => p !== before) ?? editor.serverPids()[0]);
  process.kill(pid, 'SIGKILL');
  await until('another server', () => editor.serverPids().some((p) => p !== pid));
  await until(
    'the messages after a crash',
    async () => (await count()) === messages && (await chat.locator('.note').count()) === 0,
  );
  await editor.say('list it');
  await until('the prompt in the file', async () => {
    // A prompt that the killed server had received comes back, to be sent again.
    if ((await composer.inputValue()) === 'list it') await composer.press('Enter');
    return editor.read(editor.sessionFiles()[0]).includes('list it');
  });
  await editor.said('It lists this folder').waitFor();
  await editor.turnEnds();
  await editor.shot('after-crash');
  assert.equal(editor.sessionFiles().length, 1, 'it is one session all the time');
}
