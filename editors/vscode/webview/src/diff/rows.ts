// Rows of a diff: from a unified diff, or from two texts.

import { structuredPatch } from 'diff';
import { obj, str } from '../state/wire';
import type { Obj } from '../state/wire';

export type Row =
  { kind: 'same' | 'added' | 'removed'; before?: number; after?: number; text: string } | { kind: 'gap'; text: string };

export interface Diff {
  rows: Row[];
  added: number;
  removed: number;
}

const hunkHead = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

/** Returns the rows of a unified diff. Lines outside of hunks, such as file names, are left out. */
export function rowsOfPatch(patch: string): Diff {
  const out: Diff = { rows: [], added: 0, removed: 0 };
  let before = 0;
  let after = 0;
  let inside = false;
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const head = hunkHead.exec(line);
    if (head) {
      [before, after] = [Number(head[1]), Number(head[2])];
      if (inside || before > 1) out.rows.push({ kind: 'gap', text: head[3] ?? '' });
      inside = true;
    } else if (inside && line.startsWith('+')) {
      out.rows.push({ kind: 'added', after: after++, text: line.slice(1) });
      out.added++;
    } else if (inside && line.startsWith('-')) {
      if (line.startsWith('--- ')) inside = false;
      else {
        out.rows.push({ kind: 'removed', before: before++, text: line.slice(1) });
        out.removed++;
      }
    } else if (inside && !line.startsWith('\\')) {
      out.rows.push({ kind: 'same', before: before++, after: after++, text: line.slice(1) });
    }
  }
  return out;
}

/** The maximum length of texts to compare, in UTF-16 units; longer ones are shown as removed and added. */
const maxCompared = 200_000;

/** The maximum number of differing lines; the time of a comparison grows with their square. */
const maxEdits = 1000;

/**
 * Returns a unified diff of two texts that are parts of a file: line numbers count from the start
 * of the part, and a missing line break at its end is ignored.
 */
export function patchOfTexts(before: string, after: string): string {
  if (before.length + after.length > maxCompared) return replacement(before, after);
  const patch = structuredPatch('', '', ended(before), ended(after), '', '', { context: 3, maxEditLength: maxEdits });
  if (!patch) return replacement(before, after);
  return patch.hunks
    .map((h) => `@@ -${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines} @@\n${h.lines.join('\n')}\n`)
    .join('');
}

const ended = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

function replacement(before: string, after: string): string {
  const marked = (sign: string, text: string) =>
    text === ''
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((l) => sign + l);
  return ['@@ -1 +1 @@', ...marked('-', before), ...marked('+', after), ''].join('\n');
}

/** Returns the edits in the arguments of a tool call, under any of the argument names that programs use. */
export function editsOf(args: Obj): { path: string; before: string; after: string }[] {
  let edits: unknown = args.edits;
  if (typeof edits === 'string') {
    try {
      edits = JSON.parse(edits);
    } catch {
      edits = undefined;
    }
  }
  return [args, ...(Array.isArray(edits) ? edits : [edits])].map(obj).flatMap((e) => {
    const pick = (...names: string[]) => names.map((n) => e[n]).find((v): v is string => typeof v === 'string');
    const before = pick('oldText', 'old_text', 'old_string', 'old', 'search');
    const after = pick('newText', 'new_text', 'new_string', 'new', 'replace');
    return before === undefined || after === undefined
      ? []
      : [{ path: pick('path', 'file_path') ?? '', before, after }];
  });
}

/** Returns the patch of a call: the one in its result, else the one in its arguments, else "". */
export function patchOfCall(args: Obj, result: Obj): string {
  const details = obj(result.details);
  const recorded = str(details.patch);
  if (recorded.includes('@@')) return recorded;
  if (typeof args.patch === 'string' && args.patch.includes('@@')) return args.patch;
  return editsOf(args)
    .map((e) => patchOfTexts(e.before, e.after))
    .join('');
}
