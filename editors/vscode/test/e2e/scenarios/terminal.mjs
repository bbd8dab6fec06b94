// The live session continues in a terminal, where the panel follows it, and returns when the terminal closes or the
// user takes it over; a session named in terminal output is a link.
import assert from 'node:assert/strict';
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

let session, other;
const program = (editor) => join(editor.root, 'bin/xcsh');

export const options = {
  settings: (editor) => ({
    'xcshLs.terminal.program': program(editor),
    'terminal.integrated.gpuAcceleration': 'off', // with it, the lines are an image
  }),
  sessions(editor) {
    session = editor.session('pi', 'Travels', [['hello', 'Hello.']]);
    other = editor.session('pi', 'Errands', [['milk', 'Bought.']]);
    writeFileSync(join(editor.folder, 'notes.txt'), 'notes\n');
    mkdirSync(join(editor.root, 'bin'), { recursive: true });
    // Prints its arguments, and exits on request.
    const script = `#!/bin/sh\necho "$PWD $*" > '${editor.root}/called'\necho ready\nread line\n`;
    writeFileSync(program(editor), script);
    chmodSync(program(editor), 0o755);
  },
};

export default async function (editor) {
  await editor.openChat();
  await editor.palette('xcsh.resume');
  await editor.pick('Travels');
  await editor.status('Travels');
  await editor.palette('xcshLs.terminal.continue');
  const called = join(editor.root, 'called');
  await until('the program', () => existsSync(called) && readFileSync(called, 'utf8').includes('\n'));
  const { id } = await editor.header(session);
  assert.equal(readFileSync(called, 'utf8'), `${editor.folder} --resume ${id}\n`);
  await editor.status('new session');

  // The panel follows it.
  const { chat } = editor;
  await chat.getByText('This session is running in a terminal.').waitFor();
  assert.equal(await chat.locator('#composer').count(), 0);
  append(editor, session, 'written in the terminal');
  await chat.locator('.message', { hasText: 'written in the terminal' }).waitFor();
  await editor.shot('terminal');
  await editor.openFile('notes.txt');
  await chat.getByRole('button', { name: 'Open Terminal' }).click();
  await editor.page.locator('.xterm.focus').waitFor();

  await editor.page.locator('.terminal-wrapper, .xterm').first().click();
  await editor.page.keyboard.type('bye\n');
  await editor.status('Travels');
  await editor.said('written in the terminal').waitFor();
  await chat.locator('#composer').waitFor();
  await editor.shot('back');

  // Taking it over ends the program, after a question.
  await editor.palette('xcshLs.terminal.continue');
  await chat.getByText('This session is running in a terminal.').waitFor();
  await editor.page.locator('.xterm-rows', { hasText: 'ready' }).waitFor();
  await chat.getByRole('button', { name: 'Take Over' }).click();
  await editor.dialog('End the program in the terminal', 'Cancel');
  await chat.getByText('This session is running in a terminal.').waitFor();
  await chat.getByRole('button', { name: 'Take Over' }).click();
  await editor.shot('take-over');
  await editor.dialog('End the program in the terminal', 'End Program');
  await editor.status('Travels');
  await chat.locator('#composer').waitFor();
  await editor.page.locator('.xterm').waitFor({ state: 'detached' });

  await editor.palette('Terminal: Create New Terminal');
  await editor.page.locator('.xterm.focus').waitFor();
  const { id: named } = await editor.header(other);
  await editor.page.keyboard.type(`echo xcsh --resume ${named}\n`);
  await followLink(editor.page, /^xcsh --resume/, `Resume session ${named}`);
  await editor.status('Errands');

  await editor.page.locator('.xterm').first().click();
  await editor.page.keyboard.type(`echo ${id}\n`);
  await followLink(editor.page, new RegExp(`^${id}`), `Resume session ${id}`);
  await editor.status('Travels');
  await editor.shot('links');
}

/** Appends a prompt to a session, as the program in the terminal does. */
function append(editor, file, content) {
  const last = JSON.parse(editor.read(file).trim().split('\n').at(-1));
  const more = { type: 'message', id: 'dd000001', parentId: last.id, timestamp: last.timestamp };
  appendFileSync(file, JSON.stringify({ ...more, message: { role: 'user', content, timestamp: 1 } }) + '\n');
}

/** Clicks, in the way that the terminal expects, on the link at the start of a line. */
async function followLink(page, line, tooltip) {
  const { x, y } = await page.locator('.xterm-rows > div', { hasText: line }).boundingBox();
  await page.mouse.move(x + 20, y + 8);
  await page.locator('.workbench-hover', { hasText: tooltip }).waitFor();
  await page.keyboard.down('Control');
  await page.mouse.click(x + 20, y + 8);
  await page.keyboard.up('Control');
}
