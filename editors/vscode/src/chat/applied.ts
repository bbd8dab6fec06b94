import { diffArrays } from 'diff';

/** A replacement in a text, by offsets. */
export interface Replacement {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** A part of the document that the server changed. */
export interface Hunk {
  start: number;
  length: number;
  readonly old: string;
  /** The user changed something in it: it belongs to the user and is kept. */
  touched: boolean;
}

/**
 * Tracks the server's edits in a document separately from the user's, so that they can be shown and
 * undone at their current positions. It receives every change of the document in order and does not
 * depend on the editor.
 */
export class Applied {
  #text: string;
  #hunks: Hunk[] = [];
  readonly #coming: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Expects the server to insert these texts. Returns a function to call after the edit. */
  expect(texts: readonly string[]): () => void {
    const own = texts.map(plain);
    this.#coming.push(...own);
    return () => {
      for (const text of own) {
        this.#take(text);
      }
    };
  }

  #take(text: string): boolean {
    const at = this.#coming.indexOf(text);
    if (at >= 0) {
      this.#coming.splice(at, 1);
    }
    return at >= 0;
  }

  /** Handles a change of the document, as one event reports it. */
  changed(changes: readonly Replacement[]): void {
    // Offsets refer to the document before the event, so they are applied from the end to the
    // beginning.
    for (const change of [...changes].sort((a, b) => b.offset - a.offset)) {
      if (changes.length === 1 && this.#take(plain(change.text))) {
        this.#byServer(change);
      } else {
        this.#byUser(change);
      }
      this.#text = replaced(this.#text, change);
    }
  }

  #byUser(given: Replacement): void {
    const change = this.#behindLine(given);
    const [start, end] = [change.offset, change.offset + change.length];
    const grown = change.text.length - change.length;
    for (const hunk of this.#hunks) {
      const last = hunk.start + hunk.length;
      if (end <= hunk.start) {
        hunk.start += grown;
      } else if (start < last || (hunk.length === 0 && start < hunk.start)) {
        const first = Math.min(start, hunk.start);
        hunk.length = Math.max(last, end) + grown - first;
        hunk.start = first;
        hunk.touched = true;
      }
    }
  }

  /** A new line typed at the end of a changed line counts as a line after the change. */
  #behindLine(change: Replacement): Replacement {
    const eol = /^\r?\n/.exec(change.text)?.[0];
    if (change.length > 0 || eol === undefined || !this.#text.startsWith(eol, change.offset)) {
      return change;
    }
    const ends = this.#hunks.some((h) => h.length > 0 && h.start + h.length === change.offset + eol.length);
    return ends ? { ...change, offset: change.offset + eol.length } : change;
  }

  #byServer(change: Replacement): void {
    const old = this.#text.slice(change.offset, change.offset + change.length);
    for (const piece of pieces(old, change.text).reverse()) {
      this.#follow({ ...piece, offset: change.offset + piece.offset });
    }
  }

  /** Records one piece that the server changed, merged with earlier changes at that position. */
  #follow(piece: Replacement): void {
    let [start, end] = [piece.offset, piece.offset + piece.length];
    const overlaps = (h: Hunk): boolean => h.start < end && start < h.start + h.length;
    const within = this.#hunks.filter(
      (h) => overlaps(h) || (h.start + h.length === start && h.length > 0 && end > start),
    );
    for (const hunk of within) {
      start = Math.min(start, hunk.start);
      end = Math.max(end, hunk.start + hunk.length);
    }
    const grown = piece.text.length - piece.length;
    let base = this.#text.slice(start, end);
    for (const hunk of [...within].sort((a, b) => b.start - a.start)) {
      base = replaced(base, { offset: hunk.start - start, length: hunk.length, text: hunk.old });
    }
    this.#hunks = this.#hunks.filter((h) => !within.includes(h));
    for (const hunk of this.#hunks) {
      if (hunk.start >= end) {
        hunk.start += grown;
      }
    }
    this.#hunks.push({ start, length: end - start + grown, old: base, touched: within.some((h) => h.touched) });
  }

  /** The number of the server's changes that are unmodified, and of those that the user has modified. */
  get counts(): { whole: number; touched: number } {
    const touched = this.#hunks.filter((h) => h.touched).length;
    return { whole: this.#hunks.length - touched, touched };
  }

  /** The changes, in the order of their positions. Each stays the same object while it is tracked. */
  get hunks(): readonly Readonly<Hunk>[] {
    return [...this.#hunks].sort((a, b) => a.start - b.start);
  }

  /** Stops tracking a change, which then belongs to the user. */
  keep(hunk: Readonly<Hunk>): void {
    this.#hunks = this.#hunks.filter((other) => other !== hunk);
  }

  /** The current text of the document. */
  get text(): string {
    return this.#text;
  }

  /** Returns the replacements that undo the unmodified changes, from the end to the beginning. */
  undo(): Replacement[] {
    return this.#hunks
      .filter((h) => !h.touched)
      .sort((a, b) => b.start - a.start)
      .map((h) => ({ offset: h.start, length: h.length, text: h.old }));
  }

  /** The document without the unmodified changes. */
  get without(): string {
    return this.undo().reduce(replaced, this.#text);
  }
}

const plain = (text: string): string => text.replaceAll('\r\n', '\n');

/** Returns the text with a replacement. */
export function replaced(text: string, change: Replacement): string {
  return text.slice(0, change.offset) + change.text + text.slice(change.offset + change.length);
}

/** Returns the differing lines as replacements of the old text, in order. */
export function pieces(old: string, text: string): Replacement[] {
  const lines = (s: string): string[] => s.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const found: { offset: number; length: number; text: string }[] = [];
  let offset = 0;
  let open: (typeof found)[number] | undefined;
  for (const part of diffArrays(lines(old), lines(text))) {
    const said = part.value.join('');
    if (!part.added && !part.removed) {
      offset += said.length;
      open = undefined;
      continue;
    }
    if (!open) {
      open = { offset, length: 0, text: '' };
      found.push(open);
    }
    if (part.removed) {
      open.length += said.length;
      offset += said.length;
    } else {
      open.text += said;
    }
  }
  return found;
}
