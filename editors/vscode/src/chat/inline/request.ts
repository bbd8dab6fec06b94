import { toServerError } from '../../server/errors';
import type { SessionEvent } from '../../wire.gen';
import type { Hunk as MadeHunk } from '../applied';
import { doingAfter, type Doing } from './progress';
import type { Proposal, Verdict } from './proposal';

/** A change of the request's file that needs approval. */
export interface ChangeAsk {
  readonly kind: 'change';
  readonly id: string;
  readonly proposal: Proposal;
  /** The answer can contain another text of the file. */
  readonly isRevisable: boolean;
  readonly warnings: readonly string[];
}

/** Another tool call that needs approval: a command, or a change of another file. */
export interface CallAsk {
  readonly kind: 'call';
  readonly id: string;
  readonly title: string;
  readonly diff: string;
  readonly warnings: readonly string[];
}

export type Ask = ChangeAsk | CallAsk;

/** A change that was made without approval, because the mode allows it. */
export interface Made {
  readonly hunk: Readonly<MadeHunk>;
  /** The line at which it begins, from 0. */
  readonly line: number;
  readonly lines: number;
  readonly diff: string;
}

/** How a turn ended. */
export interface End {
  readonly answer?: string;
  readonly stopped?: boolean;
  readonly failure?: string;
  /** The failure, if there are ways to continue after it. */
  readonly error?: unknown;
}

export type Phase =
  | 'composing'
  /** Another turn is running in the folder. */
  | 'queued'
  | 'running'
  /** The turn has ended, and the user reviews changes that were made without approval. */
  | 'review'
  /** The turn has ended without a change, and the user reads why. */
  | 'ended'
  | 'done';

/** What a decision leads to. */
export type Effect =
  { readonly kind: 'answer'; readonly ask: ChangeAsk } | { readonly kind: 'revert'; readonly made: readonly Made[] };

/**
 * The state of one request in the text, from the first word to the last decision. It does not depend on
 * the editor.
 */
export class InlineRequest {
  #phase: Phase = 'composing';
  #wish = '';
  #doing: Doing = { kind: 'thinking' };
  #asks: Ask[] = [];
  #made: readonly Made[] = [];
  #end: End = {};
  /** A change was proposed, or made, in the current turn. */
  #changed = false;

  get phase(): Phase {
    return this.#phase;
  }

  get wish(): string {
    return this.#wish;
  }

  get doing(): Doing {
    return this.#doing;
  }

  get asks(): readonly Ask[] {
    return this.#asks;
  }

  get changes(): readonly ChangeAsk[] {
    return this.#asks.filter((ask) => ask.kind === 'change');
  }

  get made(): readonly Made[] {
    return this.#made;
  }

  get end(): End {
    return this.#end;
  }

  /** Begins a turn with a request of the user; false if one is running already, or there are no words. */
  send(wish: string): boolean {
    if (!wish.trim() || (this.#phase !== 'composing' && this.#phase !== 'ended')) {
      return false;
    }
    this.#wish = wish.trim();
    this.#phase = 'running';
    this.#doing = { kind: 'thinking' };
    this.#end = {};
    this.#changed = false;
    return true;
  }

  /** The request waits for another turn. */
  queue(): void {
    if (this.#phase === 'running') {
      this.#phase = 'queued';
    }
  }

  /** The request is sent after it waited. */
  resume(): void {
    if (this.#phase === 'queued') {
      this.#phase = 'running';
    }
  }

  /** Follows an event of the turn. Returns whether it changed what is shown. */
  follow(event: SessionEvent): boolean {
    const doing = this.#phase === 'running' ? doingAfter(event) : undefined;
    if (!doing || JSON.stringify(doing) === JSON.stringify(this.#doing)) {
      return false;
    }
    this.#doing = doing;
    return true;
  }

  ask(ask: Ask): void {
    this.#asks = [...this.#asks, ask];
    this.#changed ||= ask.kind === 'change';
  }

  /** An approval was answered, here or elsewhere, or withdrawn. */
  settled(id: string): void {
    this.#asks = this.#asks.filter((ask) => ask.id !== id);
  }

  /** Follows a change of the file. */
  update(text: string): void {
    for (const { proposal } of this.changes) {
      proposal.update(text);
    }
  }

  /** The changes that were made without approval, at their current positions. */
  setMade(made: readonly Made[]): void {
    this.#made = made;
    if (this.#phase === 'review' && made.length === 0) {
      this.#phase = 'done';
    }
  }

  /** The turn has ended. A turn with changes is done when all are decided; of another one, the answer is shown. */
  finish(end: End): void {
    if (this.#phase !== 'running' && this.#phase !== 'queued') {
      return;
    }
    this.#asks = [];
    this.#end = end;
    const unremarkable = this.#changed && end.failure === undefined && end.stopped !== true;
    this.#phase = this.#made.length > 0 ? 'review' : unremarkable ? 'done' : 'ended';
  }

  /** The user closes it. */
  close(): void {
    this.#phase = 'done';
    this.#asks = [];
    this.#made = [];
  }

  /** Decides about a hunk of a proposed change. */
  decideHunk(id: string, index: number, verdict: Verdict, text: string): Effect[] {
    const ask = this.changes.find((a) => a.id === id);
    ask?.proposal.decide(index, verdict);
    return ask?.proposal.outcome(text) ? [{ kind: 'answer', ask }] : [];
  }

  /** Decides about a change that was made. */
  decideMade(hunk: Readonly<MadeHunk>, verdict: Verdict): Effect[] {
    const made = this.#made.filter((m) => m.hunk === hunk);
    return made.length > 0 && verdict === 'undo' ? [{ kind: 'revert', made }] : [];
  }

  /** Decides about everything that is undecided. */
  decideAll(verdict: Verdict, text: string): Effect[] {
    if (this.#phase === 'review') {
      return verdict === 'undo' && this.#made.length > 0 ? [{ kind: 'revert', made: this.#made }] : [];
    }
    const answers: Effect[] = [];
    for (const ask of this.changes) {
      ask.proposal.decideAll(verdict);
      if (ask.proposal.outcome(text)) {
        answers.push({ kind: 'answer', ask });
      }
    }
    return answers;
  }
}

/** Returns the end of a turn whose request failed. */
export function endOf(problem: unknown): End {
  const error = toServerError(problem);
  return error.kind === 'cancelled' ? { stopped: true } : { failure: error.message, error };
}
