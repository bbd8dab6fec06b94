// The search in the conversation. The server searches, because the page has only some of the messages.

import { t } from './l10n';
import { Failure } from './state/store';
import type { Store } from './state/store';
import { hitsOf, pageEndOf, obj } from './state/wire';
import type { Hit } from './state/wire';

/** The state of the search. It is never modified in place. */
export interface Finding {
  open: boolean;
  opened: number; // incremented to move the focus to the field
  query: string; // of the hits
  hits: readonly Hit[]; // newest first
  at: number; // index of the shown hit
  more: string; // cursor of the messages that are not searched yet; "" if all are
  busy: boolean;
  error: string;
  found: string; // entry of the shown hit; "" is none
}

const closed: Finding = {
  open: false,
  opened: 0,
  query: '',
  hits: [],
  at: 0,
  more: '',
  busy: false,
  error: '',
  found: '',
};

const maxHits = 100; // of one request
const maxQuery = 1000; // UTF-16 units

export class Finder {
  private state = closed;
  private readonly watchers = new Set<() => void>();
  private run = 0; // incremented when earlier requests no longer matter
  private pending = 0; // number of the running call; 0 is none

  /** `show` draws the message with an entry and scrolls to it. It rejects with a Failure. */
  constructor(
    private readonly store: Store,
    private readonly show: (hit: Hit) => Promise<void>,
    private readonly speak: (text: string) => void,
  ) {}

  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  getState = (): Finding => this.state;

  private set(change: Partial<Finding>): void {
    this.state = { ...this.state, ...change };
    for (const f of this.watchers) f();
  }

  open(): void {
    this.set({ open: true, opened: this.state.opened + 1 });
  }

  close(): void {
    this.abandon();
    this.set({ ...closed, opened: this.state.opened });
  }

  /** Ends the running search, whose result would be another query's. */
  private abandon(): number {
    if (this.pending) this.store.send({ kind: 'cancel', id: this.pending });
    this.pending = 0;
    return ++this.run;
  }

  /** Searches from the newest message on, and shows the first hit. A repeated query shows the next one. */
  async search(text: string): Promise<void> {
    const query = text.slice(0, maxQuery);
    if (query === this.state.query && !this.state.error) return this.step(1);
    const run = this.abandon();
    this.set({ query, hits: [], at: 0, more: '', error: '', found: '', busy: query.trim() !== '' });
    if (query.trim() === '') return;
    await this.read(run, { query, limit: maxHits, history: true });
    if (run === this.run && !this.state.error) await this.showHit(run, 0);
  }

  /** Shows the next hit in a direction: 1 is towards older messages. After the last one, it begins again. */
  async step(by: 1 | -1): Promise<void> {
    const { hits, at, more, query, busy } = this.state;
    if (busy || query === '') return;
    const run = this.run;
    if (at + by >= hits.length && more) {
      this.set({ busy: true });
      await this.read(run, { query, limit: maxHits, history: true, cursor: more });
      if (run !== this.run || this.state.error) return;
    }
    const all = this.state.hits.length;
    await this.showHit(run, all === 0 ? 0 : (at + by + all) % all);
  }

  /** Reads hits until there are some: a call searches a limited number of bytes. */
  private async read(
    run: number,
    first: { query: string; limit: number; history: true; cursor?: string },
  ): Promise<void> {
    try {
      for (let args = first; ;) {
        this.pending = this.store.upcoming;
        const result = obj(await this.store.call('xcsh.messages', args));
        if (run !== this.run) return;
        const hits = hitsOf(result.hits);
        const more = pageEndOf(result.older)?.cursor ?? '';
        this.set({ hits: [...this.state.hits, ...hits], more });
        if (hits.length > 0 || !more || more === args.cursor) break;
        args = { ...first, cursor: more };
      }
      this.set({ busy: false });
    } catch (e) {
      if (run === this.run) this.failed(e);
    }
    if (run === this.run) this.pending = 0;
  }

  private failed(e: unknown): void {
    const stale = e instanceof Failure && e.kind === 'stale';
    const error = stale ? t('The session has changed. Search again.') : e instanceof Error ? e.message : String(e);
    this.set({ busy: false, error, hits: [], more: '', found: '' });
    this.speak(error);
  }

  private async showHit(run: number, at: number): Promise<void> {
    const hit = this.state.hits[at];
    if (!hit) {
      this.set({ busy: false });
      return this.speak(t('No results'));
    }
    this.set({ at, busy: true });
    try {
      await this.show(hit);
      if (run !== this.run) return;
      this.set({ busy: false, found: hit.entryId });
      this.speak(t('Result {0} of {1}: {2}', at + 1, countText(this.state), hit.excerpt));
    } catch (e) {
      if (run === this.run) this.failed(e);
    }
  }
}

/** The number of hits, with a plus sign if there can be more. */
export const countText = (f: Finding): string => `${f.hits.length}${f.more ? '+' : ''}`;
