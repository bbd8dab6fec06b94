// The page in another language: its own texts are in ⟦brackets⟧, so that any text outside of them
// is content of the session, or a text without a translation.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { readingStates } from '../../../src/chat/messages';
import { inScene, stop, until } from './tab';
import type { Tab } from './tab';

after(stop);

/** The elements that show text of users, models, tools, files and the server. */
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
  '.head .name',
  '.question .title',
  '.question .message-text',
  '.question .options',
  '.crash .sentence',
  '.crash pre',
  '.engine-texts li',
  '.ways h2',
  '.waiting blockquote',
]
  // Names of providers, engines and models.
  .concat(['.way-label']);

/** The attributes that contain such text: a path, the program itself. */
const namesOfOthers = ['.chip[title]', '.what[title]', '.message.assistant[aria-label=xcsh]'].concat([
  '.message.assistant[aria-label=pi]',
  '.message.assistant[aria-label=gemini]',
  '.head .engine[title]',
  '.question-body [aria-label]',
  '.question-body [placeholder]',
]);

/** Returns texts, and attributes that are read aloud, with letters outside of the brackets. */
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

/** Opens all folds. */
async function openAll(page: Page): Promise<void> {
  await page.evaluate("for (const b of document.querySelectorAll('.fold-head[aria-expanded=false]')) b.click()");
  await until(page, "!document.querySelector('.fold-head[aria-expanded=false]')");
}

/** The element to wait for in each scene. */
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
  engine: '.engine-texts',
  engineStarting: '.head .state',
  engineLimited: '.head .state',
  questions: '.question .options',
  questionOptions: '.question .filter',
  questionConfirm: '.question .left',
  questionInput: '.question input',
  questionEditor: '.question textarea',
  crash: '.crash',
  ways: '.way',
  waysKey: '.way',
};

/** Returns the controls that a longer text makes too wide for the panel or for themselves. */
const tooWide = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.page :is(button, input, textarea, p, li, dt, dd, h2, h3)')]
    .filter((e) => e.checkVisibility() && !e.closest('.unseen, .output, .diff, .table, pre'))
    .filter((e) => {
      const r = e.getBoundingClientRect();
      const box = (e.closest('.composer, .approval, .question, .crash, .ways, .note, .bubble') ?? document.body)
        .getBoundingClientRect();
      const cut = e.matches('.button, .link') && e.scrollWidth > e.clientWidth;
      return r.width > 0 && (r.left < box.left - 0.5 || r.right > box.right + 0.5 || cut);
    })
    .map((e) => e.outerHTML.slice(0, 160))
    .concat(document.documentElement.scrollWidth > innerWidth ? ['the page'] : [])`);

test('every text of the page is in the display language, and fits when it is longer', async () => {
  for (const [scene, part] of Object.entries(shown)) {
    const check = async ({ page }: Tab) => {
      await page.waitForSelector(part, { state: 'attached' });
      assert.deepEqual(await unmarked(page), [], scene);
      await openAll(page);
      assert.deepEqual(await unmarked(page), [], `${scene}, unfolded`);
      assert.ok((await page.getAttribute('#composer', 'placeholder'))?.startsWith('⟦'), scene);
      for (const width of [420, 300]) {
        await page.setViewportSize({ width, height: 760 });
        assert.deepEqual(await tooWide(page), [], `${scene}, ${width} px wide`);
      }
    };
    await inScene(scene, check, { more: '&texts=pseudo' });
  }
});

test('values appear in the translation once', () =>
  inLanguage('command', async ({ page }) => {
    await until(page, "document.querySelector('[aria-live=polite]').textContent === '⟦Approval needed: Run git push⟧'");
    assert.equal(
      await page.getAttribute('.approval', 'aria-label'),
      '⟦Approval needed: ⟦Run⟧ git push --force origin main⟧',
    );
    assert.equal(await page.textContent('.approvals > .quiet'), '⟦1 more request is waiting.⟧');
    assert.equal(await page.textContent('.approval .warning'), '⟦Outside the workspace folder: /home/you/.gitconfig.⟧');
  }));

test('menus, suggestions, and notes are in the display language', () =>
  inLanguage('conversation', async ({ page }) => {
    await page.click('.message.assistant:last-of-type [aria-label="⟦Copy answer⟧"]');
    await until(page, "document.querySelector('[aria-live=polite]').textContent === '⟦Copied⟧'");
    assert.deepEqual(await unmarked(page), [], 'copied');
    await page.evaluate("document.querySelector('.scroll').scrollTop = 0");
    await page.hover('.message.user .bubble');
    await page.click('[aria-label="⟦Edit and resend⟧"]');
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

test('Restricted mode is shown in the display language', () =>
  inLanguage(
    'empty',
    async ({ page }) => {
      await page.waitForSelector('.welcome p');
      assert.equal(await page.getAttribute('#composer', 'placeholder'), '⟦Restricted Mode: trust this folder to chat⟧');
      assert.deepEqual(await unmarked(page), []);
    },
    '&trusted=no',
  ));

test('a session that is only read is shown in the display language', async () => {
  for (const state of readingStates)
    await inLanguage(
      'conversation',
      async ({ page }) => {
        await page.waitForSelector('.reading .ways button');
        assert.deepEqual(await unmarked(page), [], state);
      },
      `&reading=${state}`,
    );
});

test('nothing is rendered before the translations arrive', () =>
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
    assert.deepEqual([...new Set(drawn)], ['⟦Ask anything, @ to add context, / for commands⟧']);
  }));
