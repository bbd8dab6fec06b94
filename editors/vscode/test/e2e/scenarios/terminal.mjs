// The live session continues in a terminal and returns when the terminal closes; a session named in
// terminal output is a link.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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
    mkdirSync(join(editor.root, 'bin'), { recursive: true });
    // Prints its arguments, and exits on request.
    writeFileSync(program(editor), `#!/bin/sh\necho "$PWD $*" > '${editor.root}/called'\nread line\n`);
    chmodSync(program(editor), 0o755);
  },
};

export default async function (editor) {
  await editor.palette('xcsh.resume');
  await editor.pick('Travels');
  await editor.status('Travels');
  await editor.palette('xcshLs.terminal.continue');
  const called = join(editor.root, 'called');
  await until('the program', () => existsSync(called) && readFileSync(called, 'utf8').includes('\n'));
  const { id } = await editor.header(session);
  assert.equal(readFileSync(called, 'utf8'), `${editor.folder} --resume ${id}\n`);
  await editor.status('new session');
  await editor.shot('terminal');

  await editor.page.locator('.terminal-wrapper, .xterm').first().click();
  await editor.page.keyboard.type('bye\n');
  await editor.status('Travels');
  await editor.shot('back');

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

/** Clicks, in the way that the terminal expects, on the link at the start of a line. */
async function followLink(page, line, tooltip) {
  const { x, y } = await page.locator('.xterm-rows > div', { hasText: line }).boundingBox();
  await page.mouse.move(x + 20, y + 8);
  await page.locator('.workbench-hover', { hasText: tooltip }).waitFor();
  await page.keyboard.down('Control');
  await page.mouse.click(x + 20, y + 8);
  await page.keyboard.up('Control');
}
