import { patched } from '../patch';
import { hunksOf, withHunks, type Hunk } from './hunks';
import { relaxed } from './relaxed';

/** The user's decision about a hunk. */
export type Verdict = 'keep' | 'undo';

/** What follows from the decisions about all hunks. */
export type Outcome =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny' }
  /**
   * The file gets another text than the proposed one. If the answer can't contain it, the editor applies the hunks
   * itself, and the call is denied with the reason.
   */
  | { readonly kind: 'revise'; readonly text: string; readonly hunks: readonly Hunk[]; readonly reason: string };

/** The longest reason, in characters. */
const maxReason = 4000;

/**
 * A change that the model requested and that has not been made. The user decides about each of its hunks.
 * Nothing is applied until all are decided, because the server makes or denies the change as a whole.
 */
export class Proposal {
  /** The text to which the server can apply the change; undefined if it was edited before the server asked. */
  readonly #asked: string | undefined;
  #hunks: readonly Hunk[] = [];
  #verdicts = new Map<number, Verdict>();
  #fits = true;

  constructor(
    private readonly patch: string,
    text: string,
  ) {
    this.#asked = patched(text, patch) === undefined ? undefined : text;
    this.update(text);
  }

  /** The hunks, at their positions in the current text. */
  get hunks(): readonly Hunk[] {
    return this.#hunks;
  }

  /** False if the file was changed so that the change can't be applied to it. */
  get fits(): boolean {
    return this.#fits;
  }

  verdict(index: number): Verdict | undefined {
    return this.#verdicts.get(index);
  }

  /** Follows a change of the file. */
  update(text: string): void {
    const then = patched(text, this.patch) ?? relaxed(text, this.patch);
    this.#fits = then !== undefined;
    if (then === undefined) {
      return; // the last hunks stay visible
    }
    const hunks = hunksOf(text, then);
    if (hunks.map((h) => h.diff).join('\n\n') !== this.#hunks.map((h) => h.diff).join('\n\n')) {
      this.#verdicts.clear(); // the decisions were about other hunks
    }
    this.#hunks = hunks;
  }

  /** Decides about a hunk. A change that doesn't fit can only be rejected as a whole. */
  decide(index: number, verdict: Verdict): void {
    if (this.#fits && this.#hunks[index] && !this.#verdicts.has(index)) {
      this.#verdicts.set(index, verdict);
    }
  }

  /** Decides about all hunks that are undecided. */
  decideAll(verdict: Verdict): void {
    if (!this.#fits) {
      this.#verdicts.clear();
      if (verdict === 'undo') {
        this.#hunks.forEach((_, i) => this.#verdicts.set(i, 'undo'));
      }
      return;
    }
    this.#hunks.forEach((_, i) => this.decide(i, verdict));
  }

  /** Returns what follows, once all hunks are decided; text is the current text of the file. */
  outcome(text: string): Outcome | undefined {
    if (this.#verdicts.size < this.#hunks.length) {
      return undefined;
    }
    const kept = this.#hunks.filter((_, i) => this.#verdicts.get(i) === 'keep');
    if (!this.#fits || (kept.length === 0 && this.#hunks.length > 0)) {
      return { kind: 'deny' };
    }
    if (kept.length === this.#hunks.length && text === this.#asked) {
      return { kind: 'allow' }; // the server makes it
    }
    return { kind: 'revise', text: withHunks(text, kept), hunks: kept, reason: this.#reason(kept) };
  }

  #reason(kept: readonly Hunk[]): string {
    const rejected = this.#hunks.length - kept.length;
    const rest =
      rejected > 0
        ? `The user kept ${kept.length} of the ${this.#hunks.length} parts of this change. They are in the file now. The others are rejected; do not propose them again.`
        : 'The file was changed meanwhile, so the editor made this change itself. It is in the file now; do not repeat it.';
    const diff = kept.map((h) => `line ${h.line + 1}:\n${h.diff}`).join('\n');
    return `${rest} Made:\n${diff}`.slice(0, maxReason);
  }
}
