// A conversation with the keyboard alone: the mouse is never used, and the focused element is marked at each step. axe
// finds nothing in the panel on the way.
/* global addEventListener, document, getComputedStyle, navigator, window */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { violations } from '../axe.mjs';
import { until } from '../driver.mjs';
import { service } from '../service.mjs';

const titles = JSON.parse(readFileSync(new URL('../../../package.nls.json', import.meta.url), 'utf8'));

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions: (editor) => writeFileSync(join(editor.folder, 'scan.ts'), 'export const width = 80;\n'),
};

const calls = [
  { id: 'c1', name: 'read', args: { path: 'scan.ts' } },
  { id: 'c2', name: 'edit', args: { path: 'scan.ts', edits: [{ oldText: '80', newText: '100' }] } },
];

/** The most presses of Tab from one place of the panel to another. */
const farthest = 80;

class Keyboard {
  constructor(editor) {
    this.editor = editor;
    this.keys = editor.page.keyboard;
  }

  /** Runs a command from the palette. The command is registered a while after the window is shown. */
  async command(id) {
    const { page } = this.editor;
    const title = `xcsh: ${titles[`command.${id}`]}`;
    const row = page.locator('.quick-input-list .monaco-list-row.focused', { hasText: title });
    await until(`the command ${title}`, async () => {
      await this.keys.press('F1');
      await this.editor.input().waitFor();
      await this.keys.insertText(title);
      const shown = await row.waitFor({ timeout: 1500 }).then(
        () => true,
        () => false,
      );
      await this.keys.press(shown ? 'Enter' : 'Escape');
      await this.editor.input().waitFor({ state: 'hidden' });
      return shown;
    });
  }

  /** Moves the focus to the first element that matches, with Tab or Shift+Tab. */
  async to(selector, key) {
    const { chat } = this.editor;
    for (let n = 0; n < farthest; n++) {
      if (
        (await chat.locator(`:focus`).count()) &&
        (await chat.locator(':focus').evaluate((e, s) => e.matches(s), selector))
      )
        return this.marked(selector);
      await this.keys.press(key);
    }
    throw new Error(`${key} does not reach ${selector}`);
  }

  /** Checks that an element has the focus, and that the user sees that. */
  async marked(selector) {
    const focused = this.editor.chat.locator(`:is(${selector}):focus`);
    await focused.waitFor();
    const ring = await focused.evaluate((e) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(e);
      if (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1) return true;
      // The border of the composer, around its text field.
      const box = e.closest('.composer');
      const probe = document.createElement('i');
      probe.style.color = 'var(--vscode-focusBorder)';
      document.body.append(probe);
      const mark = getComputedStyle(probe).color;
      probe.remove();
      return e.id === 'composer' && getComputedStyle(box).borderTopColor === mark;
    });
    assert.ok(ring, `the focus of ${selector} is visible`);
  }
}

export default async function (editor) {
  const { page, chat } = editor;
  const keyboard = new Keyboard(editor);
  const { keys } = keyboard;
  const composer = '#composer';
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const model = await service(editor, [
    { text: 'I read the file first.', calls },
    { text: 'The width is 100 now.' },
    { text: 'This answer takes a while and is stopped.', held },
  ]);
  const used = await page.evaluate(() => {
    window.mouseUsed = 0;
    for (const kind of ['mousedown', 'pointerdown']) addEventListener(kind, () => window.mouseUsed++, true);
    return window.mouseUsed;
  });
  assert.equal(used, 0);

  // The panel, and the model.
  await keyboard.command('xcshLs.chat.open');
  await keyboard.marked(composer);
  await keyboard.to("[aria-label^='Model: ']", 'Tab');
  await keys.press('Enter');
  await editor.input().waitFor();
  await keys.insertText('local/m');
  await page.locator('.quick-input-list .monaco-list-row.focused', { hasText: 'local' }).waitFor();
  await keys.press('Enter');
  await chat.getByRole('button', { name: 'Model: m' }).waitFor();
  await until('the focus in the panel', () => chat.locator(':focus').count());
  await keyboard.to(composer, 'Shift+Tab');

  // A prompt, and its approval.
  await keys.insertText('Make it 100 wide.');
  await keys.press('Enter');
  await chat.locator('.approval .diff .added', { hasText: '100' }).waitFor();
  await keyboard.marked(composer);
  await keyboard.to('.approval footer .button:first-child', 'Shift+Tab');
  await editor.shot('approval');
  assert.deepEqual(await violations(editor), []);
  await keys.press('Enter');
  await editor.said('The width is 100 now.').waitFor();
  await editor.turnEnds();
  assert.equal(editor.read(join(editor.folder, 'scan.ts')), 'export const width = 100;\n');
  await keyboard.marked(composer);

  // The answer is copied, and a tool call opened.
  await keyboard.to("[aria-label='Copy answer']", 'Shift+Tab');
  await editor.shot('copy');
  await keys.press('Enter');
  await until('the copy', () =>
    page.evaluate(() => navigator.clipboard.readText()).then((text) => text.includes('The width is 100 now.')),
  );
  await keyboard.to(".call .fold-head[aria-expanded='false']", 'Shift+Tab');
  await keys.press('Enter');
  await chat.locator('.output', { hasText: 'width = 80' }).waitFor();
  await keyboard.marked(".fold-head[aria-expanded='true']");
  await editor.shot('call');

  // Find.
  await keys.press('Control+F');
  await keyboard.marked('.find input');
  await keys.insertText('width is');
  await keys.press('Enter');
  await chat.locator('[data-found]', { hasText: 'The width is 100 now.' }).waitFor();
  await editor.shot('find');
  await keys.press('Escape');
  await keyboard.marked(composer);

  // The message is edited, and the new turn stopped.
  await keyboard.to("[aria-label='Edit and resend']", 'Shift+Tab');
  await keys.press('Enter');
  await chat.locator('.editing-note').waitFor();
  await keyboard.marked(composer);
  await editor.shot('edit');
  await keys.press('Control+End');
  await keys.insertText(' And wrap lines.');
  await keys.press('Enter');
  await editor.said('This answer takes').waitFor();
  await keys.press('Escape');
  await editor.turnEnds();
  await chat.locator('.ended', { hasText: 'Stopped' }).waitFor();
  await keyboard.marked(composer);
  assert.deepEqual(await violations(editor), []);
  await editor.shot('stopped');
  assert.equal(await page.evaluate(() => window.mouseUsed), 0);
  release();
  model.close();
}
