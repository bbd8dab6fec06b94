import { parsePatch } from 'diff';

/** Consecutive changed lines of a patch, between the lines before and after them. */
interface Block {
  /** The index of the first removed line in the old text. */
  readonly at: number;
  readonly removed: string[];
  readonly added: string[];
  readonly before: string | undefined;
  after: string | undefined;
}

function blocksOf(patch: string): Block[] {
  const blocks: Block[] = [];
  for (const hunk of parsePatch(patch).flatMap((file) => file.hunks)) {
    let at = hunk.oldStart - 1;
    let before: string | undefined;
    let open: Block | undefined;
    for (const line of hunk.lines.filter((l) => !l.startsWith('\\'))) {
      const text = line.slice(1).replace(/\r$/, '');
      if (line.startsWith(' ')) {
        if (open) open.after = text;
        open = undefined;
        before = text;
        at++;
        continue;
      }
      if (!open) {
        open = { at, removed: [], added: [], before, after: undefined };
        blocks.push(open);
      }
      if (line.startsWith('-')) {
        open.removed.push(text);
        at++;
      } else {
        open.added.push(text);
      }
    }
  }
  return blocks;
}

/** Returns the line of a text at which a block fits, with at least one of its neighbors; the nearest one to its own. */
function placeOf(block: Block, lines: readonly string[], from: number, expected: number): number | undefined {
  const { removed, before, after } = block;
  const fits = (i: number): boolean =>
    removed.every((line, k) => lines[i + k] === line) &&
    ((before !== undefined && lines[i - 1] === before) ||
      (after !== undefined && lines[i + removed.length] === after) ||
      (before === undefined && after === undefined && i === 0 && lines.slice(removed.length).join('') === ''));
  let best: number | undefined;
  for (let i = from; i + removed.length <= lines.length; i++) {
    if (fits(i) && (best === undefined || Math.abs(i - expected) < Math.abs(best - expected))) {
      best = i;
    }
  }
  return best;
}

/**
 * Returns the text with a patch applied whose surrounding lines were edited since; undefined if it does not fit.
 * The replaced lines must be unchanged, and one of the lines beside them.
 */
export function relaxed(text: string, patch: string): string | undefined {
  let blocks: Block[];
  try {
    blocks = blocksOf(patch);
  } catch {
    return undefined;
  }
  const whole = text.split('\n');
  const end = whole[0]?.endsWith('\r') ? '\r' : '';
  const lines = whole.map((line) => line.replace(/\r$/, ''));
  const out: string[] = [];
  let done = 0;
  let shift = 0;
  for (const block of blocks) {
    const place = placeOf(block, lines, done, block.at + shift);
    if (place === undefined) {
      return undefined;
    }
    out.push(...whole.slice(done, place), ...block.added.map((line) => line + end));
    done = place + block.removed.length;
    shift = place - block.at;
  }
  return blocks.length === 0 ? undefined : [...out, ...whole.slice(done)].join('\n');
}
