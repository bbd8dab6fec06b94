import type { ApproveAnswer, ApproveParams } from '../wire.gen';
import type { Decision } from './messages';

/** The part of a cancellation token that is needed here. */
interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): void };
}

/** Takes a request for itself, and answers it; undefined leaves it to the others. */
export type Reviewer = (params: ApproveParams, token: Token) => Promise<Decision> | undefined;

/** Where questions are shown. */
export interface Desk {
  /** Shows it in the panel; false when that is not on the screen, or shows another folder. */
  show(params: ApproveParams): boolean;
  /** Shows it beside the panel. Undefined: the person closed it without a word. */
  notify(params: ApproveParams): PromiseLike<Decision | undefined>;
  /** How many wait. */
  waiting(count: number): void;
}

interface Waiting {
  readonly params: ApproveParams;
  readonly settle: (decision: Decision) => void;
}

/**
 * Brings each request for permission to one place: to whoever reviews changes now, to the
 * panel, or to a notification. Whoever answers first is heard; a notification that is
 * closed leaves the question in the panel.
 */
export class Approvals {
  readonly #waiting = new Map<string, Waiting>();
  readonly #reviewers: Reviewer[] = [];

  constructor(private readonly desk: Desk) {}

  /** Asks about a request. It settles when somebody decided, or when the server does not ask any more. */
  ask(params: ApproveParams, token: Token): Promise<ApproveAnswer> {
    return new Promise((resolve) => {
      const key = keyOf(params.cwd, params.id);
      const settle = (decision: Decision): void => {
        if (this.#waiting.get(key)?.settle !== settle) {
          return;
        }
        this.#waiting.delete(key);
        cancelled.dispose();
        this.desk.waiting(this.#waiting.size);
        resolve({ decision });
      };
      // It was answered elsewhere: what is said now does not matter.
      const cancelled = token.onCancellationRequested(() => settle('deny'));
      this.#waiting.set(key, { params, settle });
      this.desk.waiting(this.#waiting.size);
      this.#present(params, settle, token);
    });
  }

  #present(params: ApproveParams, settle: (d: Decision) => void, token: Token): void {
    for (const reviewer of [...this.#reviewers].reverse()) {
      const review = reviewer(params, token);
      if (review) {
        void review.then(settle, () => settle('deny'));
        return;
      }
    }
    if (!this.desk.show(params)) {
      void this.desk.notify(params).then((decision) => decision && settle(decision));
    }
  }

  /** Answers a request; false when none with this id waits. */
  decide(cwd: string, id: string, decision: Decision): boolean {
    const waiting = this.#waiting.get(keyOf(cwd, id));
    waiting?.settle(decision);
    return waiting !== undefined;
  }

  /** The requests of a folder that wait, for a panel that just came. */
  of(cwd: string): ApproveParams[] {
    return [...this.#waiting.values()].map((w) => w.params).filter((p) => p.cwd === cwd);
  }

  /** Lets somebody take requests, the newest first, until the returned function is called. */
  review(reviewer: Reviewer): () => void {
    this.#reviewers.push(reviewer);
    return () => {
      this.#reviewers.splice(this.#reviewers.indexOf(reviewer), 1);
    };
  }
}

const keyOf = (cwd: string, id: string): string => `${cwd}\n${id}`;
