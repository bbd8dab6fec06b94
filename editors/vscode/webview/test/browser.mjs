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

rmSync(built, { recursive: true, force: true });
await esbuild.build(harnessOptions());
await esbuild.build({
  entryPoints: [path.join(here, 'browser/page.ts')],
  outfile: path.join(built, 'page.mjs'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  packages: 'external',
  logLevel: 'warning',
});
const run = spawnSync(
  process.execPath,
  ['--test', '--test-reporter=tap', ...process.argv.slice(2), path.join(built, 'page.mjs')],
  {
    stdio: 'inherit',
    cwd: path.join(here, '../..'),
  },
);
process.exit(run.status ?? 1);
