// A session that is shown without being resumed, and one of 60,000 messages.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { readingStates } from '../../../src/chat/messages';
import { called, inScene, sent, stop, until } from './tab';

after(stop);

const buttons = (page: Page) =>
  page.evaluate<string[]>("[...document.querySelectorAll('.reading .ways button')].map((b) => b.textContent)");

test('a session that is only read has no composer, and says why and how to continue', async () => {
  const expected: Record<(typeof readingStates)[number], string[]> = {
    free: ['Continue Here', 'Fork Here', 'Open in Editor'],
    live: ['Show in Chat'],
    locked: ['Fork Here', 'Try Again', 'Open in Editor'],
    working: ['Continue Here', 'Fork Here', 'Open in Editor'],
    elsewhere: ['Fork Here', 'Open Its Folder', 'Open in Editor'],
    fixed: ['Fork Here', 'Open in Editor'],
    restricted: ['Manage Trust', 'Open in Editor'],
  };
  for (const state of readingStates) {
    await inScene(
      'conversation',
      async ({ page }) => {
        assert.equal(await page.$('#composer'), null);
        assert.deepEqual(await buttons(page), expected[state]);
        assert.notEqual(await page.textContent('.reading p'), '');
        assert.equal(await page.$("[aria-label='Edit and resend']"), null);
        const forks = await page.$$("[aria-label='Fork after this answer']");
        assert.equal(forks.length > 0, state !== 'restricted');
        await page.click('.reading .ways button');
        assert.equal((await sent(page, 'reading')).length, 1);
        assert.deepEqual(await called(page), []);
        const wide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        assert.equal(await page.evaluate(wide), false);
      },
      {
        width: 300,
        more: `&reading=${state}${state === 'restricted' ? '&trusted=no' : ''}${state === 'live' ? '&place=tab' : ''}`,
      },
    );
  }
});

test('a message that a search found is shown, with its words marked', () =>
  inScene(
    'long',
    async ({ page }) => {
      const entryId = await page.evaluate<string>(
        "window.harness.session.messages.find((m) => JSON.stringify(m.message).includes('Question 40:')).entryId",
      );
      await page.evaluate(
        `window.harness.post({ kind: 'reveal', entryId: ${JSON.stringify(entryId)}, words: ['question', 'message'] })`,
      );
      await page.waitForSelector("article[data-found]:has-text('Question 40:')");
      const marks = await page.evaluate<string[]>(
        "[...CSS.highlights.get('found')].map((range) => range.toString().toLowerCase())",
      );
      assert.deepEqual([...new Set(marks)].toSorted(), ['message', 'question']);
      // The user can go back to the newest message.
      await page.click('.to-end');
      await page.waitForSelector("article:has-text('Question 3085:')");
    },
    { more: '&reading=free' },
  ));

test('a message of another branch is explained', () =>
  inScene(
    'conversation',
    async ({ page }) => {
      await page.evaluate("window.harness.post({ kind: 'reveal', entryId: 'gone', words: [] })");
      await page.waitForSelector(".reading:has-text('on another branch')");
    },
    { more: '&reading=free' },
  ));

/** How much longer than 50 ms a task may take here: a machine that runs other tests is several times slower. */
const slower = 8;

test('scrolling through 60,000 messages does not block the page', () =>
  inScene(
    'huge',
    async ({ page }) => {
      const seen = await page.evaluate<{ first: number; pages: number; most: number; tasks: number[]; ms: number }>(
        `(async () => {
          const tasks = [];
          new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({
            type: 'longtask',
          });
          const frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
          const box = document.querySelector('.scroll');
          const begun = performance.now();
          let most = 0;
          // As with a dragged scroll bar: to the top again and again, and never faster than a frame.
          while (document.querySelector('.more.older')) {
            box.scrollTop = Math.max(0, box.scrollTop - 4000);
            await frame();
            most = Math.max(most, document.querySelectorAll('article.message').length);
            if (performance.now() - begun > 300_000) break;
          }
          const asked = window.harness.received.filter((m) => m.command === 'xcsh.messages');
          const first = document.querySelectorAll('.more.older').length;
          return { first, pages: asked.length, most, tasks, ms: performance.now() - begun };
        })()`,
      );
      const longest = Math.max(0, ...seen.tasks);
      console.log(
        `60,001 messages: ${seen.pages} pages in ${Math.round(seen.ms)} ms, ${seen.most} drawn at most; ` +
          `${seen.tasks.length} tasks of more than 50 ms, the longest ${Math.round(longest)} ms`,
      );
      assert.equal(seen.first, 0, 'the first message is reached');
      await until(page, "document.querySelector('.inner').textContent.includes('The first message')");
      assert.ok(seen.most <= 1000, `${seen.most} are drawn`);
      assert.ok(longest < 50 * slower, `a task took ${longest} ms`);
    },
    { more: '&reading=free', width: 600 },
  ));

test('the newest screen of a large answer is drawn at once', () =>
  inScene(
    'huge',
    async ({ page }) => {
      const took = await page.evaluate<number>(`(async () => {
        window.harness.held = true;
        window.harness.post({ kind: 'server', state: 'stopped' });
        window.harness.post({ kind: 'server', state: 'running' });
        const waits = () => window.harness.received.filter((m) => m.command === 'xcsh.snapshot').length < 2;
        while (waits()) await new Promise((r) => setTimeout(r));
        for (const el of document.querySelectorAll('.inner')) el.dataset.before = '';
        const begun = performance.now();
        window.harness.release();
        await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r))));
        return performance.now() - begun;
      })()`);
      console.log(`from the answer to the newest screen: ${Math.round(took)} ms`);
      assert.ok(took < 300 * slower, `${took} ms`);
    },
    { more: '&reading=free' },
  ));
