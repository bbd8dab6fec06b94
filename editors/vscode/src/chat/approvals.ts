import type { ApproveAnswer, ApproveParams } from '../wire.gen';
import type { Decision } from './messages';

/** The subset of a cancellation token that is used here. */
interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): { dispose(): void };
}

/** Takes over a request and answers it; undefined leaves it to the other reviewers. */
export type Reviewer = (params: ApproveParams, token: Token) => Promise<Decision> | undefined;

/** Shows questions to the user. */
export interface Desk {
  /** Shows the question in the panel; false if the panel is hidden or shows another folder. */
  show(params: ApproveParams): boolean;
  /** Shows it outside the panel. Resolves to undefined if the user closes it without an answer. */
  notify(params: ApproveParams): PromiseLike<Decision | undefined>;
  /** Reports the number of pending requests. */
  waiting(count: number): void;
}

interface Waiting {
  readonly params: ApproveParams;
  readonly settle: (decision: Decision, reason?: string) => void;
}

/**
 * Routes each permission request to one place: to the active reviewer of changes, to the
 * panel, or to a notification. The first answer counts; a notification that is
 * closed leaves the question in the panel.
 */
export class Approvals {
  readonly #waiting = new Map<string, Waiting>();
  readonly #reviewers: Reviewer[] = [];

  constructor(private readonly desk: Desk) {}

  /** Asks the user about a request. Settles when it is decided or the server withdraws it. */
  ask(params: ApproveParams, token: Token): Promise<ApproveAnswer> {
    return new Promise((resolve) => {
      const key = keyOf(params.cwd, params.id);
      const settle = (decision: Decision, reason = ''): void => {
        if (this.#waiting.get(key)?.settle !== settle) {
          return;
        }
        this.#waiting.delete(key);
        cancelled.dispose();
        this.desk.waiting(this.#waiting.size);
        resolve(reason ? { decision, reason } : { decision });
      };
      // It was answered elsewhere, so this answer does not matter.
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
        void review.then(
          (decision) => settle(decision),
          () => settle('deny'),
        );
        return;
      }
    }
    if (!this.desk.show(params)) {
      void this.desk.notify(params).then((decision) => decision && settle(decision));
    }
  }

  /** Answers a request; false if no request with this id is pending. A reason goes to the model with a denial. */
  decide(cwd: string, id: string, decision: Decision, reason = ''): boolean {
    const waiting = this.#waiting.get(keyOf(cwd, id));
    waiting?.settle(decision, reason);
    return waiting !== undefined;
  }

  /** Returns the pending requests of a folder, for a new panel. */
  of(cwd: string): ApproveParams[] {
    return [...this.#waiting.values()].map((w) => w.params).filter((p) => p.cwd === cwd);
  }

  /** Whether a reviewer is active: a turn was started for a change, which is shown elsewhere. */
  get reviewing(): boolean {
    return this.#reviewers.length > 0;
  }

  /** Registers a reviewer, newest first. The returned function removes it. */
  review(reviewer: Reviewer): () => void {
    this.#reviewers.push(reviewer);
    return () => {
      this.#reviewers.splice(this.#reviewers.indexOf(reviewer), 1);
    };
  }
}

const keyOf = (cwd: string, id: string): string => `${cwd}\n${id}`;
