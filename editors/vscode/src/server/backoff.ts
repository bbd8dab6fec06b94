/** The decision after the server exited unexpectedly. */
export type Verdict = { readonly restart: true; readonly delayMs: number } | { readonly restart: false };

/** The number of exits within a period that count as a crash loop. */
export const maxCrashes = 5;
export const crashWindowMs = 3 * 60 * 1000;

const firstDelayMs = 250;
const maxDelayMs = 10_000;

/**
 * Decides about restarts: each delay is longer than the previous one, and after the fifth exit in
 * three minutes the server stays stopped until the user restarts it. Times are in milliseconds.
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

  /** Clears the record of earlier exits, because the user requested a start. */
  forget(): void {
    this.#crashes = [];
  }
}
