// A difference as rows: from a unified diff, or from two texts.

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

/** Rows of a unified diff. Lines of no hunk, such as the names of the files, are left out. */
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

/** The longest texts that are compared, in UTF-16 units; of longer ones all of both is shown. */
const maxCompared = 200_000;

/** A unified diff of two texts of which only a part of a file is known: its line numbers mean nothing. */
export function patchOfTexts(before: string, after: string): string {
  if (before.length + after.length > maxCompared) return replacement(before, after);
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, maxEditLength: 4000 });
  if (!patch) return replacement(before, after);
  return patch.hunks
    .map((h) => `@@ -${h.oldStart},${h.oldLines} +${h.newStart},${h.newLines} @@\n${h.lines.join('\n')}\n`)
    .join('');
}

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

/** The {before, after} pairs in the arguments of a tool call, however its program names them. */
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
    const before = pick('oldText', 'old_text', 'old_string', 'search');
    const after = pick('newText', 'new_text', 'new_string', 'replace');
    return before === undefined || after === undefined
      ? []
      : [{ path: pick('path', 'file_path') ?? '', before, after }];
  });
}

/** The difference that a call made, of its result if that has one, else of its arguments; "" is none. */
export function patchOfCall(args: Obj, result: Obj): string {
  const details = obj(result.details);
  const recorded = str(details.patch);
  if (recorded.includes('@@')) return recorded;
  if (typeof args.patch === 'string' && args.patch.includes('@@')) return args.patch;
  return editsOf(args)
    .map((e) => patchOfTexts(e.before, e.after))
    .join('');
}
