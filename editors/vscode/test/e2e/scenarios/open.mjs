// A click on a session opens its conversation: it is resumed, or shown without being resumed while another window has
// it. A draft and the folder's own session are not touched by that.
import assert from 'node:assert/strict';

import { Rival } from '../rival.mjs';

let flaky, taken;

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions(editor) {
    flaky = editor.session(
      'xcsh',
      'Fix the flaky test',
      [['why does TestClock fail on Mondays?', 'Because the week begins on Sunday there.']],
      { age: 3 },
    );
    taken = editor.session('xcsh', 'Port the parser', [['port the parser to Go', 'The scanner comes first.']], {
      age: 2,
    });
    editor.session('xcsh', 'An old one', [['hello', 'Hello.']], { age: 24 * 9 });
    editor.session('xcsh', 'A very old one', [['hi', 'Hi.']], { age: 24 * 70 });
  },
};

export default async function (editor) {
  const { chat } = editor;
  await editor.sessionsView();
  await editor.treeRow('Last week').waitFor();

  // One click resumes.
  await editor.treeRow('Fix the flaky test').click();
  await editor.said('Because the week begins on Sunday there.').waitFor();
  await editor.treeRow('active').waitFor();
  await editor.status('Fix the flaky test');
  await chat.locator('#composer').fill('a draft that must stay');
  await editor.shot('resumed');

  const rival = new Rival(editor);
  try {
    await rival.resume(taken);
    await editor.treeRow('pid').waitFor();
    const before = editor.read(taken);
    await editor.treeRow('Port the parser').click();
    await editor.said('The scanner comes first.').waitFor();
    await chat.getByText('This session is running in another window').waitFor();
    assert.equal(await chat.locator('#composer').count(), 0);
    assert.equal(await chat.getByRole('button', { name: 'Edit and resend' }).count(), 0);
    await editor.status('Fix the flaky test');
    await editor.shot('preview');

    // While the other window has it, another try changes nothing.
    await chat.getByRole('button', { name: 'Try Again' }).click();
    await chat.getByText('This session is running in another window').waitFor();
    await editor.status('Fix the flaky test');
    assert.equal(editor.read(taken), before);

    // Back to the folder's own session, with the draft.
    await chat.getByRole('button', { name: 'Back to the current session' }).click();
    await editor.said('Because the week begins on Sunday there.').waitFor();
    assert.equal(await chat.locator('#composer').inputValue(), 'a draft that must stay');

    await editor.treeRow('Port the parser').click();
    await chat.getByRole('button', { name: 'Fork Here' }).waitFor();
  } finally {
    await rival.stop();
  }
  await chat.getByRole('button', { name: 'Try Again' }).click();
  await editor.status('Port the parser');
  await editor.said('The scanner comes first.').waitFor();
  await chat.locator('#composer').waitFor();
  await editor.shot('continued');
  assert.match(editor.read(flaky), /TestClock/);
}
