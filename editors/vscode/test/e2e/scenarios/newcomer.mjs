// A user who has just installed the package, without settings or an API key: the sessions of the
// folder are listed, one is resumed, the offline model answers, the conversation is forked and
// exported.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

let session;

export const options = {
  sessions(editor) {
    session = editor.session('xcsh', 'Fix the parser', [['why does it hang?', 'Because of a loop.']], { age: 4 });
    editor.session('omp', 'Write the docs', [['describe the flags', 'Here they are.']], { age: 30 });
    writeFileSync(join(editor.folder, 'README.md'), '# Albatross\n');
  },
};

export default async function (editor) {
  const before = editor.read(session);
  await editor.sessionsView();
  await editor.treeRow('Write the docs').waitFor();
  await editor.inline('Fix the parser', 'Resume');
  await editor.said('Because of a loop.').waitFor();
  await editor.shot('resumed');
  assert.equal(editor.read(session), before, 'resuming changes nothing');

  // Without an API key, the session's model cannot answer; another model is offered.
  await editor.useDemo();
  await editor.say('what is in README.md?');
  await editor.said('The tool read returned').waitFor();
  await editor.turnEnds();
  await until('the file', () => editor.read(session).includes('The tool read returned'));
  assert.ok(editor.read(session).startsWith(before), 'only appended to');
  await editor.shot('answered');

  const known = editor.sessionFiles();
  await editor.palette('xcsh.fork');
  const copy = await until('the copy', () => editor.sessionFiles().find((file) => !known.includes(file)));
  assert.equal((await editor.header(copy)).cwd, editor.folder);
  await editor.said('Because of a loop.').waitFor();

  const target = join(editor.folder, 'out.html');
  await editor.palette('xcsh.export');
  await editor.saveAs(target, '.html');
  const page = await editor.file(target);
  assert.match(page, /Because of a loop/);
  assert.match(page, /Albatross/);
  await editor.notified('Exported to');
}
