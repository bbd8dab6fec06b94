// A conversation of 1,400 messages: the panel shows the newest, loads the others as the user scrolls,
// never has more than 1,000, and finds text in all of them. New messages are at the end.
import assert from 'node:assert/strict';

import { until } from '../driver.mjs';

const turns = Array.from({ length: 700 }, (_, i) => [`prompt number ${i} of many`, `answer number ${i} of many`]);

export const options = {
  sessions: (editor) => void editor.session('pi', 'A long conversation', turns),
};

export default async function (editor) {
  const { page, chat } = editor;
  await editor.palette('xcsh.resume');
  await editor.pick('A long conversation');
  await editor.openChat();
  await editor.said('prompt number 699 of many').waitFor();
  const older = chat.locator('.more.older button');
  assert.equal(await older.innerText(), '1,300 earlier messages');
  const drawn = () => chat.locator('article.message').count();
  assert.equal(await drawn(), 100);
  await editor.shot('newest');

  let most = 0;
  await until('the first message', async () => {
    await chat.locator('.scroll').evaluate((el) => (el.scrollTop = 0));
    most = Math.max(most, await drawn());
    return (await older.count()) === 0;
  });
  await editor.said('prompt number 0 of many').waitFor();
  assert.ok(most <= 1000, `${most} are drawn`);
  await chat.locator('.more.newer button').waitFor({ state: 'attached' });
  await editor.shot('oldest');

  // The search has VS Code's key, and the field gets the focus.
  await chat.locator('#composer').click();
  await page.keyboard.press('Control+f');
  await chat.locator('.find input').fill('NUMBER 437 OF');
  await page.keyboard.press('Enter');
  await chat.locator('article[data-found]', { hasText: 'answer number 437 of many' }).waitFor();
  assert.equal(await chat.locator('.find .position').innerText(), '1 of 2');
  await editor.shot('found');
  await page.keyboard.press('Enter');
  await chat.locator('article[data-found]', { hasText: 'prompt number 437 of many' }).waitFor();
  await page.keyboard.press('Escape');

  // The own prompt is in view after it is sent from the middle, and the new turn is at the end.
  await editor.useDemo();
  await chat.locator('.to-end').waitFor();
  await editor.say('and one more');
  await editor.said('and one more').waitFor();
  await until('the prompt in view', () =>
    editor.said('and one more').evaluate((el) => {
      const [box, at] = [el.closest('.scroll'), el].map((e) => e.getBoundingClientRect());
      return at.top >= box.top && at.bottom <= box.bottom;
    }),
  );
  await editor.turnEnds();
  assert.equal(await chat.locator('.to-end').count(), 0);
  assert.deepEqual((await chat.locator('.said').allInnerTexts()).slice(-2), [
    'prompt number 699 of many',
    'and one more',
  ]);
  await editor.shot('end');
}
