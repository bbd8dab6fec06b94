import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { mentionedFiles } from '../../src/chat/mentioned';
import { fromPage, maxMentioned } from '../../src/chat/messages';

test('only files in the workspace folders are found, and no link out of them is followed', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'xcsh-mentioned-'));
  try {
    const [root, other] = [join(dir, 'work'), join(dir, 'other')];
    for (const made of [join(root, 'src'), other]) mkdirSync(made, { recursive: true });
    for (const file of [join(root, 'src/a.ts'), join(root, 'b.ts'), join(other, 'secret.ts')]) writeFileSync(file, '');
    symlinkSync(other, join(root, 'linked'));
    symlinkSync(join(other, 'secret.ts'), join(root, 'link.ts'));
    const found = ['src/a.ts', './b.ts', join(root, 'b.ts'), 'src/../b.ts'];
    const missing = [
      'src',
      '.',
      '',
      'none.ts',
      'b.ts/x',
      '../other/secret.ts',
      join(other, 'secret.ts'),
      '/etc/passwd',
    ];
    const links = ['linked/secret.ts', 'link.ts', '//host/share/a.ts', '~/.bashrc', 'b.ts\0', 'x'.repeat(9000)];
    assert.deepEqual(await mentionedFiles(root, [root], [...found, ...missing, ...links]), [
      ...found.map(() => true),
      ...[...missing, ...links].map(() => false),
    ]);
    assert.deepEqual(
      await mentionedFiles(root, [], found),
      found.map(() => false),
      'without a workspace folder',
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('questions about files and blocks of code have bounded sizes', () => {
  const ask = (paths: unknown): unknown => fromPage({ kind: 'findMentioned', id: 1, paths });
  assert.ok(ask(['a.ts']));
  for (const paths of ['a.ts', [7], Array.from({ length: maxMentioned + 1 }, () => 'a'), ['x'.repeat(10_000)]])
    assert.equal(ask(paths), undefined);
  const block = { kind: 'applyCode', code: 'x', language: 'ts', path: 'a.ts', fromFence: true };
  assert.ok(fromPage(block));
  for (const wrong of [{ code: 7 }, { code: 'x'.repeat((1 << 20) + 1) }, { path: null }, { fromFence: 'yes' }])
    assert.equal(fromPage({ ...block, ...wrong }), undefined);
});
