import type { ApproveAnswer, ApproveParams } from '../wire.gen';
import type { Decision } from './messages';

/** The subset of a cancellation token that is used here. */
interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): void };
}

/** Asks about requests of one folder instead of the desk. */
export interface Reviewer {
  readonly cwd: string;
  /** Reports whether requests are its own now. */
  claims(): boolean;
  /**
   * Shows a request. Resolves to undefined when the desk should ask too. Until the request is settled, the
   * reviewer can answer it with {@link Approvals.decide}.
   */
  review(params: ApproveParams): Promise<ApproveAnswer | undefined>;
}

/** Shows questions to the user. */
export interface Desk {
  /** Shows the question in the panel; false if the panel is hidden or shows another folder. */
  show(params: ApproveParams): boolean;
  /** Shows it outside the panel. Resolves to undefined if the user closes it without an answer. */
  notify(params: ApproveParams): PromiseLike<Decision | undefined>;
  /** Reports the number of pending requests that the desk asks about. */
  waiting(count: number): void;
}

/** Called when a request has been answered; `deny` if it was withdrawn. */
type Settled = (cwd: string, id: string, decision: Decision) => void;

interface Waiting {
  readonly params: ApproveParams;
  readonly settle: (answer: ApproveAnswer) => void;
  /** The desk asks about it. */
  onDesk: boolean;
  /** It was shown outside the panel. */
  notified: boolean;
}

/**
 * Routes each permission request to one place: to the reviewer of a request in the text, to the
 * panel, or to a notification. The first answer counts; a notification that is
 * closed leaves the question in the panel.
 */
export class Approvals {
  readonly #waiting = new Map<string, Waiting>();
  readonly #reviewers: Reviewer[] = [];
  readonly #listeners = new Set<Settled>();

  constructor(private readonly desk: Desk) {}

  /** Asks the user about a request. Settles when it is decided or the server withdraws it. */
  ask(params: ApproveParams, token: Token): Promise<ApproveAnswer> {
    return new Promise((resolve) => {
      const key = keyOf(params.cwd, params.id);
      const settle = (answer: ApproveAnswer): void => {
        if (this.#waiting.get(key)?.settle !== settle) {
          return;
        }
        this.#waiting.delete(key);
        cancelled.dispose();
        this.#count();
        resolve(answer);
        this.#listeners.forEach((listener) => listener(params.cwd, params.id, answer.decision));
      };
      // It was answered elsewhere, so this answer does not matter.
      const cancelled = token.onCancellationRequested(() => settle({ decision: 'deny' }));
      const waiting = { params, settle, onDesk: false, notified: false };
      this.#waiting.set(key, waiting);
      this.#present(waiting);
    });
  }

  #present(waiting: Waiting): void {
    const { params, settle } = waiting;
    const reviewer = this.#reviewerOf(params.cwd);
    if (!reviewer) {
      return this.#toDesk(waiting);
    }
    reviewer.review(params).then(
      (answer) => (answer ? settle(answer) : this.#toDesk(waiting)),
      () => settle({ decision: 'deny' }),
    );
  }

  #toDesk(waiting: Waiting): void {
    const { params } = waiting;
    if (this.#waiting.get(keyOf(params.cwd, params.id)) !== waiting || waiting.onDesk) {
      return;
    }
    waiting.onDesk = true;
    this.#count();
    if (!this.desk.show(params)) {
      this.#notify(waiting);
    }
  }

  #notify(waiting: Waiting): void {
    const { params, settle } = waiting;
    waiting.notified = true;
    void this.desk.notify(params).then((decision) => decision && settle({ decision }));
  }

  /** Handles that the panel no longer shows a folder: its questions, which only the panel showed, are shown outside of it. */
  hidden(cwd: string): void {
    for (const waiting of this.#waiting.values()) {
      if (waiting.onDesk && !waiting.notified && waiting.params.cwd === cwd) {
        this.#notify(waiting);
      }
    }
  }

  #reviewerOf(cwd: string): Reviewer | undefined {
    return this.#reviewers.findLast((reviewer) => reviewer.cwd === cwd && reviewer.claims());
  }

  #count(): void {
    this.desk.waiting([...this.#waiting.values()].filter((w) => w.onDesk).length);
  }

  /** Answers a request; false if no request with this id is pending. A reason goes to the model with a denial. */
  decide(cwd: string, id: string, decision: Decision, reason?: string): boolean {
    const waiting = this.#waiting.get(keyOf(cwd, id));
    waiting?.settle({ decision, ...(reason === undefined ? {} : { reason }) });
    return waiting !== undefined;
  }

  /** Returns the pending requests of a folder that the desk asks about, for a new panel. */
  of(cwd: string): ApproveParams[] {
    return [...this.#waiting.values()].filter((w) => w.onDesk && w.params.cwd === cwd).map((w) => w.params);
  }

  /** Reports whether the turn of a folder is that of a reviewer, which shows its result. */
  reviews(cwd: string): boolean {
    return this.#reviewerOf(cwd) !== undefined;
  }

  /** Returns a pending request. */
  find(cwd: string, id: string): ApproveParams | undefined {
    return this.#waiting.get(keyOf(cwd, id))?.params;
  }

  /** Reports whether a request is with a reviewer, so that the panel must not ask too. */
  isElsewhere(cwd: string, id: string): boolean {
    const waiting = this.#waiting.get(keyOf(cwd, id));
    return waiting ? !waiting.onDesk : this.#reviewerOf(cwd) !== undefined;
  }

  /** Registers a reviewer; the newest one that claims a request gets it. The returned function removes it. */
  review(reviewer: Reviewer): () => void {
    this.#reviewers.push(reviewer);
    return () => {
      this.#reviewers.splice(0, Infinity, ...this.#reviewers.filter((other) => other !== reviewer));
    };
  }

  /** Calls the listener when a request has been answered anywhere or withdrawn. */
  onSettled(listener: Settled): { dispose(): void } {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  /** Withdraws all requests, for example after the server ended. */
  clear(): void {
    for (const { settle } of [...this.#waiting.values()]) {
      settle({ decision: 'deny' });
    }
  }
}

const keyOf = (cwd: string, id: string): string => `${cwd}\n${id}`;
