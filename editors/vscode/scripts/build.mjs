// Bundles the extension into dist/ and the panel's page into media/:
//   node scripts/build.mjs [--production] [--watch]
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

import { pageOptions } from '../webview/build.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const production = process.argv.includes('--production');

const extension = {
  absWorkingDir: root,
  entryPoints: { extension: 'src/extension.ts' },
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  external: ['vscode'],
  minify: production,
  sourcemap: production ? false : 'linked',
  legalComments: production ? 'none' : 'inline',
  logLevel: 'warning',
};
const builds = [extension, pageOptions({ minify: production })];

rmSync(join(root, 'dist'), { recursive: true, force: true });
if (process.argv.includes('--watch')) {
  for (const build of builds) {
    await (await esbuild.context(build)).watch();
  }
} else {
  await Promise.all(builds.map((build) => esbuild.build(build)));
}
