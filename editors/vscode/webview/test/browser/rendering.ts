import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { attacks } from '../../dev/rendering';
import { inScene, sent, stop, until } from './tab';

after(stop);

const typeset = "document.querySelectorAll('.formula .katex').length";

test('formulas are typeset with the fonts of the package, and prices stay text', () =>
  inScene('rendering', async ({ page }) => {
    await until(page, `${typeset} === 5`);
    assert.match(await page.innerText('.markdown p:has-text("A run costs")'), /between \$5 and \$6\./);
    await until(page, "[...document.fonts].some((f) => f.family.includes('KaTeX_Main') && f.status === 'loaded')");
    assert.equal(await page.locator('.formula .katex-mathml math').count(), 5, 'screen readers get MathML');
    assert.equal(await page.locator('.formula > code').count(), 0);
  }));

test('without a formula, nothing of the typesetting is loaded', () =>
  inScene('conversation', async ({ page }) => {
    await page.waitForSelector('.markdown table');
    const loaded = "performance.getEntriesByType('resource').map((e) => e.name).filter((n) => /math|KaTeX/.test(n))";
    assert.deepEqual(await page.evaluate(loaded), []);
  }));

test('a formula that grows stays text until it is closed', () =>
  inScene('empty', async ({ page }) => {
    const emit = (event: object) => page.evaluate(`window.harness.session.emit(${JSON.stringify(event)})`);
    const delta = (text: string) =>
      emit({
        type: 'message_update',
        assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: text },
      });
    await emit({ type: 'agent_start' });
    await emit({ type: 'message_start', message: { role: 'assistant', content: [] } });
    await delta('So:\n\n$$\nx^2');
    await page.waitForSelector('.markdown p:has-text("x^2")');
    assert.equal(await page.evaluate(typeset), 0);
    await delta('\n$$\nand $y');
    await until(page, `${typeset} === 1`);
    await page.evaluate("window.first = document.querySelector('.formula .katex')");
    await delta('_1$ more');
    await until(page, `${typeset} === 2`);
    assert.equal(
      await page.evaluate("window.first === document.querySelector('.formula .katex')"),
      true,
      'a finished formula is not typeset again',
    );
  }));

test('hostile formulas do nothing, stay in their boxes, and show their source if they are refused', () =>
  inScene('formulas', async ({ page }) => {
    await until(page, "document.querySelector('.message:last-child .formula .katex')");
    const count = await page
      .locator('.formula a, .formula img, .formula script, .formula [id], .formula [onerror]')
      .count();
    assert.equal(count, 0);
    assert.equal(await page.locator('[style*="fixed"], .formula .to-end').count(), 0);
    const sources = await page.locator('.formula > code').allInnerTexts();
    for (const tex of attacks.filter((tex) => /\\(?:href|url|include|html|def|gdef|let|newc|err)/.test(tex)))
      assert.ok(
        sources.some((source) => source.includes(tex)),
        tex,
      );
    const outside = `[...document.querySelectorAll('.formula')].filter((box) => getComputedStyle(box).contain !== 'paint'
      || box.getBoundingClientRect().width > innerWidth || box.getBoundingClientRect().height > innerHeight * 4).length`;
    assert.equal(await page.evaluate(outside), 0);
    await page.focus('#composer'); // the page still answers
    await page.keyboard.type('x');
    await until(page, "document.querySelector('#composer').value === 'x'");
  }));

test('a wide table scrolls in its own box with whole words, and can be reached with the keyboard', () =>
  inScene(
    'rendering',
    async ({ page }) => {
      await page.focus('.markdown .table');
      const box = "document.querySelector('.markdown .table')";
      assert.equal(await page.evaluate(`${box}.scrollWidth > ${box}.clientWidth`), true);
      assert.equal(await page.evaluate(`document.documentElement.scrollWidth > innerWidth`), false);
      const lines = `[...${box}.querySelectorAll('td')].map((td) => {
        const range = document.createRange();
        range.selectNodeContents(td);
        return new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size;
      })`;
      assert.deepEqual(new Set(await page.evaluate<number[]>(lines)), new Set([1]), 'no word is broken');
      await page.keyboard.press('ArrowRight');
      await until(page, `${box}.scrollLeft > 0`);
    },
    { width: 320 },
  ));

test('files of the workspace are links with their lines, also in outputs, and open on a click only', () =>
  inScene('rendering', async ({ page }) => {
    await page.click(".call:has-text('npm test -- parse') .fold-head");
    await page.waitForSelector('.output a.file');
    assert.deepEqual(await page.locator('.output a.file').allInnerTexts(), ['src/parse.ts:15:3']);
    await until(page, "document.querySelectorAll('.markdown a.file').length === 5");
    assert.equal(await page.locator('a.file', { hasText: 'none' }).count(), 0);
    await page.hover('.markdown a.file');
    assert.deepEqual(await sent(page, 'openFile'), []);
    await page.click('.markdown code a.file >> nth=0');
    await page.click('.output a.file');
    await page.locator('.markdown a.file', { hasText: '#L3-L9' }).press('Enter');
    assert.deepEqual(await sent(page, 'openFile'), [
      { kind: 'openFile', path: './src/parse.ts', line: 15 },
      { kind: 'openFile', path: './src/parse.ts', line: 15, column: 3 },
      { kind: 'openFile', path: './src/scan.ts', line: 3, endLine: 9 },
    ]);
    const asked = await sent<{ paths: string[] }>(page, 'findMentioned');
    const all = asked.flatMap((m) => m.paths);
    assert.equal(new Set(all).size, all.length, 'each path is asked for once');
  }));

test('rows of the same tool differ in view, in a narrow panel too', () =>
  inScene(
    'rendering',
    async ({ page }) => {
      await page.waitForSelector(".call:has-text('npm test -- parse')");
      const shown = await page.evaluate<string[]>(`[...document.querySelectorAll('.call .what.parts')].map((what) => {
        const own = what.querySelector('.own-part');
        const tag = what.parentElement.querySelector('.tag')?.textContent ?? '';
        return own.getBoundingClientRect().width > 20 ? own.textContent + ' ' + tag : '';
      })`);
      assert.deepEqual(shown.slice(0, 6), [
        'npm test -- parse ',
        'npm test -- scan ',
        'npm test -- tree #1',
        'npm test -- tree #2',
        'a/index.ts ',
        'b/index.ts ',
      ]);
      const cut = `[...document.querySelectorAll('.call .own-part')].slice(0, 4).filter((el) => el.scrollWidth > el.clientWidth)`;
      assert.equal(await page.evaluate(`${cut}.length`), 0);
    },
    { width: 320 },
  ));

test('denied and stopped calls are named so, with the reason of the user', () =>
  inScene('rendering', async ({ page }) => {
    await page.waitForSelector('.call.denied');
    assert.deepEqual(await page.locator('.call.denied .call-state').allInnerTexts(), [
      'Denied\nuse the test runner of the project, and never the network',
      'Denied',
    ]);
    assert.deepEqual(await page.locator('.call.stopped .call-state').allInnerTexts(), ['Stopped']);
    assert.equal(await page.locator('.call.failed').count(), 1);
    assert.equal(await page.locator('.call.denied .counts').count(), 0, 'a change that was not made has no counts');
  }));

test('a block of code is copied, inserted, and reviewed as a change to the file that the text names', () =>
  inScene('rendering', async ({ page }) => {
    await page.hover('figure.code');
    await page.click("figure.code [aria-label='Copy code']");
    await page.click("figure.code [aria-label='Insert at cursor']");
    await page.click("figure.code [aria-label='Review as a change to src/tree.ts']");
    const code = 'function tree(next: () => Token | undefined): Tree {\n  return new Tree(next());\n}';
    assert.deepEqual(await sent(page, 'copy'), [{ kind: 'copy', text: code }]);
    assert.deepEqual(await sent(page, 'insertCode'), [{ kind: 'insertCode', code }]);
    assert.deepEqual(await sent(page, 'applyCode'), [
      { kind: 'applyCode', code, language: 'ts', path: 'src/tree.ts', fromFence: false },
    ]);
  }));

test('one notice of a retry is updated in place, and goes away when the answer continues', () =>
  inScene('empty', async ({ page }) => {
    const emit = (event: object) => page.evaluate(`window.harness.session.emit(${JSON.stringify(event)})`);
    const retry = (attempt: number) =>
      emit({
        type: 'auto_retry_start',
        attempt,
        maxAttempts: 3,
        delayMs: 60_000,
        errorMessage: '429',
        reason: 'rate_limit',
      });
    const message = { role: 'assistant', content: [], stopReason: 'error', errorMessage: '429' };
    const note = '.status .note.warning p';
    await emit({ type: 'agent_start' });
    for (const attempt of [1, 2, 3]) {
      await emit({ type: 'message_start', message });
      await emit({ type: 'message_end', entryId: `e${attempt}`, message });
      await retry(attempt);
      await until(page, `document.querySelector('${note}')?.textContent.includes('(${attempt} of 3)')`);
      if (attempt === 1) await page.evaluate(`window.note = document.querySelector('${note}')`);
      assert.equal(await page.locator('.status .note').count(), 1);
      assert.equal(await page.locator('.failure').count(), 0, 'a failed attempt that is repeated is not shown');
    }
    assert.equal(await page.evaluate(`window.note === document.querySelector('${note}')`), true);
    assert.match(await page.innerText(note), /Rate limited by \w+\. Retrying in \d+ s \(3 of 3\)/);
    await emit({ type: 'message_start', message: { role: 'assistant', content: [] } });
    await emit({
      type: 'message_update',
      assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta: 'Here' },
    });
    await page.waitForSelector('.status .note', { state: 'detached' });
  }));
