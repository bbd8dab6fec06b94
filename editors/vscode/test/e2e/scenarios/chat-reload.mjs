// The window is reloaded while an answer is being streamed: the turn ends with its server, earlier
// messages are still there, the prompt is not lost, and the conversation continues.
import assert from 'node:assert/strict';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

export const options = { settings: () => ({ 'xcshLs.model': 'local/m' }) };

export default async function (editor) {
  const { page } = editor;
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const answers = [{ text: 'The first answer.' }, { text: 'One two three four five six', held }];
  const model = await service(editor, answers);
  const composer = editor.chat.locator('#composer');

  await editor.openChat();
  await editor.say('first');
  await editor.said('The first answer.').waitFor();
  await editor.turnEnds();
  await editor.say('second');
  await editor.said('One two three').waitFor();
  const [before] = editor.serverPids();

  await page.reload();
  await page.waitForSelector('.statusbar-item');
  await editor.openChat();
  await editor.said('The first answer.').waitFor();
  await until('the server of the reloaded window', () => editor.serverPids().some((pid) => pid !== before));
  await until('the prompt, said or given back', async () => {
    const said = await editor.chat.locator('.said').allInnerTexts();
    return said.includes('second') || (await composer.inputValue()).includes('second');
  });
  await editor.shot('reloaded');

  release();
  answers.splice(0, Infinity, { text: 'It goes on.' });
  await until('a live page', async () => (await editor.chat.locator('.note').count()) === 0);
  await editor.say('and now?');
  await editor.said('It goes on.').waitFor();
  assert.match(JSON.stringify(model.requests.at(-1).messages), /The first answer\./);
  const [file, ...others] = editor.sessionFiles();
  assert.deepEqual(others, [], 'it is one session all the time');
  assert.match(editor.read(file), /It goes on\./);
  model.close();
}
