// A bug is fixed in the chat: read, explained, changed with approval, tested.
import { answers, model, path, project } from '../project.mjs';
import { service } from '../service.mjs';

export const options = {
  folders: ['ratelimit'],
  settings: () => ({ 'xcshLs.model': `local/${model}` }),
  sessions: project,
  path,
};

export default async function (editor) {
  const { page, chat } = editor;
  const allow = chat.locator('.approval').getByRole('button', { name: 'Allow', exact: true });
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const served = await service(editor, answers(held), model);
  await editor.openFile('limiter.go');
  await page.keyboard.press('Control+End');
  await editor.openChat();
  await editor.widen(600);
  await editor.treeRow('Without a clock').waitFor();
  await editor.say('TestPolling fails: a caller that polls every 400 ms never gets a token. Find the bug and fix it.');
  await chat.locator('.approval .diff .added', { hasText: 'time.Duration(added)' }).waitFor();
  await editor.shot('chat');

  await allow.click();
  await chat.locator('.approval', { hasText: 'go test -v ./...' }).waitFor();
  await allow.click();
  await page.locator('.pane-header[aria-label^="Sessions"]').click();
  await chat.locator('.conversation table').getByText('1.5 s').waitFor();
  await editor.shot('streaming');
  release();
  served.close();
}
