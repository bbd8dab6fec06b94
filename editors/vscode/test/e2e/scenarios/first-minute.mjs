// The first minute of a new user: a clean profile without settings or keys, a local model server, and a prompt. The
// card offers the model, the prompt waits, and its answer is shown within 60 seconds. The user touches no file.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { serveLocal } from '../service.mjs';

/** The time from the open window to the answer, in milliseconds. */
const limit = 60_000;

export const options = { detect: true };

export default async function (editor) {
  const { chat } = editor;
  const began = Date.now();
  const local = await serveLocal(
    ['qwen3-coder:30b', 'llama3.2:3b'],
    [{ text: 'The parser reads past the last token. Check `tokens.length` first.' }],
  );
  try {
    assert.ok(!existsSync(join(editor.home, '.xcsh')), 'nothing is set up');
    await editor.openChat();
    const card = chat.locator('.ways');
    await card.locator('.way', { hasText: '2 models on this machine' }).waitFor();
    const rows = await card.locator('.way-label').allTextContents();
    assert.equal(rows.at(-1), 'Offline demo');
    assert.match(await card.locator('.way').last().textContent(), /A script, not a model/);
    await editor.shot('card');

    await editor.say('Why does the parser crash?');
    await card.locator('.waiting', { hasText: 'Why does the parser crash?' }).waitFor();
    await editor.shot('waiting');
    await card.locator('.way', { hasText: local.name }).click();
    await editor.pick('qwen3-coder:30b');
    await editor.said('The parser reads past the last token.').waitFor();
    const took = Date.now() - began;
    console.log(`      first answer after ${(took / 1000).toFixed(1)} s`);
    assert.ok(took < limit, `it took ${took} ms`);
    await editor.turnEnds();
    await editor.shot('answer');
    assert.equal(await card.count(), 0);
    assert.equal(await chat.locator('.note.error').count(), 0);
    const [request] = local.requests;
    assert.equal(request.model, 'qwen3-coder:30b');
    assert.equal(request.messages.filter((m) => m.role === 'user').length, 1, 'the prompt was sent once');
  } finally {
    local.close();
  }
}
