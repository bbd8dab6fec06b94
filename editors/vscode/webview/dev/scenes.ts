// The scenes of the harness, by name.

import { answer, answering, call, grow, play, result, saying, text, thinking, user } from './script';
import { hostile } from '../test/hostile';
import type { PlayedChanges } from './changes';
import { formulas, rendering } from './rendering';
import type { PlayedSession } from './session';

const patch = `--- a/src/parse.ts
+++ b/src/parse.ts
@@ -12,9 +12,11 @@ export function parse(source: string): Tree {
   const tokens = scan(source);
   let at = 0;
 
-  function next(): Token {
-    return tokens[at++];
+  function next(): Token | undefined {
+    const token = tokens[at];
+    if (token) at++;
+    return token;
   }
 
   return tree(next);
 }
@@ -40,4 +42,4 @@ function tree(next: () => Token): Tree {
   const children: Tree[] = [];
-  for (let t = next(); t.kind !== "end"; t = next()) {
+  for (let t = next(); t && t.kind !== "end"; t = next()) {
     children.push(leaf(t));
   }
`;

const explained = `The parser reads **past the last token** when the source ends inside a group: \`next()\` returns \`undefined\`, and \`t.kind\` throws.

Two things to change:

1. \`next()\` can return no token. See [parse.ts](src/parse.ts:15).
2. The loop in \`tree\` stops when there is none.

\`\`\`ts
function next(): Token | undefined {
  const token = tokens[at]; // never past the end
  if (token) at++;
  return token;
}
\`\`\`

| source | before | now |
|---|---|---|
| \`(a\` | throws | \`(a)\` |
| \`a\` | \`a\` | \`a\` |
`;

const closing = `Done. An unfinished group is now closed where the source ends, and all **42 tests** pass.\n\nThe [documentation](https://example.com/docs) says nothing about this case; should I add it?`;

const tests =
  Array.from({ length: 14 }, (_, i) => `\u001b[32m✓\u001b[0m parse › case ${i + 1} (${i % 5} ms)`).join('\n') +
  '\n\nTests: 42 passed';

const said = (t: string) =>
  user(`<file path="/home/you/calc/src/parse.ts" lines="12-24">\nfunction next(): Token {\n</file>\n\n${t}`);

/** Plays a complete conversation, as if read from a file. */
function conversation(s: PlayedSession): void {
  s.record(said('Why does this crash on `(a`? Please fix it.'));
  s.record(
    answer(
      [
        thinking('The loop asks for `t.kind`.\n\nWhen the tokens are used up, **next** returns undefined.'),
        text("I'll look at the parser and its tests first."),
        call('c1', 'read', { path: 'src/parse.ts' }),
        call('c2', 'grep', { pattern: 'next\\(\\)', path: 'src' }),
      ],
      { stopReason: 'toolUse' },
    ),
  );
  s.record(result('c1', 'read', 'export function parse(source: string): Tree {\n  const tokens = scan(source);\n'));
  s.record(
    result('c2', 'grep', 'src/parse.ts:15:  function next(): Token {\nsrc/parse.ts:42:  for (let t = next(); t.kind'),
  );
  s.record(
    answer([text(explained), call('c3', 'edit', { path: 'src/parse.ts', edits: [{ oldText: 'a', newText: 'b' }] })], {
      stopReason: 'toolUse',
    }),
  );
  s.record(result('c3', 'edit', 'Successfully replaced 2 blocks in src/parse.ts.', { details: { patch } }));
  s.record(answer([call('c4', 'bash', { command: 'npm test -- parse' })], { stopReason: 'toolUse' }));
  s.record(result('c4', 'bash', tests));
  s.record(answer([text(closing)]));
}

function todos(s: PlayedSession): void {
  const phases = [
    {
      name: 'Fix',
      tasks: [
        { content: 'Find the crash', status: 'completed' },
        { content: 'Change next()', status: 'completed' },
        { content: 'Run the tests', status: 'in_progress' },
        { content: 'Document it', status: 'pending' },
      ],
    },
  ];
  play(s, answering(answer([call('t1', 'todo_write', {})], { stopReason: 'toolUse' })));
  play(s, saying(result('t1', 'todo_write', 'ok', { details: { phases } })));
}

function* words(n: number): Generator<string> {
  for (let i = 0; i < n; i++)
    yield `Message ${i} talks about \`part ${i}\` of the work, and about *what* comes after it.`;
}

const longCode = Array.from(
  { length: 120 },
  (_, i) =>
    `func step${i}(in chan int, out chan<- int) { // stage ${i}\n\tfor v := range in {\n\t\tout <- v * ${i}\n\t}\n}\n`,
).join('\n');

const service = (id: string, name: string, more: object = {}) => ({ id, name, kind: 'service', ready: false, ...more });

/** No model is ready; an engine, a local model and services are known. */
function modelless(s: PlayedSession): void {
  s.model = null;
  s.title = '';
  s.ready = { ok: false, reason: 'noModel', message: 'Choose a model to start.' };
  s.engines = [
    { name: 'own', usable: true },
    { name: 'pi', version: '1.5.2', usable: true },
    { name: 'omp', usable: false, problem: 'It is too old.' },
  ];
  s.providers = [
    { id: 'ollama', name: 'Ollama', kind: 'local', ready: true, models: 1, default: 'ollama/qwen3-coder:30b' },
    { id: 'lmstudio', name: 'LM Studio', kind: 'local', ready: true, models: 4, default: '' },
    { id: 'vllm', name: 'vLLM', kind: 'local', ready: false, models: 0, default: '' },
    service('openrouter', 'OpenRouter', { ready: true, models: 312, default: 'openrouter/auto' }),
    service('anthropic', 'Anthropic'),
    service('openai', 'OpenAI'),
    service('google', 'Google Gemini'),
    service('xai', 'xAI'),
    service('zai', 'Z.AI'),
    { id: 'offline', name: 'Offline demo', kind: 'demo', ready: true, models: 1, default: 'offline/demo' },
  ];
}

const able = { steer: true, branch: true, compact: true, images: true, files: true, permission: true, models: true };

const unable = {
  steer: false,
  branch: false,
  compact: false,
  images: false,
  files: false,
  permission: true,
  models: false,
};

/** Plays a conversation that pi answers. */
function piAnswers(s: PlayedSession, state = 'ready'): void {
  s.record({ role: 'system', content: 'You are pi, with these tools.' });
  conversation(s);
  s.engine = { name: 'pi', version: '1.5.2', state, can: able };
  s.model = { provider: 'anthropic', id: 'claude-opus' };
}

const slashCommands = [
  { name: 'review', description: 'Review the changes of the working tree', source: 'prompt' },
  { name: 'release', description: 'Prepare a release: changelog, tag, notes', source: 'prompt' },
  { name: 'skill:pdf', description: 'Read PDF files', source: 'skill' },
  { name: 'mcp', description: 'Manage MCP servers', source: 'extension' },
];

function ask(s: PlayedSession, id: string, method: string, title: string, more: object): void {
  s.emit({ type: 'question_asked', id, method, title, ...more });
}

/** A scene plays the events before the page is opened, and returns the later ones. */
export const scenes: Record<string, (s: PlayedSession, changes: PlayedChanges) => void | (() => void)> = {
  empty: (s) => {
    s.title = '';
    s.context = { tokens: 0 };
  },
  conversation,
  streaming: (s) => {
    conversation(s);
    s.emit({ type: 'agent_start' });
    play(s, saying(user('Yes, please. Mention it in the changelog, too.')));
    s.emit({ type: 'turn_start' });
    s.emit({ type: 'message_start', message: answer([]) });
    play(s, grow(0, 'thinking', 'The documentation is in docs/grammar.md. A short section will do.'));
    play(s, grow(1, 'text', explained.slice(0, 420), true));
    s.emit({ type: 'queue_changed', steering: ['Keep it under ten lines'], followUp: ['Then commit'] });
  },
  tool: (s) => {
    conversation(s);
    s.emit({ type: 'agent_start' });
    play(s, saying(user('Run all tests again')));
    todos(s);
    play(
      s,
      answering(
        answer([text('Running them.'), call('d1', 'bash', { command: 'npm test -- --coverage --reporter=verbose' })], {
          stopReason: 'toolUse',
        }),
      ),
    );
    s.emit({ type: 'tool_execution_start', toolCallId: 'd1', toolName: 'bash', args: {} });
    s.emit({
      type: 'tool_execution_update',
      toolCallId: 'd1',
      toolName: 'bash',
      partialResult: { content: [text(tests.slice(0, 300))] },
    });
  },
  approval: (s) => {
    conversation(s);
    s.emit({ type: 'agent_start' });
    play(s, saying(user('Change the loop too')));
    play(
      s,
      answering(
        answer([text('This is the change:'), call('a1', 'edit', { path: 'src/parse.ts', edits: [] })], {
          stopReason: 'toolUse',
        }),
      ),
    );
    s.emit({ type: 'tool_execution_start', toolCallId: 'a1', toolName: 'edit', args: {} });
    const prompt = {
      id: 'a1',
      tool: 'edit',
      args: { path: 'src/parse.ts' },
      preview: { title: 'Edit src/parse.ts', diff: patch, paths: ['/home/you/calc/src/parse.ts'] },
      rules: [{ edit: true }],
      outside: [],
      shown: true,
    };
    s.emit({ type: 'approvals_changed', approvals: [prompt] });
  },
  command: (s) => {
    conversation(s);
    s.emit({ type: 'agent_start' });
    play(s, saying(user('Push it')));
    play(
      s,
      answering(answer([call('b1', 'bash', { command: 'git push --force origin main' })], { stopReason: 'toolUse' })),
    );
    s.emit({ type: 'tool_execution_start', toolCallId: 'b1', toolName: 'bash', args: {} });
    const prompt = {
      id: 'b1',
      tool: 'bash',
      args: { command: 'git push --force origin main' },
      preview: { title: 'Run git push' },
      rules: [{ words: ['git', 'push', '--force', 'origin', 'main'], exact: true }],
      outside: ['/home/you/.gitconfig'],
      shown: true,
    };
    s.emit({ type: 'approvals_changed', approvals: [prompt, { ...prompt, id: 'b1#2' }] });
  },
  remote: (s) => {
    conversation(s);
    s.emit({ type: 'agent_start' });
    play(s, saying(user('Which issues are open?')));
    play(s, answering(answer([call('m1', 'mcp__tracker_list', { state: 'open' })], { stopReason: 'toolUse' })));
    s.emit({ type: 'tool_execution_start', toolCallId: 'm1', toolName: 'mcp__tracker_list', args: {} });
    const server = { server: 'tracker', digest: 'd' };
    const prompt = {
      id: 'm1',
      tool: 'mcp__tracker_list',
      args: { state: 'open' },
      preview: { title: 'Use list of tracker' },
      rules: [{ ...server, tool: 'list', text: 'all calls of the tool list of the MCP server tracker' }],
      wider: [{ ...server, reads: true, text: 'all tools of the MCP server tracker that say they only read' }],
      outside: [],
      shown: true,
    };
    s.emit({ type: 'approvals_changed', approvals: [prompt] });
  },
  failure: (s) => {
    conversation(s);
    play(s, saying(user('Continue')));
    play(
      s,
      answering(
        answer([text("I'll start with")], {
          stopReason: 'error',
          errorMessage: 'Anthropic is overloaded (529). Nothing was changed.',
        }),
      ),
    );
    s.emit({
      type: 'agent_end',
      stopReason: 'error',
      errorMessage: 'Anthropic is overloaded (529). Nothing was changed.',
    });
  },
  retry: (s) => {
    conversation(s);
    s.emit({ type: 'agent_start' });
    play(s, saying(user('Continue')));
    return () =>
      s.emit({
        type: 'auto_retry_start',
        attempt: 2,
        maxAttempts: 3,
        delayMs: 8000,
        reason: 'overloaded',
        errorMessage: 'Anthropic is overloaded (529).',
      });
  },
  foreign: (s) => {
    conversation(s);
    return () =>
      s.emit({
        type: 'foreign_branch',
        branchId: 'f1',
        entryId: 'f4',
        entries: 4,
        program: 'pi',
        prompt: 'Now add the tests',
        text: 'pi continued on another branch.',
      });
  },
  engine: (s) => {
    piAnswers(s);
    s.emit({ type: 'engine_status', key: 'limits', lines: ['\u001b[2mWeek 31 % · 5 h 62 %\u001b[0m'] });
    s.commands = slashCommands;
    return () => s.emit({ type: 'engine_status', key: 'branch', lines: ['feature/parser ↑2', 'lint: 3 warnings'] });
  },
  /** A skill as oh-my-pi records it, one as pi does, and a template that was sent just now. */
  invoked: (s) => {
    s.record({
      role: 'custom',
      customType: 'skill-prompt',
      content: '[IMPORTANT: User invoked the "pdf-tools" skill.]\n\n# PDF tools\n\nRead the formats first.',
      display: true,
      attribution: 'user',
      details: { name: 'pdf-tools', path: '/s/SKILL.md', prompt: '/skill:pdf-tools extract a.pdf', lineCount: 2 },
      timestamp: 0,
    });
    s.record(answer([text('Extracted.')]));
    s.record(user('<skill name="lint" location="/l/SKILL.md">\nReferences are relative to /l.\n\nLint.\n</skill>'));
    s.record(answer([text('Linted.')]));
    return () => {
      const message = user('Review main.go, and say what is wrong with it.');
      s.emit({ type: 'message_start', message, typed: '/review main.go' });
      s.emit({ type: 'message_end', message, typed: '/review main.go', entryId: 'typed001' });
    };
  },
  engineStarting: (s) => {
    piAnswers(s, 'starting');
    s.engine = { ...s.engine, message: 'Starting pi …' };
  },
  /** An engine that can do as little as possible, in the middle of a turn. */
  engineLimited: (s) => {
    piAnswers(s, 'running');
    s.engine = { ...s.engine, name: 'gemini', version: '0.61.0', can: unable };
    s.emit({ type: 'agent_start' });
    play(s, saying(user('Continue')));
    s.emit({ type: 'turn_start' });
    s.emit({ type: 'message_start', message: answer([]) });
    play(s, grow(0, 'text', explained.slice(0, 120), true));
  },
  questions: (s) => {
    piAnswers(s, 'running');
    return () => {
      ask(s, 'q1', 'select', 'Which environment is it for?', {
        options: ['staging', 'production', 'preview of a branch'],
      });
      ask(s, 'q2', 'confirm', 'Deploy?', {});
    };
  },
  questionOptions: (s) => {
    piAnswers(s, 'running');
    return () =>
      ask(s, 'q1', 'select', 'Pick a preset', { options: Array.from({ length: 40 }, (_, i) => `preset ${i + 1}`) });
  },
  questionConfirm: (s) => {
    piAnswers(s, 'running');
    return () =>
      ask(s, 'q1', 'confirm', 'Delete the branch?', {
        message: 'origin/feature/parser has 2 commits that are in no other branch.',
        until: Date.now() + 75_000,
      });
  },
  questionInput: (s) => {
    piAnswers(s, 'running');
    return () => ask(s, 'q1', 'input', 'Name of the release', { placeholder: 'v1.2.3' });
  },
  questionEditor: (s) => {
    piAnswers(s, 'running');
    return () =>
      ask(s, 'q1', 'editor', 'Edit the commit message', {
        prefill: 'parser: close groups at the end\n\nThe source may end inside one.',
      });
  },
  crash: (s) => {
    piAnswers(s, 'running');
    return () =>
      s.emit({
        type: 'engine_changed',
        engine: 'pi',
        version: '1.5.2',
        state: 'failed',
        message: 'pi ended while it answered (exit code 1).',
        details:
          'file:///home/you/.pi/agent/extensions/guard.ts:12\n    throw new Error("no");\n\nError: no\n    at guard.ts:12:11',
        actions: [
          { title: 'Start Again', command: 'xcsh.setEngine', arguments: { engine: 'pi' } },
          { title: 'Use xcsh-ls', command: 'xcsh.setEngine', arguments: { engine: 'own' } },
          { title: 'Delete Everything', command: 'xcsh.purge', arguments: {} },
        ],
      });
  },
  background: (s) => {
    conversation(s);
    return () =>
      s.emit({
        type: 'background_changed',
        running: [{ id: 'bg-k2m4q', command: 'npm run dev -- --port 3000', startedAt: 1 }],
      });
  },
  code: (s) => {
    s.record(user('Write the pipeline'));
    s.record(answer([text('Here it is:\n\n```go\n' + longCode + '```\n\nIt has 120 stages.')]));
  },
  pictures: (s) => {
    const png =
      'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==';
    s.record(user('What is this?', { type: 'image', mimeType: 'image/png', data: png }));
    s.record(answer([text('A red dot.')]));
    s.record({
      role: 'bashExecution',
      command: 'git status --short',
      output: ' M src/parse.ts',
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: 0,
    });
    s.record({ role: 'compactionSummary', summary: 'We **fixed** the parser.', tokensBefore: 120_000, timestamp: 0 });
    s.record(answer([text('Cut off her'), call('z1', 'bash', { command: 'exit 3' })], { stopReason: 'length' }));
    s.record(result('z1', 'bash', 'sh: not found\n\nCommand exited with code 3', { isError: true }));
    s.record(answer([text('Then')], { stopReason: 'aborted', errorMessage: 'Request was aborted' }));
  },
  /** Every text of a model, a tool or a file tries to break out of its element. */
  hostile: (s) => {
    hostile.forEach((bad, i) => {
      const id = bad + i;
      s.record(
        user(
          bad,
          { type: 'image', mimeType: bad, data: bad },
          { type: 'image', mimeType: 'image/png', data: 'iVBORw' + bad },
        ),
      );
      const calls = [
        call(id, 'edit', { path: bad, oldText: bad, newText: bad + '2' }),
        call(id + 'b', bad, { [bad]: bad, command: bad }),
        call(id + 'c', 'bash', { command: bad }),
      ];
      s.record(
        answer(
          [
            thinking(bad),
            text(`${bad}\n\n[${bad}](${bad})\n\n\`\`\`${bad}\n${bad}\n\`\`\`\n\n| ${bad} |\n|---|\n| ${bad} |`),
            ...calls,
          ],
          { model: bad, stopReason: 'error', errorMessage: bad },
        ),
      );
      s.record(
        result(id, 'edit', bad, {
          details: { patch: `--- ${bad}\n+++ ${bad}\n@@ -1 +1 @@ ${bad}\n-${bad}\n+${bad}\n` },
        }),
      );
      s.record(result(id + 'b', bad, bad, { isError: true }));
      s.record({ role: bad, customType: bad, content: bad, timestamp: 0 });
      s.record({ role: 'bashExecution', command: bad, output: bad, exitCode: 1, timestamp: 0 });
      s.record({ role: 'compactionSummary', summary: bad, timestamp: 0 });
    });
    const bad = hostile[1]!;
    s.title = bad;
    s.model = { provider: bad, id: bad };
    s.thinkingLevel = s.approvalMode = bad;
    return () => {
      s.emit({ type: 'agent_start' });
      play(s, answering(answer([call('h1', 'write', { path: bad, content: bad })], { stopReason: 'toolUse' })));
      s.emit({
        type: 'approvals_changed',
        approvals: hostile.map((h, i) => ({
          id: h + i,
          tool: h,
          args: { [h]: h },
          preview: { title: h, diff: `@@ -1 +1 @@ ${h}\n-${h}\n+${h}`, paths: [h] },
          rules: [{ line: h }],
          outside: [h],
        })),
      });
      s.emit({ type: 'queue_changed', steering: [...hostile], followUp: [...hostile] });
      s.emit({ type: 'notice', text: bad });
      s.engine = { name: bad, version: bad, state: 'running', can: {} };
      s.emit({
        type: 'engine_changed',
        engine: bad,
        version: bad,
        state: 'failed',
        message: bad,
        details: hostile.join('\n'),
      });
      hostile.forEach((h, i) => s.emit({ type: 'engine_status', key: h, lines: [h, `${i} ${h}`] }));
      hostile.forEach((h) => ask(s, h, 'select', h, { message: h, options: hostile, placeholder: h, prefill: h }));
      ask(s, 'last', 'editor', bad, { message: bad, prefill: bad });
      s.emit({ type: 'error', text: bad, errorMessage: bad });
      s.emit({ type: 'auto_retry_start', attempt: 1, maxAttempts: 2, delayMs: 1, errorMessage: bad });
    };
  },
  rendering,
  formulas,
  /** Two turns that changed files. */
  changes: (s, changes) => {
    conversation(s);
    changes.turn(s.messages[0]!.entryId, [
      { path: 'src/parse.ts', status: 'modified', added: 14, removed: 3 },
      { path: 'src/scan.ts', status: 'modified', added: 6, removed: 6 },
    ]);
    const prompt = s.record(user('Add the tests, and a section to the documentation.'));
    s.record(answer([call('f1', 'write', { path: 'test/group.test.ts' })], { stopReason: 'toolUse' }));
    s.record(result('f1', 'write', 'Wrote test/group.test.ts.'));
    s.record(answer([text('The tests are in `test/group.test.ts`, and **docs/grammar.md** explains open groups.')]));
    changes.turn(
      prompt,
      [
        { path: 'src/parse.ts', status: 'modified', added: 2, removed: 1 },
        { path: 'test/group.test.ts', status: 'added', added: 58, removed: 0 },
        { path: 'docs/grammar.md', status: 'modified', added: 21, removed: 4 },
        { path: 'docs/open-groups.md', from: 'docs/notes/groups.md', status: 'renamed', added: 3, removed: 1 },
        { path: 'test/old.test.ts', status: 'deleted', added: 0, removed: 25 },
      ],
      ['A command ran. Its changes outside of the folder are not recorded.'],
    );
  },
  /** The user also changed lines that the session changed. */
  changesConflict: (s, changes) => {
    scenes['changes']!(s, changes);
    changes.conflicts.set('docs/grammar.md', {
      text: 'Lines of this change were edited since.',
      places: [
        { start: 10, end: 12 },
        { start: 31, end: 31 },
      ],
    });
    changes.merges.set('src/parse.ts', [{ start: 40, end: 41 }]);
  },
  changesHostile: (s, changes) => {
    const bad = hostile.map((h, i) => ({ path: `${h}/${i}${h}`, status: h, added: 1, removed: 1 }));
    const prompt = s.record(user('Do it'));
    s.record(answer([call('x1', 'write', { path: 'a' }), text('Done.')]));
    changes.turn(prompt, bad, [...hostile]);
    for (const { path } of bad)
      changes.conflicts.set(path, { text: hostile[1]!, places: [{ start: 1, end: 2 }], hint: hostile[1]! });
  },
  branches: (s) => {
    conversation(s);
  },
  ways: modelless,
  /** The model of an existing conversation has no key. */
  waysKey: (s) => {
    modelless(s);
    conversation(s);
    s.model = { provider: 'google', id: 'gemini-3-pro' };
    s.ready = { ok: false, reason: 'noKey', provider: 'google', message: 'Google Gemini needs an API key.' };
  },
  waysHostile: (s) => {
    modelless(s);
    const bad = hostile[1]!;
    s.ready = { ok: false, reason: bad, provider: bad, message: bad };
    s.engines = hostile.map((h) => ({ name: h, version: h, usable: true }));
    s.providers = hostile.flatMap((h, i) =>
      ['local', 'service', 'demo', h].map((kind) => ({
        id: h,
        name: h + '\u202e',
        kind,
        ready: i % 2 === 0,
        models: 3,
        default: `${h}/${h}`,
        keyPage: h,
      })),
    );
  },
  /** 12,345 messages. */
  long: (s) => lengthy(s, 3086),
  /** 60,001 messages. */
  huge: (s) => lengthy(s, 15_000),
};

/** Records the first message, and turns of four messages each. */
function lengthy(s: PlayedSession, turns: number): void {
  let n = 0;
  s.record(user('The first message'));
  for (const w of words(turns)) {
    const id = `l${n}`;
    s.record(user(`Question ${n++}: ${w}`));
    s.record(answer([text(w), call(id, 'bash', { command: `echo ${n}` })], { stopReason: 'toolUse' }));
    s.record(result(id, 'bash', `output ${n}`));
    s.record(answer([text(w + '\n\n- one\n- two\n\n```ts\nconst n = ' + n + ';\n```')]));
  }
}
