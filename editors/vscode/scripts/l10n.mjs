// Gathers every text that is shown into l10n/bundle.l10n.json, which a translation is a
// copy of:  node scripts/l10n.mjs [--check]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The texts in calls of t and l10n.t, unescaped. */
function textsIn(source) {
  return [...source.matchAll(/\bt\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")/g)].map(([, single, double]) =>
    (single ?? double).replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)),
  );
}

/** The sources of the extension and of its page. */
function sources() {
  return ['src', 'webview/src'].flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true })
      .filter((file) => /\.tsx?$/.test(file))
      .map((file) => readFileSync(join(root, dir, file), 'utf8')),
  );
}

function bundle() {
  const texts = new Set(sources().flatMap(textsIn));
  return JSON.stringify(Object.fromEntries([...texts].sort().map((text) => [text, text])), null, 2) + '\n';
}

const file = join(root, 'l10n/bundle.l10n.json');
if (!process.argv.includes('--check')) {
  writeFileSync(file, bundle());
} else if (readFileSync(file, 'utf8') !== bundle()) {
  console.error('l10n/bundle.l10n.json is stale; run npm run l10n');
  process.exitCode = 1;
}
