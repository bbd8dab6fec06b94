// Two folders in one window share one server: the view shows both, and a command asks for the
// folder if the editor does not determine it.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const options = {
  folders: ['alpha', 'beta'],
  sessions(editor) {
    editor.session('pi', 'Work in alpha', [['hello', 'Hello.']], { cwd: editor.folders[0] });
    editor.session('pi', 'Work in beta', [['hello', 'Hello.']], { cwd: editor.folders[1], age: 30 });
    writeFileSync(join(editor.folders[1], 'b.txt'), 'b\n');
  },
};

export default async function (editor) {
  await editor.sessionsView();
  await editor.treeRow('Work in alpha').waitFor();
  await editor.treeRow('Work in beta').waitFor();
  await editor.shot('view');

  await editor.palette('xcsh.resume');
  await editor.waitForRow('alpha');
  await editor.shot('which');
  await editor.pick('beta');
  await editor.waitForRow('Work in beta');
  assert.equal(await editor.row('Work in alpha').count(), 0);
  await editor.pick('Work in beta');
  await editor.status('Work in beta');
  assert.equal(editor.serverPids().length, 1);

  // The folder of the active editor is used without a question.
  await editor.openFile('b.txt');
  await editor.palette('xcsh.resume');
  await editor.waitForRow('Work in beta');
}
