import { service } from '../service.mjs';
import { call, project } from '../project.mjs';

export const options = {
  folders: ['parser'],
  settings: () => ({ 'xcshLs.model': 'local/local-model', 'workbench.colorTheme': 'Default Light Modern' }),
  sessions: project,
};

export default async function (editor) {
  const { page } = editor;
  const model = await service(editor, [{ text: 'One line is missing.', calls: [call] }], 'local-model');
  await editor.palette('xcsh.resume');
  await editor.waitForRow('Import the old corpus');
  await editor.allFolders();
  await editor.waitForRow('Release notes');
  await page.locator('.quick-input-list').filter({ hasText: 'Other folders' }).waitFor();
  await page.mouse.move(1000, 700);
  await page.locator('.monaco-hover, .workbench-hover-container').first().waitFor({ state: 'hidden' });
  await editor.shot('resume');
  await page.keyboard.press('Escape');

  await editor.openFile('parser.go');
  await page.locator('.view-line', { hasText: 'continue' }).click();
  await editor.palette('xcshLs.inlineChat');
  await page.locator('.review-widget .monaco-editor.focused').waitFor();
  await page.keyboard.type('skip the space');
  await page.keyboard.press('Enter');
  await page.locator('.review-widget .review-comment', { hasText: 'p.at++' }).waitFor();
  await page.locator('.codelens-decoration a', { hasText: 'Keep' }).first().waitFor();
  await page.mouse.move(600, 650); // away from the buttons, which have tooltips
  await editor.shot('inline');
  model.close();
}
