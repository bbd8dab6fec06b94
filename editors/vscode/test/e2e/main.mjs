// Runs the scenarios one after the other, each in an editor of its own, and says how
// they went. Started by run.sh.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { withEditor } from './driver.mjs';

const dir = fileURLToPath(new URL('scenarios/', import.meta.url));
const wanted = process.argv.slice(2);
const names = readdirSync(dir)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .sort();
if (names.length === 0) {
  console.error(`There is no scenario ${wanted.join(' or ')}.`);
  process.exit(2);
}
if (process.env.SCREENSHOTS) {
  mkdirSync(process.env.SCREENSHOTS, { recursive: true });
}

let failed = 0;
for (const name of names) {
  const began = Date.now();
  try {
    const scenario = await import(join(dir, `${name}.mjs`));
    await withEditor(name, scenario.options ?? {}, scenario.default);
    console.log(`ok    ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAIL  ${name}\n${error.stack}`);
  }
}
console.log(`${names.length - failed} passed, ${failed} failed, 0 skipped`);
process.exit(failed > 0 ? 1 : 0);
