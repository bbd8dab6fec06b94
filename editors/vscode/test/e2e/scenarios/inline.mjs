// A change is requested, followed, and reviewed in a thread in the text, and nothing else asks. A rejected change
// leaves no trace; an accepted one is in the buffer, unsaved, and Undo reverts it.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

const original = 'one\ntwo\nthree\nfour\nfive\n';

export const options = {
  settings: () => ({ 'xcshLs.model': 'local/m', 'files.autoSave': 'off' }),
  sessions(editor) {
    writeFileSync(join(editor.folder, 'a.txt'), original);
    writeFileSync(join(editor.folder, 'b.txt'), 'other\n');
  },
};

const edit = (id, path, ...pairs) => ({
  text: 'I change it.',
  calls: [{ id, name: 'edit', args: { path, edits: pairs.map(([oldText, newText]) => ({ oldText, newText })) } }],
});
const both = [
  ['two', 'zwei'],
  ['four', 'vier'],
];

/** Returns a promise, and the function that fulfills it. */
function gate() {
  let open;
  const held = new Promise((resolve) => (open = resolve));
  return { held, open };
}

export default async function (editor) {
  const model = await service(editor, []);
  const inline = new Inline(editor, model);
  await editor.openChat();
  await editor.openFile('a.txt');
  await partly(inline);
  await whole(inline);
  await otherFile(inline);
  await hidden(inline);
  await twoAtOnce(inline);
  await lightBulb(inline);
  await afterwards(inline);
  await crash(inline);
  model.close();
}

/** The user's actions in the thread. */
class Inline {
  constructor(editor, model) {
    Object.assign(this, { editor, model, page: editor.page, thread: editor.page.locator('.review-widget') });
    this.file = join(editor.folder, 'a.txt');
    this.lenses = this.page.locator('.codelens-decoration a');
    this.approvals = editor.chat.locator('.approval');
  }

  /** Requests a change of the line with a text. */
  async request(line, words) {
    await this.page.locator('.view-line', { hasText: line }).first().click();
    await this.editor.palette('xcshLs.inlineChat');
    await this.describe(words);
  }

  async describe(words) {
    await this.page.locator('.review-widget .monaco-editor.focused').waitFor();
    await this.page.keyboard.type(words);
    await this.page.keyboard.press('Enter');
    await this.note(words).waitFor();
  }

  note(text) {
    return this.thread.locator('.review-comment', { hasText: text });
  }

  action(title, within = this.thread) {
    return within.locator(`.action-label[aria-label^="${title}"]`);
  }

  /** Presses a button above a changed line. */
  async lens(title, count) {
    const buttons = this.lenses.filter({ hasText: title });
    await until(`${count} buttons ${title}`, async () => (await buttons.count()) === count);
    await buttons.first().click();
  }

  /** Waits until the thread is gone. */
  async resolved() {
    await this.thread.waitFor({ state: 'detached' });
    await until('no buttons in the text', async () => (await this.lenses.count()) === 0);
  }

  async text(is) {
    await until(`the text ${JSON.stringify(is)}`, async () => (await this.lines()).join('\n').trim() === is.trim());
  }

  /** The lines of the file, without those of the thread. */
  async lines() {
    const lines = await this.page.locator('.editor-instance .view-lines').first().locator(':scope > .view-line').all();
    const placed = await Promise.all(
      lines.map(async (line) => ({ top: await line.evaluate((e) => e.offsetTop), text: await line.innerText() })),
    );
    return placed.sort((a, b) => a.top - b.top).map(({ text }) => text.replaceAll('\u00a0', ' ').trimEnd());
  }

  async undo(is = original) {
    await this.page.locator('.view-line', { hasText: 'one' }).first().click();
    await this.page.keyboard.press('Control+Z');
    await this.text(is);
  }

  /** Chooses a color theme. */
  async theme(name, type) {
    for (const place of ['User', 'Machine']) {
      const file = join(this.editor.user, place, 'settings.json');
      writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file)), 'workbench.colorTheme': name }));
    }
    await this.page.locator(`.monaco-workbench.${type}`).waitFor();
  }

  async answered(count) {
    await until(`request ${count} of the model`, () => this.model.requests.length === count);
    return JSON.stringify(this.model.requests[count - 1].messages);
  }

  /** Nothing but the thread asks. */
  async asksAlone() {
    assert.equal(await this.approvals.count(), 0, 'the panel does not ask too');
    assert.equal(await this.page.locator('.notification-toast').count(), 0, 'no notification asks too');
    assert.equal(await this.page.locator('.monaco-diff-editor').count(), 0, 'no diff editor opens');
  }
}

/** One hunk is kept and one undone. The user types meanwhile. */
async function partly(inline) {
  const { editor, model, page } = inline;
  const { held, open } = gate();
  model.answers.push({ ...edit('c1', 'a.txt', ...both), held }, { text: 'Then only one.' });
  await inline.request('two', 'say it in German');
  const sent = await inline.answered(1);
  assert.match(sent, /<instruction>.*line 2 of a\.txt.*<\/instruction>.*lines=\\{1,3}"2-2.*say it in German/);
  await inline.thread.getByText('Answering…').waitFor();
  await editor.shot('running');
  // The user keeps typing: the keys go to the text.
  await page.locator('.view-line', { hasText: 'five' }).click();
  await page.keyboard.press('End');
  await page.keyboard.type('!');
  open();
  await inline.note('+zwei').waitFor();
  await inline.note('+vier').waitFor();
  await inline.asksAlone();
  for (const [name, theme, type] of [
    ['light', 'Default Light Modern', 'vs'],
    ['contrast', 'Default High Contrast', 'hc-black'],
    ['dark', 'Default Dark Modern', 'vs-dark'],
  ]) {
    await inline.theme(theme, type);
    await editor.shot(`review-${name}`);
  }
  assert.equal((await inline.lines()).join('\n').includes('zwei'), false, 'nothing is applied before it is kept');
  await inline.lens('Keep', 2);
  await inline.note('applied when all changes are decided').waitFor();
  await inline.action('Undo Change', inline.note('+vier')).click();
  await inline.resolved();
  assert.match(await inline.answered(2), /The user changed your proposal for .*zwei/);
  await inline.text('one\nzwei\nthree\nfour\nfive!\n');
  assert.equal(editor.read(inline.file), original, 'it is in the buffer, and not saved');
  await inline.undo('one\ntwo\nthree\nfour\nfive!\n');
  await inline.undo();
  // The recorded prompt has the user's words.
  await editor.said('Then only one.').waitFor();
  assert.equal((await editor.chat.locator('.request .said').first().innerText()).trim(), 'say it in German');
}

/** All hunks are kept, and then a change is rejected. */
async function whole(inline) {
  const { model } = inline;
  model.answers.push(edit('c2', 'a.txt', ...both), { text: 'Done.' });
  await inline.request('two', 'say it in German again');
  await inline.note('+zwei').waitFor();
  await inline.action('Keep All').click();
  await inline.resolved();
  await inline.text('one\nzwei\nthree\nvier\nfive\n');
  await inline.answered(4);
  await inline.undo();

  model.answers.push(edit('c3', 'a.txt', both[0]), { text: 'Then not.' });
  await inline.request('two', 'say it once more');
  await inline.note('+zwei').waitFor();
  await inline.editor.palette('xcshLs.inlineChat.undoAll');
  await inline.resolved();
  assert.match(await inline.answered(6), /denied this/);
  await inline.text(original);
}

/** The model wants to change another file, and to run a command: the thread asks about these too. */
async function otherFile(inline) {
  const { editor, model } = inline;
  const run = { text: 'I look.', calls: [{ id: 'c5', name: 'bash', args: { command: 'touch c.txt' } }] };
  model.answers.push(edit('c4', 'b.txt', ['other', 'changed']), run, { text: 'Nothing to do here.' });
  await inline.request('two', 'rename it everywhere');
  const asked = inline.note('+changed');
  await asked.getByText('Edit b.txt').waitFor();
  await inline.asksAlone();
  await editor.shot('other-file');
  await inline.action('Deny', asked).click();
  await inline.action('Deny', inline.note('touch c.txt')).click();
  await inline.note('Nothing to do here.').waitFor();
  await inline.answered(9);
  assert.equal(editor.read(join(editor.folder, 'b.txt')), 'other\n');
  await inline.action('Close Request').click();
  await inline.resolved();
}

/** The file is out of sight: the panel takes over, and the diff that it opens answers and closes itself. */
async function hidden(inline) {
  const { editor, model, page } = inline;
  const diff = page.locator('.monaco-diff-editor');
  model.answers.push(edit('c6', 'a.txt', both[0]), { text: 'Fine.' });
  await inline.request('two', 'say it in German, please');
  await inline.note('+zwei').waitFor();
  assert.equal(await inline.approvals.count(), 0);
  await editor.openFile('b.txt');
  await inline.approvals.waitFor();
  await inline.approvals.getByRole('button', { name: 'Show the change in an editor' }).click();
  await diff.getByText('zwei').first().waitFor();
  await editor.shot('diff');
  // Another answer than its own closes it too.
  await inline.approvals.getByRole('button', { name: 'Deny', exact: true }).click();
  await diff.waitFor({ state: 'detached' });
  await inline.answered(11);

  await editor.openFile('a.txt');
  await inline.resolved();
  model.answers.push(edit('c7', 'a.txt', both[0]), { text: 'Fine.' });
  await inline.request('two', 'say it in German, please do');
  await inline.note('+zwei').waitFor();
  await inline.action('Show Change in Diff Editor').click();
  await diff.getByText('zwei').first().click();
  await page.keyboard.press('Control+Enter'); // Accept Change
  await diff.waitFor({ state: 'detached' });
  await inline.answered(13);
  await inline.resolved();
  await inline.text('one\nzwei\nthree\nfour\nfive\n');
  await inline.undo();
}

/** A second request waits for the first, which is stopped. */
async function twoAtOnce(inline) {
  const { model } = inline;
  const { held, open } = gate();
  model.answers.push({ text: 'A long story that is not wanted.', held }, { text: 'Nothing to change here.' });
  await inline.request('two', 'the first request');
  await inline.answered(14);
  await inline.request('five', 'the second request');
  const [first, second] = ['the first', 'the second'].map((hasText) =>
    inline.page.locator('.review-widget').filter({ has: inline.page.locator('.review-comment', { hasText }) }),
  );
  await second.getByText('Waiting for the running turn to end…').waitFor();
  await inline.action('Stop', first).click();
  await first.locator('.review-comment', { hasText: 'Stopped.' }).waitFor();
  await second.locator('.review-comment', { hasText: 'Nothing to change here.' }).waitFor();
  open();
  await inline.answered(15);
  for (const thread of [first, second]) {
    await inline.action('Close Request', thread).click();
    await thread.waitFor({ state: 'detached' });
  }
}

/** The light bulb offers the same for the selection. */
async function lightBulb(inline) {
  const { model, page } = inline;
  model.answers.push({ text: 'Nothing to change.' });
  await until('the menu of the light bulb', async () => {
    await page.locator('.view-line', { hasText: 'three' }).click(); // again: Escape ends a selection, too
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.press('Control+.');
    const action = page.locator('.action-widget .monaco-list-row', { hasText: 'Change with xcsh…' });
    return action.click({ timeout: 1500 }).then(
      () => true,
      () => page.keyboard.press('Escape').then(() => false),
    );
  });
  await inline.describe('in French');
  assert.match(await inline.answered(16), /lines=\\{1,3}"3-3/);
  await inline.note('Nothing to change.').waitFor();
  await inline.action('Close Request').click();
  await inline.resolved();
}

/** Changes that the mode allows are reviewed after they were made. */
async function afterwards(inline) {
  const { editor, model } = inline;
  await editor.palette('xcsh.setApproval');
  await editor.pick('Auto-edit');
  model.answers.push(edit('c8', 'a.txt', ...both), { text: 'Both are German now.' });
  await inline.request('two', 'say both in German');
  await inline.note('+vier').waitFor();
  await inline.text('one\nzwei\nthree\nvier\nfive\n');
  await editor.shot('made');
  await inline.lens('Undo', 2);
  await inline.text('one\ntwo\nthree\nvier\nfive\n');
  await inline.action('Keep Change', inline.note('+vier')).click();
  await inline.resolved();
  await inline.text('one\ntwo\nthree\nvier\nfive\n');
  await inline.answered(18);
  await editor.palette('xcsh.setApproval');
  await editor.pick('Ask first');
}

/** The server ends while the thread asks: the thread says so, and nothing waits. */
async function crash(inline) {
  const { editor, model } = inline;
  model.answers.push(edit('c9', 'a.txt', both[0]));
  await inline.request('two', 'say it in German at last');
  await inline.note('+zwei').waitFor();
  for (const pid of editor.serverPids()) process.kill(pid, 'SIGKILL');
  await inline.note('The xcsh-ls server stopped unexpectedly.').waitFor();
  await until('no buttons in the text', async () => (await inline.lenses.count()) === 0);
  await editor.shot('crashed');
}
