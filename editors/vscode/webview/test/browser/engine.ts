// The engine of the session in the page: its head, questions, failures, commands, and what it cannot do.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { called, inScene, sent, stop, until } from './tab';

after(stop);

const composer = '#composer';

const answers = async (page: Page) =>
  (await sent<{ command: string; args: object }>(page, 'call'))
    .filter((c) => c.command === 'xcsh.answer')
    .map((c) => c.args);

const windows = async (page: Page) => (await sent<{ command: string }>(page, 'window')).map((m) => m.command);

const isFocused = (page: Page, selector: string) => until(page, `document.activeElement?.matches('${selector}')`);

test('the head names the engine and its model, and opens the list', () =>
  inScene('engine', async ({ page }) => {
    const label = await page.getAttribute('.head .engine', 'aria-label');
    assert.equal(label, 'Engine: pi 1.5.2 · claude-opus. Choose another engine');
    await page.click('.head .engine');
    assert.deepEqual(await windows(page), ['engine']);
    assert.equal(await page.getAttribute('.message.assistant', 'aria-label'), 'pi');
    assert.equal(await page.getAttribute(composer, 'aria-label'), 'Message to pi');
    await page.waitForSelector('.engine-texts >> text=lint: 3 warnings');
    assert.match((await page.textContent('.message')) ?? '', /Why does this crash/, 'its system prompt is not shown');
  }));

test("the own engine has no head, and a slash lists the server's commands", () =>
  inScene('conversation', async ({ page }) => {
    assert.equal(await page.locator('.head').count(), 0);
    await page.focus(composer);
    await page.keyboard.type('/');
    await page.waitForSelector('.suggestions li.chosen');
    assert.deepEqual(await page.locator('.suggestions .row-name').allInnerTexts(), [
      '/compact [instructions]',
      '/stats',
    ]);
  }));

test('a slash completes a command with the keyboard, and says how many there are', () =>
  inScene('engine', async ({ page }) => {
    await page.focus(composer);
    await page.keyboard.type('/re');
    await page.waitForSelector('.suggestions li.chosen >> text=/release');
    assert.equal(await page.getAttribute(composer, 'aria-controls'), 'suggestions');
    assert.equal(await page.getAttribute(composer, 'aria-activedescendant'), 'suggestion-0');
    assert.equal(await page.getAttribute('#suggestions', 'aria-label'), 'Commands of pi');
    await until(page, "document.querySelector('[aria-live=polite]').textContent === '2 commands'");
    await page.keyboard.press('ArrowDown');
    await page.waitForSelector('.suggestions li.chosen >> text=Review the changes of the working tree');
    await page.keyboard.press('Tab');
    assert.equal(await page.inputValue(composer), '/review ');
    await page.waitForSelector('.suggestions', { state: 'detached' });
    await page.keyboard.type('now');
    await page.keyboard.press('Enter');
    await until(page, "window.harness.received.some((m) => m.command === 'xcsh.prompt')");
    assert.deepEqual(await called(page), ['xcsh.commands', 'xcsh.prompt']);
  }));

test('a prompt that waits for an answer to a question is not lost from sight', () =>
  inScene('conversation', async ({ page }) => {
    await page.evaluate('harness.heldPrompts = true');
    await page.fill(composer, 'explain it');
    await page.press(composer, 'Enter');
    await page.waitForSelector('.note >> text=explain it');
    await page.click('text=Show notifications');
    assert.deepEqual(await windows(page), ['notifications']);
    await page.evaluate('harness.release()');
    await page.waitForSelector('text=You said');
    assert.equal(await page.$('text=Show notifications'), null);
  }));

test('the commands are visible in a low panel', () =>
  inScene('engine', async ({ page }) => {
    await page.setViewportSize({ width: 300, height: 380 }); // the panel above the sessions, by default
    await page.focus(composer);
    await page.keyboard.type('/');
    await page.waitForSelector('.suggestions li');
    const rows = await page.evaluate(`[...document.querySelectorAll('.suggestions li')].map((row) => {
      const { left, top, width, height } = row.getBoundingClientRect();
      return row.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    })`);
    assert.deepEqual(rows, [true, true, true, true]);
  }));

test('Escape closes the commands, a click completes one, and Enter sends one that is complete', () =>
  inScene('engine', async ({ page }) => {
    await page.focus(composer);
    await page.keyboard.type('/mc');
    await page.waitForSelector('.suggestions li');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.suggestions', { state: 'detached' });
    await page.fill(composer, '');
    await page.keyboard.type('/skill');
    await page.click('.suggestions li >> text=/skill:pdf');
    await until(page, "document.querySelector('#composer').value === '/skill:pdf '");
    await isFocused(page, composer);
    await page.fill(composer, '');
    await page.keyboard.type('/mcp');
    await page.waitForSelector('.suggestions li.chosen >> text=/mcp');
    await page.keyboard.press('Enter');
    await until(page, "window.harness.received.some((m) => m.command === 'xcsh.prompt')");
    const prompt = (await sent<{ command: string; args: object }>(page, 'call')).find(
      (c) => c.command === 'xcsh.prompt',
    );
    assert.deepEqual(prompt?.args, { text: '/mcp' });
  }));

test('a failure to list the commands is shown in their place', () =>
  inScene('engine', async ({ page }) => {
    await page.evaluate("window.harness.failing['xcsh.commands'] = { message: 'pi is gone.', kind: 'provider' }");
    await page.focus(composer);
    await page.keyboard.type('/');
    await page.waitForSelector(".suggesting >> text=Couldn't list the commands of pi: pi is gone.");
    await page.keyboard.press('Escape');
    await page.waitForSelector('.suggesting', { state: 'detached' });
    assert.equal(await page.inputValue(composer), '/');
  }));

test('questions are answered one after the other, and the focus moves to the next', () =>
  inScene('questions', async ({ page }) => {
    await page.waitForSelector('.question >> text=Which environment is it for?');
    await until(
      page,
      "document.querySelector('[aria-live=polite]').textContent === 'An extension of pi asks: Which environment is it for?'",
    );
    assert.equal(await page.textContent('.questions > .quiet'), '1 more question is waiting.');
    assert.equal(await page.evaluate('document.activeElement.id'), 'composer', 'a question does not take the focus');
    await page.focus('.question .options li:nth-child(2) button');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.question >> text=Deploy?');
    await isFocused(page, '.question footer .button');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.question', { state: 'detached' });
    await isFocused(page, composer);
    assert.deepEqual(await answers(page), [
      { id: 'q1', value: 'production' },
      { id: 'q2', confirmed: false },
    ]);
  }));

test('a question that is taken back is removed; a reload restores those that wait', () =>
  inScene('questions', async ({ page }) => {
    await page.waitForSelector('.question >> text=Which environment is it for?');
    await page.evaluate("window.harness.session.emit({ type: 'question_gone', id: 'q1' })");
    await page.waitForSelector('.question >> text=Deploy?');
    // Another page of the same session.
    await page.evaluate("window.harness.session.changed('reload')");
    await until(page, "window.harness.received.filter((m) => m.command === 'xcsh.snapshot').length >= 2");
    await page.waitForSelector('.question >> text=Deploy?');
    assert.deepEqual(await answers(page), []);
  }));

test('many options can be filtered', () =>
  inScene('questionOptions', async ({ page }) => {
    await page.fill('.question .filter', 'SET 39');
    await until(page, "document.querySelectorAll('.question .options button').length === 1");
    await page.click('.question .options button');
    await page.waitForSelector('.question', { state: 'detached' });
    assert.deepEqual(await answers(page), [{ id: 'q1', value: 'preset 39' }]);
  }));

test('a question with a time shows it, and goes when it is over', () =>
  inScene('questionConfirm', async ({ page }) => {
    await page.waitForSelector('.question .left >> text=/^1 min \\d+ s left$/');
    await page.evaluate(
      "window.harness.session.emit({ type: 'question_asked', id: 'q0', method: 'confirm', title: 'Soon?', until: Date.now() + 1 }); window.harness.session.emit({ type: 'question_gone', id: 'q1' })",
    );
    await page.waitForSelector('.question', { state: 'detached' });
    assert.deepEqual(await answers(page), [], 'the engine answers itself');
  }));

test('a text is answered with Enter, several lines with Ctrl+Enter, and Escape closes without an answer', async () => {
  await inScene('questionInput', async ({ page }) => {
    await page.focus('.question input');
    await page.keyboard.type('v2');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.question', { state: 'detached' });
    assert.deepEqual(await answers(page), [{ id: 'q1', value: 'v2' }]);
  });
  await inScene('questionEditor', async ({ page }) => {
    await page.focus('.question textarea');
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Enter');
    await page.keyboard.type('more');
    assert.deepEqual(await answers(page), []);
    await page.keyboard.press('Control+Enter');
    await page.waitForSelector('.question', { state: 'detached' });
    assert.deepEqual(await answers(page), [
      { id: 'q1', value: 'parser: close groups at the end\n\nThe source may end inside one.\nmore' },
    ]);
  });
  await inScene('questionInput', async ({ page }) => {
    await page.focus('.question input');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.question', { state: 'detached' });
    assert.deepEqual(await answers(page), [{ id: 'q1', cancelled: true }]);
    assert.deepEqual(await called(page), ['xcsh.answer'], 'the turn goes on');
  });
});

test('an engine that failed shows why, its output, and only the known ways to continue', () =>
  inScene('crash', async ({ page }) => {
    await page.waitForSelector('.crash[role=alert] >> text=pi ended while it answered (exit code 1).');
    assert.deepEqual(await page.locator('.crash footer .button').allTextContents(), ['Start Again', 'Use xcsh-ls']);
    assert.equal(await page.$('.crash pre'), null);
    await page.click('.crash .fold-head');
    await page.waitForSelector('.crash pre >> text=guard.ts:12:11');
    await page.click(".crash .button:text-is('Use xcsh-ls')");
    assert.deepEqual(await sent(page, 'act'), [{ kind: 'act', command: 'xcsh.setEngine', args: { engine: 'own' } }]);
    await page.evaluate("window.harness.session.emit({ type: 'engine_changed', engine: 'own', state: 'ready' })");
    await page.waitForSelector('.crash', { state: 'detached' });
    await page.waitForSelector('.head', { state: 'detached' });
  }));

test('a rejected prompt returns, and offers the login', () =>
  inScene('engine', async ({ page }) => {
    await page.evaluate(
      "window.harness.failing['xcsh.prompt'] = { message: 'pi is not logged in.', kind: 'provider', data: { class: 'login', actions: [{ title: 'Log In', command: 'xcsh.login', arguments: {} }] } }",
    );
    await page.focus(composer);
    await page.keyboard.type('Hello');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.note.error >> text=pi is not logged in.');
    assert.equal(await page.inputValue(composer), 'Hello');
    await page.click(".note.error .link:text-is('Log In')");
    assert.deepEqual(await sent(page, 'act'), [{ kind: 'act', command: 'xcsh.login', args: {} }]);
    await page.waitForSelector('.note.error', { state: 'detached' });
  }));

test('what an engine cannot do is explained where it would be done', () =>
  inScene('engineLimited', async ({ page }) => {
    const explains = async (selector: string, sentence: string) => {
      assert.equal(await page.getAttribute(selector, 'aria-disabled'), 'true', selector);
      assert.ok((await page.getAttribute(selector, 'aria-label'))?.endsWith(sentence), selector);
      await page.click(selector, { force: true });
      await page.waitForSelector(`.note.info >> text=${sentence}`);
      await page.click('.note.info button[aria-label=Dismiss]');
    };
    await explains('.choice.context', 'gemini does not compact a conversation on request.');
    await explains(".choice[aria-label^='Model:']", 'gemini chooses its model itself.');
    await page.focus(composer);
    await page.keyboard.type('then');
    await explains(
      ".send [aria-label^='Send to the running task']",
      'gemini cannot be steered. Wait, or stop it first.',
    );
    await page.focus(composer);
    await page.keyboard.press('Enter');
    const prompts = (await sent<{ command: string; args: object }>(page, 'call')).filter(
      (c) => c.command === 'xcsh.prompt',
    );
    assert.deepEqual(
      prompts.map((c) => c.args),
      [{ text: 'then', streamingBehavior: 'followUp' }],
    );
    assert.deepEqual([await windows(page), await called(page)], [[], ['xcsh.prompt']]);
  }));

test('in a low and narrow panel a question and the composer can be reached', () =>
  inScene(
    'questionOptions',
    async ({ page }) => {
      for (const control of ['.question .filter', '.question header .icon-button', composer]) {
        await page.locator(control).first().scrollIntoViewIfNeeded();
        const box = await page.locator(control).first().boundingBox();
        assert.ok(box && box.y >= 0 && box.y + box.height <= 300, `${control} is out of sight`);
      }
    },
    { width: 280, height: 300 },
  ));

test('the model asks with descriptions, a recommendation and own answers', () =>
  inScene('conversation', async ({ page }) => {
    const ask = (q: object) =>
      page.evaluate(`window.harness.session.emit(${JSON.stringify({ type: 'question_asked', from: 'model', ...q })})`);
    await ask({
      id: 'ask1',
      method: 'select',
      title: 'Which database?',
      options: ['SQLite', 'PostgreSQL'],
      descriptions: ['a file', ''],
      recommended: 0,
      other: true,
      number: 1,
      of: 2,
    });
    const card = page.locator('.question');
    await card.waitFor();
    assert.equal(await card.getAttribute('aria-label'), 'The model asks: Which database?');
    assert.match(
      (await card.innerText()).replace(/\s+/g, ' '),
      /Which database\? 1 of 2 SQLite · recommended a file PostgreSQL/,
    );
    await page.fill('.question input', 'MySQL');
    await page.keyboard.press('Enter');
    await page.evaluate("window.harness.session.emit({ type: 'question_gone', id: 'ask1' })");

    await ask({
      id: 'ask2',
      method: 'select',
      title: 'Which features?',
      options: ['a', 'b', 'c'],
      multi: true,
      other: true,
    });
    await page.click('.options >> text=c');
    await page.click('.options >> text=b');
    await page.click('.options >> text=c');
    await page.click('.options >> text=a');
    assert.equal(await page.locator('.options [aria-pressed=true]').count(), 2);
    if (process.env.QUESTION_SHOT) await page.screenshot({ path: process.env.QUESTION_SHOT });
    await page.click('.question footer >> text=Answer');
    assert.deepEqual(await answers(page), [
      { id: 'ask1', value: 'MySQL' },
      { id: 'ask2', values: ['b', 'a'] },
    ]);
  }));
