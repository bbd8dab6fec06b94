// The changes of files on the page: cards, the bar above the composer, and the confirmation of a rewind.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import type { Page } from 'playwright-core';

import { inScene, stop, until } from './tab';

after(stop);

const text = (page: Page, selector: string) => page.locator(selector).first().innerText();
const rewinds = (page: Page) =>
  page.evaluate<{ planToken?: string; except?: string[] }[]>('window.harness.changes.calls');
const carriedOut = async (page: Page) => (await rewinds(page)).filter((c) => c.planToken !== undefined);
const sent = (page: Page, kind: string) =>
  page.evaluate<{ [key: string]: unknown }[]>(`window.harness.received.filter((m) => m.kind === '${kind}')`);

/** Presses the button of the newest prompt. */
async function ask(page: Page, nth = -1): Promise<void> {
  await page.waitForSelector('.turn-card');
  const prompt = page.locator('.message.user').nth(nth);
  await prompt.hover();
  await prompt.getByRole('button', { name: 'Rewind to here…' }).click();
  await page.waitForSelector('.rewind .plan');
}

/** Moves the clock of the page on, so that a press is not the second one of a double press. */
const settle = (page: Page) => page.evaluate('Date.now = ((now) => () => now() + 1000)(Date.now)');

/** Clicks the button, even if it is disabled. */
const confirm = (page: Page) => page.evaluate("document.querySelector('.rewind footer .button:last-child').click()");

/** Stops the clock of the page, however slow the machine is. */
const stopClock = (page: Page) => page.evaluate('Date.now = ((now) => () => now)(Date.now())');

test('each turn has a card with its own changes, and its files can be opened', () =>
  inScene('changes', async ({ page }) => {
    await page.waitForSelector('.turn-card');
    await page.evaluate("document.querySelector('.turn-card').scrollIntoView()");
    await until(page, "document.querySelectorAll('.turn-card').length === 2");
    const cards = await page.locator('.turn-card > header .fold-head').allInnerTexts();
    assert.deepEqual(
      cards.map((c) => c.replace(/\s+/g, ' ').trim().slice(0, 16)),
      ['2 files +20 −9 2', '5 files +84 −31 '],
    );
    const newest = page.locator('.turn-card').last();
    await newest.getByRole('button', { name: 'Review' }).click();
    await newest.locator('.fold-head').click();
    await newest.locator('.changed').nth(1).click();
    const prompt = await page.evaluate('window.harness.session.messages.at(-4).entryId');
    assert.deepEqual(
      (await sent(page, 'review')).map(({ since, path }) => [since, path]),
      [
        [prompt, undefined],
        [prompt, '/home/you/calc/test/group.test.ts'],
      ],
    );
    assert.match(await newest.innerText(), /Its changes outside of the folder are not recorded/);
  }));

test('a turn has no card while it runs, and the others keep theirs', () =>
  inScene('changes', async ({ page }) => {
    await until(page, "document.querySelectorAll('.turn-card').length === 2");
    await page.evaluate("window.harness.session.emit({ type: 'agent_start' })");
    const undo = page.locator('.turn-card .link', { hasText: 'Undo turn' }).last();
    await until(page, "[...document.querySelectorAll('.turn-card .link:disabled')].length === 2");
    assert.equal(await undo.isDisabled(), true);
    await page.evaluate(`{
      const s = window.harness.session;
      const message = { role: 'user', content: 'More' };
      s.emit({ type: 'message_start', message });
      s.emit({ type: 'message_end', message });
      window.harness.changes.turn(s.messages.at(-1).entryId, [{ path: 'c.ts', status: 'added', added: 1, removed: 0 }]);
      const content = [{ type: 'toolCall', id: 'w9', name: 'write', arguments: { path: 'c.ts' } }];
      s.emit({ type: 'message_start', message: { role: 'assistant', content: [] } });
      s.emit({ type: 'message_end', message: { role: 'assistant', content, stopReason: 'toolUse' } });
    }`);
    await until(page, "document.querySelectorAll('.message.user').length === 3");
    assert.equal(await page.locator('.turn-card').count(), 2);
    await page.evaluate("window.harness.session.emit({ type: 'agent_end', stopReason: 'stop' })");
    await until(page, "document.querySelectorAll('.turn-card').length === 3");
  }));

test('the question opens with the focus on Cancel, and neither Enter twice nor Escape changes anything', () =>
  inScene('changes', async ({ page }) => {
    await page.waitForSelector('.turn-card');
    await stopClock(page);
    const button = page.locator('.message.user').last().getByRole('button', { name: 'Rewind to here…' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.waitForSelector('.rewind .plan');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.rewind', { state: 'detached' });
    assert.match(await page.evaluate('document.activeElement.ariaLabel'), /^Rewind/, 'the focus returns');
    await button.click();
    await page.waitForSelector('.rewind .plan');
    await page.keyboard.press('Escape');
    await page.waitForSelector('.rewind', { state: 'detached' });
    await page.locator('.turn-card').last().getByRole('button', { name: 'Undo turn' }).dblclick();
    await page.waitForSelector('.rewind .plan');
    await confirm(page); // too early to be meant
    assert.deepEqual(await carriedOut(page), []);
    assert.equal(await page.locator('.rewind').count(), 1);
  }));

test('files and conversation go back, the prompt returns, and it can be redone', () =>
  inScene('changes', async ({ page }) => {
    await ask(page);
    assert.equal(await text(page, '#rewind-summary'), '5 files change.');
    await settle(page);
    await page.locator('.rewind footer .button').last().dblclick();
    await page.waitForSelector('.rewind', { state: 'detached' });
    assert.equal((await carriedOut(page)).length, 1, 'a double click rewinds once');
    await until(page, "document.querySelector('#composer').value === 'Add the tests.'");
    await page.waitForSelector('.note');
    assert.match(await text(page, '.note'), /Undid the changes of 5 files\./);
    await until(page, "document.querySelectorAll('.turn-card').length === 1");
    await page.locator('.note').getByRole('button', { name: 'Redo' }).click();
    await until(page, "document.querySelectorAll('.turn-card').length === 2");
  }));

test('a conflict is explained, opened where it is, and left out', () =>
  inScene('changesConflict', async ({ page }) => {
    await ask(page);
    assert.match(await text(page, '#rewind-summary'), /^1 file has conflicts/);
    const go = page.locator('.rewind footer .button').last();
    assert.equal(await go.getAttribute('aria-disabled'), 'true');
    await settle(page);
    await confirm(page);
    await page.getByRole('button', { name: 'lines 10–12' }).click();
    const opened = (await sent(page, 'openPlanned'))[0] as { planned: { path: string; places: unknown }[] };
    assert.deepEqual(opened.planned[0]?.places, [{ start: 10, end: 12 }]);
    assert.equal(await page.locator('.renewed').count(), 0, 'opening a file changes nothing in the question');
    await page.getByRole('button', { name: 'Leave it out' }).click();
    await page.waitForSelector('.left-out');
    await until(page, "document.querySelector('#rewind-summary').textContent === '4 files change.'");
    assert.match(await text(page, '.plan .yours'), /lines 40–41/);
    await page.getByText('Files only').click();
    await until(page, "!document.querySelector('.rewind[aria-busy=true]')");
    assert.equal(await page.locator('.left-out').count(), 1, 'the choice stays');
    await confirm(page);
    await page.waitForSelector('.rewind', { state: 'detached' });
    const [call, ...more] = await carriedOut(page);
    assert.deepEqual([call?.except, more.length], [['/home/you/calc/docs/grammar.md'], 0]);
  }));

test('files that changed in the meantime lead to a new plan, with a notice', () =>
  inScene('changes', async ({ page }) => {
    await ask(page);
    await settle(page);
    await page.evaluate('window.harness.changes.touch()');
    await confirm(page);
    await page.waitForSelector('.renewed');
    assert.equal((await page.locator('.turn-card').count()) > 0, true);
    await settle(page);
    await confirm(page);
    await page.waitForSelector('.rewind', { state: 'detached' });
    assert.equal((await carriedOut(page)).length, 2, 'the stale one, and the new one');
  }));

test('pending changes are kept or undone above the composer', () =>
  inScene('changes', async ({ page }) => {
    await page.waitForSelector('.changes-bar');
    await page.click('.changes-bar .fold-head');
    const row = page.locator('.changes-bar li', { hasText: 'scan.ts' });
    await row.getByRole('button', { name: 'Keep scan.ts' }).click();
    await row.waitFor({ state: 'detached' });
    await settle(page);
    const other = page.locator('.changes-bar li', { hasText: 'old.test.ts' });
    await other.getByRole('button', { name: 'Undo old.test.ts' }).click();
    await other.waitFor({ state: 'detached' });
    assert.equal((await carriedOut(page)).length, 1);
    await page.getByRole('button', { name: 'Undo all' }).click();
    await page.waitForSelector('.rewind .plan');
    await settle(page);
    await confirm(page);
    await page.waitForSelector('.changes-bar', { state: 'detached' });
  }));

test('an interrupted rewind is announced', () =>
  inScene('changes', async ({ page }) => {
    await page.evaluate('window.harness.changes.interrupted = true');
    await page.evaluate("window.harness.session.emit({ type: 'changes_changed', totals: {}, paths: [] })");
    await page.waitForSelector('.changes-bar [role=status]');
    assert.match(await text(page, '.changes-bar'), /interrupted/);
  }));

test('hostile names of files and sentences stay text', () =>
  inScene('changesHostile', async ({ page }) => {
    await page.waitForSelector('.turn-card');
    await page.click('.turn-card .fold-head');
    await page.click('.changes-bar .fold-head');
    await page.evaluate("document.querySelector('.message.user button[aria-label^=Rewind]').click()");
    await page.waitForSelector('.rewind .why');
    assert.equal(await page.locator('.rewind img, .rewind script, .turn-card img').count(), 0);
  }));

for (const width of [300, 220])
  test(`everything fits into ${width} px`, () =>
    inScene(
      'changesConflict',
      async ({ page }) => {
        await page.waitForSelector('.turn-card');
        await page.click('.changes-bar .fold-head');
        const wide = (within: string) =>
          page.evaluate<string[]>(`[...document.querySelectorAll('${within}')].flatMap((box) => {
            const right = box.getBoundingClientRect().right + 1;
            return [...box.querySelectorAll('button, p, label')].filter((e) => e.getBoundingClientRect().right > right).map((e) => e.textContent);
          })`);
        assert.deepEqual(await wide('.turn-card, .changes-bar'), []);
        await ask(page);
        assert.deepEqual(await wide('.rewind'), []);
        const go = await page.locator('.rewind footer .button').last().boundingBox();
        assert.ok(go && go.y + go.height <= 500, 'the button is in view');
      },
      { width, height: 500 },
    ));
