// Runs the scenarios one after the other, each in a separate editor, and reports the results.
// Started by run.sh.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Editor } from './driver.mjs';
import { Stage } from './stage.mjs';

const dir = fileURLToPath(new URL(process.env.PICTURES ? 'pictures/' : 'scenarios/', import.meta.url));
const shots = process.env.SCREENSHOTS;
const rounds = Number(process.env.ROUNDS ?? 1);
const wanted = process.argv.slice(2);
const known = readdirSync(dir)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length))
  .sort();
const unknown = wanted.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`There is no scenario ${unknown.join(' or ')}; there are ${known.join(', ')}.`);
  process.exit(2);
}
const [part, parts] = (process.env.PART ?? '1/1').split('/').map(Number);
const names = [];
const skipped = [];
for (const name of (wanted.length > 0 ? wanted : known).filter((_, i) => i % parts === part - 1)) {
  const { missing } = await import(join(dir, `${name}.mjs`));
  const lack = missing?.();
  if (lack && !process.env.REQUIRE_ALL) {
    skipped.push(`skip  ${name}: ${lack}`);
  } else {
    names.push(name);
  }
}
if (shots) {
  mkdirSync(shots, { recursive: true });
}

/** Creates an editor and starts it; awaiting ready throws any error. */
async function prepared(name) {
  const scenario = await import(join(dir, `${name}.mjs`));
  const editor = new Editor(name, scenario.options ?? {}, stage);
  const ready = editor.prepare();
  ready.catch(() => undefined);
  return { name, scenario, editor, ready };
}

/** Runs a scenario to its end; returns its error. */
async function played({ name, scenario, editor, ready }) {
  try {
    const lack = scenario.missing?.();
    if (lack) {
      throw new Error(lack);
    }
    await ready;
    await editor.open();
    await scenario.default(editor);
    return undefined;
  } catch (error) {
    const picture = join(shots ?? mkdtempSync(join(tmpdir(), 'xcsh-e2e-failed-')), `${name}-failed.png`);
    await editor.page?.screenshot({ path: picture }).catch(() => undefined);
    return `${error.stack}\nscreenshot: ${picture}\n${editor.logs()}`;
  }
}

const root = mkdtempSync(join(tmpdir(), 'xcsh-e2e-stage-'));
const stage = new Stage(root);
for (const line of skipped) {
  console.log(line);
}
const counts = { passed: 0, failed: 0, skipped: skipped.length };
const beginning = Date.now();
const seconds = (since) => ((Date.now() - since) / 1000).toFixed(1);
try {
  await stage.start();
  const plan = Array.from({ length: rounds }, () => names).flat();
  let next = plan.length > 0 ? prepared(plan[0]) : undefined;
  for (const [i, name] of plan.entries()) {
    const began = Date.now();
    const now = await next;
    // While a scenario is running, the editor of the next one starts, unless they would share
    // variables.
    const ahead = plan[i + 1] !== undefined && plan[i + 1] !== name;
    next = ahead ? prepared(plan[i + 1]) : undefined;
    const failure = await played(now);
    await now.editor.stop();
    next ??= plan[i + 1] === undefined ? undefined : prepared(plan[i + 1]);
    counts[failure === undefined ? 'passed' : 'failed']++;
    console.log(failure === undefined ? `ok    ${name} (${seconds(began)} s)` : `FAIL  ${name}\n${failure}`);
  }
} finally {
  await stage.stop();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped in ${seconds(beginning)} s`);
process.exit(counts.failed > 0 ? 1 : 0);
