// The announcements for screen readers: each event once, when it is complete.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { inScene, stop, until } from './tab';

after(stop);

/** Records each text that appears in a live region from now on. */
const listen = (page: Page) =>
  page.evaluate(`{
    window.announced = [];
    const regions = '[aria-live=polite], [role=status], [role=alert]';
    let before = new Map([...document.querySelectorAll(regions)].map((e) => [e, e.textContent]));
    new MutationObserver(() => {
      const now = new Map([...document.querySelectorAll(regions)].map((e) => [e, e.textContent]));
      for (const [e, text] of now) if (text.trim() !== '' && before.get(e) !== text) window.announced.push(text);
      before = now;
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  }`);

const announced = (page: Page) => page.evaluate<string[]>('window.announced');

const emit = (page: Page, ...events: object[]) =>
  page.evaluate(`for (const e of ${JSON.stringify(events)}) window.harness.session.emit(e)`);

/** The end of an answer and of its turn. */
const ends = (text: string, stopReason: string, errorMessage?: string) => [
  {
    type: 'message_end',
    message: { role: 'assistant', content: [{ type: 'text', text }], stopReason, errorMessage, timestamp: 0 },
  },
  { type: 'agent_end', stopReason, errorMessage },
];

/** Waits until the number of announcements is reached, and two frames longer. */
async function heard(page: Page, count: number): Promise<string[]> {
  await until(page, `window.announced.length >= ${count}`);
  await page.evaluate('new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))');
  return announced(page);
}

test('an answer is announced once, when it is complete', () =>
  inScene('streaming', async ({ page }) => {
    await listen(page);
    await page.evaluate(`(async () => {
      for (let i = 0; i < 50; i++) {
        window.harness.session.emit({ type: 'message_update', assistantMessageEvent: { type: 'text_delta', contentIndex: 1, delta: ' word' + i } });
        await new Promise((r) => requestAnimationFrame(r));
      }
    })()`);
    await page.waitForSelector('.message >> text=word49');
    assert.deepEqual(await announced(page), []);
    await emit(page, ...ends('All done.', 'stop'));
    assert.deepEqual(await heard(page, 1), ['xcsh: All done.']);
  }));

test('a stop and an error are announced once', async () => {
  await inScene('streaming', async ({ page }) => {
    await listen(page);
    await emit(page, ...ends('Half an', 'aborted', 'Request was aborted'));
    assert.deepEqual(await heard(page, 1), ['xcsh was stopped']);
    await emit(page, { type: 'agent_start' }, ...ends('', 'error', 'It is overloaded.'));
    await page.waitForSelector('.failure >> text=It is overloaded.');
    await until(page, "window.announced.at(-1) === 'It is overloaded.'");
    assert.equal((await heard(page, 2)).filter((text) => text.includes('overloaded')).length, 1);
  });
  await inScene('conversation', async ({ page }) => {
    await listen(page);
    await emit(page, { type: 'agent_start' });
    await heard(page, 1);
    await emit(page, { type: 'message_end', message: { role: 'user', content: 'Go on', timestamp: 0 } });
    await emit(page, { type: 'agent_end', stopReason: 'error', errorMessage: 'The key is invalid.' });
    await page.waitForSelector('.note.error >> text=The key is invalid.');
    assert.deepEqual(await heard(page, 2), ['xcsh is working', 'The key is invalid.']);
  });
});

test('each approval is announced once, also an equal one', () =>
  inScene('conversation', async ({ page }) => {
    await listen(page);
    const asked = (id: string) => ({
      type: 'approvals_changed',
      approvals: [{ id, tool: 'bash', args: { command: 'ls' }, preview: { title: 'Run ls' }, rules: [], shown: true }],
    });
    await emit(page, { type: 'agent_start' }, asked('a1'));
    await page.waitForSelector('.approval');
    await emit(page, asked('a1'));
    assert.deepEqual(await heard(page, 1), ['Approval needed: Run ls']);
    await emit(page, { type: 'approvals_changed', approvals: [] });
    await page.waitForSelector('.approval', { state: 'detached' });
    await emit(page, asked('a2'));
    assert.deepEqual(
      (await heard(page, 2)).map((text) => text.trim()),
      ['Approval needed: Run ls', 'Approval needed: Run ls'],
    );
  }));

test('a retry is announced once, and not each second', () =>
  inScene('conversation', async ({ page }) => {
    await emit(page, { type: 'agent_start' });
    await until(page, "document.querySelector('[aria-live=polite]').textContent === 'xcsh is working'");
    await listen(page);
    const retry = { type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 3000, errorMessage: 'It is busy.' };
    await emit(page, retry);
    await page.waitForSelector('.note.warning >> text=Retrying in 2 s');
    assert.deepEqual(await heard(page, 1), ['It is busy. Retrying (1 of 3)']);
  }));
