// Without a server, the view and the commands explain how to install one; once it is installed, it
// is used without a reload.
import { copyFileSync, chmodSync, mkdirSync, renameSync } from 'node:fs';
import assert from 'node:assert/strict';
import { join } from 'node:path';

const aside = (editor) => join(editor.root, 'xcsh-ls');

export const options = {
  path: () => '/usr/bin:/bin',
  installed(editor) {
    renameSync(join(editor.extensionDir(), 'bin/xcsh-ls'), aside(editor));
  },
  sessions(editor) {
    editor.session('pi', 'Waiting', [['hello', 'Hello.']]);
  },
};

export default async function (editor) {
  await editor.sessionsView();
  await editor.page.getByText("Couldn't find the xcsh-ls server.").first().waitFor();
  await editor.shot('view');
  await editor.palette('xcsh.resume');
  await editor.notified("Couldn't find the xcsh-ls server.", 'Show Instructions');
  await editor.page.locator('.tab').filter({ hasText: 'Install xcsh-ls' }).waitFor();
  await editor.report.getByText('go install github.com/xcsh-ls/xcsh-ls').waitFor();
  await editor.shot('help');

  const bin = join(editor.home, 'go/bin');
  mkdirSync(bin, { recursive: true });
  copyFileSync(aside(editor), join(bin, 'xcsh-ls'));
  chmodSync(join(bin, 'xcsh-ls'), 0o755);
  await editor.palette('xcshLs.server.restart');
  await editor.treeRow('Waiting').waitFor();
  assert.equal(editor.serverPids().length, 1);
}
