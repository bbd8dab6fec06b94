// Runs the tests that need a browser: node webview/test/browser.mjs [arguments for node --test].
// CHROMIUM names the browser; without it, Debian's.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

import { harnessOptions } from '../build.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const built = path.join(here, '../dev/.built');
const tests = [
  'page',
  'composer',
  'reading',
  'engine',
  'ways',
  'changes',
  'rendering',
  'language',
  'access',
  'spoken',
  'small',
];

rmSync(built, { recursive: true, force: true });
await esbuild.build(harnessOptions());
await esbuild.build({
  entryPoints: tests.map((name) => path.join(here, `browser/${name}.ts`)),
  outdir: built,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
const run = spawnSync(
  process.execPath,
  // Sequentially, because some tests measure time.
  ['--test', '--test-reporter=tap', '--test-concurrency=1', ...process.argv.slice(2)].concat(
    tests.map((name) => path.join(built, `${name}.mjs`)),
  ),
  {
    stdio: 'inherit',
    cwd: path.join(here, '../..'),
  },
);
process.exit(run.status ?? 1);
