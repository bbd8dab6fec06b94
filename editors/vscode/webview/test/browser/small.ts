// Small panels: narrow ones, low ones, and any at a zoom of 200 %, which halves the number of CSS pixels.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { inScene, stop } from './tab';

after(stop);

const sizes = [
  { width: 300, height: 760, name: '300 px wide' },
  { width: 210, height: 380, name: '420 × 760 px at 200 %' },
  { width: 170, height: 380, name: 'the narrowest side bar at 200 %' },
];

/** Three lines of text, in pixels. */
const threeLines = 58;

interface Layout {
  wide: number; // pixels that the page is too wide
  conversation: number; // its visible height
  outside: string[]; // parts of the composer that are not in the panel
  cut: string[]; // controls that are too wide
  covered: string[]; // controls that cannot be reached by scrolling
}

/** Measures the page after the next frame. */
const layout = (page: Page) =>
  page.evaluate<Layout>(`(async () => {
    await new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)));
    const named = (e) => (e.getAttribute('aria-label') ?? e.textContent).slice(0, 40);
    const rect = (e) => e.getBoundingClientRect();
    const inside = (r, { left, right, top, bottom }) =>
      r.left >= left - 0.5 && r.right <= right + 0.5 && r.top >= top - 0.5 && r.bottom <= bottom + 0.5;
    const view = { left: 0, right: innerWidth, top: 0, bottom: innerHeight };
    const scroll = document.querySelector('.scroll');
    const composer = document.querySelector('.composer');
    const controls = [...document.querySelectorAll('.page :is(button, textarea, input)')]
      .filter((e) => e.checkVisibility() && !e.closest('.scroll'));
    const wide = (e) => e.scrollWidth - e.clientWidth;
    return {
      wide: Math.max(wide(document.documentElement), wide(scroll)),
      conversation: rect(scroll).height,
      outside: [composer, ...composer.querySelectorAll('textarea, .send button')].filter((e) => !inside(rect(e), view)).map(named),
      cut: controls.filter((e) => {
        const r = rect(e);
        const box = rect(e.closest('.composer, .approval, .question, .crash, .ways, .head') ?? document.body);
        return r.left < box.left - 0.5 || r.right > box.right + 0.5 || (e.matches('.button') && wide(e) > 0);
      }).map(named),
      covered: controls.filter((e) => {
        e.scrollIntoView({ block: 'nearest' });
        const r = rect(e);
        return !inside(r, view) || !e.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2));
      }).map(named),
    };
  })()`);

const scenes = {
  empty: '.hints',
  conversation: '.facts',
  streaming: '.queue',
  tool: '.todos',
  approval: '.approval .diff',
  command: '.approval .warning',
  questions: '.question',
  questionOptions: '.question',
  questionEditor: '.question textarea',
  crash: '.crash',
  ways: '.way',
  foreign: '.foreign',
};

test('a small panel shows the composer and some lines of the conversation, and all controls can be reached', async () => {
  for (const [scene, shows] of Object.entries(scenes))
    await inScene(scene, async ({ page }) => {
      await page.waitForSelector(shows, { state: 'attached' });
      for (const { name, ...size } of sizes) {
        await page.setViewportSize(size);
        const { conversation, ...rest } = await layout(page);
        assert.deepEqual(rest, { wide: 0, outside: [], cut: [], covered: [] }, `${scene}, ${name}`);
        assert.ok(conversation >= threeLines, `${scene}, ${name}: ${conversation} px of the conversation`);
      }
    });
});

test('with the find bar, a small panel is usable, too', () =>
  inScene('approval', async ({ page }) => {
    await page.waitForSelector('.approval .diff');
    await page.evaluate("window.harness.post({ kind: 'find' })");
    await page.waitForSelector('.find input');
    for (const { name, ...size } of sizes) {
      await page.setViewportSize(size);
      const { conversation, ...rest } = await layout(page);
      assert.deepEqual(rest, { wide: 0, outside: [], cut: [], covered: [] }, name);
      assert.ok(conversation >= threeLines, `${name}: ${conversation} px of the conversation`);
    }
  }));
