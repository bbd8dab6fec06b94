// Another program answers: the first use, its commands, a question of an extension, an approval, and the end of
// the program in the middle of an answer. The program is the double of pi.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

export const options = {
  sessions(editor) {
    const bin = join(editor.home, '.local/bin');
    mkdirSync(bin, { recursive: true });
    mkdirSync(join(editor.home, '.pi/agent/sessions'), { recursive: true }); // pi ran before
    copyFileSync(process.env.ENGINE_DOUBLE, join(bin, 'pi'));
    writeFileSync(join(editor.folder, 'a.txt'), 'one\ntwo\nthree\n');
  },
};

export default async function (editor) {
  const { chat } = editor;
  const composer = chat.locator('#composer');
  const answered = (text) => chat.locator('.answer').getByText(text, { exact: true });
  await editor.openChat();
  assert.equal(await chat.locator('.head').count(), 0, 'the own engine has no head');

  // First use: no model is set up, and exactly one program is found.
  await editor.say('hello');
  await editor.notification('Use it for your sessions?').waitFor();
  await editor.shot('first-use');
  await editor.notified('Use it for your sessions?', 'Use pi');
  await editor.said('Echo: hello').waitFor();
  await chat.locator('.head', { hasText: 'pi 1.5.2' }).waitFor();
  await editor.shot('answered');

  // Its commands.
  await composer.pressSequentially('/fi');
  await chat.locator('.suggestions li', { hasText: '/fix' }).waitFor();
  await editor.shot('commands');
  await composer.press('Tab');
  await until('the command', async () => (await composer.inputValue()) === '/fix ');
  await composer.fill('');

  // A question of an extension.
  await editor.say('[[ask:confirm {"title":"Deploy now?","message":"To staging."}]]');
  await chat.locator('.question', { hasText: 'Deploy now?' }).waitFor();
  await editor.shot('question');
  await chat.locator('.question').getByRole('button', { name: 'Yes' }).click();
  await chat.locator('.question').waitFor({ state: 'detached' });

  // An edit waits for approval, with its change visible.
  await editor.say('[[tool:edit {"path":"a.txt","edits":[{"oldText":"two","newText":"zwei"}]}]] [[say:Edited.]]');
  await chat.locator('.approval .diff .added', { hasText: 'zwei' }).waitFor();
  assert.equal(editor.read(join(editor.folder, 'a.txt')), 'one\ntwo\nthree\n');
  await editor.shot('approval');
  await chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  await answered('Edited.').waitFor();
  assert.equal(editor.read(join(editor.folder, 'a.txt')), 'one\nzwei\nthree\n');

  // The program is killed while it answers, and started again.
  await editor.say('[[fault:crash]]');
  await chat.locator('.crash').waitFor();
  await editor.shot('crash');
  await chat.locator('.crash').getByRole('button', { name: 'Start Again' }).click();
  await chat.locator('.crash').waitFor({ state: 'detached' });
  await composer.fill('');
  await editor.say('[[say:Here again.]]');
  await answered('Here again.').waitFor();
}
