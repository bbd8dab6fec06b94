// A session played by a script: it keeps the same state as the server, numbers its notifications,
// and returns snapshots at any time.

import type { AgentEvent } from './script';
import type { TreeEntry } from './tree';

type Json = { [key: string]: unknown };

const noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 };

export interface Told {
  of: 'event' | 'session';
  params: Json;
}

export class PlayedSession {
  seq = 0;
  readonly messages: { entryId: string; message: Json; parentId: string | null }[] = [];
  private entries = 0;
  private rewrites = 0;
  searched = 5000; // messages in one call of a search
  private partial: (Json & { content: Json[] }) | null = null;
  private tools: Json[] = [];
  private queues = { steering: [] as string[], followUp: [] as string[] };
  private approvals: unknown[] = [];
  private todos: unknown;
  private retry: Json | null = null;
  private streaming = false;
  private compacting = false;
  ready: Json = { ok: true };
  providers: Json[] = [];
  engines: Json[] = [];
  model: Json | null = { provider: 'anthropic', id: 'claude-sonnet-5' };
  thinkingLevel = 'medium';
  approvalMode = 'ask';
  engine: Json = { name: 'own', state: 'ready', can: {} };
  commands: Json[] = [
    { name: 'compact', description: 'Compact the conversation', argumentHint: '[instructions]', source: 'xcsh' },
    { name: 'stats', description: 'Show the statistics of the session', source: 'xcsh' },
  ];
  private questions: Json[] = [];
  title = 'Fix the parser';
  usage = { ...noUsage };
  context: Json = { tokens: 31_200, contextWindow: 200_000, percent: 15.6 };

  constructor(
    readonly sessionId: string,
    readonly cwd: string,
    private readonly tell: (t: Told) => void,
  ) {}

  /** Adds a message to the session before the page is opened. */
  record(message: Json): string {
    const entryId = 'e' + String(++this.entries).padStart(7, '0');
    this.messages.push({ entryId, message, parentId: this.messages.at(-1)?.entryId ?? null });
    return entryId;
  }

  /** Sends an event. A message that ends without an entry gets one. */
  emit(event: AgentEvent): void {
    const e: Json = { ...event };
    if (e['type'] === 'message_end' && !e['entryId']) e['entryId'] = this.record(e['message'] as Json);
    this.follow(e);
    this.tell({ of: 'event', params: { cwd: this.cwd, sessionId: this.sessionId, seq: ++this.seq, event: e } });
  }

  changed(reason: string): void {
    this.tell({ of: 'session', params: { cwd: this.cwd, sessionId: this.sessionId, seq: ++this.seq, reason } });
  }

  private follow(e: Json): void {
    switch (e['type']) {
      case 'agent_start':
        this.streaming = true;
        break;
      case 'agent_end':
        [this.streaming, this.partial, this.tools, this.retry] = [false, null, [], null];
        this.queues = { steering: [], followUp: [] };
        break;
      case 'message_start':
        if ((e['message'] as Json)['role'] !== 'assistant') break;
        this.partial = { ...(e['message'] as Json), content: [] };
        break;
      case 'turn_start':
        if (this.retry) this.retry = { ...this.retry, delayMs: 0 };
        break;
      case 'message_update':
        this.retry = null;
        this.extend(e['assistantMessageEvent'] as Json);
        break;
      case 'message_end':
        this.partial = null;
        break;
      case 'tool_execution_start':
        this.tools.push({ toolCallId: e['toolCallId'], toolName: e['toolName'], args: e['args'] });
        break;
      case 'tool_execution_update':
      case 'tool_execution_end':
        for (const t of this.tools)
          if (t['toolCallId'] === e['toolCallId']) {
            t['partialResult'] = e['partialResult'] ?? e['result'];
            if (e['type'] === 'tool_execution_end') Object.assign(t, { ended: true, isError: e['isError'] === true });
          }
        break;
      case 'auto_retry_start': {
        const { type: _, ...retry } = e;
        this.retry = retry;
        break;
      }
      case 'auto_retry_end':
        this.retry = null;
        break;
      case 'approval_mode_changed':
        this.approvalMode = e['mode'] as string;
        break;
      case 'turn_end':
        this.tools = [];
        break;
      case 'approvals_changed':
        this.approvals = e['approvals'] as unknown[];
        break;
      case 'queue_changed':
        this.queues = { steering: (e['steering'] as string[]) ?? [], followUp: (e['followUp'] as string[]) ?? [] };
        break;
      case 'engine_changed':
        this.engine = {
          ...this.engine,
          name: e['engine'],
          version: e['version'],
          state: e['state'],
          message: e['message'],
        };
        break;
      case 'question_asked':
        this.questions.push(e);
        break;
      case 'question_gone':
        this.questions = this.questions.filter((q) => q['id'] !== e['id']);
        break;
      case 'auto_compaction_start':
      case 'auto_compaction_end':
        this.compacting = e['type'] === 'auto_compaction_start';
        break;
    }
    const m = e['message'] as Json | undefined;
    if (e['type'] === 'message_end' && m?.['toolName'] === 'todo_write') this.todos = (m['details'] as Json)['phases'];
  }

  private extend(u: Json): void {
    if (!this.partial) return;
    const at = u['contentIndex'] as number;
    while (this.partial.content.length <= at) this.partial.content.push({ type: '' });
    const b = this.partial.content[at]!;
    if (u['type'] === 'text_delta')
      this.partial.content[at] = { type: 'text', text: String(b['text'] ?? '') + String(u['delta']) };
    else if (u['type'] === 'thinking_delta')
      this.partial.content[at] = { type: 'thinking', thinking: String(b['thinking'] ?? '') + String(u['delta']) };
    else if (u['type'] === 'toolcall_start')
      this.partial.content[at] = { type: 'toolCall', id: u['toolCallId'], name: u['toolName'] };
    else if (u['block']) this.partial.content[at] = u['block'] as Json;
  }

  state(): Json {
    return {
      cwd: this.cwd,
      sessionId: this.sessionId,
      file: '/home/you/.xcsh/agent/sessions/s.jsonl',
      title: this.title,
      leafId: this.messages.at(-1)?.entryId ?? null,
      persistent: true,
      messageCount: this.messages.length,
      isStreaming: this.streaming,
      isCompacting: this.compacting,
      model: this.model,
      ready: this.ready,
      models: {},
      thinkingLevel: this.thinkingLevel,
      mode: 'none',
      approvalMode: this.approvalMode,
      queued: { steering: 0, followUp: 0 },
      usage: this.usage,
      origin: 'xcsh',
      engine: this.engine,
    };
  }

  /** Returns the messages from one position to another, and what is beyond them. */
  private range(from: number, to: number, end = this.messages.length): Json {
    return structuredClone({
      messages: this.messages.slice(from, to).map(({ entryId, message }) => ({ entryId, message })),
      ...(from > 0 ? { older: { cursor: `${this.rewrites} ${from} older ${end}`, count: from } } : {}),
      ...(to < end ? { newer: { cursor: `${this.rewrites} ${to} newer ${end}`, count: end - to } } : {}),
      total: this.messages.length,
    });
  }

  /** Answers xcsh.messages like the server; undefined if there is no such entry, null if the cursor is stale. */
  page(args: Json): Json | undefined | null {
    const limit = Number(args['limit'] ?? 100);
    const all = this.messages.length;
    if (typeof args['query'] === 'string') return this.hits(args['query'], limit, args['cursor']);
    if (typeof args['cursor'] === 'string') {
      const [version, at, to, end] = args['cursor'].split(' ');
      if (Number(version) !== this.rewrites) return null;
      return to === 'older'
        ? this.range(Math.max(0, Number(at) - limit), Number(at), Number(end))
        : this.range(Number(at), Math.min(Number(end), Number(at) + limit), Number(end));
    }
    const id = args['before'] ?? args['after'] ?? args['around'];
    const at = id === undefined ? all : this.messages.findIndex((m) => m.entryId === id);
    if (at < 0) return undefined;
    if (args['after'] !== undefined) return this.range(at + 1, Math.min(all, at + 1 + limit));
    const to = args['around'] === undefined ? at : Math.min(all, at + Math.ceil(limit / 2));
    return this.range(Math.max(0, to - limit), to);
  }

  private hits(query: string, limit: number, cursor: unknown): Json | null {
    const [version, at] = typeof cursor === 'string' ? cursor.split(' ') : [this.rewrites, this.messages.length];
    if (Number(version) !== this.rewrites) return null;
    const hits: Json[] = [];
    // The server searches a limited number of bytes in a call.
    const last = Math.max(0, Number(at) - this.searched);
    let index = Number(at) - 1;
    for (; index >= last && hits.length < limit; index--) {
      const { entryId, message } = this.messages[index]!;
      const text = JSON.stringify(message);
      const found = text.toLowerCase().indexOf(query.toLowerCase());
      if (found >= 0) hits.push({ entryId, role: message['role'], excerpt: text.slice(found, found + 60), index });
    }
    const older = { cursor: `${this.rewrites} ${index + 1} older`, count: index + 1 };
    return { messages: [], hits, ...(index >= 0 ? { older } : {}) };
  }

  /** Makes all cursors stale. */
  rewrite(): void {
    this.rewrites++;
  }

  snapshot(last = this.messages.length): Json {
    const from = Math.max(0, this.messages.length - last);
    return structuredClone({
      state: this.state(),
      ...this.range(from, this.messages.length),
      ...(this.partial ? { partial: this.partial } : {}),
      tools: this.tools,
      retry: this.retry,
      queues: this.queues,
      approvals: this.approvals,
      questions: this.questions,
      todos: this.todos,
      contextUsage: this.context,
      seq: this.seq,
    });
  }

  tree(): { leafId: string | null; nodes: TreeEntry[] } {
    return {
      leafId: this.messages.at(-1)?.entryId ?? null,
      nodes: this.messages.map((m) => ({
        id: m.entryId,
        parentId: m.parentId,
        type: 'message',
        role: String(m.message['role']),
        preview: '',
        timestamp: m.entryId,
      })),
    };
  }
}
