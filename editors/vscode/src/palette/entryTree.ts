import type { CommandMap, MessageHit, MessagesResult, TreeNode } from '../wire.gen';
import { entryLines, oneLine } from './items';

/** The nodes or messages of one request. */
export const pageSize = 1000;
const pageMessages = 200;
const pageBytes = 1 << 20;
/** Requests for the first hits of a search. */
const maxSearches = 20;
/** Deeper entries are not indented further. */
const maxDepth = 12;

type Commands = 'xcsh.tree' | 'xcsh.messages';

/** Runs a command for the session. */
export type Read = <C extends Commands>(command: C, args: CommandMap[C]['args']) => Promise<CommandMap[C]['result']>;

/** The parts of the list of a large session. */
export type Section = 'found' | 'tree' | 'conversation';

/** One line of the list. */
export type EntryLine =
  | {
      readonly kind: 'entry' | 'run'; // a run opens in place
      readonly section: Section;
      readonly node: TreeNode;
      readonly depth: number;
      readonly elsewhere: boolean; // known to be on another branch
    }
  | { readonly kind: 'more'; readonly section: Section; readonly of: string };

/** A list of nodes that has more pages. */
interface Paged {
  nodes: TreeNode[];
  next?: string | undefined;
}

/**
 * The entries of a session that the user can go to. The tree of a small session is loaded at once. A
 * large one is folded: runs of entries without branches are loaded when the user opens them, and the
 * newest messages of the conversation are listed, too.
 */
export class EntryTree {
  #leafId: string | null = null;
  #tree: Paged = { nodes: [] };
  #large = false;
  readonly #opened = new Map<string, Paged>(); // the entries of a run, by its first one
  #conversation: Paged = { nodes: [] };
  #found: TreeNode[] = [];
  #query = '';

  constructor(private readonly read: Read) {}

  /** Reports whether only a part of the session is loaded. */
  get large(): boolean {
    return this.#large;
  }

  async load(): Promise<void> {
    const first = await this.read('xcsh.tree', { limit: pageSize });
    this.#leafId = first.leafId;
    this.#tree = { nodes: first.nodes ?? [] };
    this.#large = first.next !== undefined;
    if (!this.#large) {
      return;
    }
    const [runs] = await Promise.all([this.read('xcsh.tree', { fold: true, limit: pageSize }), this.#earlier()]);
    this.#tree = { nodes: runs.nodes ?? [], next: runs.next };
  }

  /** Loads the first entries of a run. */
  async open(run: string): Promise<void> {
    const head = this.#tree.nodes.find((node) => node.id === run);
    if (head && !this.#opened.has(run)) {
      const { count: _count, lastId: _last, ...entry } = head;
      const opened = { nodes: [entry] };
      await this.#entries(head, opened);
      this.#opened.set(run, opened);
    }
  }

  /** Loads more lines in the place of a "more" line. */
  async more(section: Section, of: string): Promise<void> {
    if (section === 'conversation') {
      return this.#earlier();
    }
    const opened = this.#opened.get(of);
    const head = this.#tree.nodes.find((node) => node.id === of);
    if (opened && head) {
      return this.#entries(head, opened);
    }
    const { next } = this.#tree;
    if (next !== undefined) {
      const page = await this.read('xcsh.tree', { fold: true, limit: pageSize, cursor: next });
      this.#tree = { nodes: [...this.#tree.nodes, ...(page.nodes ?? [])], next: page.next };
    }
  }

  /** Searches the conversation of a large session. An empty text ends the search. */
  async find(query: string): Promise<void> {
    this.#query = query;
    const found = query === '' ? [] : await this.#hits(query);
    if (query === this.#query) {
      this.#found = found.map(({ entryId, role, excerpt }) => message(entryId, role, excerpt));
    }
  }

  /** Returns the newest hits. One call searches a part of a large session. */
  async #hits(query: string): Promise<MessageHit[]> {
    let more: { cursor?: string } = {};
    for (let i = 0; i < maxSearches && query === this.#query; i++) {
      const page: MessagesResult = await this.read('xcsh.messages', { query, limit: pageMessages, ...more });
      if (page.hits?.length || !page.older) {
        return page.hits ?? [];
      }
      more = { cursor: page.older.cursor };
    }
    return [];
  }

  /** Adds the next entries of a run to those that are loaded. */
  async #entries(run: TreeNode, to: Paged): Promise<void> {
    const left = (run.count ?? 1) - to.nodes.length;
    if (left <= 0) {
      return;
    }
    const more = to.next === undefined ? {} : { cursor: to.next };
    const page = await this.read('xcsh.tree', { under: run.id, limit: Math.min(left, pageSize), ...more });
    // Entries can have been added below the run meanwhile; they are of the tree's later pages.
    to.nodes.push(...(page.nodes ?? []).slice(0, left));
    to.next = to.nodes.length < (run.count ?? 1) && page.nodes?.length ? page.next : undefined;
  }

  /** Loads the newest messages of the conversation, or those before the loaded ones. */
  async #earlier(): Promise<void> {
    const { nodes, next } = this.#conversation;
    const from = next === undefined ? {} : { cursor: next };
    const page = await this.read('xcsh.messages', { limit: pageMessages, maxBytes: pageBytes, ...from });
    const messages = (page.messages ?? []).map(({ entryId, message: { role, content } }) =>
      message(entryId, String(role), textOf(content)),
    );
    this.#conversation = { nodes: [...messages, ...nodes], next: page.older?.cursor };
  }

  /** Returns the lines to show: prompts and labeled entries, or everything. */
  lines(everything: boolean): EntryLine[] {
    if (!this.#large) {
      return entryLines(this.#tree.nodes, this.#leafId, everything).map(({ node, depth, current }) => ({
        kind: 'entry',
        section: 'tree',
        node,
        depth: Math.min(depth, maxDepth),
        elsewhere: !current,
      }));
    }
    const wanted = (node: TreeNode): boolean => everything || node.role === 'user' || node.label !== undefined;
    const entry = (section: Section, node: TreeNode, depth = 0): EntryLine => ({
      kind: 'entry',
      section,
      node,
      depth,
      elsewhere: false,
    });
    const { nodes, next } = this.#conversation;
    return [
      ...this.#found.map((node) => entry('found', node)),
      ...this.#runs().flatMap(({ run, depth }): EntryLine[] => {
        const opened = this.#opened.get(run.id);
        if (!opened) {
          const kind = (run.count ?? 1) > 1 ? 'run' : 'entry';
          return [{ kind, section: 'tree', node: run, depth, elsewhere: false }];
        }
        const shown = opened.nodes.filter(wanted).map((node) => entry('tree', node, depth));
        return opened.next === undefined ? shown : [...shown, { kind: 'more', section: 'tree', of: run.id }];
      }),
      ...(this.#tree.next === undefined ? [] : [{ kind: 'more', section: 'tree', of: '' } as const]),
      ...(next === undefined ? [] : [{ kind: 'more', section: 'conversation', of: '' } as const]),
      ...nodes.filter(wanted).map((node) => entry('conversation', node)),
    ];
  }

  /** Returns the loaded runs with the number of branches above them. */
  #runs(): { run: TreeNode; depth: number }[] {
    const depths = new Map<string, number>();
    return this.#tree.nodes.map((run) => {
      const above = run.parentId === null ? undefined : depths.get(run.parentId);
      const depth = Math.min(above === undefined ? 0 : above + 1, maxDepth);
      depths.set(run.id, depth);
      return { run, depth };
    });
  }
}

function message(id: string, role: string, text: string): TreeNode {
  return { id, parentId: null, type: 'message', role, preview: oneLine(text).slice(0, 200), timestamp: '' };
}

/** Returns the beginning of a message's text. */
function textOf(content: unknown): string {
  if (typeof content === 'string') {
    return content.slice(0, 1000);
  }
  const blocks = Array.isArray(content) ? (content as { type?: unknown; text?: unknown; name?: unknown }[]) : [];
  const texts = blocks.map(({ type, text, name }) => (type === 'text' ? text : type === 'toolCall' ? name : ''));
  return texts
    .filter((text): text is string => typeof text === 'string')
    .join(' ')
    .slice(0, 1000);
}
