// Bundles the page, and for its tests and for manual viewing also the harness around it. To run it
// directly: node webview/build.mjs [--dev] [--watch]

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import path from 'node:path';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));

/** Keeps one of the three formats of each font of KaTeX. */
const fonts = {
  name: 'fonts',
  setup(build) {
    build.onLoad({ filter: /katex\/dist\/katex\.css$/ }, ({ path: file }) => {
      const contents = readFileSync(file, 'utf8').replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\([^)]*\)/g, '');
      return { contents, loader: 'css', resolveDir: path.dirname(file) };
    });
  },
};

/** The page, and the part that is loaded with the first formula. */
const entryPoints = { chat: path.join(here, 'src/main.tsx'), math: path.join(here, 'src/math/typeset.ts') };

/** The esbuild options for media/chat.js, chat.css, math.js and math.css. */
export function pageOptions({ minify = true } = {}) {
  return {
    entryPoints,
    plugins: [fonts],
    outdir: path.join(here, '../media'),
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'chrome122',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file', '.woff2': 'file' },
    assetNames: '[name]',
    legalComments: 'none',
    minify,
    logLevel: 'warning',
  };
}

/** The options for the page with a scripted extension around it, in webview/dev/.built. */
export function harnessOptions() {
  return {
    ...pageOptions({ minify: false }),
    entryPoints: { ...entryPoints, harness: path.join(here, 'dev/harness.ts') },
    outdir: path.join(here, 'dev/.built'),
    sourcemap: 'inline',
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = process.argv.includes('--dev') ? harnessOptions() : pageOptions();
  if (process.argv.includes('--watch')) await (await esbuild.context(options)).watch();
  else await esbuild.build(options);
}
