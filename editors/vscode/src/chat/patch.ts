import { applyPatch, parsePatch, reversePatch, type StructuredPatch } from 'diff';

/** The two sides of a change. `whole` is false if only the changed parts are known. */
export interface Sides {
  readonly before: string;
  readonly after: string;
  readonly whole: boolean;
}

function parsed(patch: string): StructuredPatch | undefined {
  try {
    return parsePatch(patch).find((p) => p.hunks.length > 0);
  } catch {
    return undefined;
  }
}

/** Returns the text with a change applied; undefined if the change does not apply to it. */
export function patched(text: string, patch: string): string | undefined {
  const change = parsed(patch);
  const out = change && applyPatch(text, change, { fuzzFactor: 0, autoConvertLineEndings: true });
  return out === false ? undefined : out;
}

/** Returns both sides of a change to a file with this text, whether or not it has been applied. */
export function sidesOf(text: string | undefined, patch: string): Sides | undefined {
  const change = parsed(patch);
  if (!change) {
    return undefined;
  }
  if (text !== undefined) {
    const after = patched(text, patch);
    if (after !== undefined) {
      return { before: text, after, whole: true };
    }
    const before = applyPatch(text, reversePatch(change), { fuzzFactor: 0, autoConvertLineEndings: true });
    if (before !== false) {
      return { before, after: text, whole: true };
    }
  }
  return partsOf(change);
}

/** Returns the lines of a change, for each side. */
function partsOf(change: StructuredPatch): Sides {
  const side = (other: string): string =>
    change.hunks
      .map((h) =>
        h.lines
          .filter((l) => !l.startsWith(other) && !l.startsWith('\\'))
          .map((l) => l.slice(1))
          .join('\n'),
      )
      .join('\n\n⋯\n\n') + '\n';
  return { before: side('+'), after: side('-'), whole: false };
}
