// Commands that ask for what they lack: model, prompt, going back to a prompt, label,
// rename, dump, check and figures, with the offline model that needs no key.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo', 'xcshLs.dump.to': 'editor' }),
  sessions(editor) {
    writeFileSync(join(editor.folder, 'README.md'), '# Albatross\n');
  },
};

export default async function (editor) {
  const { page } = editor;
  await editor.palette('xcsh: Ask…');
  await editor.answer('what is in README.md?');
  await editor.notification('Show Transcript').waitFor();
  const file = await until('the session file', () => editor.sessionFiles()[0]);
  assert.match(editor.read(file), /what is in README\.md\?/);
  assert.match(editor.read(file), /Albatross/);
  await editor.shot('answered');

  await editor.palette('xcsh: Rename Session…');
  await editor.answer('About birds');
  await editor.page.locator('.statusbar-item').filter({ hasText: /^\s*About birds/ }).first().waitFor();
  await until('the title on disk', () => editor.read(file).includes('About birds'));

  await editor.palette('xcsh: Label Entry…');
  await editor.pick('what is in README.md?');
  await editor.answer('begin');
  await until('the label on disk', () => /"type":"label".*"begin"|"label":"begin"/.test(editor.read(file)));

  await editor.palette('xcsh: Choose Model…');
  await editor.waitForRow('offline/demo');
  await editor.shot('models');
  await editor.pick('offline/demo');

  await editor.palette('xcsh: Set Approval Mode…');
  await editor.waitForRow('auto-edit');
  await editor.shot('approval');
  await page.keyboard.press('Escape');

  await editor.palette('xcsh: Dump Session as Text');
  await page.locator('.editor-instance').filter({ hasText: 'System Prompt' }).first().waitFor();

  await editor.palette('xcsh: Session Statistics');
  const report = page.frameLocator('iframe.webview.ready').last().frameLocator('#active-frame');
  await report.getByText('Session Statistics').first().waitFor();
  await editor.shot('statistics');
  await editor.palette('xcsh: Check Session');
  await report.getByText('Nothing is wrong with this session file.').first().waitFor();
  await editor.shot('check');

  // Going back to the prompt gives it back, to be edited; the old branch stays in the file.
  const before = editor.read(file);
  await editor.palette('xcsh: Go to Entry…');
  await editor.waitForRow('begin');
  await editor.shot('entries');
  await editor.pick('what is in README.md?');
  await until('the prompt where prompts are written', async () => {
    const texts = await Promise.all(page.frames().map((frame) => frame.locator('textarea').first().inputValue({ timeout: 100 }).catch(() => '')));
    return texts.includes('what is in README.md?');
  });
  await editor.shot('gone-back');
  assert.ok(editor.read(file).startsWith(before), 'only appended to');

  await page.locator('.statusbar-item').filter({ hasText: 'About birds' }).first().click();
  await editor.waitForRow('Export…');
  await editor.shot('menu');
  await editor.pick('Fork');
  const copy = await until('the copy', () => editor.sessionFiles().find((other) => other !== file));
  assert.equal(JSON.parse(editor.read(copy).split('\n')[0]).cwd, editor.folder);
}
