import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { droppedOf, keepDropped, safeName } from '../../src/chat/dropped';
import { EditorContext } from '../../src/context';
import { contextKinds, cut, maxBytes } from '../../src/context/answer';
import { foldersOf } from '../../src/context/finder';
import { plainOutput, ranText, Tail } from '../../src/context/output';
import { problemsText, type Problem } from '../../src/context/problems';
import { isSecret } from '../../src/context/secret';
import { bestSymbols } from '../../src/context/symbols';
import { Server } from '../../src/server/server';
import { installedExtension } from './installed';
// @ts-expect-error a script without types
import recorder from './recorder.cjs';

interface Recorder {
  values: Record<string, unknown>;
  server: {
    handlers: Record<string, (params: unknown) => Promise<unknown>>;
    options: { initializationOptions: { contextKinds: string[] } };
  };
}
const { values, server } = recorder as Recorder;

/** A URI of a file, as far as it is used here. */
const uri = (fsPath: string, scheme = 'file') => ({
  scheme,
  authority: '',
  fsPath,
  toString: () => `${scheme}://${fsPath}`,
});
const at = (line: number, character = 0) => ({ line, character });
const range = (from: number, to: number, isEmpty = false) => ({
  start: at(from),
  end: at(to),
  isEmpty,
  contains: (p: { line: number }) => p.line >= from && p.line <= to,
});
const editor = (path: string, selection: object, scheme = 'file') => ({
  document: { uri: uri(path, scheme), isClosed: false },
  selection,
});
const diagnostic = (message: string, severity: number, line = 0, more: object = {}) => ({
  range: range(line, line),
  message,
  severity,
  ...more,
});

/** Answers requests with values of the editor. */
function asking(editorValues: Record<string, unknown>, folders = ['/w']) {
  Object.assign(values, { 'window.activeTextEditor': undefined, ...editorValues });
  const context = new EditorContext(() => folders.map((cwd) => ({ cwd })));
  return (kind: string, query?: string, cwd = '/w') =>
    context.answer({ cwd, kind, ...(query === undefined ? {} : { query }) });
}

test('problems are listed worst first, bounded, and without those of other folders and of secrets', async () => {
  const ask = asking({
    'languages.getDiagnostics': () => [
      [
        uri('/w/b.go'),
        [diagnostic('unused', 1, 4), diagnostic('broken\nhere', 0, 2, { source: 'go', code: { value: 7 } })],
      ],
      [uri('/w/a.go'), [diagnostic('worse', 0, 9)]],
      [uri('/other/a.go'), [diagnostic('not here', 0)]],
      [uri('/w/.env'), [diagnostic('secret', 0)]],
      [uri('/w/x', 'output'), [diagnostic('no file', 0)]],
    ],
  });
  assert.deepEqual(await ask('problems'), {
    text: 'a.go:10:1: error: worse\nb.go:3:1: error: broken here [go 7]\nb.go:5:1: warning: unused',
    label: 'Problems',
  });
  assert.equal(await asking({ 'languages.getDiagnostics': () => [] })('problems'), null);
  const many: Problem[] = Array.from({ length: 5000 }, (_, i) => ({
    path: 'ä'.repeat(300),
    line: i,
    column: 1,
    severity: i % 4,
    message: 'ö'.repeat(5000),
    source: '',
  }));
  const text = problemsText(many)!;
  assert.ok(Buffer.byteLength(text) <= maxBytes);
  assert.match(text, /\n… and \d{4} more$/);
  assert.ok(!text.includes('warning'), 'there is only room for errors');
});

test('the selection and the file of the last editor in the folder are offered, and nothing else', async () => {
  const selected = editor('/w/src/a.ts', range(2, 4));
  assert.deepEqual(await asking({ 'window.activeTextEditor': selected })('selection'), {
    uri: 'file:///w/src/a.ts',
    range: { start: at(2), end: at(4) },
    label: 'src/a.ts',
  });
  assert.deepEqual(await asking({ 'window.activeTextEditor': selected })('buffer'), {
    uri: 'file:///w/src/a.ts',
    label: 'src/a.ts',
  });
  for (const other of [
    editor('/w/src/a.ts', range(2, 2, true)),
    editor('/elsewhere/a.ts', range(2, 4)),
    editor('/w/../x.ts', range(2, 4)),
    editor('/w/.env.local', range(2, 4)),
    editor('/w/a.ts', range(2, 4), 'output'),
    undefined,
  ])
    assert.equal(await asking({ 'window.activeTextEditor': other })('selection'), null);
});

test('only folders of this window are asked about, in a trusted workspace, and no request fails', async () => {
  const given = { 'window.activeTextEditor': editor('/w/a.ts', range(0, 1)) };
  assert.equal(await asking(given)('buffer', undefined, '/'), null);
  assert.equal(await asking(given, [])('buffer'), null);
  for (const kind of ['', 'env', '__proto__', 'constructor']) assert.equal(await asking(given)(kind), null);
  values['workspace.isTrusted'] = false;
  assert.equal(await asking(given)('buffer'), null);
  values['workspace.isTrusted'] = true;
  const broken = () => {
    throw new Error('broken');
  };
  assert.equal(await asking({ 'languages.getDiagnostics': broken })('problems'), null);
});

test('a symbol is its whole definition, the exact name first', async () => {
  const found = [
    { name: 'parseAll', location: { uri: uri('/w/a.ts'), range: range(1, 1) } },
    { name: 'parse', location: { uri: uri('/elsewhere/p.ts'), range: range(1, 1) } },
    { name: 'parse', location: { uri: uri('/w/p.ts'), range: range(5, 5) } },
  ];
  const outline = [
    { name: 'Parser', range: range(0, 50), children: [{ name: 'parse', range: range(4, 20), children: [] }] },
    { name: 'parse', range: range(60, 70), children: [] },
  ];
  const commands: Record<string, unknown> = {
    'vscode.executeWorkspaceSymbolProvider': found,
    'vscode.executeDocumentSymbolProvider': outline,
  };
  const ask = asking({ 'commands.executeCommand': (name: string) => Promise.resolve(commands[name]) });
  assert.deepEqual(await ask('symbol', 'parse'), {
    uri: 'file:///w/p.ts',
    range: { start: at(4), end: at(20) },
    label: 'parse',
  });
  commands['vscode.executeDocumentSymbolProvider'] = undefined;
  assert.deepEqual((await ask('symbol', 'parse')) as object, {
    uri: 'file:///w/p.ts',
    range: { start: at(5), end: at(5) },
    label: 'parse',
  });
  for (const nothing of ['', ' ', undefined]) assert.equal(await ask('symbol', nothing), null);
  assert.deepEqual(
    bestSymbols('Read', [
      { name: 'reader', path: 'a' },
      { name: 'File.Read(x)', path: 'b' },
      { name: 'thread', path: 'c' },
    ]).map(({ path }) => path),
    ['b', 'a', 'c'],
  );
});

test('the last command of a terminal is offered with the end of its output', async () => {
  const listeners: Record<string, (e: unknown) => void> = {};
  const event = (name: string) => (f: (e: unknown) => void) => {
    listeners[name] = f;
    return { dispose: () => undefined };
  };
  const ask = asking({
    'window.onDidStartTerminalShellExecution': event('start'),
    'window.onDidEndTerminalShellExecution': event('end'),
    'window.onDidCloseTerminal': event('close'),
    'window.activeTerminal': undefined,
  });
  const run = async (terminal: object, cwd: string, value: string, pieces: string[], exitCode?: number) => {
    const execution = {
      commandLine: { value },
      cwd: uri(cwd),
      async *read() {
        yield* pieces;
      },
    };
    listeners['start']!({ terminal, execution });
    if (exitCode !== undefined) listeners['end']!({ terminal, execution, exitCode });
    await new Promise(setImmediate);
  };
  const [one, two] = [{}, {}];
  assert.equal(await ask('terminal'), null);
  await run(one, '/elsewhere', 'cat secrets', ['x'], 0);
  assert.equal(await ask('terminal'), null, 'it ran in another folder');
  await run(one, '/w/sub', 'npm test', ['\u001b[31mfail', 'ed\u001b[0m\r\n'], 1);
  assert.deepEqual(await ask('terminal'), { text: '$ npm test\nfailed\n(exit code 1)', label: 'Terminal' });
  await run(two, '/w', 'npm run dev', ['listening']);
  assert.deepEqual(await ask('terminal'), { text: '$ npm run dev\nlistening\n(still running)', label: 'Terminal' });
  values['window.activeTerminal'] = one;
  assert.match(((await ask('terminal')) as { text: string }).text, /npm test/);
  listeners['close']!(one);
  listeners['close']!(two);
  values['window.activeTerminal'] = undefined;
  assert.equal(await ask('terminal'), null);
});

test('without shell integration, the selection in the terminal is offered, and the clipboard is restored', async () => {
  let clipboard = 'mine';
  let selection: string | undefined = 'error: x';
  const ask = asking({
    'window.activeTerminal': { creationOptions: { cwd: '/w' } },
    'env.clipboard': {
      readText: () => Promise.resolve(clipboard),
      writeText: (text: string) => Promise.resolve(void (clipboard = text)),
    },
    'commands.executeCommand': (name: string) => {
      if (name === 'workbench.action.terminal.copySelection' && selection) clipboard = selection;
      return Promise.resolve();
    },
  });
  assert.deepEqual(await ask('terminal'), { text: 'error: x', label: 'Terminal' });
  assert.equal(clipboard, 'mine');
  selection = undefined;
  assert.equal(await ask('terminal'), null);
  assert.equal(clipboard, 'mine');
  selection = 'error: x';
  values['window.activeTerminal'] = { creationOptions: { cwd: '/elsewhere' } };
  assert.equal(await ask('terminal'), null);
  values['window.activeTerminal'] = { creationOptions: { cwd: '/w' } };
  clipboard = ''; // perhaps an image
  assert.equal(await ask('terminal'), null);
  assert.equal(clipboard, '');
});

test('the text of a terminal has no sequences, and a line has its last state', () => {
  assert.equal(
    plainOutput('a\u001b[1;31mb\u001b[0m\u001b]0;title\u0007c\u001b]8;;http://x\u001b\\d\r\n10%\r100%\n'),
    'abcd\n100%\n',
  );
  assert.equal(plainOutput('\u001b(B\u001bPq#0\u001b\\x\u0008\u0000y'), 'xy');
  const text = ranText({ command: 'x'.repeat(9000), output: 'é'.repeat(200_000) + 'end', exitCode: 0, running: false });
  assert.ok(Buffer.byteLength(text) <= maxBytes);
  assert.ok(text.endsWith('end\n(exit code 0)'));
  const tail = new Tail(10);
  for (let i = 0; i < 1000; i++) tail.add(String(i));
  assert.equal(tail.text, '6997998999');
});

test('a text is cut between characters', () => {
  assert.equal(cut('äöü', 'start', 3), 'ä');
  assert.equal(cut('äöü', 'end', 3), 'ü');
  assert.equal(cut('a😀b', 'end', 4), 'b');
  assert.equal(cut('abc', 'end', 3), 'abc');
});

test('files that usually contain credentials are recognized', () => {
  for (const path of [
    '.env',
    'a/.env.production',
    'certs/server.KEY',
    'id_ed25519',
    '.aws/config',
    'x/.npmrc',
    'a.pem',
  ])
    assert.equal(isSecret(path), true, path);
  for (const path of ['env.ts', '.env.example', 'src/key.ts', 'docs/id_rsa.md', 'keys/README.md', '.environment.md'])
    assert.equal(isSecret(path), false, path);
});

test('the server learns what can be referred to, and its questions are answered', async () => {
  const dir = installedExtension(values);
  const log = () => undefined;
  const running = new Server(dir, { info: log, warn: log, error: log } as never, { get: () => undefined });
  running.context = (params) => Promise.resolve({ text: JSON.stringify(params), label: 'x' });
  try {
    await running.ready();
    assert.deepEqual(server.options.initializationOptions.contextKinds, contextKinds);
    assert.deepEqual(await server.handlers['xcsh/context']!({ cwd: '/w', kind: 'problems' }), {
      text: '{"cwd":"/w","kind":"problems"}',
      label: 'x',
    });
  } finally {
    running.dispose();
    rmSync(dir, { recursive: true });
  }
});

test('the folders of a list of files end with a slash', () => {
  assert.deepEqual(foldersOf(['a.ts', 'src/b.ts', 'src/x/c.ts']), ['src/', 'src/x/']);
});

test('dropped files are attached, dropped folders are referred to, and other URIs are ignored', async () => {
  const folder = { name: 'w', cwd: '/w', uri: uri('/w') } as never;
  values['Uri.parse'] = (text: string) => {
    const m = /^([a-z-]+):\/\/([^/]*)(\/.*)$/.exec(text);
    if (!m) throw new Error('no URI');
    const parsed = (scheme: string, authority: string): object => ({
      ...uri(m[3]!, scheme),
      authority,
      with: (change: { scheme: string; authority: string }) => parsed(change.scheme, change.authority),
    });
    return parsed(m[1]!, m[2]!);
  };
  values['FileType.Directory'] = 2;
  values['workspace.fs.stat'] = ({ fsPath }: { fsPath: string }) =>
    fsPath.includes('gone')
      ? Promise.reject(new Error('gone'))
      : Promise.resolve({ type: fsPath.endsWith('.ts') ? 1 : 2 });
  const dropped = await droppedOf(
    [
      'file:///w/src/a.ts',
      'vscode-remote://ssh-remote%2Bx/w/b.ts',
      'file:///w/my docs',
      'file:///w',
      'file:///opt',
      'file:///w/gone',
      'https://x/y.ts',
      'file://host/share.ts',
      'nonsense',
    ],
    folder,
  );
  assert.deepEqual(
    dropped.attachments.map(({ name }) => name),
    ['src/a.ts', 'b.ts'],
  );
  assert.deepEqual(dropped.references, ['@"my docs/"', '@./', '@/opt/']);
});

test('the content of a dropped file is kept under a safe name, for a week', async () => {
  assert.equal(safeName('../../etc/passwd'), 'passwd');
  assert.equal(safeName('a\u0000b<c>:d'), 'a_b_c__d');
  for (const name of ['', '..', '/', '.']) assert.equal(safeName(name), 'file', name);
  const storage = mkdtempSync(join(tmpdir(), 'xcsh-dropped-'));
  try {
    await keepDropped(storage, '../../x.txt', Buffer.from('old').toString('base64'));
    const [old] = readdirSync(join(storage, 'dropped'));
    utimesSync(join(storage, 'dropped', old!), 0, 0);
    values['Uri.file'] = (path: string) => uri(path);
    const { fsPath } = await keepDropped(storage, '../../x.txt', Buffer.from('text').toString('base64'));
    assert.equal(readFileSync(fsPath, 'utf8'), 'text');
    assert.ok(fsPath.startsWith(join(storage, 'dropped')) && fsPath.endsWith('x.txt'));
    if (process.platform !== 'win32') assert.equal(statSync(fsPath).mode & 0o777, 0o600);
    assert.equal(readdirSync(join(storage, 'dropped')).includes(old!), false);
  } finally {
    rmSync(storage, { recursive: true });
  }
});
