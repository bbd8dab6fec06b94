import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { EditorSenses } from '../../src/senses';
import { Documents } from '../../src/server/documents';
import { senseRequests } from '../../src/senses/requests';
import { serverSettings } from '../../src/settings';
// @ts-expect-error a script without types
import recorder from './recorder.cjs';

const { values } = recorder as { values: Record<string, unknown> };

/** A minimal event of VS Code. */
class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();
  readonly event = (listener: (value: T) => void) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(value: T): void {
    [...this.#listeners].forEach((listener) => listener(value));
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}
class Range {
  constructor(
    readonly start: Position,
    readonly end: Position,
  ) {}
}
class TabInputText {
  constructor(readonly uri: unknown) {}
}

const uri = (fsPath: string, scheme = 'file') => ({
  scheme,
  fsPath,
  path: fsPath,
  toString: () => `${scheme}://${fsPath}`,
});
const part = (line: number, from: number, to: number) => new Range(new Position(line, from), new Position(line, to));
const wirePart = (line: number, from: number, to: number) => ({
  start: { line, character: from },
  end: { line, character: to },
});

/** A document of the editor. */
const document = (path: string, text = '', languageId = 'go') => ({
  uri: uri(path),
  languageId,
  version: 3,
  isDirty: false,
  isClosed: false,
  getText: () => text,
});

/** An editor with documents, some of which can be opened, and the answers of its commands. */
function editor(open: ReturnType<typeof document>[], more: Record<string, unknown> = {}) {
  const diagnostics = new Emitter<{ uris: unknown[] }>();
  const changed = new Emitter<{ document: unknown; contentChanges: unknown[] }>();
  const opened = new Emitter<unknown>();
  const asked: unknown[][] = [];
  const commands: Record<string, unknown> = {};
  Object.assign(values, {
    EventEmitter: Emitter,
    Position,
    Range,
    TabInputText,
    'Uri.parse': (text: string) => uri(text.replace(/^\w+:\/\//, ''), /^\w+/.exec(text)![0]),
    'workspace.textDocuments': open,
    'workspace.openTextDocument': (file: { fsPath: string }) => Promise.reject(new Error(`no ${file.fsPath}`)),
    'workspace.fs.stat': () => Promise.reject(new Error('no file')),
    'workspace.onDidOpenTextDocument': opened.event,
    'workspace.onDidChangeTextDocument': changed.event,
    'workspace.onDidCloseTextDocument': new Emitter().event,
    'languages.onDidChangeDiagnostics': diagnostics.event,
    'languages.getDiagnostics': () => [],
    'commands.executeCommand': (...args: unknown[]) => {
      asked.push(args);
      return Promise.resolve(commands[args[0] as string]);
    },
    'window.visibleTextEditors': [],
    'window.activeTextEditor': undefined,
    'window.tabGroups.all': [],
    ...more,
  });
  const senses = new EditorSenses(() => Promise.resolve(null));
  return { senses, diagnostics, changed, opened, asked, commands };
}

test('the server may ask for everything that is announced', () => {
  assert.deepEqual(serverSettings({ get: () => undefined }, true).ui.editor, senseRequests);
  assert.equal(serverSettings({ get: () => undefined }, true).diagnosticsAfterEdit, undefined);
  assert.equal(
    serverSettings({ get: (name) => name !== 'diagnosticsAfterEdit' && undefined }, true).diagnosticsAfterEdit,
    false,
  );
});

test('problems have the numbers of the protocol, and a file that cannot be opened is left out', async () => {
  const problem = { range: part(1, 2, 3), message: 'bad', severity: 0, source: 'go', code: { value: 'E1' } };
  const { senses } = editor([document('/w/a.go')], { 'languages.getDiagnostics': () => [problem] });
  const uris = ['file:///w/a.go', 'file:///w/missing.go', 'output:///x', 'not a uri'];
  assert.deepEqual(await senses.answer('diagnostics', { uris, settleMs: 0 }), {
    documents: [
      {
        uri: 'file:///w/a.go',
        version: 3,
        items: [{ range: wirePart(1, 2, 3), severity: 1, message: 'bad', source: 'go', code: 'E1' }],
      },
    ],
  });
  const all = [
    [uri('/w/a.go'), [{ ...problem, severity: 3, code: undefined, source: undefined }]],
    [uri('/x', 'output'), [problem]],
  ];
  values['languages.getDiagnostics'] = () => all;
  assert.deepEqual(await senses.answer('diagnostics', { settleMs: 0 }), {
    documents: [{ uri: 'file:///w/a.go', items: [{ range: wirePart(1, 2, 3), severity: 4, message: 'bad' }] }],
  });
});

test('a changed document is waited for until an extension has reported about it', async () => {
  const file = document('/w/a.go');
  const { senses, changed, diagnostics } = editor([file]);
  changed.fire({ document: file, contentChanges: [{}] });
  let answered = false;
  const asked = senses.answer('diagnostics', { uris: ['file:///w/a.go'], settleMs: 9000 }).then((answer) => {
    answered = true;
    return answer;
  });
  diagnostics.fire({ uris: [uri('/w/other.go')] });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(answered, false, 'another file');
  values['languages.getDiagnostics'] = () => [{ range: part(0, 0, 1), message: 'new', severity: 0 }];
  diagnostics.fire({ uris: [file.uri] });
  const begun = Date.now();
  assert.deepEqual(await asked, {
    documents: [
      {
        uri: 'file:///w/a.go',
        version: 3,
        items: [{ range: wirePart(0, 0, 1), severity: 1, message: 'new' }],
      },
    ],
  });
  assert.ok(Date.now() - begun < 8000, 'long before the deadline');
});

test('a document about which nothing is reported is stale, and is waited for only once', async () => {
  const file = document('/w/a.txt', '', 'plaintext');
  const { senses, changed } = editor([file]);
  changed.fire({ document: file, contentChanges: [{}] });
  const ask = () => senses.answer('diagnostics', { uris: ['file:///w/a.txt'], settleMs: 600 });
  const stale = { documents: [{ uri: 'file:///w/a.txt', version: 3, stale: true, items: [] }] };
  assert.deepEqual(await ask(), stale);
  changed.fire({ document: file, contentChanges: [{}] });
  const begun = performance.now();
  assert.deepEqual(await senses.answer('diagnostics', { uris: ['file:///w/a.txt'], settleMs: 9000 }), stale);
  assert.ok(performance.now() - begun < 4000, 'the language has no extension that reports');
});

test('a document is waited for that does not have the text of its file yet', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'senses-')), 'a.go');
  writeFileSync(path, 'new\r\n');
  let text = 'old\n';
  const file = { ...document(path), getText: () => text };
  const { senses, changed, diagnostics } = editor([file], {
    'workspace.fs.stat': () => Promise.resolve({ size: 5 }),
    'workspace.fs.readFile': () => Promise.resolve(readFileSync(path)),
  });
  let answered = false;
  const asked = senses.answer('diagnostics', { uris: [`file://${path}`], settleMs: 9000 }).then(() => {
    answered = true;
  });
  diagnostics.fire({ uris: [file.uri] }); // about the old text
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(answered, false);
  text = 'new\n';
  changed.fire({ document: file, contentChanges: [{}] });
  diagnostics.fire({ uris: [file.uri] });
  await asked;
});

test('places, symbols and hovers are in the form of the protocol', async () => {
  const { senses, commands, asked } = editor([document('/w/a.go')]);
  const place = { uri: 'file:///w/a.go', position: { line: 4, character: 2 } };
  commands['vscode.executeDefinitionProvider'] = [
    { uri: uri('/w/b.go'), range: part(1, 0, 4) },
    { targetUri: uri('/w/c.go'), targetRange: part(0, 0, 9), targetSelectionRange: part(0, 5, 6) },
  ];
  assert.deepEqual(await senses.answer('definition', place), [
    { uri: 'file:///w/b.go', range: wirePart(1, 0, 4) },
    { uri: 'file:///w/c.go', range: wirePart(0, 5, 6) },
  ]);
  assert.deepEqual(asked[0]!.slice(2), [new Position(4, 2)]);
  assert.deepEqual(await senses.answer('references', place), []);
  assert.equal(asked[1]![0], 'vscode.executeReferenceProvider');

  commands['vscode.executeHoverProvider'] = [
    { contents: [{ value: 'func x()' }, { language: 'go', value: 'x' }] },
    { contents: ['text', ''] },
  ];
  assert.deepEqual(await senses.answer('hover', place), {
    kind: 'markdown',
    value: 'func x()\n\n```go\nx\n```\n\ntext',
  });
  commands['vscode.executeHoverProvider'] = undefined;
  assert.equal(await senses.answer('hover', place), null);

  const inner = { name: 'b', kind: 5, range: part(1, 0, 1), selectionRange: part(1, 0, 1), children: [] };
  commands['vscode.executeDocumentSymbolProvider'] = [{ ...inner, name: 'A', kind: 4, children: [inner] }];
  const wireInner = { name: 'b', kind: 6, range: wirePart(1, 0, 1), selectionRange: wirePart(1, 0, 1), children: [] };
  assert.deepEqual(await senses.answer('symbols', { uri: 'file:///w/a.go' }), [
    { ...wireInner, name: 'A', kind: 5, children: [wireInner] },
  ]);
  commands['vscode.executeWorkspaceSymbolProvider'] = [
    { name: 'A', kind: 4, containerName: 'p', location: { uri: uri('/w/a.go'), range: part(1, 0, 1) } },
  ];
  assert.deepEqual(await senses.answer('symbols', { query: 'a' }), [
    { name: 'A', kind: 5, containerName: 'p', location: { uri: 'file:///w/a.go', range: wirePart(1, 0, 1) } },
  ]);
  await assert.rejects(senses.answer('definition', { ...place, uri: 'untitled:///x' }), /is not a file/);
});

test('edits are returned and not applied, and those that move files say so', async () => {
  const { senses, commands, asked } = editor([document('/w/a.go')]);
  const entries = [[uri('/w/a.go'), [{ range: part(0, 0, 1), newText: 'b' }]]];
  const edit = { size: 1, entries: () => entries };
  const change = {
    textDocument: { uri: 'file:///w/a.go' },
    edits: [{ range: wirePart(0, 0, 1), newText: 'b' }],
  };
  const place = { uri: 'file:///w/a.go', position: { line: 0, character: 0 }, newName: 'b' };
  commands['vscode.executeDocumentRenameProvider'] = edit;
  assert.deepEqual(await senses.answer('rename', place), { documentChanges: [change] });
  commands['vscode.executeDocumentRenameProvider'] = { ...edit, size: 2 };
  const moving = (await senses.answer('rename', place)) as { documentChanges: { kind?: string }[] };
  assert.equal(moving.documentChanges.at(-1)?.kind, 'file');

  commands['vscode.executeCodeActionProvider'] = [
    { title: 'Fix', kind: { value: 'quickfix' }, edit },
    { title: 'Fix and run', kind: { value: 'quickfix' }, edit, command: { command: 'x', title: 'x' } },
    { title: 'Run', command: 'x' },
    { title: 'Not now', disabled: { reason: 'no' }, edit: { size: 0 } },
  ];
  assert.deepEqual(await senses.answer('codeActions', { uri: 'file:///w/a.go', range: wirePart(0, 0, 1) }), [
    { title: 'Fix', kind: 'quickfix', edit: { documentChanges: [change] } },
    { title: 'Fix and run', kind: 'quickfix' },
    { title: 'Run' },
    { title: 'Not now', disabled: 'no' },
  ]);
  assert.ok(
    asked.every(([command]) => String(command).startsWith('vscode.execute')),
    'nothing is applied',
  );
});

test('only open files of the folder without credentials are listed', async () => {
  const tab = (path: string, isDirty = false) => ({ input: new TabInputText(uri(path)), isDirty });
  const { senses } = editor([document('/w/a.go')], {
    'window.activeTextEditor': { document: { uri: uri('/w/a.go') } },
    'window.visibleTextEditors': [{ document: { uri: uri('/w/a.go') } }],
    'window.tabGroups.all': [{ tabs: [tab('/w/a.go', true), tab('/w/b.go'), tab('/w/.env'), tab('/x/c.go'), {}] }],
  });
  assert.deepEqual(await senses.answer('editors', { cwd: '/w' }), [
    { uri: 'file:///w/a.go', languageId: 'go', active: true, visible: true, dirty: true },
    { uri: 'file:///w/b.go' },
  ]);
});

test('a workspace without trust is not asked about', async () => {
  const { senses, asked } = editor([document('/w/a.go')]);
  values['workspace.isTrusted'] = false;
  for (const request of senseRequests) {
    const answer = await senses.answer(request, { uris: ['file:///w/a.go'], uri: 'file:///w/a.go', cwd: '/w' });
    assert.deepEqual(answer, request === 'diagnostics' ? { documents: [] } : null);
  }
  values['workspace.isTrusted'] = true;
  assert.deepEqual(asked, []);
});

test('a document that is opened only for a look is sent to the server once it is shown or changed', async () => {
  const shown = new Emitter<unknown[]>();
  const { senses, changed } = editor([], {
    'window.onDidChangeVisibleTextEditors': shown.event,
    'workspace.onDidChangeWorkspaceFolders': new Emitter().event,
    'workspace.getWorkspaceFolder': () => ({}),
    'workspace.openTextDocument': (file: { fsPath: string }) => Promise.resolve(document(file.fsPath)),
  });
  const documents = new Documents();
  const sent: string[] = [];
  documents.attach({
    isRunning: () => true,
    sendNotification: (_: unknown, { uri }: { uri: unknown }) => void sent.push(String(uri)),
    code2ProtocolConverter: { asOpenTextDocumentParams: (d: { uri: unknown }) => ({ uri: d.uri }) },
  } as never);
  const open = (file: unknown) =>
    documents.middleware.didOpen!(file as never, (d) => Promise.resolve(void sent.push(d.uri.toString())));
  await senses.answer('diagnostics', { uris: ['file:///w/a.go', 'file:///w/b.go'], settleMs: 0 });
  const [a, b] = [document('/w/a.go'), document('/w/b.go')];
  await open(a);
  await open(b);
  await open(document('/w/c.go'));
  assert.deepEqual(sent, ['file:///w/c.go']);
  values['workspace.textDocuments'] = [a, b];
  shown.fire([{ document: a }]);
  assert.deepEqual(sent.slice(1), ['file:///w/a.go']);
  changed.fire({ document: { ...b, isDirty: false }, contentChanges: [{}] });
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(sent.length, 2, 'it was only read again');
  changed.fire({ document: { ...b, isDirty: true }, contentChanges: [{}] });
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual(sent.slice(2), ['file:///w/b.go']);
});
