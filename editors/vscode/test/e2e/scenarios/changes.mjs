// Review and rewind against the real server: cards of turns, the view of source control, the gutter, undo, redo, and a rewind
// with a conflict.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

const before = Array.from({ length: 30 }, (_, i) => `line ${i + 1}`).join('\n') + '\n';

export const options = {
  settings: () => ({ 'xcshLs.model': 'local/m', 'xcshLs.approval': 'yolo' }),
  sessions(editor) {
    writeFileSync(join(editor.folder, 'a.txt'), before);
  },
};

const edit = (id, ...lines) => ({
  id,
  name: 'edit',
  args: { path: 'a.txt', edits: lines.map((n) => ({ oldText: `line ${n}\n`, newText: `LINE ${n}\n` })) },
});

export default async function (editor) {
  const { page, chat } = editor;
  const a = join(editor.folder, 'a.txt');
  const b = join(editor.folder, 'b.txt');
  const content = () => editor.read(a);
  const served = await service(editor, [
    { text: 'First', calls: [edit('c1', 3)] },
    { text: 'The first turn is done.' },
    {
      text: 'Second',
      calls: [edit('c2', 12, 25), { id: 'c3', name: 'write', args: { path: 'b.txt', content: 'new\n' } }],
    },
    { text: 'The second turn is done.' },
  ]);
  const cards = chat.locator('.turn-card');
  const bar = chat.locator('.changes-bar');
  const question = chat.locator('dialog.rewind');
  /** Presses the button of the confirmation; presses right after it opened are ignored. */
  const confirm = async () => {
    await until('the end of the question', async () => {
      if ((await question.count()) === 0) return true;
      await question
        .locator('footer .button')
        .last()
        .click({ timeout: 1000 })
        .catch(() => undefined);
      return false;
    });
  };

  await editor.openChat();
  await editor.widen(560);
  await editor.say('Change line 3');
  await editor.said('The first turn is done.').waitFor();
  await cards.first().waitFor();
  await editor.say('Change lines 12 and 25, and make b.txt');
  await editor.said('The second turn is done.').waitFor();
  await editor.turnEnds();
  await until('a card for each turn', async () => (await cards.count()) === 2);
  assert.match(await cards.last().innerText(), /2 files/);
  assert.match(await cards.first().innerText(), /1 file\b/);
  assert.match(await bar.innerText(), /2 files/);
  await editor.shot('cards');

  // All at once.
  await cards.last().getByRole('button', { name: 'Review' }).click();
  await page.locator('.multiDiffEntry').first().waitFor();
  await until('both files', async () => (await page.locator('.multiDiffEntry').count()) === 2);
  await editor.shot('review');

  // The view of source control, and the gutter.
  await editor.openFile('a.txt');
  await page.keyboard.press('Control+Shift+G');
  const row = (name) => page.locator('.scm-view .monaco-list-row', { hasText: name });
  await row('a.txt').waitFor();
  await row('b.txt').waitFor();
  await editor.shot('source-control');
  await page.locator('.view-line', { hasText: 'line 1' }).first().click();
  // The key does nothing before VS Code has compared the file.
  await until('three marks in the gutter', async () => (await page.locator('.dirty-diff-glyph').count()) === 3);
  const peek = page.locator('.peekview-widget');
  await until('the peek of a change', async () => {
    await page.keyboard.press('Alt+F3');
    return peek.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  });
  await editor.shot('peek');
  await page.locator('.peekview-widget .action-label[aria-label^="Keep This Change"]').click();
  await page.keyboard.press('Escape');
  await editor.openChat();
  await until('less to review', async () => /\+3\s*−2/.test(await bar.innerText()));
  // The gutter has no mark at the kept line.
  await until('two marks in the gutter', async () => (await page.locator('.dirty-diff-glyph').count()) === 2);
  await editor.shot('kept');

  // The second turn is undone, then redone.
  await cards.last().getByRole('button', { name: 'Undo turn' }).click();
  await question.locator('.plan').waitFor();
  await editor.shot('undo-turn');
  await confirm();
  await until(
    'the files as before the turn',
    () => content() === before.replace('line 3\n', 'LINE 3\n') && !existsSync(b),
  );
  await until('nothing to review', async () => (await bar.count()) === 0);
  await chat.locator('.note').getByRole('button', { name: 'Redo' }).click();
  await until('the files as after the turn', () => content().includes('LINE 25') && existsSync(b));

  // The user edits a line that the turn changed: the file is left out.
  writeFileSync(a, content().replace('LINE 25', 'line twenty-five'));
  const prompt = chat.locator('.message.user').last();
  await prompt.hover();
  await prompt.getByRole('button', { name: 'Rewind to here…' }).click();
  await question.locator('li.conflict').waitFor();
  await editor.shot('conflict');
  await question.locator('.why').getByRole('button', { name: /^line/ }).first().click();
  await page.locator('.tab.active', { hasText: 'a.txt' }).waitFor();
  assert.equal(await question.locator('.renewed').count(), 0, 'looking at a file changes nothing in the plan');
  await question.getByRole('button', { name: 'Leave it out' }).click();
  await question.locator('.left-out').waitFor();
  await confirm();
  await until('the file that was not left out', () => !existsSync(b));
  assert.match(content(), /line twenty-five/);
  await until('the prompt in the composer', async () =>
    (await chat.locator('#composer').inputValue()).startsWith('Change lines 12'),
  );
  await editor.shot('rewound');
  served.close();
}
