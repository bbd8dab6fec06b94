// Without a server the view and the commands say how to get one; once there is one it is
// taken without a reload.
import { copyFileSync, chmodSync, mkdirSync, renameSync } from 'node:fs';
import assert from 'node:assert/strict';
import { join } from 'node:path';

export const options = {
  path: () => '/usr/bin:/bin',
  sessions(editor) {
    editor.session('pi', 'Waiting', [['hello', 'Hello.']]);
  },
};

export default async function (editor) {
  const bundled = join(editor.extensionDir(), 'bin/xcsh-ls');
  const aside = join(editor.root, 'xcsh-ls');
  renameSync(bundled, aside);

  await editor.sessionsView();
  await editor.page.getByText('The server xcsh-ls was not found.').first().waitFor();
  await editor.shot('view');
  await editor.palette('xcsh: Resume Session…');
  await editor.notified('The server xcsh-ls was not found.', 'How to Install');
  await editor.page.locator('.tab').filter({ hasText: 'Install xcsh-ls' }).waitFor();
  await editor.report.getByText('go install github.com/xcsh-ls/xcsh-ls').waitFor();
  await editor.shot('help');

  const bin = join(editor.home, 'go/bin');
  mkdirSync(bin, { recursive: true });
  copyFileSync(aside, join(bin, 'xcsh-ls'));
  chmodSync(join(bin, 'xcsh-ls'), 0o755);
  await editor.palette('xcsh: Restart Server');
  await editor.treeRow('Waiting').waitFor();
  assert.equal(editor.serverPids().length, 1);
}
