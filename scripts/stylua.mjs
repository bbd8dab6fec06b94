// stylua.mjs DIRECTORY [--check]
//
// Formats the Lua files below a directory by its .stylua.toml, or names those that are not
// formatted and fails. It runs StyLua as WebAssembly, the npm package @johnnymorganz/stylua,
// because that of the program fetches it from elsewhere. The package is looked for below
// STYLUA_DIR.
import { createRequire } from 'node:module';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

const [directory, check] = process.argv.slice(2);
const require = createRequire(join(resolve(process.env.STYLUA_DIR ?? '.'), 'here.js'));
const stylua = require('@johnnymorganz/stylua');

/** The settings of .stylua.toml that are used here; another one is an error. */
function config(text) {
  const settings = stylua.Config.new();
  const known = {
    column_width: (v) => (settings.column_width = Number(v)),
    indent_width: (v) => (settings.indent_width = Number(v)),
    indent_type: (v) => (settings.indent_type = stylua.IndentType[v]),
    quote_style: (v) => (settings.quote_style = stylua.QuoteStyle[v]),
    call_parentheses: (v) => (settings.call_parentheses = stylua.CallParenType[v]),
  };
  for (const line of text.split('\n').filter((l) => l.trim() !== '')) {
    const [, key, value] = /^(\w+) = "?(\w+)"?$/.exec(line) ?? [];
    if (!known[key]) {
      throw new Error(`stylua.mjs does not know this setting: ${line}`);
    }
    known[key](value);
  }
  return settings;
}

/** A matcher for the lines of .styluaignore, in which only * is special. */
function ignored(text) {
  const patterns = text.split('\n').filter((l) => l.trim() !== '');
  const all = patterns.map((p) => new RegExp(`^${p.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')}$`));
  return (name) => all.some((p) => p.test(name));
}

const skip = ignored(readFileSync(join(directory, '.styluaignore'), 'utf8'));
const settings = readFileSync(join(directory, '.stylua.toml'), 'utf8');
let failed = 0;
let count = 0;
for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath ?? entry.path, entry.name);
  const name = relative(directory, file);
  if (!entry.isFile() || !name.endsWith('.lua') || skip(name)) {
    continue;
  }
  count++;
  const now = readFileSync(file, 'utf8');
  const then = stylua.formatCode(now, config(settings), undefined, stylua.OutputVerification.Full);
  if (then === now) {
    continue;
  }
  if (check === '--check') {
    console.log(`${file} is not formatted`);
    failed++;
  } else {
    writeFileSync(file, then);
    console.log(file);
  }
}
console.log(`${count} files, ${failed} to be formatted`);
process.exitCode = failed > 0 ? 1 : 0;
