// The page in another language: every text of its own comes in ⟦brackets⟧, and so what stands
// outside of them is what the session said, or a text that no translation reaches.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { inScene, stop, until } from './tab';
import type { Tab } from './tab';

after(stop);

/** Where the page shows what people, models, tools, files and the server said. */
const saidByOthers = [
  '.markdown .html',
  '.said',
  '.gist',
  '.what',
  '.rules',
  '.phase',
  'figure.code code',
  'figure.code .language',
  '.diff .text',
  '.diff .gap',
  '.output pre',
  '.arguments',
  '.chip',
  '.facts',
  '.todos li > span:not(.unseen)',
  '.suggestions li',
  '.choice > span:not(.unseen)',
  '.choice select',
  '.note p',
  '.failure p',
  '.problem',
  'kbd',
];

/** Where an attribute names something of theirs: a path, the rules of a permission, the program itself. */
const namesOfOthers = ['.chip[title]', '.rules[title]', '.message.assistant[aria-label=xcsh]'];

/** Texts, and attributes that are read, which have letters outside of the brackets. */
const unmarked = (page: Page) =>
  page.evaluate<string[]>(`(() => {
    const outside = (text) => {
      for (let before = ''; before !== text; ) [before, text] = [text, text.replace(/⟦[^⟦⟧]*⟧/g, '')];
      return /\\p{L}/u.test(text);
    };
    const found = [];
    const root = document.querySelector('#root');
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let n = walker.nextNode(); n; n = walker.nextNode())
      if (outside(n.data) && !n.parentElement.closest(${JSON.stringify(saidByOthers.join(','))}))
        found.push(n.parentElement.outerHTML.slice(0, 200));
    for (const e of root.querySelectorAll('[aria-label], [title], [placeholder], [alt]'))
      for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
        if (outside(e.getAttribute(name) ?? '') && !e.matches(${JSON.stringify(namesOfOthers.join(','))}))
          found.push(name + ': ' + e.getAttribute(name));
    return found;
  })()`);

const inLanguage = (scene: string, f: (t: Tab) => Promise<void>, more = '') =>
  inScene(scene, f, { more: `&texts=marked${more}` });

/** Opens everything that is folded. */
async function openAll(page: Page): Promise<void> {
  await page.evaluate("for (const b of document.querySelectorAll('.fold-head[aria-expanded=false]')) b.click()");
  await until(page, "!document.querySelector('.fold-head[aria-expanded=false]')");
}

/** What each scene is looked at for. */
const shown = {
  empty: '.hints',
  conversation: '.facts',
  streaming: '.queue',
  tool: '.todos',
  approval: '.approval .diff',
  command: '.approval .warning',
  failure: '.failure button',
  retry: '.note.warning',
  code: 'figure.code',
  pictures: '.ended',
  branches: '.branches',
};

test('every text of the page is in the language of the window', async () => {
  for (const [scene, part] of Object.entries(shown)) {
    await inLanguage(scene, async ({ page }) => {
      await page.waitForSelector(part, { state: 'attached' });
      assert.deepEqual(await unmarked(page), [], scene);
      await openAll(page);
      assert.deepEqual(await unmarked(page), [], `${scene}, unfolded`);
      assert.ok((await page.getAttribute('#composer', 'placeholder'))?.startsWith('⟦'), scene);
    });
  }
});

test('values stand in the translation, once', () =>
  inLanguage('command', async ({ page }) => {
    await until(
      page,
      "document.querySelector('[aria-live=polite]').textContent === '⟦Permission needed: Run git push⟧'",
    );
    assert.equal(
      await page.getAttribute('.approval', 'aria-label'),
      '⟦Permission: ⟦Run⟧ git push --force origin main⟧',
    );
    assert.equal(await page.textContent('.approvals > .quiet'), '⟦1 more waits behind it.⟧');
    assert.equal(await page.textContent('.approval .warning'), '⟦Outside of the folder: /home/you/.gitconfig⟧');
  }));

test('what comes and goes is in the language of the window, too', () =>
  inLanguage('conversation', async ({ page }) => {
    await page.click('.message.assistant:last-of-type [aria-label="⟦Copy answer⟧"]');
    await until(page, "document.querySelector('[aria-live=polite]').textContent === '⟦Copied⟧'");
    assert.deepEqual(await unmarked(page), [], 'copied');
    await page.evaluate("document.querySelector('.scroll').scrollTop = 0");
    await page.hover('.message.user .bubble');
    await page.click('[aria-label="⟦Edit and send again⟧"]');
    await page.waitForSelector('.editing-note');
    assert.deepEqual(await unmarked(page), [], 'said anew');
    await page.keyboard.press('Escape');
    await page.keyboard.type('see @pars');
    await page.waitForSelector('.suggestions li.chosen');
    assert.deepEqual(await unmarked(page), [], 'files that are suggested');
    await page.evaluate("window.harness.post({ kind: 'server', state: 'stopped' })");
    await page.waitForSelector('.note.error');
    assert.deepEqual(await page.locator('.note.error p').allTextContents(), ['⟦The server is not running.⟧']);
    assert.deepEqual(await unmarked(page), [], 'stopped');
  }));

test('a folder that is not trusted is told of in the language of the window', () =>
  inLanguage(
    'empty',
    async ({ page }) => {
      await page.waitForSelector('.welcome p');
      assert.equal(await page.getAttribute('#composer', 'placeholder'), '⟦The folder is not trusted⟧');
      assert.deepEqual(await unmarked(page), []);
    },
    '&trusted=no',
  ));

test('nothing is drawn in another language first', () =>
  inLanguage('conversation', async ({ page }) => {
    await page.addInitScript(`
      window.drawn = [];
      new MutationObserver(() => {
        const text = document.querySelector('#root')?.textContent ?? '';
        const placeholder = document.querySelector('#composer')?.placeholder ?? '';
        if (text || placeholder) window.drawn.push(placeholder);
      }).observe(document, { childList: true, subtree: true, characterData: true, attributes: true });`);
    await page.reload();
    await page.waitForSelector('.message');
    const drawn = await page.evaluate<string[]>('window.drawn');
    assert.ok(drawn.length > 0);
    assert.deepEqual([...new Set(drawn)], ['⟦Ask, or @ a file⟧']);
  }));
