import type { NotificationMap, Problem, SessionState } from './wire.gen';

/** Sent when a session that was shown early is read whole. */
export interface LateState {
  readonly cwd: string;
  readonly sessionId: string;
  readonly state: SessionState;
  readonly repairs?: readonly Problem[] | null;
}

/** The server's notifications, with those that only clients with the option lateValues get. */
export type Notifications = Omit<NotificationMap, 'xcsh/sessionState'> & { 'xcsh/sessionState': LateState };

/** Returns the names of the values that are unknown because the session is still being read. */
export function pendingOf(value: object | null | undefined): readonly string[] {
  const { pending } = (value ?? {}) as { pending?: unknown };
  return Array.isArray(pending) ? pending.filter((name) => typeof name === 'string') : [];
}

interface Disposable {
  dispose(): unknown;
}

/** The parts of the host that report about sessions. */
export interface Reports {
  onNotification<M extends 'xcsh/sessionState' | 'xcsh/sessionChanged'>(
    method: M,
    listener: (params: Notifications[M]) => void,
  ): Disposable;
  onDidChangeStatus(listener: (status: { readonly kind: string }) => void): Disposable;
}

interface Waiting {
  readonly cwd: string;
  readonly sessionId: string;
  readonly done: (read: LateState | undefined) => void;
}

/** Waits until sessions that were shown early are read whole. */
export class LateStates implements Disposable {
  readonly #read = new Map<string, LateState>(); // the newest by folder
  readonly #waiting = new Set<Waiting>();
  readonly #subscriptions: Disposable[];

  constructor(reports: Reports) {
    this.#subscriptions = [
      reports.onNotification('xcsh/sessionState', (late) => {
        this.#read.set(late.cwd, late);
        this.#settle((w) => w.cwd === late.cwd && w.sessionId === late.sessionId, late);
      }),
      // The folder has another session, or still the previous one because this one could not be read.
      reports.onNotification('xcsh/sessionChanged', ({ cwd, sessionId, reason }) => {
        if (this.#read.get(cwd)?.sessionId !== sessionId) {
          this.#read.delete(cwd);
        }
        this.#settle((w) => w.cwd === cwd && (w.sessionId !== sessionId || reason === 'shutdown'));
      }),
      reports.onDidChangeStatus(({ kind }) => {
        if (kind !== 'running') {
          this.#read.clear();
          this.#settle(() => true);
        }
      }),
    ];
  }

  /** Resolves when the session is read whole, with undefined if the folder has another one instead. */
  whenRead(cwd: string, sessionId: string): Promise<LateState | undefined> {
    const read = this.#read.get(cwd);
    if (read?.sessionId === sessionId) {
      return Promise.resolve(read); // the notification came before the result
    }
    return new Promise((done) => this.#waiting.add({ cwd, sessionId, done }));
  }

  #settle(which: (w: Waiting) => boolean, read?: LateState): void {
    for (const w of [...this.#waiting].filter(which)) {
      this.#waiting.delete(w);
      w.done(read);
    }
  }

  dispose(): void {
    this.#settle(() => true);
    this.#subscriptions.forEach((s) => s.dispose());
  }
}
