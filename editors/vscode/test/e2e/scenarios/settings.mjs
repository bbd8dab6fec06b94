// The walkthrough with each of its steps, and the page of settings.
import assert from 'node:assert/strict';

export default async function (editor) {
  const { page } = editor;
  await editor.palette('xcshLs.walkthrough.open');
  await editor.palette('View: Toggle Primary Side Bar Visibility'); // a narrow page does not show the steps' texts
  await page.getByText('Get Started with xcsh Sessions').first().waitFor();
  for (const [step, heading] of [
    ['Choose a model', 'Something that answers'],
    ['Send your first prompt', 'Ask, and watch'],
    ['Resume a session', 'Pick up where you left off'],
    ['Decide what needs your approval', 'Nothing happens behind your back'],
    ['Continue in a terminal', 'One session, two places'],
  ]) {
    await page.locator('.getting-started-step', { hasText: step }).click();
    await page
      .frameLocator('iframe.webview.ready')
      .frameLocator('#active-frame')
      .getByRole('heading', { name: heading })
      .waitFor();
    await editor.shot(`step-${step.split(' ')[0].toLowerCase()}`);
  }

  await editor.palette('Preferences: Open Settings (UI)');
  const search = page.locator('.settings-editor .suggest-input-container .view-line').first();
  await search.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.type('@ext:xcsh-ls.xcsh-ls');
  const pages = async (name, first) => {
    await page.locator('.settings-tabs-widget .action-label', { hasText: name }).click();
    await page.locator('.settings-editor .setting-item-description', { hasText: first }).first().waitFor();
    await page.mouse.move(800, 500);
    await page.mouse.wheel(0, -5000);
    for (let n = 1; n <= 4; n++) {
      await editor.shot(`${name.toLowerCase()}-${n}`);
      await page.mouse.wheel(0, 1500);
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    }
  };
  await pages('User', 'Model for new sessions');
  await pages('Remote', 'The engine that answers');
  assert.equal(await page.locator('.settings-editor .setting-item-description:has-text("%setting")').count(), 0);
}
