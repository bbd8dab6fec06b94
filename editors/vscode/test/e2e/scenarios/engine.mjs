// Another program answers: the first use, its commands, a question of an extension, approvals, an edit of a buffer,
// messages to a running turn, and the end of the program in the middle of an answer. The program is the double of pi.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

export const options = {
  settings: () => ({ 'files.autoSave': 'off' }),
  sessions(editor) {
    const bin = join(editor.home, '.local/bin');
    mkdirSync(bin, { recursive: true });
    mkdirSync(join(editor.home, '.pi/agent/sessions'), { recursive: true }); // pi ran before
    copyFileSync(process.env.ENGINE_DOUBLE, join(bin, 'pi'));
    writeFileSync(join(editor.folder, 'a.txt'), 'one\ntwo\nthree\n');
  },
};

export default async function (editor) {
  const { chat, page } = editor;
  const composer = chat.locator('#composer');
  const answered = (text) => chat.locator('.answer').getByText(text, { exact: true }).last();
  await editor.openChat();
  assert.equal(await chat.locator('.head').count(), 0, 'the own engine has no head');

  // First use: no model is set up, and exactly one program is found.
  await editor.say('hello');
  await editor.notified('Use it for your sessions?');
  await chat.locator('.note', { hasText: 'hello' }).waitFor(); // the prompt is not lost from sight
  await editor.shot('first-use');
  await editor.notified('Use it for your sessions?', 'Use pi');
  await editor.said('Echo: hello').waitFor();
  await chat.locator('.head', { hasText: 'pi 1.5.2 · mock-large' }).waitFor();
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

  // The same in a buffer with unsaved changes: one step to undo, and nothing on disk.
  await editor.openFile('a.txt');
  await page.locator('.view-line', { hasText: 'one' }).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('mine ');
  await page.locator('.tab.dirty', { hasText: 'a.txt' }).waitFor();
  await until('what was typed', async () => (await editor.text()).startsWith('mine one'));
  const edits = '[{"oldText":"mine one","newText":"mine eins"},{"oldText":"three","newText":"drei"}]';
  await editor.say(`[[tool:edit {"path":"a.txt","edits":${edits}}]] [[say:Changed.]]`);
  await chat.locator('.approval .diff .added', { hasText: 'drei' }).waitFor();
  await editor.shot('unsaved');
  await chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  await answered('Changed.').waitFor();
  await until('the change', async () => /^mine eins\nzwei\ndrei/.test(await editor.text()));
  await page.locator('.view-line', { hasText: 'zwei' }).click();
  await page.keyboard.press('Control+Z');
  await until('the text before', async () => /^mine one\nzwei\nthree/.test(await editor.text()));
  assert.equal(editor.read(join(editor.folder, 'a.txt')), 'one\nzwei\nthree\n', 'nothing is saved');

  // A message steers the turn: it is delivered after the tool that waits.
  await editor.say('[[tool:bash {"command":"true"}]]');
  await chat.locator('.approval').waitFor();
  await editor.say('[[say:To the left.]]');
  await chat.locator('.queue li', { hasText: 'To the left.' }).waitFor();
  await editor.shot('steering');
  await chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  // The command would not see the user's unsaved text.
  await editor.notified("Save a.txt before the agent's command runs?", "Don't Save");
  await answered('To the left.').waitFor();
  await editor.turnEnds();

  // Stopped: the turn ends, and a queued message is back in the composer.
  await editor.say('[[hang]]');
  await chat.locator('.stop').waitFor();
  await editor.say('never said');
  await chat.locator('.queue li', { hasText: 'never said' }).waitFor();
  await chat.locator('.stop').click();
  await editor.turnEnds();
  await until('what waited', async () => (await composer.inputValue()) === 'never said');
  await editor.shot('stopped');
  await composer.fill('');

  // The program ends while it answers, says why, and is started again.
  await editor.say('[[fault:stderr:The model is gone.]] [[fault:exit:3]]');
  await chat.locator('.crash').waitFor();
  await chat.locator('.crash').getByRole('button', { name: 'Last output' }).click();
  await chat.locator('.crash', { hasText: 'The model is gone.' }).waitFor();
  await editor.shot('crash');
  await chat.locator('.crash').getByRole('button', { name: 'Start Again' }).click();
  await chat.locator('.crash').waitFor({ state: 'detached' });
  await composer.fill('');
  await editor.say('[[say:Here again.]]');
  await answered('Here again.').waitFor();
}
