// A key for a service: it is asked for in a box that hides it, saved in the editor's secret storage, and given to the
// server for a request. No setting, no log, no state of the editor and no session file has it.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../driver.mjs';
import { serve } from '../service.mjs';

const key = 'sk-made-up-key-of-a-user';
let service;

export const options = {
  async begin(editor) {
    service = await serve([{ text: 'Here is the answer.' }, { text: 'And another one.' }]);
    const agent = join(editor.home, '.xcsh/agent');
    mkdirSync(agent, { recursive: true });
    // The service at another address, as behind a company's proxy.
    const baseUrl = service.provider('').baseUrl.replace('127.0.0.1', '0.0.0.0'); // which is not known to be this machine
    writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers: { openrouter: { baseUrl } } }));
  },
};

export default async function (editor) {
  const { chat, page } = editor;
  try {
    await editor.openChat();
    await editor.say('Hello');
    const card = chat.locator('.ways');
    await card.locator('.waiting', { hasText: 'Hello' }).waitFor();
    await card.locator('.way', { hasText: 'OpenRouter' }).click();
    const input = editor.input();
    await page.locator('.quick-input-titlebar', { hasText: 'API Key for' }).waitFor();
    assert.equal(await input.getAttribute('type'), 'password');
    await editor.shot('box');
    await input.fill('two words');
    await input.press('Enter');
    await page.locator('.quick-input-message', { hasText: 'A key is one word' }).waitFor();
    await input.fill(key);
    await input.press('Enter');
    await editor.waitForRow('Save in auth.json (shared with the terminal)');
    await editor.shot('place');
    await editor.pick('Save in VS Code');
    await editor.said('Here is the answer.').waitFor();
    await editor.turnEnds();
    await editor.shot('answer');

    await editor.say('More');
    await editor.said('And another one.').waitFor();
    await editor.turnEnds();
    assert.deepEqual([...new Set(service.keys)], [key]);

    assert.ok(!existsSync(join(editor.home, '.xcsh/agent/auth.json')));
    assert.deepEqual(holding(editor.root, key), [], 'the key is in no file');
    assert.equal(await chat.locator('body', { hasText: key }).count(), 0);

    await editor.palette('xcshLs.keys.remove');
    await editor.pick('OpenRouter');
    await editor.status('API key of');
    await editor.say('Once more');
    await card.locator('.waiting', { hasText: 'Once more' }).waitFor();
    await until('no further request', () => service.requests.length === 2);

    // A prompt from the palette offers the same ways in a list.
    await card.locator('.waiting').getByRole('button', { name: 'Cancel' }).click();
    await editor.palette('xcsh.prompt');
    await editor.answer('from the palette');
    await editor.waitForRow('OpenRouter');
    assert.match(await editor.rows().last().textContent(), /Offline demo.*A script, not a model/);
    await editor.shot('list');
    await editor.pick('Offline demo');
    await editor.said('from the palette').waitFor();
    await editor.turnEnds();
    await card.waitFor({ state: 'detached' });
  } finally {
    service?.close();
  }
}

/** Returns the files below a directory that contain a text. */
function holding(dir, text, found = []) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory() && entry.name !== 'extensions') {
      holding(path, text, found);
    } else if (entry.isFile() && statSync(path).size < 64 << 20 && readFileSync(path).includes(text)) {
      found.push(path);
    }
  }
  return found;
}
