// Which of the mentioned paths are files of the workspace, as the extension says. Paths are asked for in batches, once.

import { maxMentioned } from '../../src/chat/messages';

/** The number of paths that are remembered. */
const maxKnown = 5000;
/** The number of missing files that are looked for again. */
const maxAgain = 500;

export class Files {
  private known: ReadonlyMap<string, boolean> = new Map();
  private wanted = new Set<string>();
  private readonly watchers = new Set<() => void>();
  private times = 0; // incremented when the answers to earlier questions are void

  constructor(private readonly ask: (paths: string[]) => Promise<unknown>) {}

  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  getState = (): ReadonlyMap<string, boolean> => this.known;

  /** Asks whether a path is a file, unless that is known. */
  want(path: string): void {
    if (this.known.has(path) || this.wanted.has(path)) return;
    this.wanted.add(path);
    if (this.wanted.size === 1) queueMicrotask(() => void this.request());
  }

  private async request(): Promise<void> {
    const all = [...this.wanted];
    const { times } = this;
    for (let at = 0; at < all.length; at += maxMentioned) {
      const paths = all.slice(at, at + maxMentioned);
      const answer = await this.ask(paths).catch(() => undefined);
      if (times !== this.times) return;
      const found = new Map(this.known);
      paths.forEach((path, i) => {
        found.delete(path); // the newest are at the end
        found.set(path, Array.isArray(answer) && answer[i] === true);
        this.wanted.delete(path);
      });
      this.known = new Map([...found].slice(-maxKnown));
      for (const f of this.watchers) f();
    }
    if (this.wanted.size > 0) await this.request(); // wanted meanwhile
  }

  /** Looks again for the files that were missing: a turn can have made them. */
  again(): void {
    const missing = [...this.known].filter(([, is]) => !is).slice(-maxAgain);
    if (missing.length === 0) return;
    this.known = new Map([...this.known].filter(([, is]) => is));
    for (const [path] of missing) this.want(path);
  }

  /** Forgets everything, for another folder. */
  clear(): void {
    this.times++;
    this.known = new Map();
    this.wanted = new Set();
    for (const f of this.watchers) f();
  }
}
