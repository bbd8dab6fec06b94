// A server that is killed restarts automatically, with the view and the commands working; after
// repeated exits it stays stopped until the user restarts it.
import assert from 'node:assert/strict';

import { until } from '../driver.mjs';

export const options = {
  sessions(editor) {
    editor.session('pi', 'Survivor', [['hello', 'Hello.']]);
  },
};

export default async function (editor) {
  await editor.sessionsView();
  await editor.treeRow('Survivor').waitFor();
  let [pid] = editor.serverPids();

  for (let crash = 1; crash <= 4; crash++) {
    process.kill(pid, 'SIGKILL');
    pid = await until(`restart ${crash}`, () => editor.serverPids().find((other) => other !== pid));
    await editor.treeRow('Survivor').waitFor();
    assert.equal(editor.serverPids().length, 1, 'never two');
  }
  process.kill(pid, 'SIGKILL');
  await editor.notified('stopped five times within three minutes');
  await editor.page.getByText('has stopped').first().waitFor();
  assert.deepEqual(editor.serverPids(), []);
  await editor.shot('given-up');

  await editor.notified('stopped five times within three minutes', 'Restart');
  await editor.treeRow('Survivor').waitFor();
  assert.equal(editor.serverPids().length, 1);
}
