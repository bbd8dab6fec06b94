/** What to do after the server ended by itself. */
export type Verdict = { readonly restart: true; readonly delayMs: number } | { readonly restart: false };

/** How many ends within how long are a loop. */
export const maxCrashes = 5;
export const crashWindowMs = 3 * 60 * 1000;

const firstDelayMs = 250;
const maxDelayMs = 10_000;

/**
 * Decides about restarts: each waits longer than the one before, and after the fifth end
 * in three minutes there is none until a person asks for it. Times are in milliseconds.
 */
export class Backoff {
  #crashes: number[] = [];

  crashed(now: number): Verdict {
    this.#crashes = [...this.#crashes.filter((at) => now - at < crashWindowMs), now];
    const n = this.#crashes.length;
    if (n >= maxCrashes) {
      return { restart: false };
    }
    return { restart: true, delayMs: Math.min(firstDelayMs * 4 ** (n - 1), maxDelayMs) };
  }

  /** A person asked for a start: what was before does not count any more. */
  forget(): void {
    this.#crashes = [];
  }
}
