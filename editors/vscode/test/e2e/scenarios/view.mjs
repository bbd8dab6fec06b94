// The view of sessions: days, forks, badges; sessions that another program writes appear
// automatically; rename, delete with undo, transcript and export from the lines.
import assert from 'node:assert/strict';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

let flaky, fork;

export const options = {
  settings: () => ({ 'xcshLs.model': 'local/m' }),
  sessions(editor) {
    flaky = editor.session(
      'xcsh',
      'Fix the flaky test',
      [['why does TestClock fail on Mondays?', 'Because the week begins on Sunday there.']],
      { age: 3, id: '01a19656-0000-7000-8000-00000000aaaa' },
    );
    fork = editor.session('xcsh', 'Another way', [['and without a clock?', 'Then it works.']], {
      age: 2,
      parentSession: '01a19656-0000-7000-8000-00000000aaaa',
    });
    const damaged = editor.session('pi', 'Half written', [['hello', 'Hello.']], { age: 50 });
    appendFileSync(
      damaged,
      '{"type":"message","id":"x","parentId":nul\n{"type":"label","id":"bb000001","parentId":null,"timestamp":"2026-11-01T10:00:00.000Z","targetId":"y","label":"z"}\n',
    );
  },
};

export default async function (editor) {
  await editor.sessionsView();
  await editor.treeRow('Fix the flaky test').waitFor();
  await editor.treeRow('Another way').waitFor();
  await editor.treeRow('Half written').waitFor();
  const depth = async (text) => Number(await editor.treeRow(text).getAttribute('aria-level'));
  assert.equal(await depth('Another way'), (await depth('Fix the flaky test')) + 1, 'a fork is below its origin');
  await editor.treeRow('1 damaged line').waitFor();
  await editor.shot('tree');

  // Another program starts a session meanwhile.
  editor.session('pi', 'Written just now', [['a new question', 'A new answer.']], { age: 0 });
  await editor.treeRow('Written just now').waitFor();

  // The tooltip is created on demand. The line moves when the list is reloaded.
  const tooltip = editor.page.locator('.monaco-hover').filter({ hasText: 'TestClock' }).first();
  await until('the tooltip', async () => {
    await editor.page.mouse.move(900, 600);
    await editor.treeRow('Fix the flaky test').hover({ position: { x: 90, y: 10 } });
    return tooltip.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  });
  await editor.shot('tooltip');

  // The transcript is shown as it is rendered.
  await editor.menu('Fix the flaky test', 'Open Transcript');
  await editor.report.getByText('week begins on Sunday').waitFor();
  await editor.report.getByRole('heading').first().waitFor();
  await editor.shot('transcript');

  await editor.inline('Another way', 'Rename');
  await editor.answer('A better way');
  await editor.treeRow('A better way').waitFor();
  assert.match(editor.read(fork), /A better way/);

  await editor.inline('A better way', 'Delete');
  await editor.notified('was moved to the trash');
  await until('the file to go', () => !existsSync(fork));
  await editor.treeRow('A better way').waitFor({ state: 'detached' });
  await editor.shot('deleted');
  await editor.notified('was moved to the trash', 'Undo');
  await editor.treeRow('A better way').waitFor();
  assert.ok(existsSync(fork));
  await trash(editor);

  await editor.inline('Fix the flaky test', 'Export');
  const target = join(editor.folder, 'out.html');
  await editor.saveAs(target, 'Fix-the-flaky-test.html');
  assert.match(await editor.file(target), /week begins on Sunday/);
  await editor.notified('Exported to');
  await editor.shot('exported');

  const before = editor.read(flaky);
  await editor.inline('Fix the flaky test', 'Resume');
  await editor.status('Fix the flaky test');
  await editor.treeRow('active').waitFor();
  assert.equal(editor.read(flaky), before);
  await editor.shot('live');

  await editor.palette('xcshLs.sessions.search');
  await editor.answer('Mondays');
  await editor.treeRow('Half written').waitFor({ state: 'detached' });
  await editor.treeRow('Fix the flaky test').waitFor();
  await editor.shot('search');
  await editor.page.locator('.pane-header[aria-label^="Sessions"] .action-label[aria-label^="Clear Search"]').click();
  await editor.treeRow('Half written').waitFor();
  await attention(editor);
}

/** Deleted sessions are at the end of the list, from where they are restored or deleted for good. */
async function trash(editor) {
  const bytes = editor.read(fork);
  const group = editor.page.locator('.pane .monaco-list-row[aria-label^="Trash, 1 deleted session"]');
  await editor.inline('A better way', 'Delete');
  await until('the file to go', () => !existsSync(fork));
  await group.click();
  const deleted = editor.page.locator('.pane .monaco-list-row[aria-label*="A better way, deleted"]');
  await deleted.waitFor();
  await editor.shot('trash');
  await deleted.hover();
  await deleted.locator('.action-label[aria-label^="Restore"]').click();
  await editor.notified('"A better way" was restored.');
  await group.waitFor({ state: 'detached' });
  await editor.treeRow('A better way').waitFor();
  assert.equal(editor.read(fork), bytes);

  // By name, from the palette.
  await editor.inline('A better way', 'Delete');
  await until('the file to go', () => !existsSync(fork));
  await until('a session to be chosen', async () => {
    await editor.palette('xcsh.undelete');
    await editor.waitForRow('A better way');
    await editor.shot('restore');
    // Whatever takes the focus closes the list.
    return editor
      .row('A better way')
      .click({ timeout: 8000 })
      .then(
        () => true,
        () => false,
      );
  });
  await until('the file to return', () => existsSync(fork));

  await editor.inline('A better way', 'Delete');
  await group.click();
  await deleted.waitFor();
  await deleted.hover();
  await deleted.locator('.action-label[aria-label^="Delete Permanently"]').click();
  await editor.dialog('Delete "A better way" permanently?', 'Delete Permanently');
  await group.waitFor({ state: 'detached' });
  assert.ok(!existsSync(fork));
}

/** The list shows the activity of sessions while the panel is hidden, also after a reload of the window. */
async function attention(editor) {
  const { page } = editor;
  const row = (words) =>
    page.locator(`.pane .monaco-list-row[aria-label*="${words}"]`, { hasText: 'Fix the flaky test' });
  const gates = [0, 1].map(() => {
    let open;
    const held = new Promise((resolve) => (open = resolve));
    return { open, held };
  });
  const call = { id: 'call-1', name: 'write', args: { path: 'a.txt', content: 'Monday' } };
  const model = await service(editor, [
    { text: 'I write it down.', calls: [call], held: gates[0].held },
    { text: 'Written.', held: gates[1].held },
  ]);
  // After a reload, the page of a tab can come before that of the panel.
  await page.locator('.tab', { hasText: 'Preview' }).click({ button: 'middle' });
  await until('the tab to close', async () => (await page.locator('iframe.webview.ready').count()) === 1);
  await editor.openChat();
  await editor.say('write the day into a.txt');
  await editor.chat.getByRole('button', { name: 'local, on this machine' }).click(); // the session's model has no key here
  await row('running').waitFor();
  await editor.shot('running');
  const header = page.locator('.pane-header[aria-label^="Chat"]');
  await header.click(); // closes the panel; the list stays
  await page.locator('iframe.webview.ready').waitFor({ state: 'detached' });
  gates[0].open();
  await row('waiting for approval').waitFor();
  await editor.shot('waiting');
  await editor.notified(/Allow xcsh to \w+ a\.txt/, 'Allow');
  await row('running').waitFor();
  gates[1].open();
  await row('finished, unread').waitFor();
  await editor.notified('“Fix the flaky test” is finished.');
  assert.equal(await page.locator('.notification-list-item', { hasText: 'is finished' }).count(), 1);
  await page.getByRole('tab', { name: '1 session is finished' }).waitFor();
  await editor.shot('unread');

  await editor.stored('xcshLs.sessions.unread":["');
  await page.reload();
  await page.waitForSelector('.statusbar-item');
  await row('finished, unread').waitFor();
  await page.getByRole('tab', { name: '1 session is finished' }).waitFor();
  await header.click();
  await editor.said('Written.').waitFor();
  await row('finished, unread').waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: '1 session is finished' }).waitFor({ state: 'detached' });
  await editor.shot('seen');
  model.close();
}
