// Bundles the page, and for its tests and for manual viewing also the harness around it. To run it
// directly: node webview/build.mjs [--dev] [--watch]

import { fileURLToPath } from 'node:url';
import path from 'node:path';
import * as esbuild from 'esbuild';

const here = path.dirname(fileURLToPath(import.meta.url));

/** The esbuild options for media/chat.js and media/chat.css. */
export function pageOptions({ minify = true } = {}) {
  return {
    entryPoints: { chat: path.join(here, 'src/main.tsx') },
    outdir: path.join(here, '../media'),
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'chrome122',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.ttf': 'file' },
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
    entryPoints: { harness: path.join(here, 'dev/harness.ts'), chat: path.join(here, 'src/main.tsx') },
    outdir: path.join(here, 'dev/.built'),
    sourcemap: 'inline',
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = process.argv.includes('--dev') ? harnessOptions() : pageOptions();
  if (process.argv.includes('--watch')) await (await esbuild.context(options)).watch();
  else await esbuild.build(options);
}
