// What tells the rows of tool calls apart. Of several rows of the same kind, each keeps the part in view in which it differs
// from its neighbours, however narrow the panel is.

import type { Item } from '../state/model';
import { blocks, str } from '../state/wire';
import type { ContentBlock } from '../state/wire';
import { describe } from './describe';

/** A row: the offset in its subject from which it is kept in view, and its number among equal rows, 0 if it is the only one. */
export interface Row {
  from: number;
  nth: number;
}

/** A row before its neighbours are known. */
interface Subject {
  kind: string;
  what: string;
  isPath: boolean;
}

/** Characters before the difference that stay with it. */
const context = 12;
/** A shorter common beginning leaves enough room for the difference. */
const shortest = 16;

/** A call of an answer, or null for a text between two calls. */
type Piece = { key: string; subject: Subject } | null;

const piecesOfItems = new WeakMap<Item, { cwd: string; pieces: readonly Piece[] }>();

/** Returns the calls of an answer, the same objects each time. */
function piecesOf(item: Item, cwd: string): readonly Piece[] {
  const known = piecesOfItems.get(item);
  if (known?.cwd === cwd) return known.pieces;
  const pieces = blocks(item.message.content).flatMap((block, at): Piece[] => {
    if (block.type === 'text' && str(block.text).trim() !== '') return [null];
    return block.type === 'toolCall' ? [{ key: rowKey(item.key, at), subject: subjectOf(block, cwd) }] : [];
  });
  piecesOfItems.set(item, { cwd, pieces });
  return pieces;
}

function subjectOf(block: ContentBlock, cwd: string): Subject {
  const d = describe(block, cwd);
  return { kind: `${str(block.name)} ${d.verb}`, what: d.what, isPath: d.path !== '' };
}

/** Returns the length of the common beginning of two texts. */
function common(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

/** Returns the offset of the name of a path, or of the folder in which it differs from another path of that name. */
function ownFolder(path: string, others: readonly string[]): number {
  const parts = path.split('/');
  let keep = 1;
  for (const other of others) {
    const those = other.split('/');
    let same = 0;
    while (same < parts.length && parts.at(-1 - same) === those.at(-1 - same)) same++;
    if (other !== path) keep = Math.max(keep, same + 1);
  }
  return parts.slice(0, Math.max(0, parts.length - keep)).reduce((n, part) => n + part.length + 1, 0);
}

/** Returns the offset of the word in which a text begins to differ, with a few characters before it. */
function ownWords(text: string, others: readonly string[]): number {
  const same = Math.max(0, ...others.filter((other) => other !== text).map((other) => common(text, other)));
  if (same < shortest) return text.length;
  const word = Math.max(text.lastIndexOf(' ', same - 1), text.lastIndexOf('/', same - 1)) + 1;
  const before = text.lastIndexOf(' ', Math.max(0, word - context)) + 1;
  return before > 0 && word - before <= 2 * context ? before : word;
}

/** Returns the rows of consecutive calls of the same kind. */
export function rowsOf(run: readonly Subject[]): Row[] {
  const counts = new Map<string, number>();
  return run.map(({ what, isPath }, i) => {
    const nth = (counts.get(what) ?? 0) + 1;
    counts.set(what, nth);
    const others = [...run.slice(Math.max(0, i - neighbours), i), ...run.slice(i + 1, i + 1 + neighbours)].map(
      (s) => s.what,
    );
    const repeated = nth > 1 || others.includes(what);
    return { from: isPath ? ownFolder(what, others) : ownWords(what, others), nth: repeated && what !== '' ? nth : 0 };
  });
}

/** The rows on each side with which a row is compared. */
const neighbours = 4;

/** Identifies a call in the conversation. */
export const rowKey = (itemKey: string, at: number): string => `${itemKey} ${at}`;

type Run = readonly { key: string; subject: Subject }[];

const rowsOfRuns = new WeakMap<Subject, { run: Run; rows: readonly Row[] }>();

/** Returns the rows of a run. They are made again only if the run changed: during an answer, this is called very often. */
function rowsOfRun(run: Run): readonly Row[] {
  const known = rowsOfRuns.get(run[0]!.subject);
  if (known && known.run.length === run.length && run.every((r, i) => r === known.run[i])) return known.rows;
  const rows = rowsOf(run.map((r) => r.subject));
  rowsOfRuns.set(run[0]!.subject, { run, rows });
  return rows;
}

let last: { items: readonly Item[]; cwd: string; rows: ReadonlyMap<string, Row> } | undefined;

/** Returns the rows of all calls. A text between two calls ends a run of calls of the same kind. */
export function rowsIn(items: readonly Item[], cwd: string): ReadonlyMap<string, Row> {
  if (last?.items === items && last.cwd === cwd) return last.rows;
  const rows = new Map<string, Row>();
  let run: { key: string; subject: Subject }[] = [];
  const end = () => {
    if (run.length > 1) rowsOfRun(run).forEach((row, i) => rows.set(run[i]!.key, row));
    run = [];
  };
  for (const item of items) {
    const { role } = item.message;
    if (role === 'toolResult' || role === 'system' || item.retried) continue; // not between two rows
    for (const piece of role === 'assistant' ? piecesOf(item, cwd) : [null]) {
      if (piece === null || (run.length > 0 && run[0]!.subject.kind !== piece.subject.kind)) end();
      if (piece) run.push(piece);
    }
  }
  end();
  last = { items, cwd, rows };
  return rows;
}
