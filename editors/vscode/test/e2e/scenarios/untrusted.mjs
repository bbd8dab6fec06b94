// In an untrusted folder, sessions can be viewed, but nothing is started, resumed or changed.
import assert from 'node:assert/strict';

export const options = {
  settings: () => ({ 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' }),
  sessions(editor) {
    editor.session('pi', 'Look at me', [['hello', 'I can be read.']]);
  },
};

export default async function (editor) {
  const { page } = editor;
  await editor.sessionsView();
  await editor.treeRow('Look at me').waitFor();
  await editor.treeRow('Look at me').hover();
  const row = editor.treeRow('Look at me');
  await row.locator('.action-label[aria-label^="Export"]').first().waitFor();
  assert.equal(await row.locator('.action-label[aria-label^="Delete"]').count(), 0);
  assert.equal(await row.locator('.action-label[aria-label^="Resume"]').count(), 0);
  await editor.treeRow('Look at me').click();
  await editor.said('I can be read.').waitFor();
  await editor.chat.getByText('you can read sessions, not run the agent').waitFor();
  await editor.chat.getByRole('button', { name: 'Manage Trust' }).waitFor();
  assert.equal(await editor.chat.getByRole('button', { name: 'Continue Here' }).count(), 0);
  assert.equal(await editor.chat.getByRole('button', { name: 'Fork Here' }).count(), 0);
  await editor.shot('preview');
  await editor.chat.getByRole('button', { name: 'Back to the current session' }).click();

  // The panel does not offer to resume a session.
  await editor.chat.getByRole('heading', { name: 'Restricted Mode' }).waitFor();
  assert.equal(await editor.chat.getByText('Resume an earlier session').count(), 0);
  assert.equal(
    await editor.chat.locator('.ways').count(),
    0,
    'no model is ready, and nothing runs that would change it',
  );

  // The palette does not offer commands that make changes.
  await page.keyboard.press('F1');
  await editor.input().fill('>xcsh: ');
  await editor.waitForRow('xcsh: Check Session for Damage');
  assert.equal(await editor.row('xcsh: Resume Session').count(), 0);
  assert.equal(await editor.row('xcsh: Ask').count(), 0);
  assert.equal(await editor.row('xcsh: Add API Key').count(), 0);
  assert.equal(await editor.row('xcsh: Remove API Key').count(), 0);
  await editor.shot('palette');
}
