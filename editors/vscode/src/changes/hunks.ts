// The parts of the review of changes that do not use the editor's API.

import type { ChangedFile, ChangedHunk, ChangesLimit, HunkRef, RewindPath, RewindResult } from '../wire.gen';

/** A change as quick diff passes it to commands. Lines count from 1; an end of 0 means that the side has no lines. */
export interface LineChange {
  readonly originalStartLineNumber: number;
  readonly originalEndLineNumber: number;
  readonly modifiedStartLineNumber: number;
  readonly modifiedEndLineNumber: number;
}

/** The files of the two groups: those with changes to review, and those whose changes were all kept. */
export function grouped(files: readonly ChangedFile[]): { review: ChangedFile[]; kept: ChangedFile[] } {
  return { review: files.filter((f) => f.pending > 0), kept: files.filter((f) => f.pending === 0 && f.kept > 0) };
}

/** The lines of a side as a range of positions between lines, so that an empty side has a position, too. */
const between = (start: number, end: number): [number, number] => (end === 0 ? [start, start] : [start - 1, end]);

/**
 * Returns the pending hunks of a change in the gutter. The editor and the server may disagree on where changes begin and end,
 * so these are all hunks that touch the change.
 */
export function hunksAt(hunks: readonly ChangedHunk[], change: LineChange): ChangedHunk[] {
  const [from, to] = between(change.modifiedStartLineNumber, change.modifiedEndLineNumber);
  return hunks.filter((h) => {
    const [start, end] = between(h.newStart, h.newLines === 0 ? 0 : h.newStart + h.newLines - 1);
    const overlap = Math.min(to, end) - Math.max(from, start);
    return h.state === 'pending' && (overlap > 0 || (overlap === 0 && (from === to || start === end)));
  });
}

export const referTo = (path: string, hunks: readonly ChangedHunk[]): HunkRef[] =>
  hunks.map(({ hunk }) => ({ path, hunk }));

/** The paths of a plan whose files would change. */
export const changing = (plan: RewindResult): RewindPath[] =>
  (plan.plan ?? []).filter(({ action }) => action !== 'none' && action !== 'conflict');

export const conflicts = (plan: RewindResult): RewindPath[] =>
  (plan.plan ?? []).filter(({ action }) => action === 'conflict');

/** The record whose earlier state is the planned one. Records are in the order of the session. */
export function oldestRecord(path: RewindPath): string | undefined {
  return path.action === 'merge' || path.action === 'conflict' ? undefined : path.by?.[0];
}

/** The messages about changes that could not be recorded, without duplicates. */
export function limitTexts(limits: readonly ChangesLimit[] | null | undefined): string[] {
  return [...new Set((limits ?? []).map(({ text }) => text).filter((text) => text !== ''))];
}

/**
 * Ignores an action while it is running and for a moment afterwards, so that a key that is pressed twice triggers it once.
 */
export class Once {
  readonly #running = new Set<string>();
  readonly #ended = new Map<string, number>();

  constructor(
    private readonly pauseMs: number,
    private readonly now: () => number = () => Date.now(),
  ) {}

  /** Runs an action, unless one with this name is running or has just ended. */
  async run(name: string, action: () => Promise<void>): Promise<void> {
    const ended = this.#ended.get(name);
    if (this.#running.has(name) || (ended !== undefined && this.now() - ended < this.pauseMs)) {
      return;
    }
    this.#running.add(name);
    try {
      await action();
    } finally {
      this.#running.delete(name);
      this.#ended.set(name, this.now());
    }
  }
}
