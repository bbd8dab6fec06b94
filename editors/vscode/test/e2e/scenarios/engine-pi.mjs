// A user of the real pi opens the editor for the first time, continues the session of a terminal
// there, and the terminal continues it afterwards: one file, with pi's own login, commands and
// extensions.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { Pi, missing } from '../pi.mjs';
import { serve } from '../service.mjs';

export { missing };

const extension = `export default function (pi: any) {
  pi.registerCommand('deploy', {
    description: 'Deploy this folder',
    handler: async (_: string, ctx: any) => {
      const yes = await ctx.ui.confirm('Deploy now?', 'To staging.');
      ctx.ui.setStatus('deploy', yes ? 'deployed to staging' : 'not deployed');
    },
  });
}
`;

const skill = `---
name: changelog
description: Write the changelog of a release.
---

List what users notice.
`;

let pi;

export const options = {
  settings: () => ({ 'files.autoSave': 'off' }),
  sessions(editor) {
    pi = new Pi(editor);
    pi.install();
    pi.write('extensions/deploy.ts', extension);
    pi.write('skills/changelog/SKILL.md', skill);
    writeFileSync(join(editor.folder, 'a.txt'), 'one\ntwo\nthree\n');
  },
};

export default async function (editor) {
  const { chat, page } = editor;
  const composer = chat.locator('#composer');
  const file = join(editor.folder, 'a.txt');
  const edit = {
    id: 'call-1',
    name: 'edit',
    args: { path: 'a.txt', edits: [{ oldText: 'two', newText: 'zwei' }] },
  };
  const model = await serve([
    { text: 'I will remember it.' },
    { text: 'It was albatross.' },
    { text: 'One line changes.', calls: [edit] },
    { text: 'It is changed.' },
    { text: 'We changed a line.' },
    { text: 'The terminal asked about it.' },
  ]);
  pi.logIn(model, 'key-of-the-user');

  // Last night, in a terminal.
  await pi.run('-p', 'The word is albatross');
  const [session] = editor.sessionFiles();
  const night = editor.read(session);

  // In the editor, after one question, the same session continues.
  await editor.sessionsView();
  await editor.inline('The word is albatross', 'Resume');
  await editor.said('I will remember it.').waitFor();
  assert.equal(editor.read(session), night, 'resuming changes nothing');
  await editor.say('Which word was it?');
  await editor.notified('Use it for your sessions?', 'Use pi');
  await editor.said('It was albatross.').waitFor();
  await editor.turnEnds();
  await chat.locator('.head', { hasText: /^pi \d+\.\d+\.\d+ · m$/ }).waitFor();
  assert.match(JSON.stringify(model.requests[1].messages), /I will remember it\./, 'it knows of last night');
  await editor.shot('continued');

  // Its commands: one of an extension, which asks, and one of a skill.
  await composer.pressSequentially('/');
  await chat.locator('.suggestions li', { hasText: '/skill:changelog' }).waitFor();
  await chat.locator('.suggestions li', { hasText: '/deploy' }).waitFor();
  await editor.shot('commands');
  await composer.pressSequentially('dep');
  await composer.press('Tab');
  await until('the command', async () => (await composer.inputValue()) === '/deploy ');
  await composer.press('Enter');
  await chat.locator('.question', { hasText: 'Deploy now?' }).waitFor();
  await editor.shot('question');
  await chat.locator('.question').getByRole('button', { name: 'Yes' }).click();
  await chat.locator('.engine-texts', { hasText: 'deployed to staging' }).waitFor();
  await chat.locator('.question').waitFor({ state: 'detached' });

  // An edit of a file with unsaved changes: shown before it is made, and one step to undo.
  await editor.openFile('a.txt');
  await page.locator('.view-line', { hasText: 'one' }).click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('mine ');
  await page.locator('.tab.dirty', { hasText: 'a.txt' }).waitFor();
  await until('what was typed', async () => (await editor.text()).startsWith('mine one'));
  await editor.say('translate the second line');
  await chat.locator('.approval .diff .added', { hasText: 'zwei' }).waitFor();
  await chat.locator('.approval .diff', { hasText: 'mine one' }).waitFor();
  assert.match(await editor.text(), /^mine one\ntwo\nthree/, 'nothing is changed before it is allowed');
  await editor.shot('approval');
  await chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true }).click();
  await editor.said('It is changed.').waitFor();
  await until('the change', async () => /^mine one\nzwei\nthree/.test(await editor.text()));
  assert.equal(editor.read(file), 'one\ntwo\nthree\n', 'the buffer is changed, and not saved');
  await editor.shot('changed');
  await page.locator('.view-line', { hasText: 'zwei' }).click();
  await page.keyboard.press('Control+Z');
  await until('the text before', async () => /^mine one\ntwo\nthree/.test(await editor.text()));
  await editor.turnEnds();

  // The terminal continues this session, and the editor after it.
  const day = editor.read(session);
  assert.ok(day.startsWith(night), 'only appended to');
  assert.match(await pi.run('-p', '--continue', 'What did we change?'), /We changed a line\./);
  const evening = editor.read(session);
  assert.ok(evening.startsWith(day), 'only appended to');
  assert.match(evening, /What did we change\?/);
  assert.match(JSON.stringify(model.requests[4].messages), /Which word was it\?.*It is changed\./);
  await editor.said('We changed a line.').waitFor();
  await editor.say('And who asked?');
  await editor.said('The terminal asked about it.').waitFor();
  await editor.turnEnds();
  assert.match(JSON.stringify(model.requests[5].messages), /What did we change\?.*We changed a line\./);
  await editor.shot('evening');
  assert.deepEqual(editor.sessionFiles(), [session], 'it is one session all the time');
  assert.ok(
    model.keys.every((key) => key === 'key-of-the-user'),
    "it is pi's own login",
  );
  model.close();
}
