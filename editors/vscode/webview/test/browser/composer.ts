import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { called, inScene, sent, stop, until } from './tab';

after(stop);

const composer = '#composer';
const inComposer = "document.activeElement.id === 'composer'";

interface Prompt {
  command: string;
  args: { text: string; attachments?: { uri: string; range?: object }[] };
}

const prompts = async (page: Page) => (await sent<Prompt>(page, 'call')).filter((c) => c.command === 'xcsh.prompt');

/** Waits for a text in the composer: a key waits for the rows that it takes one of. */
const written = (page: Page, text: string) =>
  until(page, `document.querySelector('#composer').value === ${JSON.stringify(text)}`);

/** Drops files on an element, as VS Code does. */
const drop = (page: Page, on: string, data: Record<string, string>, files: [string, string, string][] = []) =>
  page.evaluate(`{
    const data = new DataTransfer();
    for (const [type, text] of Object.entries(${JSON.stringify(data)})) data.setData(type, text);
    for (const [name, type, text] of ${JSON.stringify(files)}) data.items.add(new File([text], name, { type }));
    const target = document.querySelector('${on}');
    for (const type of ['dragover', 'drop'])
      target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }`);

test('a reference is completed and marked, and is only text', () =>
  inScene('empty', async ({ page }) => {
    await page.focus(composer);
    await page.keyboard.type('see @pars');
    await page.waitForSelector('.suggestions li.chosen >> text=parse.ts');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await written(page, 'see @test/parse.test.ts ');
    await page.waitForSelector('.highlights mark >> text=@test/parse.test.ts');
    await page.keyboard.type('@no/such.ts @prob');
    await page.waitForSelector('.suggestions li.chosen >> text=@problems');
    await page.keyboard.press('Tab');
    await page.keyboard.type('@symbol:par');
    await page.waitForSelector('.suggestions li.chosen >> text=parseAll');
    await page.keyboard.press('Tab');
    await page.keyboard.type('@plan');
    await page.waitForSelector('.suggestions li.chosen >> text=a plan.md');
    await page.keyboard.press('Tab');
    await written(page, 'see @test/parse.test.ts @no/such.ts @problems @symbol:parseAll @"docs/a plan.md" ');
    await until(page, "document.querySelectorAll('.highlights mark').length === 4");
    assert.deepEqual(await page.locator('.highlights mark').allInnerTexts(), [
      '@test/parse.test.ts',
      '@problems',
      '@symbol:parseAll',
      '@"docs/a plan.md"',
    ]);
    assert.equal(await page.locator('.composer .chip:not(.offered)').count(), 0);
    // The marks have the line breaks of the text.
    await page.keyboard.type('word '.repeat(60));
    const heights = "['.highlights', '#composer'].map((s) => document.querySelector(s).scrollHeight)";
    await until(page, `new Set(${heights}).size === 1`);
    await page.click('.chip.offered');
    await page.focus(composer);
    await page.keyboard.press('Enter');
    const [prompt] = await prompts(page);
    assert.deepEqual(
      prompt!.args.attachments?.map((a) => [a.uri, a.range !== undefined]),
      [['file:///home/you/calc/src/scan.ts', true]],
      'only the file of the button',
    );
  }));

test('Tab never takes a row of the text before: it waits for the rows of this one', () =>
  inScene('empty', async ({ page }) => {
    await page.focus(composer);
    await page.keyboard.type('see @s');
    await page.waitForSelector('.suggestions li >> text=scan.ts');
    await page.evaluate('window.harness.heldReferences = true');
    await page.keyboard.type('rc/par');
    await page.keyboard.press('Tab');
    assert.equal(await page.inputValue(composer), 'see @src/par');
    assert.ok(await page.evaluate(inComposer));
    await page.evaluate('window.harness.release()');
    await written(page, 'see @src/parse.ts ');

    // Not if the text changes meanwhile.
    await page.keyboard.type('@s');
    await page.waitForSelector('.suggestions li >> text=scan.ts');
    await page.evaluate('window.harness.heldReferences = true');
    await page.keyboard.type('rc/sc');
    await page.keyboard.press('Tab');
    await page.keyboard.type('an');
    await page.evaluate('window.harness.release()');
    await page.waitForSelector('.suggestions li.chosen >> text=scan.ts');
    assert.equal(await page.inputValue(composer), 'see @src/parse.ts @src/scan');
  }));

test('a row that was chosen is taken if it is still there', () =>
  inScene('empty', async ({ page }) => {
    await page.focus(composer);
    await page.keyboard.type('@pa');
    await page.waitForSelector('.suggestions li >> text=parse.test.ts');
    await page.evaluate('window.harness.heldReferences = true');
    await page.keyboard.type('rse');
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.suggestions li.chosen >> text=parse.test.ts');
    await page.keyboard.press('Enter');
    await page.evaluate('window.harness.release()');
    await written(page, '@test/parse.test.ts ');
    // Otherwise the first is.
    await page.keyboard.type('@s');
    await page.waitForSelector('.suggestions li >> text=scan.ts');
    await page.evaluate('window.harness.heldReferences = true');
    await page.keyboard.type('rc/par');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.evaluate('window.harness.release()');
    await written(page, '@test/parse.test.ts @src/parse.ts ');
  }));

test('a folder is continued, #sel is the selection, and Enter sends a finished reference', () =>
  inScene('empty', async ({ page }) => {
    await page.focus(composer);
    await page.keyboard.type('@src');
    await page.waitForSelector('.suggestions li >> text=src/');
    await page.locator('.suggestions li', { hasText: /^src\/$/ }).click();
    await written(page, '@src/');
    await page.waitForSelector('.suggestions li >> text=scan.ts');
    await page.keyboard.type('scan');
    await page.waitForSelector('.suggestions li.chosen >> text=scan.ts');
    await page.keyboard.press('Tab');
    await page.keyboard.type('#s');
    await page.waitForSelector('.suggestions li.chosen >> text=#selection');
    await page.keyboard.press('Tab');
    await written(page, '@src/scan.ts #selection ');
    await page.keyboard.type('@problems');
    await page.waitForSelector('.suggestions li.chosen >> text=@problems');
    await page.keyboard.press('Enter');
    await written(page, '');
    assert.equal((await prompts(page))[0]?.args.text, '@src/scan.ts #selection @problems');
  }));

test('the own prompt is in view after it is sent, also when scrolled up in a long conversation', () =>
  inScene('long', async ({ page }) => {
    await page.evaluate("document.querySelector('.scroll').scrollTop = 300");
    await page.waitForSelector('.to-end');
    await page.focus(composer);
    await page.keyboard.type('and one more');
    await page.keyboard.press('Enter');
    await until(
      page,
      `(() => {
        const said = [...document.querySelectorAll('.said')].at(-1);
        if (said?.textContent !== 'and one more') return false;
        const [box, at] = [document.querySelector('.scroll'), said].map((el) => el.getBoundingClientRect());
        return at.top >= box.top && at.bottom <= box.bottom;
      })()`,
    );
    assert.equal(await page.locator('.to-end').count(), 0);
    await until(page, inComposer);
  }));

test('a queued message is changed and removed in its place', () =>
  inScene('streaming', async ({ page }) => {
    await page.focus(composer);
    for (const text of ['first', 'second']) {
      await page.keyboard.type(text);
      await page.keyboard.press('Enter');
    }
    const rows = page.locator('.queue li .gist');
    await rows.nth(1).waitFor();
    await page.locator('.queue li').nth(1).getByLabel('Edit queued message').click();
    await until(page, "document.activeElement.matches('.queue textarea')");
    await page.keyboard.press('Control+a');
    await page.keyboard.type('changed');
    await page.keyboard.press('Escape');
    assert.deepEqual(await rows.allInnerTexts(), ['first', 'second']);
    await until(page, inComposer);
    assert.equal((await called(page)).includes('xcsh.abort'), false, 'Escape stops nothing');
    await page.locator('.queue li').nth(1).getByLabel('Edit queued message').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('changed');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.queue li:nth-child(2) >> text=changed');
    await until(page, inComposer);
    await page.locator('.queue li').nth(0).getByLabel('Remove queued message').click();
    await until(page, "document.querySelectorAll('.queue li').length === 1");
    await until(page, inComposer);
    // It is sent while the user is changing it.
    await page.locator('.queue li').nth(0).getByLabel('Edit queued message').click();
    await page.keyboard.type(' again');
    await page.evaluate("window.harness.session.emit({ type: 'queue_changed', steering: [], followUp: [] })");
    await until(page, "document.querySelector('#composer').value === 'changed again'");
    await until(page, inComposer);
    await page.waitForSelector('.note >> text=The message was already sent.');
  }));

test('a denial can have a reason', () =>
  inScene('approval', async ({ page }) => {
    await page.click(".approval button:text-is('Deny, because…')");
    await until(page, "document.activeElement.matches('.denial input')");
    await page.keyboard.press('Escape');
    await until(page, "document.activeElement.textContent === 'Deny, because…'");
    await page.keyboard.press('Enter');
    await page.keyboard.type('1 is enough');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.approval', { state: 'detached' });
    assert.deepEqual(await sent(page, 'decide'), [
      { kind: 'decide', prompt: 'a1', decision: 'deny', reason: '1 is enough' },
    ]);
    await until(page, inComposer);
  }));

test('the answer of a command is a note in the conversation, which later messages follow', () =>
  inScene('conversation', async ({ page }) => {
    await page.focus(composer);
    await page.keyboard.type('/stats');
    await page.waitForSelector('.suggestions li.chosen >> text=/stats');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.local-note td >> text=3,400');
    assert.equal(await page.inputValue(composer), '');
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await until(page, "[...document.querySelectorAll('.answer')].at(-1)?.textContent.includes('You said')");
    const order = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.said, .local-note')].slice(-2).map((el) => el.className)",
    );
    assert.deepEqual(order, ['local-note', 'said']);
    await page.click('.local-note [aria-label=Dismiss]');
    await page.waitForSelector('.local-note', { state: 'detached' });
    await until(page, inComposer);
  }));

test('files and folders are dropped anywhere on the page; a text is not', () =>
  inScene('conversation', async ({ page }) => {
    await drop(page, '.scroll', { 'application/vnd.code.uri-list': 'file:///w/a.ts\nfile:///w/src' });
    assert.deepEqual(await sent(page, 'dropped'), [{ kind: 'dropped', uris: ['file:///w/a.ts', 'file:///w/src'] }]);
    await page.evaluate(`
      window.harness.post({ kind: 'attach', attachments: [{ uri: 'file:///w/a.ts', name: 'a.ts' }] });
      window.harness.post({ kind: 'refer', references: ['@src/'] });`);
    await page.waitForSelector('.composer .chip:not(.offered) >> text=a.ts');
    await until(page, "document.querySelector('#composer').value === '@src/ '");
    await until(page, inComposer);
    await drop(page, '.composer', {}, [
      ['a.png', 'image/png', 'x'],
      ['notes.txt', 'text/plain', 'hello'],
    ]);
    await page.waitForSelector('.chip.picture');
    await until(page, "window.harness.received.some((m) => m.kind === 'droppedFile')");
    assert.deepEqual(await sent(page, 'droppedFile'), [{ kind: 'droppedFile', name: 'notes.txt', data: 'aGVsbG8=' }]);
    await drop(page, '.scroll', { 'text/plain': 'file:///w/b.ts' });
    assert.equal((await sent(page, 'dropped')).length, 1);
    assert.equal(await page.locator('.drop-target').count(), 0);
  }));

test('a drop is announced where it is accepted, and nothing is dropped on a session that is only read', async () => {
  const over = `document.querySelector('.scroll').dispatchEvent(new DragEvent('dragover', {
    dataTransfer: (() => { const d = new DataTransfer(); d.setData('text/uri-list', 'file:///a'); return d; })(), bubbles: true, cancelable: true }))`;
  await inScene('conversation', async ({ page }) => {
    await page.evaluate(over);
    await page.waitForSelector('.drop-target');
    await page.evaluate("document.querySelector('main').dispatchEvent(new DragEvent('dragleave', { bubbles: true }))");
    await page.waitForSelector('.drop-target', { state: 'detached' });
  });
  await inScene(
    'conversation',
    async ({ page }) => {
      await page.evaluate(over);
      await drop(page, '.scroll', { 'text/uri-list': 'file:///a' });
      assert.deepEqual(await sent(page, 'dropped'), []);
      assert.equal(await page.locator('.drop-target').count(), 0);
    },
    { more: '&reading=free' },
  );
});

test('the focus never falls out of the page', () =>
  inScene('conversation', async ({ page }) => {
    const back = () => until(page, inComposer);
    // Sent with the button, which is disabled then.
    await page.fill(composer, 'Hello');
    await page.click('.go');
    await back();
    // An attachment is removed.
    await page.click('.chip.offered');
    await page.click('.composer .chip [aria-label^="Remove"]');
    await back();
    // An edit is cancelled with its button.
    await page.hover('.message.user .bubble');
    await page.click(".message.user button[aria-label='Edit and resend']");
    await page.click('[aria-label="Cancel edit"]');
    await back();
    // The search is closed.
    await page.evaluate("window.harness.post({ kind: 'find' })");
    await page.waitForSelector('.find input');
    await page.click('.find [aria-label^="Close"]');
    await back();
    // A notice disappears.
    await page.evaluate("window.harness.session.emit({ type: 'notice', text: 'Something' })");
    await page.click('.note [aria-label=Dismiss]');
    await back();
  }));

test('the line that the user typed stands over an invoked skill or template, and is edited', () =>
  inScene('invoked', async ({ page }) => {
    await page.waitForSelector('.made >> nth=2');
    assert.deepEqual(await page.locator('.message.user .said').allInnerTexts(), [
      '/skill:pdf-tools extract a.pdf',
      '/skill:lint',
      '/review main.go',
    ]);
    assert.equal(await page.locator('.message.custom').count(), 0);
    assert.equal(await page.locator('text=Read the formats first').count(), 0);
    await page.click('.made .fold-head >> nth=0');
    await page.waitForSelector('.made h1 >> text=PDF tools');
    await page.hover('.message.user >> nth=2');
    await page.click('.message.user >> nth=2 >> [aria-label="Edit and resend"]');
    await until(page, "document.querySelector('#composer').value === '/review main.go'");
  }));
