// Any session can be read in an editor tab, from its first message to its last and across its compactions, without being
// resumed; it can be searched there, and continued.
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';

import { until } from '../driver.mjs';

let long;

/** Compacts a session after the turn numbered at, which is kept: the model doesn't get the earlier ones. */
function compact(file, at) {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const kept = JSON.parse(lines.find((line) => line.includes(`prompt number ${at} of many`)));
  const next = lines.findIndex((line) => line.includes(`prompt number ${at + 1} of many`));
  const last = JSON.parse(lines[next - 1]);
  const entry = {
    type: 'compaction',
    id: `cc0000${at}`,
    parentId: last.id,
    timestamp: last.timestamp,
    summary: `A summary of ${at} turns.`,
    firstKeptEntryId: kept.id,
    tokensBefore: 1000,
  };
  const after = JSON.parse(lines[next]);
  lines.splice(next, 1, JSON.stringify(entry), JSON.stringify({ ...after, parentId: entry.id }));
  writeFileSync(file, lines.join('\n') + '\n');
}

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions(editor) {
    const turns = Array.from({ length: 300 }, (_, i) => [`prompt number ${i} of many`, `answer number ${i} of many`]);
    long = editor.session('xcsh', 'A compacted conversation', turns, { age: 3 });
    compact(long, 120);
    compact(long, 280);
    editor.session('xcsh', 'Fix the flaky test', [['why Mondays?', 'Because of Sundays.']], { age: 1 });
  },
};

export default async function (editor) {
  const { page, chat } = editor;
  const before = editor.read(long);
  await editor.sessionsView();
  await editor.treeRow('Fix the flaky test').click();
  await editor.said('Because of Sundays.').waitFor();

  // A list that is redrawn closes its menu without a choice.
  const opened = page.locator('.tab.active', { hasText: 'A compacted conversation' });
  await until('the tab', async () => {
    await editor.menu('A compacted conversation', 'Open in Editor');
    return opened.waitFor({ timeout: 5000 }).then(
      () => true,
      () => false,
    );
  });
  const tab = editor.report;
  await tab.locator('.message', { hasText: 'answer number 299 of many' }).waitFor();
  await tab.getByText('You are reading this session.').waitFor();
  await editor.shot('tab');

  // The whole history, with both summaries, by scrolling.
  const older = tab.locator('.more.older button');
  assert.equal(await older.innerText(), '502 earlier messages');
  await until('the first message', async () => {
    await tab.locator('.scroll').evaluate((el) => (el.scrollTop = 0));
    return (await older.count()) === 0;
  });
  await tab.locator('.message', { hasText: 'prompt number 0 of many' }).first().waitFor();
  assert.equal(await tab.locator('.summary').count(), 2);

  // The search has VS Code's key, and covers all of it.
  await tab.locator('.message', { hasText: 'prompt number 0 of many' }).first().click();
  await page.keyboard.press('Control+f');
  await tab.locator('.find input').fill('number 57 of');
  await page.keyboard.press('Enter');
  await tab.locator('article[data-found]', { hasText: 'answer number 57 of many' }).waitFor();
  assert.equal(await tab.locator('.find .position').innerText(), '1 of 2');
  await editor.shot('found');
  await page.keyboard.press('Escape');

  // Nothing was resumed or written. A message of another program appears.
  await editor.status('Fix the flaky test');
  assert.equal(editor.read(long), before);
  const last = JSON.parse(before.trim().split('\n').at(-1));
  const more = { ...last, id: 'dd000001', parentId: last.id };
  more.message = { role: 'user', content: 'written by another program', timestamp: 1 };
  appendFileSync(long, JSON.stringify(more) + '\n');
  await tab.locator('.message', { hasText: 'written by another program' }).waitFor({ state: 'attached' });

  await tab.getByRole('button', { name: 'Continue Here' }).click();
  await editor.status('A compacted conversation');
  await chat.locator('.message', { hasText: 'written by another program' }).waitFor();
  await tab.getByText('This session is open in the chat.').waitFor();
  await editor.shot('continued');

  // Closed, so that the conversation has the only page.
  await page.locator('.tab', { hasText: 'A compacted conversation' }).click({ button: 'middle' });
  await until('the tab to close', async () => (await page.locator('iframe.webview.ready').count()) === 1);
  await move(editor);
}

/** The live conversation moves into an editor tab, where it survives a reload, to the secondary side bar, and back. */
async function move(editor) {
  const { page, chat } = editor;
  const composer = chat.locator('#composer');
  const at = async () => (await page.locator('iframe.webview.ready').first().boundingBox())?.x ?? -1;
  await editor.useDemo();
  await composer.fill('a draft that moves');
  await until('the draft to be kept', () => composer.inputValue());
  await editor.palette('xcshLs.chat.moveToEditor');
  const tab = page.locator('.tab.active', { hasText: 'A compacted conversation' });
  await tab.waitFor();
  await page.locator('.pane-header[aria-label^="Chat"]').waitFor({ state: 'detached' });
  await until('the draft in the tab', async () => (await composer.inputValue()) === 'a draft that moves');
  await editor.say('hello from the tab');
  await editor.said('hello from the tab').waitFor();
  await editor.turnEnds();
  await editor.shot('in-editor');

  await editor.stored('mainThreadWebview-xcshLs.conversation');
  await page.reload();
  await page.waitForSelector('.statusbar-item');
  await tab.waitFor();
  await editor.said('hello from the tab').waitFor();
  await page.locator('.pane-header[aria-label^="Chat"]').waitFor({ state: 'detached' });

  await editor.palette('xcshLs.chat.moveToSecondarySideBar');
  await tab.waitFor({ state: 'detached' });
  await until('the page on the right', async () => (await at()) > 700);
  await editor.said('hello from the tab').waitFor();
  await composer.waitFor();
  await editor.shot('secondary');

  await editor.palette('xcshLs.chat.moveToSideBar');
  await page.locator('.part.sidebar .pane-header[aria-label^="Chat"]').waitFor();
  await editor.said('hello from the tab').waitFor();
  await until('the page on the left', async () => (await at()) < 400);
  await editor.shot('moved-back');
}
