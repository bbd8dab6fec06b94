// Commands that ask for missing arguments: model, prompt, going back to a prompt, label, rename,
// dump, check and statistics, with the offline model that needs no API key.
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
  await editor.palette('xcsh.prompt');
  await editor.answer('what is in README.md?');
  await editor.said('The tool read returned').waitFor();
  await editor.turnEnds();
  const file = await until('the session file', () => editor.sessionFiles()[0]);
  assert.match(editor.read(file), /what is in README\.md\?/);
  assert.match(editor.read(file), /Albatross/);
  await editor.shot('answered');

  await editor.palette('xcsh.rename');
  await editor.answer('About birds');
  await editor.page
    .locator('.statusbar-item')
    .filter({ hasText: /^\s*About birds/ })
    .first()
    .waitFor();
  await until('the title on disk', () => editor.read(file).includes('About birds'));

  await editor.palette('xcsh.label');
  await editor.pick('what is in README.md?');
  await editor.answer('begin');
  await until('the label on disk', () => /"type":"label".*"begin"|"label":"begin"/.test(editor.read(file)));

  await editor.palette('xcsh.setModel');
  await editor.waitForRow('offline/demo');
  await editor.shot('models');
  await editor.pick('offline/demo');

  await editor.palette('xcsh.setApproval');
  await editor.waitForRow('auto-edit');
  await editor.shot('approval');
  await page.keyboard.press('Escape');

  await editor.palette('xcsh.dump');
  await page.locator('.editor-instance').filter({ hasText: 'System Prompt' }).first().waitFor();

  await editor.palette('xcsh.stats');
  await editor.report.getByText('Session Statistics').first().waitFor();
  await editor.shot('statistics');
  await editor.palette('xcsh.doctor');
  await editor.report.getByText('No problems found in this session file.').first().waitFor();
  await editor.shot('check');

  // Going back to the prompt puts it into the composer for editing; the old branch stays in the
  // file.
  const before = editor.read(file);
  await editor.palette('xcsh.branch');
  await editor.waitForRow('begin');
  await editor.shot('entries');
  await editor.pick('what is in README.md?');
  const composer = editor.chat.locator('#composer');
  await until(
    'the prompt where prompts are written',
    async () => (await composer.inputValue()) === 'what is in README.md?',
  );
  await editor.shot('gone-back');
  assert.ok(editor.read(file).startsWith(before), 'only appended to');

  // Earlier prompts, including those sent to another program, can be found in the prompt history.
  await composer.fill('');
  await composer.press('Control+r');
  await editor.waitForRow('what is in README.md?');
  await editor.shot('history');
  await editor.pick('what is in README.md?');
  await until('the earlier prompt', async () => (await composer.inputValue()) === 'what is in README.md?');

  await page.locator('.statusbar-item').filter({ hasText: 'About birds' }).first().click();
  await editor.waitForRow('Export…');
  await editor.shot('menu');
  await editor.pick('Fork');
  const copy = await until('the copy', () => editor.sessionFiles().find((other) => other !== file));
  assert.equal((await editor.header(copy)).cwd, editor.folder);
}
