// A session whose texts all try to break out of their elements, and a turn that is steered and
// stopped: in the real editor, under its real policy.
import assert from 'node:assert/strict';

export const options = {
  settings: () => ({ 'xcshLs.model': 'offline/demo' }),
  sessions(editor) {
    const bad = [
      '<script>parent.hit=1</script>',
      '<img src=x onerror="parent.hit=1">',
      '[x](command:workbench.action.closeWindow)',
      '[y](javascript:alert(1))',
      '![z](https://example.invalid/z.png)',
      '"><iframe srcdoc="<script>alert(1)</script>">',
      '</script><svg onload=alert(1)>',
    ];
    editor.session(
      'pi',
      'Odd texts',
      bad.map((text) => [text, text + '\n\n```' + text + '\n' + text + '\n```']),
    );
  },
};

export default async function (editor) {
  const { page } = editor;
  const noise = [];
  page.on('dialog', (dialog) => noise.push(dialog.message()));
  page.on('request', (request) => request.url().includes('example.invalid') && noise.push(request.url()));
  const { chat } = editor;

  await editor.openChat();
  await editor.palette('xcsh.resume');
  await editor.pick('Odd texts');
  await chat.locator('.message').first().waitFor();
  assert.equal(await chat.locator('.message').count(), 14);
  await editor.shot('hostile');
  assert.equal(await chat.locator('.inner script, .inner img, .inner iframe, .inner svg').count(), 0);
  for (const link of await chat.locator('.inner a').all()) {
    assert.match((await link.getAttribute('href')) ?? '', /^https:/);
  }
  const policy = await chat.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');
  assert.match(policy, /^default-src 'none'; img-src data:;/);
  assert.doesNotMatch(policy, /unsafe/);
  for (const frame of page.frames()) {
    assert.equal(await frame.evaluate('typeof hit'), 'undefined', frame.url());
  }
  assert.deepEqual(noise, []);
}
