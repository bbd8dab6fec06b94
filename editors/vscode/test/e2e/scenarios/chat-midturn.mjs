// While an answer is being streamed: the page is hidden and comes back with the full text, messages
// steer the turn, Stop stops it, and a server that exits loses no earlier messages.
import assert from 'node:assert/strict';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

export const options = { settings: () => ({ 'xcshLs.model': 'local/m' }) };

export default async function (editor) {
  let release;
  const held = () => new Promise((resolve) => (release = resolve));
  const text = 'One two three four **five** six seven eight nine ten';
  const answers = [{ text, held: held() }];
  const model = await service(editor, answers);
  const { chat } = editor;
  const said = chat.locator('.conversation');
  const composer = chat.locator('#composer');

  await editor.openChat();
  await editor.say('begin');
  await said.getByText('One two three').waitFor();
  await said.locator('article[aria-busy=true]').waitFor();

  // Hidden during the turn, and shown again.
  await editor.hideChat();
  await editor.openChat();
  await said.getByText('One two three').waitFor();
  await editor.shot('middle');

  // A steering and a follow-up message; both are sent to the model.
  answers.push({ text: 'As you say.' }, { text: 'And that too.' });
  await editor.say('rather so');
  await editor.say('then this', 'Alt+Enter');
  await chat.locator('.queue li').nth(1).waitFor();
  await editor.shot('queue');
  release();
  await said.getByText('And that too.').waitFor();
  await said.getByText('nine ten').waitFor();
  assert.deepEqual(await said.locator('.said').allInnerTexts(), ['begin', 'rather so', 'then this']);
  await chat.locator('.stop').waitFor({ state: 'detached' });

  // Stopped; queued messages are put back into the composer.
  answers.push({ text, held: held() });
  await editor.say('again');
  await said.locator('article[aria-busy=true]').getByText('One two').waitFor();
  await editor.say('never said');
  await chat.locator('.queue li').waitFor();
  await composer.press('Escape');
  await said.getByText('Stopped').waitFor();
  await until('what waited', async () => (await composer.inputValue()) === 'never said');
  release();
  await composer.fill('');

  // The server exits during the turn: earlier messages are still there, and the prompt comes back.
  answers.push({ text, held: held() });
  await editor.say('a third time');
  await said.locator('article[aria-busy=true]').getByText('One two').waitFor();
  const [pid] = editor.serverPids();
  process.kill(pid, 'SIGKILL');
  await until('another server', () => editor.serverPids().some((p) => p !== pid));
  await said.getByText('And that too.').waitFor();
  await until(
    'the third prompt, said or given back',
    async () =>
      (await said.locator('.said').allInnerTexts()).includes('a third time') ||
      (await composer.inputValue()) === 'a third time',
  );
  release();
  answers.splice(0, Infinity, { text: 'It goes on.' });
  await until('a live page', async () => (await chat.locator('.note').count()) === 0);
  await editor.say('and now?');
  await said.getByText('It goes on.').waitFor();
  await editor.shot('end');
  assert.equal(editor.sessionFiles().length, 1);
  model.close();
}
