// The live session goes on in a terminal and comes back when the terminal closes.
import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

let session;
const program = (editor) => join(editor.root, 'bin/xcsh');

export const options = {
  settings: (editor) => ({ 'xcshLs.terminal.program': program(editor) }),
  sessions(editor) {
    session = editor.session('pi', 'Travels', [['hello', 'Hello.']]);
    mkdirSync(join(editor.root, 'bin'), { recursive: true });
    // Says how it was called, and ends when it is told to.
    writeFileSync(program(editor), `#!/bin/sh\necho "$PWD $*" > '${editor.root}/called'\nread line\n`);
    chmodSync(program(editor), 0o755);
  },
};

export default async function (editor) {
  await editor.palette('xcsh: Resume Session…');
  await editor.pick('Travels');
  await editor.status('Travels');
  await editor.palette('xcsh: Continue Session in Terminal');
  const called = join(editor.root, 'called');
  await until('the program', () => existsSync(called) && readFileSync(called, 'utf8').includes('\n'));
  const id = JSON.parse(editor.read(session).split('\n')[0]).id;
  assert.equal(readFileSync(called, 'utf8'), `${editor.folder} --resume ${id}\n`);
  await editor.status('new session');
  await editor.shot('terminal');

  await editor.page.locator('.terminal-wrapper, .xterm').first().click();
  await editor.page.keyboard.type('bye\n');
  await editor.status('Travels');
  await editor.shot('back');
}
