// Runs the unit tests: bundles them, because Node does not read TypeScript, and hands
// them to node:test. Arguments go to node, for example --test-name-pattern=…
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as esbuild from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const recorder = join(root, 'test/unit/recorder.cjs');
const out = mkdtempSync(join(tmpdir(), 'xcsh-vscode-test-'));

/** Returns the files below a directory that have the given ending, as paths relative to it. */
const below = (dir, ending) => readdirSync(dir, { recursive: true }).filter((file) => file.endsWith(ending));

try {
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: ['test/unit', 'webview/test'].flatMap((dir) =>
      below(join(root, dir), '.test.ts').map((file) => join(dir, file)),
    ),
    outbase: '.',
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    // Only the manifest test needs it, to record the registrations.
    alias: { vscode: recorder, 'vscode-languageclient/node': recorder },
    sourcemap: 'inline',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // Packages are resolved relative to the bundle, which is in another directory.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
  const tests = below(out, '.test.mjs').map((file) => join(out, file));
  const run = spawnSync(
    process.execPath,
    ['--test', '--test-reporter=tap', '--enable-source-maps', ...process.argv.slice(2), ...tests],
    {
      cwd: root,
      stdio: 'inherit',
    },
  );
  process.exitCode = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
