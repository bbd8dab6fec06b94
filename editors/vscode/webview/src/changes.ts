// The changes of files on the page: those of the session, the cards of turns, and the confirmation of a rewind.

import { Once } from '../../src/changes/hunks';
import type { JsonObject } from '../../src/chat/messages';
import { t } from './l10n';
import { changesOf, changesOfPlan, noChanges, planOf, recordsOf } from './state/changes';
import type { Changes, Plan, PlanPath } from './state/changes';
import type { Action } from './state/engine';
import { Failure } from './state/store';
import type { Store } from './state/store';
import type { Turn } from './state/turns';
import { obj, str, texts } from './state/wire';

/** The scope of a rewind to before a prompt. */
export const modes = ['both', 'files', 'conversation'] as const;
export type Mode = (typeof modes)[number];

/** The changes to undo: those since before a prompt or after an entry, those of a turn, or the pending ones of files. */
export type Target =
  | { kind: 'before' | 'to'; entryId: string }
  | { kind: 'turn'; records: readonly string[] }
  | { kind: 'pending'; paths: readonly string[] };

/** The open confirmation of a rewind. */
export interface Rewinding {
  key: number;
  target: Target;
  mode: Mode;
  leftOut: readonly PlanPath[];
  acrossHead: boolean;
  plan: Plan | null;
  planning: boolean;
  renewed: boolean; // the files changed while the plan was open
  running: boolean;
  error: string;
}

/** The state of a turn's card: its changes, and the version of the session that they belong to. */
export interface TurnChanges {
  changes: Changes;
  records: readonly string[];
  at: number;
}

/** Immutable. */
export interface Changing {
  session: Changes; // the pending changes of the session
  turns: ReadonlyMap<string, TurnChanges>; // by prompt
  rewinding: Rewinding | null;
}

/** Shows results on the page. */
export interface ChangesHost {
  available(): boolean;
  running(): boolean;
  notice(tone: 'info' | 'warning', text: string, actions: readonly Action[]): void;
  failed(e: unknown): void;
  compose(text: string): void;
  speak(text: string): void;
}

/** A second press within this time is unintended. In milliseconds. */
const doublePressMs = 400;

/** A double click must not press the button that appears under the pointer. In milliseconds. */
const settleMs = 400;

const empty: Changing = { session: noChanges, turns: new Map(), rewinding: null };

export class ChangesModel {
  private state = empty;
  private readonly watchers = new Set<() => void>();
  private readonly wanted = new Map<string, Turn>();
  private readonly since = new Map<string, Promise<Changes>>(); // of this version
  private readonly loading = new Set<string>();
  private readonly once: Once;
  private version = 0;
  private asked = 0;
  private opened = 0;
  private planned = 0;

  constructor(
    private readonly store: Store,
    private readonly host: ChangesHost,
    private readonly now: () => number = () => Date.now(),
  ) {
    this.once = new Once(doublePressMs, now);
  }

  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  getState = (): Changing => this.state;

  private set(change: Partial<Changing>): void {
    this.state = { ...this.state, ...change };
    for (const f of this.watchers) f();
  }

  /** Clears the state, for another session. */
  clear(): void {
    this.version++;
    this.asked++;
    this.planned++;
    this.since.clear();
    this.wanted.clear();
    this.set(empty);
  }

  /** Reads the changes again. Cards are only read when no turn is running, because a turn only changes its own card. */
  refresh(): void {
    if (!this.host.available()) return;
    this.version++;
    this.since.clear();
    void this.readSession();
    if (!this.host.running()) for (const turn of this.wanted.values()) void this.readTurn(turn);
  }

  private async readSession(): Promise<void> {
    const asked = ++this.asked;
    try {
      const session = changesOf(await this.store.call('xcsh.changes', { since: 'session', pending: true }));
      if (asked === this.asked) this.set({ session });
    } catch {
      // the shown changes stay until the next event
    }
  }

  /** Keeps the card of a turn up to date while it is in view. Returns a function that stops this. */
  want(turn: Turn): () => void {
    this.wanted.set(turn.promptId, turn);
    if (this.state.turns.get(turn.promptId)?.at !== this.version) void this.readTurn(turn);
    return () => {
      if (this.wanted.get(turn.promptId) === turn) this.wanted.delete(turn.promptId);
    };
  }

  private changesSince(entryId: string): Promise<Changes> {
    const known = this.since.get(entryId);
    if (known) return known;
    const read = this.store.call('xcsh.changes', { since: entryId }).then(changesOf);
    this.since.set(entryId, read);
    read.catch(() => this.since.delete(entryId));
    return read;
  }

  /** Reads the changes of a turn. A failure does not change the card. */
  private async readTurn(turn: Turn): Promise<void> {
    const at = this.version;
    const loading = `${turn.promptId} ${at}`;
    if (this.loading.has(loading) || !this.host.available()) return;
    this.loading.add(loading);
    try {
      const found = await this.turnOf(turn);
      if (at === this.version) this.set({ turns: new Map(this.state.turns).set(turn.promptId, { ...found, at }) });
    } catch {
      // the card is read again with the next change
    } finally {
      this.loading.delete(loading);
    }
  }

  /** Returns the changes of a turn. The server returns all changes since a prompt, so those of later turns are removed. */
  private async turnOf({ promptId, next }: Turn): Promise<Omit<TurnChanges, 'at'>> {
    const changes = await this.changesSince(promptId);
    const all = recordsOf(changes);
    if (next === '' || all.length === 0) return { changes, records: all };
    const later = new Set(recordsOf(await this.changesSince(next)));
    const records = all.filter((record) => !later.has(record));
    if (records.length === all.length) return { changes, records };
    if (records.length === 0) return { changes: noChanges, records };
    const plan = planOf(await this.store.call('xcsh.rewind', { records, dryRun: true }));
    return { changes: { ...changesOfPlan(plan), limits: [] }, records };
  }

  // The user's actions.

  /** Shows the changes since a prompt or of the session; of them, those of a turn's records if they are given. */
  review(since: string, turn?: readonly string[]): void {
    this.store.send({ kind: 'review', since, ...(turn ? { records: [...turn] } : {}) });
  }

  openFile(path: string, since: string, turn?: readonly string[]): void {
    this.store.send({ kind: 'review', since, path, ...(turn ? { records: [...turn] } : {}) });
  }

  keep(what: { all: true } | { paths: string[] }): Promise<void> {
    return this.once.run('keep', async () => {
      try {
        await this.store.call('xcsh.keep', { ...what });
        this.host.speak('all' in what ? t('All changes kept') : t('Changes kept'));
        this.refresh();
      } catch (e) {
        this.host.failed(e);
      }
    });
  }

  /** Undoes the pending changes of a file. Shows the plan only if it has conflicts. */
  undoFile(path: string): Promise<void> {
    return this.once.run('undo', async () => {
      try {
        const target: Target = { kind: 'pending', paths: [path] };
        const plan = planOf(await this.store.call('xcsh.rewind', { paths: [path], dryRun: true }));
        if (plan.token === '') return this.open(target, 'files', plan);
        this.done(obj(await this.store.call('xcsh.rewind', { paths: [path], planToken: plan.token })), false);
      } catch (e) {
        this.host.failed(e);
      }
    });
  }

  undoAll(): void {
    this.open({ kind: 'pending', paths: this.state.session.files.map((f) => f.path) }, 'files');
  }

  undoTurn(records: readonly string[]): void {
    this.open({ kind: 'turn', records }, 'files');
  }

  rewindTo(entryId: string, kind: 'before' | 'to' = 'before'): void {
    this.open({ kind, entryId }, 'both');
  }

  /** Redoes the rewind with an id, or the newest one. */
  redo(id: string): Promise<void> {
    return this.once.run('redo', async () => {
      try {
        const plan = planOf(await this.store.call('xcsh.rewind', { redo: id, dryRun: true }));
        if (plan.token === '') {
          const why = plan.paths.find((p) => p.action === 'conflict')?.text;
          return this.host.notice(
            'warning',
            why ? t('The rewind cannot be redone. {0}', why) : t('There is nothing to redo.'),
            [],
          );
        }
        this.done(obj(await this.store.call('xcsh.rewind', { redo: id, planToken: plan.token })), true);
      } catch (e) {
        this.host.failed(e);
      }
    });
  }

  // The confirmation of a rewind.

  private open(target: Target, mode: Mode, plan: Plan | null = null): void {
    if (this.state.rewinding) return;
    this.opened = this.now();
    this.set({
      rewinding: {
        key: this.opened,
        target,
        mode,
        leftOut: [],
        acrossHead: false,
        plan,
        planning: false,
        renewed: false,
        running: false,
        error: '',
      },
    });
    if (!plan) void this.plan(false);
  }

  private ask(change: Partial<Rewinding>): void {
    if (this.state.rewinding) this.set({ rewinding: { ...this.state.rewinding, ...change } });
  }

  /** Cancels the confirmation. A running rewind cannot be stopped. */
  cancel(): void {
    if (this.state.rewinding?.running) return;
    this.planned++;
    this.set({ rewinding: null });
  }

  choose(mode: Mode): void {
    this.ask({ mode });
    void this.plan(false);
  }

  /** Leaves a file out of the rewind. */
  leaveOut(path: PlanPath): void {
    const { rewinding } = this.state;
    if (!rewinding || rewinding.running || rewinding.leftOut.some((p) => p.path === path.path)) return;
    this.ask({ leftOut: [...rewinding.leftOut, path] });
    void this.plan(false);
  }

  takeIn(path: string): void {
    const { rewinding } = this.state;
    if (!rewinding || rewinding.running) return;
    this.ask({ leftOut: rewinding.leftOut.filter((p) => p.path !== path) });
    void this.plan(false);
  }

  setAcrossHead(acrossHead: boolean): void {
    this.ask({ acrossHead });
    void this.plan(false);
  }

  /** Shows the planned changes of all files, or of one. */
  showPlan(path?: PlanPath): void {
    const paths = path ? [path] : (this.state.rewinding?.plan?.paths ?? []).filter((p) => p.action !== 'none');
    const planned = paths.slice(0, 500).map(({ path: file, action, by, places, yours }) => ({
      path: file,
      action,
      by: [...by],
      places: [...places],
      yours: [...yours],
    }));
    this.store.send({ kind: 'openPlanned', planned });
  }

  private argsOf({ target, mode, leftOut, acrossHead }: Rewinding): JsonObject {
    return {
      ...(target.kind === 'turn'
        ? { records: target.records }
        : target.kind === 'pending'
          ? { paths: target.paths }
          : { [target.kind]: target.entryId, ...(mode === 'both' ? { conversation: true } : {}) }),
      ...(leftOut.length > 0 ? { except: leftOut.map((p) => p.path) } : {}),
      ...(acrossHead ? { acrossHead } : {}),
    };
  }

  /** Makes the plan for the present choices. */
  private async plan(renewed: boolean): Promise<void> {
    const planned = ++this.planned;
    const { rewinding } = this.state;
    if (!rewinding) return;
    if (rewinding.mode === 'conversation') return this.ask({ plan: null, planning: false, error: '', renewed: false });
    this.ask({ planning: true, error: '', renewed });
    try {
      const plan = planOf(await this.store.call('xcsh.rewind', { ...this.argsOf(rewinding), dryRun: true }));
      if (planned === this.planned) this.ask({ plan, planning: false });
    } catch (e) {
      if (planned === this.planned) this.ask({ plan: null, planning: false, error: messageOf(e) });
    }
  }

  /** Reports whether the rewind can be confirmed. */
  static ready({ mode, plan, planning, running }: Rewinding): boolean {
    if (planning || running) return false;
    return mode === 'conversation' || (plan !== null && plan.token !== '');
  }

  /** Carries out the plan. If the files have changed, it makes a new plan, which the user confirms again. */
  async confirm(): Promise<void> {
    const { rewinding } = this.state;
    if (!rewinding || !ChangesModel.ready(rewinding) || this.now() - this.opened < settleMs) return;
    this.ask({ running: true, error: '' });
    try {
      const { target, mode, plan } = rewinding;
      const result =
        mode === 'conversation' && 'entryId' in target
          ? await this.store.call('xcsh.branch', { entryId: target.entryId })
          : await this.store.call('xcsh.rewind', { ...this.argsOf(rewinding), planToken: plan?.token });
      this.set({ rewinding: null });
      if (mode === 'conversation') this.wentBack(obj(result));
      else this.done(obj(result), false);
    } catch (e) {
      this.opened = this.now();
      this.ask({ running: false });
      if (e instanceof Failure && e.kind === 'stale') return this.plan(true);
      this.ask({ error: messageOf(e) });
    }
  }

  private wentBack(result: JsonObject): void {
    const refused = str(result['cancelledBy']);
    if (refused) return this.host.notice('warning', t('Canceled by {0}.', refused), []);
    this.host.compose(str(result['editorText']));
    this.refresh();
  }

  /** Shows the result, and offers Redo. */
  private done(result: JsonObject, isRedo: boolean): void {
    const refused = str(result['cancelledBy']);
    if (refused) return this.host.notice('warning', t('Canceled by {0}.', refused), []);
    this.host.compose(str(result['editorText']));
    const files = Number(result['files'] ?? 0);
    const unsaved = texts(result['unsaved']).length;
    const text = isRedo
      ? files === 1
        ? t('Redid the changes of 1 file.')
        : t('Redid the changes of {0} files.', files)
      : files === 1
        ? t('Undid the changes of 1 file.')
        : t('Undid the changes of {0} files.', files);
    const left =
      unsaved === 0 ? '' : unsaved === 1 ? t('1 of them is not saved.') : t('{0} of them are not saved.', unsaved);
    const id = str(result['id']);
    const redo = { title: t('Redo'), command: 'page.redo', args: { id } };
    this.host.notice('info', [text, left].filter(Boolean).join(' '), id && !isRedo ? [redo] : []);
    this.host.speak(text);
    this.refresh();
  }
}

const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));
