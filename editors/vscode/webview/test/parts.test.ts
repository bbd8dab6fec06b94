import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rowsOfPatch, patchOfCall, patchOfTexts, editsOf } from '../src/diff/rows';
import { keptOf, nothingKept } from '../src/state/draft';
import { recall, step } from '../src/state/history';
import { written } from '../../src/chat/written';
import { subagentsOf } from '../src/state/subagents';
import { attached, draftOf } from '../src/state/attachments';
import { notesAbove, notesBelow, withNote } from '../src/state/localNotes';
import type { LocalNote } from '../src/state/localNotes';
import { urisOf } from '../src/view/drop';
import { complete, referencesIn, typedAt, withReferences } from '../src/state/references';
import { fileLabel, relativeTo, userMessageOf } from '../src/state/userMessage';
import { approvalOfRequest } from '../src/state/wire';
import { costText, describe, ruleText, tokenText } from '../src/view/describe';
import { outputText } from '../src/view/output';
import { visible } from '../../src/chat/visible';

test('a unified diff becomes numbered rows', () => {
  const { rows, added, removed } = rowsOfPatch(
    '--- a/x\n+++ b/x\n@@ -2,3 +2,4 @@ func main\n same\n-old\n+new\n+more\n same too\n\\ No newline at end of file\n',
  );
  assert.deepEqual([added, removed], [2, 1]);
  assert.deepEqual(rows, [
    { kind: 'gap', text: 'func main' },
    { kind: 'same', before: 2, after: 2, text: 'same' },
    { kind: 'removed', before: 3, text: 'old' },
    { kind: 'added', after: 3, text: 'new' },
    { kind: 'added', after: 4, text: 'more' },
    { kind: 'same', before: 4, after: 5, text: 'same too' },
  ]);
  assert.deepEqual(rowsOfPatch('nothing of a diff').rows, []);
});

test("a call's change comes from its result, or else from its arguments", () => {
  assert.equal(patchOfCall({}, { details: { patch: '@@ -1 +1 @@\n-a\n+b' } }), '@@ -1 +1 @@\n-a\n+b');
  const rows = rowsOfPatch(patchOfCall({ edits: [{ oldText: 'a\nb', newText: 'a\nc' }] }, {})).rows;
  assert.deepEqual(
    rows.map((r) => r.kind + r.text),
    ['samea', 'removedb', 'addedc'],
  );
  assert.equal(patchOfCall({ path: 'x' }, {}), '');
});

test("edits are found under every program's names", () => {
  assert.deepEqual(editsOf({ edits: '[{"old_string":"a","new_string":"b"}]' }), [
    { path: '', before: 'a', after: 'b' },
  ]);
  assert.deepEqual(editsOf({ file_path: 'p', old_text: 'a', new_text: '' }), [{ path: 'p', before: 'a', after: '' }]);
  assert.deepEqual(editsOf({ edits: '{broken' }), []);
});

test('texts too long to compare are shown completely', () => {
  const rows = rowsOfPatch(patchOfTexts('a\n'.repeat(150_000), 'b\n')).rows;
  assert.equal(rows.length, 150_001);
});

test('attached files are separated from the text of a prompt', () => {
  const said = userMessageOf(
    '<file path="/w/a b.ts" lines="2-5">\nx\n</file>\n\n<file path="/w/c">\n</file>\n\nwhat <file path="/x"> is this?',
  );
  assert.deepEqual(said, {
    files: [{ path: '/w/a b.ts', from: 2, to: 5 }, { path: '/w/c' }],
    text: 'what <file path="/x"> is this?',
  });
  assert.deepEqual(userMessageOf([{ type: 'text', text: 'plain' }, { type: 'image' }]), { files: [], text: 'plain' });
  assert.deepEqual(said.files.map(fileLabel), ['a b.ts:2–5', 'c']);
  assert.deepEqual(
    [relativeTo('/w', '/w/a'), relativeTo('/w', '/wx/a'), relativeTo('C:\\w', 'C:\\w\\a')],
    ['a', '/wx/a', 'a'],
  );
});

test('recall steps through earlier prompts and back to the draft', () => {
  const r = recall(['one', 'two', 'two', ' '], 'draft');
  const up = step(r, -1)!;
  assert.equal(up.text, 'two');
  const top = step(up.recall, -1)!;
  assert.equal(top.text, 'one');
  assert.equal(step(top.recall, -1), undefined);
  assert.equal(step(step(top.recall, 1)!.recall, 1)!.text, 'draft');
});

test('a reference is the text after an @ or # at the start of a word', () => {
  assert.deepEqual(typedAt('see @src/a', 10), { from: 4, mark: '@', query: 'src/a' });
  assert.deepEqual(typedAt('@', 1), { from: 0, mark: '@', query: '' });
  assert.deepEqual(typedAt('see @"my doc', 12), { from: 4, mark: '@', query: 'my doc' });
  assert.deepEqual(typedAt('(#sel', 5), { from: 1, mark: '#', query: 'sel' });
  assert.equal(typedAt('me@example', 10), undefined);
  assert.equal(typedAt('@a b', 4), undefined);
  assert.equal(typedAt('@"a" b', 6), undefined);
  const typed = typedAt('see @sr now', 7)!;
  assert.deepEqual(complete('see @sr now', 7, typed, '@src/a.ts', true), { text: 'see @src/a.ts now', cursor: 14 });
  assert.deepEqual(complete('see @sr now', 7, typed, '@src/', false), { text: 'see @src/ now', cursor: 9 });
  const quoted = typedAt('@"my"', 4)!;
  assert.deepEqual(complete('@"my"', 4, quoted, '@"my doc.md"', true), { text: '@"my doc.md" ', cursor: 13 });
});

test('references are found in a text, with their lines and without punctuation', () => {
  const found = (text: string) =>
    referencesIn(text).map(({ from, to, kind, name }) => [text.slice(from, to), kind, name]);
  assert.deepEqual(found('Fix @src/a.ts:10-20, see @"my docs/b.md":3 (@problems) and @symbol:Parse.'), [
    ['@src/a.ts:10-20', 'path', 'src/a.ts'],
    ['@"my docs/b.md":3', 'path', 'my docs/b.md'],
    ['@problems', 'context', 'problems'],
    ['@symbol:Parse', 'symbol', 'symbol:Parse'],
  ]);
  assert.deepEqual(found('#selection #selection-range #problems me@example.org @ @"" @@x'), [
    ['#selection', 'context', 'selection'],
  ]);
  assert.deepEqual(
    found('@a.ts#L10-L20\n```\n@b.ts\n```\n@c.ts\n~~~\n@d.ts').map(([, , name]) => name),
    ['a.ts', 'c.ts'],
  );
  assert.equal(withReferences('see', ['@a/', '@b/']), 'see @a/ @b/ ');
  assert.equal(withReferences('', ['@a/']), '@a/ ');
  assert.equal(withReferences('x', []), 'x');
});

test('a path is written so that it is found again', () => {
  for (const [name, reference] of [
    ['src/a.ts', '@src/a.ts'],
    ['src/', '@src/'],
    ['a b.ts', '@"a b.ts"'],
    ['odd.', '@"odd."'],
    ['a:10', '@"a:10"'],
    ['(a)', '@"(a)"'],
  ]) {
    assert.equal(written(name!), reference);
    assert.deepEqual(
      referencesIn(`see ${reference}, please`).map((r) => r.name),
      [name],
    );
  }
});

test('files that the words of a message refer to are not attached a second time', () => {
  const file = (path: string) => `<file path="${path}">\nx\n</file>\n\n`;
  assert.deepEqual(
    draftOf(`${file('/w/src/a.ts')}${file('/w/b.ts')}${file('/w/my doc.md')}see @src/a.ts:3 and @"my doc.md"`),
    {
      text: 'see @src/a.ts:3 and @"my doc.md"',
      attachments: [{ uri: '/w/b.ts', name: 'b.ts' }],
    },
  );
  const typed = '<file path="Problems" type="problems">\nx\n</file>\n\n<file path="src" type="folder">\nx\n</file>\n\n';
  assert.deepEqual(draftOf(`${file('/w/b.ts')}${typed}${file('/w/open.ts')}fix @problems in @buffer and @src/`), {
    text: 'fix @problems in @buffer and @src/',
    attachments: [{ uri: '/w/b.ts', name: 'b.ts' }],
  });
  const a = { uri: 'file:///a', name: 'a' };
  const part = { ...a, range: { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } } };
  assert.deepEqual(attached([a], [a, part, part]), [a, part]);
});

test('an answer of a command is below the message after which it arrived', () => {
  const note = (key: string, after: string) => ({ key, sessionId: 's', command: 'stats', text: 'x', after });
  const items = [{ key: 'm1' }, { key: 'm2' }] as never;
  const notes = [note('a', ''), note('b', 'm2'), note('c', 'm9')];
  assert.deepEqual(notesBelow(notes, items), [notes[1]]);
  assert.deepEqual(notesAbove(notes), [notes[0]]);
  assert.equal(notesBelow([], items), notesBelow([note('c', 'm9')], items), 'nothing is the same list');
  let all: readonly LocalNote[] = [];
  for (let i = 0; i < 50; i++) all = withNote(all, note(String(i), ''));
  assert.deepEqual([all.length, all.at(-1)?.key], [20, '49']);
});

test('dropped URIs are read in each form of a drag', () => {
  const data = (of: Record<string, string>) => urisOf({ getData: (type) => of[type] ?? '' });
  assert.deepEqual(data({ 'application/vnd.code.uri-list': 'file:///a\r\nfile:///b', 'text/uri-list': 'file:///c' }), [
    'file:///a',
    'file:///b',
  ]);
  assert.deepEqual(data({ 'text/uri-list': '# comment\nfile:///c\n' }), ['file:///c']);
  assert.deepEqual(data({ resourceurls: '["file:///d", 5]' }), ['file:///d']);
  for (const nothing of ['', '{', '{}', 'null']) assert.deepEqual(data({ resourceurls: nothing }), []);
});

test('state kept by an older page can be read', () => {
  assert.deepEqual(keptOf(undefined), nothingKept);
  assert.deepEqual(
    keptOf({ text: 1, attachments: [{}], folds: { a: true, b: 1 }, sent: { text: 'x' }, scroll: 'no' }),
    { ...nothingKept, folds: { a: true }, sent: { text: 'x', attachments: [] } },
  );
});

test('calls have short descriptions', () => {
  const words = (name: string, args: object) => {
    const d = describe({ type: 'toolCall', name, arguments: args as Record<string, unknown> }, '/w');
    return `${d.verb} ${d.what}`.trim();
  };
  assert.equal(words('read', { path: '/w/a.ts' }), 'Read a.ts');
  assert.equal(words('read', { path: 'https://example.com/a?b' }), 'Read https://example.com/a?b');
  const page = { type: 'toolCall', name: 'read', arguments: { path: 'https://example.com' } };
  assert.equal(describe(page, '/w').path, '', 'it is no file to open');
  assert.equal(words('Bash', { command: 'go test\n ./...' }), 'Run go test ./...');
  assert.equal(words('bash', { command: 'npm run dev', background: true }), 'Run in the background npm run dev');
  assert.equal(words('process', { id: 'bg-a' }), 'Read background output bg-a');
  assert.equal(words('process', { id: 'bg-a', stop: true }), 'Stop background command bg-a');
  assert.equal(words('grep', { pattern: 'x', path: '/w/src' }), 'Search x in src');
  assert.equal(words('ls', {}), 'List .');
  assert.equal(words('mcp__thing', { n: 1, about: 'weather' }), 'mcp__thing weather');
  assert.equal(words('constructor', {}), 'constructor');
  assert.equal(ruleText({ words: ['go', 'test'], exact: true, text: 'go test (exactly)' }), 'go test (exactly)');
  assert.equal(ruleText({ words: ['go', 'test'], exact: true }), 'go test');
  assert.equal(ruleText({ words: ['go', 'test'] }), 'similar calls');
  assert.equal(ruleText({ edit: true }), 'edits to files in this folder, except protected files');
});

test('numbers are abbreviated', () => {
  assert.deepEqual([0, 999, 1000, 12_345, 99_960, 200_000, 1_500_000].map(tokenText), [
    '0',
    '999',
    '1k',
    '12.3k',
    '100k',
    '200k',
    '1.5M',
  ]);
  assert.deepEqual([0, 0.001, 0.5, 12.345, 1234].map(costText), ['', '<$0.01', '$0.50', '$12.35', '$1234']);
});

test('terminal escape sequences are removed', () => {
  assert.equal(
    outputText({
      content: [{ type: 'text', text: '\u001b[1;32mok\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007' }],
    }),
    'ok link',
  );
});

test('deceptive characters are made visible', () => {
  assert.equal(visible('rm \u202egpj.x\u202c a\u200bb\r'), 'rm ⟨U+202E⟩gpj.x⟨U+202C⟩ a⟨U+200B⟩b⟨U+000D⟩');
  assert.equal(visible('plain\ttext\nהיא 日本 é'), 'plain\ttext\nהיא 日本 é');
  assert.match(describe({ type: 'toolCall', name: 'bash', arguments: { command: 'a\u202eb' } }, '/w').what, /U\+202E/);
});

test('optional members of server messages can be missing', () => {
  const found = approvalOfRequest({
    id: 'a',
    tool: 'bash',
    protected: ['.envrc', 7],
    unsandboxed: true,
    blocked: ['x'],
  });
  assert.deepEqual([found.protected, found.unsandboxed, found.blocked], [['.envrc'], true, ['x']]);
  const bare = approvalOfRequest({ id: 'a', tool: 'bash', unsandboxed: 'yes' });
  assert.deepEqual([bare.protected, bare.unsandboxed, bare.blocked], [[], false, []]);
});

test('a request from an editor is shown without the instruction for the model', () => {
  const file = '<file path="/w/src/store.go" lines="1-1">\npackage store\n</file>\n\n';
  const requested = 'Rename it.\n\nAnd its file.';
  const prefix = '<instruction>\nEdit line 1.\n\nOnly it.\n</instruction>\n\n';
  assert.deepEqual(userMessageOf(prefix + file + requested), {
    files: [{ path: '/w/src/store.go', from: 1, to: 1 }],
    text: requested,
  });
  assert.equal(userMessageOf(prefix + 'Do it.').text, 'Do it.');
  assert.equal(userMessageOf(prefix + 'Do it.\n</instruction>\n\nNow.').text, 'Do it.\n</instruction>\n\nNow.');
  for (const other of [prefix, '<instruction>\nopen', `Read this:\n${prefix}x`]) {
    assert.equal(userMessageOf(other).text, other, 'no instruction of a request');
  }
});

test('a request that an earlier version recorded with its instruction is shown without it', () => {
  const file = '<file path="/w/src/store.go" lines="1-1">\npackage store\n</file>\n\n';
  const instruction = (lines: string) =>
    `Change ${lines} of src/store.go, which are attached, with the edit tool, in as few calls as possible. The user reviews each\n` +
    'edit before it is made. Do not propose a rejected edit again in another form. Leave all other lines unchanged, and\n' +
    'afterwards describe the change in one sentence. The request:\n\n';
  for (const lines of ['line 1', 'lines 1 to 9']) {
    assert.equal(userMessageOf(file + instruction(lines) + 'Rename it.').text, 'Rename it.');
  }
  // Words of the user that only begin so.
  assert.equal(userMessageOf(file + 'Change line 1 of it').text, 'Change line 1 of it');
  const bare = instruction('line 1') + 'b';
  assert.equal(userMessageOf(bare).text, bare, 'without the file that it is about');
});

test('the subagents of a call are shown while it runs and after it', () => {
  const progress = {
    id: 'Scouty',
    agent: 'scout',
    status: 'running',
    toolCount: 2,
    tokens: 30,
    lastTool: 'read',
    sessionFile: '/s/Scouty.jsonl',
  };
  assert.deepEqual(subagentsOf({ details: { results: [], progress: [progress] } }), [
    {
      id: 'Scouty',
      agent: 'scout',
      status: 'running',
      tools: 2,
      tokens: 30,
      last: 'read',
      transcript: '/s/Scouty.jsonl',
    },
  ]);
  const results = [
    { id: 'A', agent: 'task', exitCode: 0, aborted: false, tokens: 3, outputPath: '/s/A.md' },
    { id: 'B', agent: 'task', exitCode: 1, aborted: true },
    { id: 'C', agent: 'task', exitCode: 1, aborted: false },
  ];
  const after = subagentsOf({ details: { results } });
  assert.deepEqual(
    after.map((a) => [a.id, a.status, a.transcript]),
    [
      ['A', 'completed', '/s/A.jsonl'],
      ['B', 'aborted', ''],
      ['C', 'failed', ''],
    ],
  );
  for (const broken of [undefined, null, 7, {}, { details: { results: 7 } }, { details: { progress: 'x' } }])
    assert.deepEqual(subagentsOf(broken), []);
  const block = {
    type: 'toolCall',
    name: 'task',
    arguments: { tasks: [{ name: 'Scouty', task: 'look' }, { task: 'fix it' }] },
  };
  assert.equal(describe(block, '/w').what, 'Scouty, fix it');
});
