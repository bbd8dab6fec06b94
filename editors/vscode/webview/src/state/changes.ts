// The file changes of a session and the plans of rewinds, parsed from answers of the server. Answers are not trusted.

import { list, num, obj, str, texts } from './wire';

/** A range of lines, from 1; the end is inclusive. */
export interface Lines {
  start: number;
  end: number;
}

export const statuses = ['added', 'modified', 'deleted', 'renamed', 'mode', 'link'] as const;
export type Status = (typeof statuses)[number];

export interface FileChange {
  path: string; // absolute
  from: string; // of a rename
  status: Status;
  added: number;
  removed: number;
  counted: boolean; // whether the lines are known
  pending: number; // changes to review
  records: readonly string[];
}

export interface Totals {
  files: number;
  added: number;
  removed: number;
  pending: number;
}

export interface Changes {
  files: readonly FileChange[];
  totals: Totals;
  limits: readonly string[]; // sentences
  interrupted: boolean;
}

export const noChanges: Changes = {
  files: [],
  totals: { files: 0, added: 0, removed: 0, pending: 0 },
  limits: [],
  interrupted: false,
};

const sentences = (v: unknown): string[] => [
  ...new Set(
    list(v)
      .map((l) => str(obj(l).text))
      .filter(Boolean),
  ),
];

const count = (v: unknown): number => Math.max(0, Math.trunc(num(v)));

function fileOf(v: unknown): FileChange {
  const f = obj(v);
  return {
    path: str(f.path),
    from: str(f.from),
    status: statuses.find((s) => s === f.status) ?? 'modified',
    added: count(f.added),
    removed: count(f.removed),
    counted: f.binary !== true,
    pending: count(f.pending),
    records: texts(f.records),
  };
}

/** Reads the result of xcsh.changes. */
export function changesOf(v: unknown): Changes {
  const o = obj(v);
  const totals = obj(o.totals);
  return {
    files: list(o.files)
      .map(fileOf)
      .filter((f) => f.path !== ''),
    totals: {
      files: count(totals.files),
      added: count(totals.added),
      removed: count(totals.removed),
      pending: count(totals.pending),
    },
    limits: sentences(o.limits),
    interrupted: o.interrupted === true,
  };
}

export const actions = ['none', 'restore', 'merge', 'create', 'remove', 'conflict'] as const;
export type PlanAction = (typeof actions)[number];

/** The planned change of a file. */
export interface PlanPath {
  path: string;
  action: PlanAction;
  added: number;
  removed: number;
  by: readonly string[];
  yours: readonly Lines[];
  text: string; // the reason of a conflict
  places: readonly Lines[]; // of a conflict
  hint: string; // the new path, if the file was renamed
}

export interface Plan {
  paths: readonly PlanPath[];
  prompts: number; // that the conversation goes back
  headMoved: boolean;
  limits: readonly string[];
  conflicts: number;
  token: string; // "" if it cannot be carried out
}

const linesOf = (v: unknown): Lines[] =>
  list(v)
    .map(obj)
    .map(({ start, end }) => ({ start: count(start), end: count(end) }))
    .filter(({ start, end }) => start > 0 && end >= start);

/** Reads a plan of xcsh.rewind. */
export function planOf(v: unknown): Plan {
  const o = obj(v);
  const paths = list(o.plan)
    .map(obj)
    .map((p): PlanPath => ({
      path: str(p.path),
      action: actions.find((a) => a === p.action) ?? 'conflict',
      added: count(p.added),
      removed: count(p.removed),
      by: texts(p.by),
      yours: linesOf(p.yours),
      text: str(p.text),
      places: linesOf(p.places),
      hint: str(p.hint),
    }))
    .filter((p) => p.path !== '');
  const conflicts = Math.max(count(o.conflicts), paths.filter((p) => p.action === 'conflict').length);
  return {
    paths,
    prompts: count(o.prompts),
    headMoved: obj(o.head).moved === true,
    limits: sentences(o.limits),
    conflicts,
    token: conflicts > 0 ? '' : str(o.planToken),
  };
}

const statusOfUndo: Partial<Record<PlanAction, Status>> = { create: 'deleted', remove: 'added' };

/** Returns the changes of records, from the plan that undoes them. */
export function changesOfPlan(plan: Plan): Changes {
  const files = plan.paths
    .filter((p) => p.action !== 'none')
    .map((p): FileChange => ({
      path: p.path,
      from: '',
      status: statusOfUndo[p.action] ?? 'modified',
      added: p.removed,
      removed: p.added,
      counted: p.added + p.removed > 0,
      pending: 0,
      records: p.by,
    }));
  const sum = (f: (file: FileChange) => number) => files.reduce((n, file) => n + f(file), 0);
  return {
    files,
    totals: { files: files.length, added: sum((f) => f.added), removed: sum((f) => f.removed), pending: 0 },
    limits: plan.limits,
    interrupted: false,
  };
}

/** The records of all files, without duplicates. */
export const recordsOf = ({ files }: Changes): string[] => [...new Set(files.flatMap((f) => f.records))];
