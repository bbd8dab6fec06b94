// Bundles the extension into dist/ and the panel's page into media/:
//   node scripts/build.mjs [--production] [--watch]
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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
  metafile: true,
};

/** Writes the licenses of the bundled packages, which go with the extension, into media/licenses.txt. */
function writeLicenses(results) {
  const inputs = results.flatMap(({ metafile }) => Object.keys(metafile.inputs));
  const names = inputs.map((input) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]);
  const parts = [...new Set(names.filter(Boolean))].sort().map((name) => {
    const dir = join(root, 'node_modules', name);
    const file = readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
    const { version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8'));
    return `${name} ${version}\n\n${file ? readFileSync(join(dir, file), 'utf8').replace(/\r/g, '').trim() : license}\n`;
  });
  writeFileSync(
    join(root, 'media/licenses.txt'),
    `Third-party software in this extension:\n\n${parts.join('\n----\n\n')}`,
  );
}

const builds = [extension, { ...pageOptions({ minify: production }), metafile: true }];

rmSync(join(root, 'dist'), { recursive: true, force: true });
if (process.argv.includes('--watch')) {
  for (const build of builds) {
    await (await esbuild.context(build)).watch();
  }
} else {
  writeLicenses(await Promise.all(builds.map((build) => esbuild.build(build))));
}
