// Extracts the texts of the extension and its panel into l10n/bundle.l10n.json, the source of translations:
//   node scripts/l10n.mjs [--check]
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getL10nJson } from '@vscode/l10n-dev';
import ts from 'typescript';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * The source with calls of `t` rewritten as calls of `l10n.t`, the form that l10n-dev recognizes.
 * In the extension, `t` is an alias of vscode.l10n.t; in the panel, it is a separate function.
 */
function withFullNames(name, source) {
  const starts = [];
  const visit = (node) => {
    if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && node.expression.text === 't')
      starts.push(node.expression.getStart());
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true));
  if (starts.length === 0) return source;
  starts.sort((a, b) => a - b);
  const parts = [0, ...starts].map((from, i) => source.slice(from, starts[i]));
  return `import * as l10n from '@vscode/l10n';\n${parts.join('l10n.')}`;
}

/** The sources of the extension and of its panel. */
function sources() {
  return ['src', 'webview/src'].flatMap((dir) =>
    readdirSync(join(root, dir), { recursive: true })
      .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'))
      .map((file) => ({
        extension: extname(file),
        contents: withFullNames(file, readFileSync(join(root, dir, file), 'utf8')),
      })),
  );
}

async function bundle() {
  const texts = Object.entries(await getL10nJson(sources()));
  return JSON.stringify(Object.fromEntries(texts.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2) + '\n';
}

const file = join(root, 'l10n/bundle.l10n.json');
const extracted = await bundle();
if (!process.argv.includes('--check')) {
  writeFileSync(file, extracted);
} else if (readFileSync(file, 'utf8') !== extracted) {
  console.error('l10n/bundle.l10n.json is stale; run npm run l10n');
  process.exitCode = 1;
}
