// A session written by another terminal program is listed, resumed and searched from the palette; a
// session of another folder is opened only after a confirmation.
import assert from 'node:assert/strict';
import { join } from 'node:path';

import { until } from '../driver.mjs';

let mine, other;

export const options = {
  sessions(editor) {
    mine = editor.session(
      'pi',
      'Fix the flaky test',
      [['why does TestClock fail on Mondays?', 'Because the week begins on Sunday there.']],
      { age: 2 },
    );
    editor.session(
      'pi',
      '',
      [
        ['rename the package', 'Done.'],
        ['and the docs, mention the albatross', 'Done as well.'],
      ],
      { age: 30 },
    );
    other = editor.session('pi', 'Elsewhere', [['something else', 'Yes.']], {
      cwd: join(editor.root, 'work/other'),
      age: 5,
    });
  },
};

export default async function (editor) {
  const before = editor.read(mine);
  assert.deepEqual(editor.serverPids(), [], 'nothing runs before it is needed');

  await editor.palette('xcsh.resume');
  await editor.waitForRow('Fix the flaky test');
  await editor.waitForRow('rename the package');
  assert.equal(await editor.row('Elsewhere').count(), 0);
  await editor.shot('folder');

  // The server also finds text that the list does not show.
  await editor.input().fill('albatross');
  await editor.row('Fix the flaky test').waitFor({ state: 'detached' });
  await editor.waitForRow('rename the package');
  await editor.shot('search');
  await editor.input().fill('');
  await editor.waitForRow('Fix the flaky test');

  await editor.allFolders();
  await editor.waitForRow('Elsewhere');
  await editor.page.locator('.quick-input-list').filter({ hasText: 'Other folders' }).waitFor();
  await editor.shot('all');
  await editor.pick('Elsewhere');
  const question = await editor.dialog('belongs to another folder');
  await editor.shot('elsewhere');
  await question.locator('.monaco-button', { hasText: 'Cancel' }).click();
  await question.waitFor({ state: 'hidden' });

  await editor.palette('xcsh.resume');
  await editor.pick('Fix the flaky test');
  await editor.status('Fix the flaky test');
  await editor.shot('resumed');
  assert.equal(editor.read(mine), before, 'resuming changes nothing');
  assert.equal(editor.serverPids().length, 1, 'one server for the window');

  // Copied into this folder; the original session is not changed.
  const elsewhere = editor.read(other);
  const files = editor.sessionFiles();
  await editor.palette('xcsh.resume');
  await editor.allFolders();
  await editor.pick('Elsewhere');
  await editor.dialog('belongs to another folder', 'Fork Here');
  const copy = await until('the copy', () => editor.sessionFiles().find((file) => !files.includes(file)));
  assert.equal((await editor.header(copy)).cwd, editor.folder);
  assert.equal(editor.read(other), elsewhere);
}
