// The list of sessions, and a change under review in the text.
import { fix, model, path, project } from '../project.mjs';
import { service } from '../service.mjs';

export const options = {
  folders: ['ratelimit'],
  settings: () => ({ 'xcshLs.model': `local/${model}`, 'workbench.colorTheme': 'Default Light Modern' }),
  sessions: project,
  path,
};

export default async function (editor) {
  const { page } = editor;
  const served = await service(
    editor,
    [{ text: 'The time of the newest token moves by whole intervals.', calls: [fix] }],
    model,
  );
  await editor.palette('xcsh.resume');
  await editor.waitForRow('Import the old corpus');
  await editor.allFolders();
  await editor.waitForRow('Release notes');
  await page.locator('.quick-input-list').filter({ hasText: 'Other folders' }).waitFor();
  await page.mouse.move(1000, 700);
  await page.locator('.monaco-hover, .workbench-hover-container').first().waitFor({ state: 'hidden' });
  await editor.shot('resume');
  await page.keyboard.press('Escape');

  await editor.openFile('limiter.go');
  await page.locator('.view-line', { hasText: 'Limiter is a token bucket' }).click();
  await page.keyboard.press('Control+End');
  await page.locator('.view-line', { hasText: 'l.last = now' }).click();
  await editor.palette('xcshLs.inlineChat');
  await page.locator('.review-widget .monaco-editor.focused').waitFor();
  await page.keyboard.type('keep the fraction of the interval');
  await page.keyboard.press('Enter');
  await page.locator('.review-widget .review-comment', { hasText: 'time.Duration(added)' }).waitFor();
  await page.locator('.codelens-decoration a', { hasText: 'Keep' }).first().waitFor();
  await page.mouse.move(1000, 60); // away from the buttons, which have tooltips
  await editor.shot('inline');
  served.close();
}
