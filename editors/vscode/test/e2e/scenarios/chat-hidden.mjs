// While the panel is hidden, a notification asks for permission. Pending approvals are in the panel
// too, and the first answer counts.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'local/m' }),
  sessions(editor) {
    writeFileSync(join(editor.folder, 'a.txt'), 'one\ntwo\nthree\n');
  },
};

export default async function (editor) {
  const file = join(editor.folder, 'a.txt');
  const edit = (oldText, newText) => [
    { id: `call-${newText}`, name: 'edit', args: { path: 'a.txt', edits: [{ oldText, newText }] } },
  ];
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const model = await service(editor, [
    { text: 'I change the second line.', calls: edit('two', 'zwei'), held },
    { text: 'The third as well.', calls: edit('three', 'drei') },
    { text: 'As you like.' },
  ]);

  await editor.openChat();
  await editor.say('say it in German');
  await editor.said('I change').waitFor();
  await editor.hideChat();
  release();
  await editor.notified('Allow xcsh to edit a.txt?');
  assert.equal(editor.read(file), 'one\ntwo\nthree\n', 'nothing is written before it is allowed');
  await editor.shot('asked');
  await editor.notified('Allow xcsh to edit a.txt?', 'Allow');
  await until('the change', () => editor.read(file) === 'one\nzwei\nthree\n');

  // The approval of a notification is pending in the panel too.
  await editor.notified('Allow xcsh to edit a.txt?');
  await editor.openChat();
  await editor.chat.locator('.approval .diff .added', { hasText: 'drei' }).waitFor();
  await editor.shot('both');
  await editor.chat.locator('.approval').getByRole('button', { name: 'Deny', exact: true }).click();
  await editor.said('As you like.').waitFor();
  assert.equal(editor.read(file), 'one\nzwei\nthree\n');
  assert.match(JSON.stringify(model.requests[2].messages), /denied this/);
  model.close();
}
