// Replaces the extension: plays a scene and answers the page. The address selects the scene:
// index.html#scene=streaming&theme=dark; with &texts=marked, every text of the page is in
// ⟦brackets⟧, with &texts=pseudo also accented and longer.

import english from '../../l10n/bundle.l10n.json';
import type { FoundReference, FromPage, JsonObject, ToPage } from '../../src/chat/messages';
import { fromPage, readingStates } from '../../src/chat/messages';
import { inPseudo } from './pseudo';
import { PlayedChanges } from './changes';
import { answer, answering, saying, text, user } from './script';
import { scenes } from './scenes';
import { PlayedSession } from './session';
import { treePage, type TreeEntry } from './tree';
import { setTheme } from './themes';
import type { AgentEvent } from './script';

const options = new URLSearchParams(location.hash.slice(1));
const marked = Object.fromEntries(Object.keys(english).map((text) => [text, `⟦${text}⟧`]));
const languages: { [name: string]: () => { [english: string]: string } } = {
  marked: () => marked,
  pseudo: () => inPseudo(english, 'keys'),
};
const texts = languages[options.get('texts') ?? '']?.() ?? {};
const cwd = '/home/you/calc';
const commands = [
  'xcsh.snapshot',
  'xcsh.messages',
  'xcsh.prompt',
  'xcsh.tree',
  'xcsh.stats',
  'xcsh.abort',
  'xcsh.branch',
  'xcsh.models',
  'xcsh.providers',
  'xcsh.changes',
  'xcsh.rewind',
  'xcsh.keep',
];

const names = [
  'src/parse.ts',
  'src/scan.ts',
  'src/tree.ts',
  'test/parse.test.ts',
  'docs/grammar.md',
  'docs/a plan.md',
  'src/',
];

/** Finds what a prompt can refer to. */
function found(query: string): FoundReference[] {
  if (query.startsWith('symbol:'))
    return [{ kind: 'symbol', name: 'parseAll', about: 'src/parse.ts' } as const].filter((s) =>
      s.name.includes(query.slice('symbol:'.length)),
    );
  return names
    .filter((name) => name.includes(query))
    .map((name) => ({ kind: name.endsWith('/') ? 'folder' : 'file', name, about: '' }));
}

const reading = readingStates.find((state) => state === options.get('reading'));
const place = options.get('place') === 'tab' ? 'tab' : 'panel';

let then: void | (() => void);

/** The interface for tests. */
class Harness {
  readonly received: FromPage[] = [];
  readonly refused: unknown[] = [];
  session: PlayedSession;
  readonly changes: PlayedChanges;
  ready = false;
  held = false; // delayed answers to snapshot requests
  heldPrompts = false; // delayed answers to prompts
  heldPages = false; // delayed answers to requests of messages
  heldReferences = false; // delayed answers to requests of references
  private waiting: (() => void)[] = [];
  private readonly queued: string[] = [];
  failing: Record<string, { message: string; kind: string; data?: JsonObject }> = {};
  forks: TreeEntry[] = [];
  existing = ['src/parse.ts', 'src/scan.ts', 'src/tree.ts', 'README.md'];
  readonly setTheme = setTheme;

  constructor() {
    this.session = new PlayedSession('s1', cwd, (t) => this.ready && this.post({ kind: t.of, params: t.params }));
    this.changes = new PlayedChanges((event) => this.session.emit(event as AgentEvent));
  }

  post(m: ToPage): void {
    window.postMessage(m, '*');
  }

  begin(): void {
    this.ready = true;
    this.post({
      kind: 'init',
      server: 'running',
      folders: [{ cwd, name: 'calc' }],
      cwd,
      commands,
      ...(reading ? {} : { contexts: ['problems', 'buffer', 'selection', 'terminal', 'symbol'] }),
      trusted: options.get('trusted') !== 'no',
      texts,
      kept: null,
      ...(reading
        ? { reading: { path: '/s/a.jsonl', name: 'Fix the parser', place, state: reading, by: 'pid 7' } }
        : {}),
      now: Date.now(),
    });
    this.post({
      kind: 'editor',
      file: {
        uri: 'file:///home/you/calc/src/scan.ts',
        name: 'src/scan.ts',
        range: { start: { line: 2, character: 0 }, end: { line: 9, character: 4 } },
      },
    });
  }

  release(): void {
    this.held = false;
    this.heldPages = false;
    this.heldReferences = false;
    for (const f of this.waiting.splice(0)) f();
  }

  receive(raw: unknown): void {
    const m = fromPage(raw);
    if (!m) return void this.refused.push(raw);
    this.received.push(m);
    if (m.kind === 'ready') return this.begin();
    if (m.kind === 'call') this.run(m.id, m.command, m.args);
    if (m.kind === 'findMentioned')
      this.post({ kind: 'answer', id: m.id, result: m.paths.map((path) => this.existing.includes(path)) });
    if (m.kind === 'findReferences') {
      const reply = () => this.post({ kind: 'answer', id: m.id, result: found(m.query) });
      if (this.heldReferences) this.waiting.push(reply);
      else reply();
    }
    if (m.kind === 'knownPaths')
      this.post({ kind: 'answer', id: m.id, result: m.names.filter((name) => names.includes(name)) });
    if (m.kind === 'decide') {
      this.session.emit({ type: 'approvals_changed', approvals: [] });
    }
  }

  private run(id: number, command: string, args: { [key: string]: unknown }): void {
    const done = (result: unknown) => this.post({ kind: 'answer', id, result });
    const failure = this.failing[command];
    if (failure) return this.post({ kind: 'answer', id, error: failure });
    switch (command) {
      case 'xcsh.snapshot': {
        const snapshot = this.session.snapshot(Number(args['last']));
        if (this.held) this.waiting.push(() => done(snapshot));
        else done(snapshot);
        then?.();
        then = undefined;
        return;
      }
      case 'xcsh.messages': {
        const page = this.session.page(args);
        const kind = page === null ? 'stale' : 'notFound';
        const reply = () =>
          page ? done(page) : this.post({ kind: 'answer', id, error: { message: `It is ${kind}.`, kind } });
        if (this.heldPages) this.waiting.push(reply);
        else reply();
        return;
      }
      case 'xcsh.tree': {
        const { leafId, nodes } = this.session.tree();
        return done({ leafId, ...treePage([...nodes, ...this.forks], args) });
      }
      case 'xcsh.commands':
        return void setTimeout(() => done({ commands: this.session.commands }), Number(options.get('delay') ?? 0));
      case 'xcsh.providers':
        return done({ providers: this.session.providers, authFile: '/home/you/.xcsh/agent/auth.json' });
      case 'xcsh.engines':
        return done({ engines: this.session.engines, current: 'own' });
      case 'xcsh.state':
        return done(this.session.state());
      case 'xcsh.answer':
        this.session.emit({ type: 'question_gone', id: String(args['id']) });
        return done({});
      case 'xcsh.stats':
        return done({ contextUsage: this.session.context });
      case 'xcsh.abort':
        this.session.emit({ type: 'agent_end', stopReason: 'aborted' });
        return done({ aborted: true, unanswered: this.queued.splice(0) });
      case 'xcsh.branch':
        this.session.changed('tree');
        return done({ session: this.session.state() });
      case 'xcsh.changes':
        return done(this.changes.changes(args));
      case 'xcsh.keep':
        return done(this.changes.keep(args));
      case 'xcsh.rewind': {
        const reply = this.changes.rewind(args);
        return reply.error ? this.post({ kind: 'answer', id, error: reply.error }) : done(reply);
      }
      case 'xcsh.editQueued': {
        const at = Number(args['index']);
        if (this.queued[at] !== args['text'])
          return this.post({ kind: 'answer', id, error: { message: 'It is not queued any more.', kind: 'stale' } });
        this.queued.splice(at, 1, ...(args['words'] ? [String(args['words'])] : []));
        this.session.emit({ type: 'queue_changed', steering: [...this.queued], followUp: [] });
        return done({ queued: this.queued.length });
      }
      case 'xcsh.prompt':
        if (String(args['text']).startsWith('/stats'))
          return done({ command: 'stats', answer: '| Messages | Tokens |\n|---|---|\n| 12 | **3,400** |' });
        if (args['streamingBehavior']) {
          this.queued.push(String(args['text']));
          this.session.emit({ type: 'queue_changed', steering: [...this.queued], followUp: [] });
          return done({ queued: true });
        }
        if (this.heldPrompts) return void this.waiting.push(() => this.prompt(done, String(args['text'])));
        return this.prompt(done, String(args['text']));
      default:
        return done({});
    }
  }

  private prompt(done: (result: unknown) => void, said: string): void {
    const s = this.session;
    s.emit({ type: 'agent_start' });
    for (const e of saying(user(said))) s.emit(e);
    s.emit({ type: 'turn_start' });
    for (const e of answering(answer([text(`You said: **${said}**`)]))) s.emit(e);
    s.emit({ type: 'agent_end', stopReason: 'stop' });
    done({ stopReason: 'stop' });
  }
}

const harness = new Harness();
setTheme(options.get('theme') ?? 'dark');
then = scenes[options.get('scene') ?? 'conversation']?.(harness.session, harness.changes);
if (options.get('scene') === 'branches') {
  const at = harness.session.messages[0]!;
  harness.forks.push({
    id: 'other',
    parentId: at.parentId,
    type: 'message',
    role: 'user',
    preview: '',
    timestamp: 'e0000000',
  });
}

let kept: unknown = JSON.parse(sessionStorage.getItem('kept') ?? 'null');
Object.assign(window, {
  harness,
  acquireVsCodeApi: () => ({
    postMessage: (m: unknown) => harness.receive(structuredClone(m)),
    getState: () => kept,
    setState: (s: unknown) => {
      kept = s;
      sessionStorage.setItem('kept', JSON.stringify(s));
    },
  }),
});
