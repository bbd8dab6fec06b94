// The changes of a simulated session: they can be kept, undone and redone as with the server, without contents.

import type { CallError } from '../../src/chat/messages';

type Json = { [key: string]: unknown };

export interface PlayedFile {
  path: string;
  from?: string;
  status: string;
  added: number;
  removed: number;
}

interface Entry extends PlayedFile {
  record: string;
  turn: number;
  kept: boolean;
}

interface Places {
  text: string;
  places: { start: number; end: number }[];
  hint?: string;
}

/** Returns the entries by path. */
function grouped(entries: readonly Entry[]): Map<string, Entry[]> {
  const out = new Map<string, Entry[]>();
  for (const e of entries) out.set(e.path, [...(out.get(e.path) ?? []), e]);
  return out;
}

const root = '/home/you/calc/';

export class PlayedChanges {
  private entries: Entry[] = [];
  private readonly prompts: string[] = [];
  private limits: string[] = [];
  private readonly taken = new Map<string, Entry[]>(); // by the id of the rewind
  readonly conflicts = new Map<string, Places>();
  readonly merges = new Map<string, { start: number; end: number }[]>();
  interrupted = false;
  version = 0; // part of the token: a plan of another version is stale
  readonly calls: Json[] = []; // requested rewinds

  constructor(private readonly emit: (event: Json) => void) {}

  /** Adds a turn with its changes of files. */
  turn(promptId: string, files: PlayedFile[], limits: string[] = []): void {
    this.prompts.push(promptId);
    this.limits = limits;
    const turn = this.prompts.length - 1;
    for (const [i, file] of files.entries())
      this.entries.push({ ...file, path: root + file.path, record: `r${turn}-${i}`, turn, kept: false });
  }

  /** Another program changed a file. */
  touch(): void {
    this.version++;
  }

  private changed(): void {
    this.version++;
    this.emit({ type: 'changes_changed', totals: {}, paths: [] });
  }

  private from(since: unknown): number {
    if (since === 'session') return 0;
    return since === undefined || since === 'turn' ? this.prompts.length - 1 : this.prompts.indexOf(String(since));
  }

  changes({ since, pending, path }: Json): Json {
    const from = this.from(since);
    const byPath = grouped(
      this.entries.filter((e) => e.turn >= from && !(pending === true && e.kept) && (!path || e.path === path)),
    );
    const files = [...byPath].map(([file, entries]) => ({
      path: file,
      ...(entries[0]!.from ? { from: root + entries[0]!.from } : {}),
      status: entries[0]!.status,
      added: entries.reduce((n, e) => n + e.added, 0),
      removed: entries.reduce((n, e) => n + e.removed, 0),
      pending: entries.filter((e) => !e.kept).length,
      kept: entries.filter((e) => e.kept).length,
      binary: false,
      records: entries.map((e) => e.record),
      rewindable: true,
    }));
    const sum = (of: 'added' | 'removed' | 'pending') => files.reduce((n, f) => n + f[of], 0);
    return {
      sessionId: 's1',
      since,
      complete: this.limits.length === 0,
      limits: this.limits.map((text) => ({ kind: 'outside', records: [], text })),
      totals: { files: files.length, added: sum('added'), removed: sum('removed'), pending: sum('pending') },
      files,
      rewinds: [],
      interrupted: this.interrupted,
      seq: 0,
    };
  }

  keep({ paths, all }: Json): Json {
    const chosen = this.entries.filter((e) => !e.kept && (all === true || (paths as string[]).includes(e.path)));
    for (const e of chosen) e.kept = true;
    this.changed();
    return { kept: chosen.length, pending: this.entries.filter((e) => !e.kept).length };
  }

  rewind(args: Json): Json & { error?: CallError } {
    this.calls.push(args);
    if (args['redo'] !== undefined) return this.redo(args);
    const except = (args['except'] ?? []) as string[];
    const chosen = this.entries.filter((e) => this.isChosen(e, args) && !except.includes(e.path));
    const token = `${this.version} ${chosen.map((e) => e.record).join(' ')}`;
    if (args['planToken'] !== undefined) {
      if (args['planToken'] !== token) return { error: { kind: 'stale', message: 'The files changed.' } };
      return this.carryOut(chosen, args);
    }
    const plan = [...grouped(chosen)].map(([path, entries]) => this.planned(path, entries));
    const conflicts = plan.filter((p) => p['action'] === 'conflict').length;
    return {
      plan,
      records: chosen.map((e) => e.record),
      prompts: 1,
      conversation: args['conversation'] === true,
      head: { moved: false },
      limits: this.limits.map((text) => ({ kind: 'outside', records: [], text })),
      conflicts,
      planToken: conflicts > 0 ? '' : token,
    };
  }

  private isChosen(e: Entry, { before, to, records, paths }: Json): boolean {
    if (records) return (records as string[]).includes(e.record);
    if (paths) return !e.kept && (paths as string[]).includes(e.path);
    return e.turn >= this.prompts.indexOf(String(before ?? to));
  }

  private planned(path: string, entries: Entry[]): Json {
    const conflict = this.conflicts.get(path.slice(root.length));
    if (conflict) return { path, action: 'conflict', reason: 'overlaps', ...conflict };
    const yours = this.merges.get(path.slice(root.length));
    const { status } = entries[0]!;
    const action = status === 'added' ? 'remove' : status === 'deleted' ? 'create' : yours ? 'merge' : 'restore';
    return {
      path,
      action,
      added: entries.reduce((n, e) => n + e.removed, 0),
      removed: entries.reduce((n, e) => n + e.added, 0),
      by: entries.map((e) => e.record),
      ...(yours ? { yours } : {}),
    };
  }

  private carryOut(chosen: Entry[], args: Json): Json {
    const id = `w${this.taken.size + 1}`;
    this.taken.set(id, chosen);
    this.entries = this.entries.filter((e) => !chosen.includes(e));
    this.changed();
    return {
      rewound: true,
      id,
      files: new Set(chosen.map((e) => e.path)).size,
      unsaved: [],
      ...(args['conversation'] === true ? { editorText: 'Add the tests.' } : {}),
      leafId: id,
    };
  }

  private redo({ redo, planToken }: Json): Json & { error?: CallError } {
    const id = redo === '' ? [...this.taken.keys()].at(-1) : String(redo);
    const chosen = this.taken.get(id ?? '');
    if (!chosen) return { error: { kind: 'notFound', message: 'There is nothing to redo.' } };
    if (planToken === undefined) return { plan: [], planToken: 'redo', conflicts: 0 };
    this.taken.delete(id!);
    this.entries = [...this.entries, ...chosen];
    this.changed();
    return { rewound: true, id: `${id}-redo`, files: chosen.length };
  }
}
