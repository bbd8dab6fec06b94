// The ways to an answer while no model is ready, and the prompt that waits.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { called, inScene, sent, stop, until } from './tab';

after(stop);

const composer = '#composer';

/** The texts of the rows of the card. */
const rows = (page: Page) => page.locator('.way-label').allTextContents();

/** What the server answers to a prompt without a model. */
const refuse = (page: Page, reason = 'noModel', more = '') =>
  page.evaluate(`window.harness.failing['xcsh.prompt'] = {
    message: 'Choose a model to start.', kind: 'provider', data: { reason: '${reason}', ${more}
      actions: [{ title: 'Choose Model', command: 'xcsh.setModel', arguments: {} }] } }`);

/** A model is ready from now on; the extension reports it. */
const becomeReady = (page: Page) =>
  page.evaluate(`
    delete window.harness.failing['xcsh.prompt'];
    window.harness.session.ready = { ok: true };
    window.harness.post({ kind: 'models' })`);

const prompts = async (page: Page) =>
  (await sent<{ command: string; args: { text: string; images?: unknown[] } }>(page, 'call'))
    .filter((c) => c.command === 'xcsh.prompt')
    .map((c) => c.args.text);

async function type(page: Page, text: string): Promise<void> {
  await page.focus(composer);
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
}

test('the ways are shown before the first prompt, best first and the demo last', () =>
  inScene('ways', async ({ page }) => {
    await page.waitForSelector('.way >> text=Offline demo');
    assert.deepEqual(await rows(page), [
      'pi 1.5.2',
      'qwen3-coder:30b',
      'LM Studio',
      'auto',
      'Anthropic',
      'OpenAI',
      'Google Gemini',
      'xAI',
      'Other services…',
      'Choose another model…',
      'Offline demo',
    ]);
    assert.equal(await page.locator('.way >> text=A script, not a model').count(), 1);
    for (const label of await rows(page)) await page.locator('.way', { hasText: label }).first().click();
    assert.deepEqual(
      (await sent<{ command: string; args: object }>(page, 'act')).map((m) => [m.command, m.args]),
      [
        ['xcsh.setEngine', { engine: 'pi' }],
        ['xcsh.setModel', { model: 'ollama/qwen3-coder:30b' }],
        ['xcsh.setModel', { among: 'lmstudio' }],
        ['xcsh.setModel', { model: 'openrouter/auto' }],
        ...['anthropic', 'openai', 'google', 'xai'].map((provider) => ['xcsh.setKey', { provider }]),
        ['xcsh.setModel', { model: 'offline/demo' }],
      ],
    );
    assert.deepEqual(
      (await sent<{ command: string }>(page, 'window')).map((m) => m.command),
      ['addKey', 'model'],
    );
    await page.click('.ways button[aria-label=Close]');
    await page.waitForSelector('.ways', { state: 'detached' });
  }));

test('the provider whose key is missing comes first, and a ready model shows no card', async () => {
  await inScene('waysKey', async ({ page }) => {
    await page.waitForSelector('.ways h2 >> text=Google Gemini needs an API key.');
    await until(page, "document.querySelectorAll('.way').length > 8");
    assert.equal((await rows(page))[0], 'Google Gemini');
  });
  await inScene('conversation', async ({ page }) => assert.equal(await page.locator('.ways').count(), 0));
});

test('a refused prompt waits, and is sent once when a model is ready', () =>
  inScene('ways', async ({ page }) => {
    await refuse(page);
    await type(page, 'Fix the parser');
    await page.waitForSelector('.waiting blockquote >> text=Fix the parser');
    assert.equal(await page.inputValue(composer), '');
    assert.equal(await page.locator('.note').count(), 0, 'the card says it');
    await type(page, 'and its tests');
    await page.waitForSelector('.waiting blockquote >> text=and its tests');
    const before = (await prompts(page)).length;
    await becomeReady(page);
    await until(page, "[...document.querySelectorAll('.answer')].at(-1)?.textContent.includes('You said')");
    assert.deepEqual((await prompts(page)).slice(before), ['Fix the parser\n\nand its tests']);
    assert.equal(await page.locator('.ways').count(), 0);
    assert.equal(await page.locator('.note').count(), 0);
    await page.evaluate("window.harness.post({ kind: 'models' })");
    await until(page, "window.harness.received.filter((m) => m.command === 'xcsh.state').length >= 2");
    assert.equal((await prompts(page)).length, before + 1, 'it is not sent again');
  }));

test('a waiting prompt can be edited and canceled', () =>
  inScene('ways', async ({ page }) => {
    await refuse(page);
    await type(page, 'one');
    await page.click('.waiting >> text=Edit');
    await until(page, `document.querySelector('${composer}').value === 'one'`);
    assert.equal(await page.evaluate('document.activeElement.id'), 'composer');
    await page.keyboard.press('Enter');
    await page.click('.waiting >> text=Cancel');
    await page.waitForSelector('.waiting', { state: 'detached' });
    const before = (await prompts(page)).length;
    await becomeReady(page);
    await page.waitForSelector('.ways', { state: 'detached' });
    assert.equal((await prompts(page)).length, before);
    assert.equal(await page.inputValue(composer), '');
  }));

test('a waiting prompt survives a reload, and is sent by no other session', () =>
  inScene('ways', async ({ page }) => {
    await refuse(page);
    await type(page, 'keep this');
    await page.waitForSelector('.waiting blockquote >> text=keep this');
    await page.reload();
    await page.waitForSelector('.waiting blockquote >> text=keep this');
    await page.evaluate(`
      window.harness.session.sessionId = 's2';
      window.harness.session.ready = { ok: true };
      window.harness.session.changed('new')`);
    await until(page, `document.querySelector('${composer}').value === 'keep this'`);
    assert.deepEqual(await prompts(page), []);
  }));

test('a prompt that a ready server refuses is not sent in a loop', () =>
  inScene('conversation', async ({ page }) => {
    await refuse(page);
    await type(page, 'again?');
    await page.waitForSelector('.waiting');
    for (let i = 0; i < 3; i++) await page.evaluate("window.harness.post({ kind: 'models' })");
    await page.waitForSelector('.waiting');
    const states = "window.harness.received.filter((m) => m.command === 'xcsh.state').length";
    await until(page, `${states} >= 3`);
    assert.ok((await prompts(page)).length <= 4);
  }));

test('notices have buttons, and no red box stays after the first answer', () =>
  inScene('conversation', async ({ page }) => {
    const fail = (error: string) => page.evaluate(`window.harness.failing['xcsh.prompt'] = ${error}`);
    await fail("{ message: 'Anthropic is overloaded.', kind: 'provider' }");
    await type(page, 'Hello');
    await page.waitForSelector('.note.error >> text=Anthropic is overloaded.');
    await page.click('.note.error >> text=Choose model');
    assert.deepEqual(
      (await sent<{ command: string }>(page, 'window')).map((m) => m.command),
      ['model'],
    );
    await fail("{ message: 'It broke.', kind: 'internal' }");
    await page.focus(composer);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.note.error >> text=It broke.');
    await page.waitForSelector('.note.error >> text=Show log');
    await page.evaluate("delete window.harness.failing['xcsh.prompt']");
    await page.focus(composer);
    await page.keyboard.press('Enter');
    await until(page, "[...document.querySelectorAll('.answer')].at(-1)?.textContent.includes('You said')");
    assert.equal(await page.locator('.note').count(), 0);
    assert.deepEqual((await called(page)).slice(-1), ['xcsh.prompt']);
  }));

test('names of providers and engines are text', () =>
  inScene('waysHostile', async ({ page }) => {
    await page.waitForSelector('.way');
    await until(page, "document.querySelectorAll('.way').length > 3");
    assert.equal(await page.locator('.ways img, .ways script, .ways a, .ways svg').count(), 0);
    assert.ok(!(await page.textContent('.ways'))!.includes('\u202e'));
  }));
