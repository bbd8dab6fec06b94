// axe-core in the page, and a check of the size of its controls.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of WCAG 2.2 AA, and the advice of axe. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Reasons why axe cannot judge a contrast: signs without letters, and texts below a list that covers them. */
const unknowable = ['nonBmp', 'bgOverlap'];

/** Loads axe; the page's policy does not apply to the tests. */
export async function load(page: Page): Promise<void> {
  await page.evaluate(`${source};0`);
}

/** Returns the violations in the elements that match within, each as one line; only contrast: the colors alone. */
export async function violations(page: Page, within: string, onlyContrast = false): Promise<string[]> {
  const run = onlyContrast
    ? { runOnly: { type: 'rule', values: ['color-contrast'] } }
    : { runOnly: { type: 'tag', values: tags }, rules: { 'target-size': { enabled: true } } };
  return page.evaluate<string[]>(`(async () => {
    const { violations, incomplete } = await axe.run({ include: [${JSON.stringify(within)}] },
      { ...${JSON.stringify(run)}, preload: false, resultTypes: ['violations', 'incomplete'] });
    const lines = (found, word) => found.flatMap((v) => v.nodes
      .map((n) => [n, n.any[0] ?? n.all[0] ?? n.none[0]])
      .filter(([, check]) => !${JSON.stringify(unknowable)}.includes(check?.data?.messageKey))
      .map(([n, check]) => word + v.id + ' ' + n.target.join(' ') + ': ' + check?.message));
    return [...lines(violations, ''), ...lines(incomplete.filter((v) => v.id === 'color-contrast'), '? ')];
  })()`);
}

/** Returns the visible controls that are smaller than 24 px; links in a text may be. */
export async function small(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll(
      'button, input, select, textarea, summary, [role=option], [role=menuitem]')]
    .filter((e) => e.checkVisibility())
    .map((e) => [e, e.getBoundingClientRect()])
    .filter(([, r]) => r.width > 0 && (r.width < 23.99 || r.height < 23.99))
    .map(([e, r]) => r.width.toFixed(1) + ' × ' + r.height.toFixed(1) + ' ' + e.outerHTML.slice(0, 120))`);
}
