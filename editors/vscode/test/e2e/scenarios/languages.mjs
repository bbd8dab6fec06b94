// The model asks VS Code's own language extensions, also about a file that is not open, whose edit stays on disk. A rename
// of an open file is made in its buffer, and an edit of it gets the new errors.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { service } from '../service.mjs';

export const options = {
  settings: () => ({ 'xcshLs.model': 'local/m', 'xcshLs.approval': 'auto-edit', 'files.autoSave': 'off' }),
  sessions(editor) {
    for (const name of ['a.css', 'b.css']) {
      writeFileSync(join(editor.folder, name), ':root {\n  --main: red;\n}\na {\n  color: var(--main);\n}\n');
    }
  },
};

const call = (id, name, args) => ({ text: '', calls: [{ id, name, args }] });

export default async function (editor) {
  const { page } = editor;
  const edit = (id, path, oldText, newText) => call(id, 'edit', { path, edits: [{ oldText, newText }] });
  const model = await service(editor, [
    call('c1', 'lsp', { action: 'definition', file: 'a.css', line: 5, symbol: '--main' }),
    call('c2', 'lsp', { action: 'symbols', file: 'a.css' }),
    edit('c3', 'a.css', 'red', 'blue'),
    { text: 'I have looked.' },
    call('c4', 'lsp', { action: 'rename', file: 'b.css', line: 2, symbol: '--main', new_name: '--first' }),
    edit('c5', 'b.css', 'color: var', 'color var'),
    call('c6', 'lsp', { action: 'diagnostics', file: 'b.css' }),
    call('c7', 'lsp', { action: 'editors' }),
    { text: 'I have renamed it.' },
  ]);
  const results = () => {
    const messages = model.requests.at(-1).messages.filter((m) => m.role === 'tool');
    return messages.map((m) => JSON.stringify(m.content));
  };

  await editor.openChat();
  await editor.say('look at a.css');
  await editor.said('I have looked.').waitFor();
  const [definition, symbols] = results();
  assert.match(definition, /Found 1 definition:\\n {2}a\.css:2:3\\n {4}--main: red;/);
  assert.match(symbols, /Symbols in a\.css:/);
  assert.match(editor.read(join(editor.folder, 'a.css')), /--main: blue/, 'a file that is not open is changed on disk');
  assert.equal(await page.locator('.tab.dirty').count(), 0);
  await editor.shot('looked');

  await editor.openFile('b.css');
  await editor.openChat();
  await editor.say('rename it');
  await editor.said('I have renamed it.').waitFor();
  const [renamed, edited, problems, editors] = results().slice(-4);
  assert.match(renamed, /Rename --main to --first in b\.css\. Changed b\.css\./);
  assert.match(edited, /1 (?:new )?problem: b\.css:5 colon expected/);
  assert.match(problems, /1 error.*\\nb\.css:5:\d+ \[error\] .*colon expected/);
  assert.match(editors, /Open files:\\n {2}b\.css \(/);
  // A square of the color may stand before its name.
  await until('the text', async () => /--first:\s+red;[^]*color var\(--first\)/.test(await editor.text()));
  assert.match(editor.read(join(editor.folder, 'b.css')), /--main: red/, 'it is in the buffer, and not saved');
  await editor.shot('renamed');
}
