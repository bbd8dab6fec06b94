// A bug is fixed in the chat: read, explained, and changed with approval.
import { answers, model, project } from '../project.mjs';
import { service } from '../service.mjs';

export const options = {
  folders: ['ratelimit'],
  settings: () => ({ 'xcshLs.model': `local/${model}` }),
  sessions: project,
};

export default async function (editor) {
  const { page, chat } = editor;
  const allow = chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true });
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const served = await service(editor, answers(held), model);
  await page.setViewportSize({ width: 1280, height: 960 });
  await editor.openFile('limiter.go');
  await page.keyboard.press('Control+End');
  await editor.openChat();
  await editor.widen(600);
  await editor.treeRow('Without a clock').waitFor();
  await editor.say('TestPolling fails: a caller that polls every 400 ms never gets a token. Find the bug and fix it.');
  await chat.locator('.approval .diff .added', { hasText: 'time.Duration(added)' }).waitFor();
  await editor.shot('chat');

  await allow.click();
  await page.locator('.pane-header[aria-label^="Sessions"]').click();
  await chat.locator('.conversation table').getByText('1.5 s').waitFor();
  const toEnd = chat.locator('.to-end');
  if (await toEnd.isVisible()) await toEnd.click();
  await editor.shot('streaming');
  release();
  served.close();
}
