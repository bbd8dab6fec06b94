// A session that is shown without being resumed, and one of 60,000 messages.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { readingStates } from '../../../src/chat/messages';
import { called, inScene, sent, stop } from './tab';

after(stop);

const buttons = (page: Page) =>
  page.evaluate<string[]>("[...document.querySelectorAll('.reading .ways button')].map((b) => b.textContent)");

test('a session that is only read has no composer, and says why and how to continue', async () => {
  const expected: Record<(typeof readingStates)[number], string[]> = {
    free: ['Continue Here', 'Fork Here', 'Open in Editor'],
    live: ['Show in Chat'],
    locked: ['Fork Here', 'Try Again', 'Open in Editor'],
    terminal: ['Open Terminal', 'Take Over', 'Open in Editor'],
    working: ['Continue Here', 'Fork Here', 'Open in Editor'],
    elsewhere: ['Fork Here', 'Open Its Folder', 'Open in Editor'],
    fixed: ['Fork Here', 'Open in Editor'],
    restricted: ['Manage Trust', 'Open in Editor'],
    followed: ['Continue Here'],
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

test('the ways to continue can change while the user reads', () =>
  inScene(
    'long',
    async ({ page }) => {
      await page.evaluate("document.querySelector('.scroll').scrollTop = 2000");
      const before = await page.evaluate<number>("document.querySelector('.scroll').scrollTop");
      await page.evaluate(`window.harness.post({
        kind: 'reading',
        reading: { path: '/s/a.jsonl', name: 'x', place: 'tab', state: 'live', by: '' },
        trusted: true,
      })`);
      await page.waitForSelector(".reading button:text-is('Show in Chat')");
      assert.equal(await page.evaluate("document.querySelector('.scroll').scrollTop"), before);
    },
    { more: '&reading=free&place=tab' },
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

/** How much longer a task may take here: the machines of tests are slower than a user's. */
const slower = 3;

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  dur?: number; // microseconds
  tdur?: number; // of these, those in which the thread ran: other programs don't count
  args?: { name?: string };
}

/** Returns the tasks of the page's thread while f runs, in milliseconds. */
async function tasksDuring(page: Page, f: () => Promise<void>): Promise<{ wall: number; busy: number }[]> {
  const browser = page.context().browser();
  assert.ok(browser);
  await browser.startTracing(page, { categories: ['toplevel'] });
  await f();
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const mains = new Set(
    traceEvents
      .filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain')
      .map((e) => `${e.pid} ${e.tid}`),
  );
  return traceEvents
    .filter((e) => mains.has(`${e.pid} ${e.tid}`) && e.ph === 'X' && e.name.endsWith('RunTask'))
    .map(({ dur, tdur }) => ({ wall: (dur ?? 0) / 1000, busy: (tdur ?? 0) / 1000 }));
}

test('scrolling through 10,000 of 60,000 messages does not block the page', () =>
  inScene(
    'huge',
    async ({ page }) => {
      let seen = { pages: 0, most: 0, ms: 0 };
      const tasks = await tasksDuring(page, async () => {
        // As with a dragged scroll bar: towards the top again and again, and never faster than a frame.
        seen = await page.evaluate<typeof seen>(`(async () => {
          const frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
          const box = document.querySelector('.scroll');
          const begun = performance.now();
          let most = 0;
          const asked = () => window.harness.received.filter((m) => m.command === 'xcsh.messages').length;
          while (asked() < 100) {
            box.scrollTop = Math.max(0, box.scrollTop - 4000);
            await frame();
            most = Math.max(most, document.querySelectorAll('article.message').length);
          }
          return { pages: asked(), most, ms: performance.now() - begun };
        })()`);
      });
      const busy = Math.max(...tasks.map((task) => task.busy));
      const long = tasks.filter((task) => task.busy > 50).length;
      console.log(
        `60,001 messages: ${seen.pages} pages in ${Math.round(seen.ms)} ms, ${seen.most} drawn at most; ` +
          `the longest task ran ${Math.round(busy)} ms, and ${long} of ${tasks.length} more than 50 ms`,
      );
      assert.ok(busy > 0, 'the tasks are measured');
      assert.ok(seen.most <= 1000, `${seen.most} are drawn`);
      assert.ok(busy < 50 * slower, `a task ran ${busy} ms`);
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
      assert.ok(took < 300 * slower * slower, `${took} ms`);
    },
    { more: '&reading=free' },
  ));
