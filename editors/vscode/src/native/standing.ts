import type { SessionEvent } from '../wire.gen';

/** The activity of a session of this window, or the attention that it needs. */
export type Standing = 'running' | 'approval' | 'question' | 'unread';

/** The end of a turn that the user did not see. */
export type Ended = Extract<SessionEvent, { type: 'agent_end' }>;

/** Storage that persists across reloads of the window. */
export interface Memory {
  get(key: string): unknown;
  update(key: string, value: readonly string[]): PromiseLike<void>;
}

export interface StandingsDesk {
  /** Reports whether the user sees the conversation of a folder now. */
  sees(cwd: string): boolean;
  /** Announces the end of a turn that the user did not see. */
  ended(cwd: string, sessionId: string, end: Ended): void;
  /** Reports the sessions whose standing changed. */
  changed(sessionIds: readonly string[]): void;
}

const unreadKey = 'xcshLs.sessions.unread';
/** More sessions are not marked; those that ended last are. */
const maxUnread = 200;
/** More questions are not counted: an extension of an engine could ask without end. */
const maxQuestions = 100;

interface Live {
  readonly sessionId: string;
  running: boolean;
  approvals: number;
  readonly questions: Set<string>;
}

/**
 * The standing of the sessions of this window: they run, wait for the user, or ended a turn out of sight. The last
 * is kept when the window is reloaded.
 */
export class Standings {
  readonly #live = new Map<string, Live>(); // by folder
  #unread: readonly string[]; // ids, the latest last

  constructor(
    private readonly memory: Memory,
    private readonly desk: StandingsDesk,
  ) {
    const kept = memory.get(unreadKey);
    this.#unread = Array.isArray(kept) ? kept.filter((id): id is string => typeof id === 'string') : [];
  }

  /** Returns the standing of a session; undefined if it neither runs nor needs attention. */
  of(sessionId: string): Standing | undefined {
    const live = [...this.#live.values()].find((s) => s.sessionId === sessionId);
    if (live && live.approvals > 0) {
      return 'approval';
    }
    if (live && live.questions.size > 0) {
      return 'question';
    }
    return live?.running ? 'running' : this.#unread.includes(sessionId) ? 'unread' : undefined;
  }

  /** The number of sessions that ended unseen. */
  get unread(): number {
    return this.#unread.length;
  }

  /** Follows an event of the session of a folder. */
  follow(cwd: string, sessionId: string, event: SessionEvent): void {
    const live = this.#liveOf(cwd, sessionId);
    switch (event.type) {
      case 'agent_start':
        live.running = true;
        this.#mark(sessionId, false);
        break;
      case 'agent_end':
        live.running = false;
        this.#end(cwd, sessionId, event);
        break;
      case 'approvals_changed':
        live.approvals = event.approvals?.length ?? 0;
        break;
      case 'question_asked':
        if (live.questions.size < maxQuestions) {
          live.questions.add(event.id);
        }
        break;
      case 'question_gone':
        live.questions.delete(event.id);
        break;
      case 'engine_changed':
        if (event.state !== 'failed' && event.state !== 'known') {
          return;
        }
        live.questions.clear();
        break;
      default:
        return;
    }
    this.desk.changed([sessionId]);
  }

  /** A turn that the user stopped needs no attention. */
  #end(cwd: string, sessionId: string, end: Ended): void {
    if (end.stopReason === 'aborted' || this.desk.sees(cwd)) {
      return;
    }
    this.#mark(sessionId, true);
    this.desk.ended(cwd, sessionId, end);
  }

  /** Handles another session in a folder. */
  switched(cwd: string, sessionId: string): void {
    const before = this.#live.get(cwd);
    if (before?.sessionId !== sessionId) {
      this.#live.delete(cwd);
      this.#liveOf(cwd, sessionId);
      this.desk.changed(before ? [before.sessionId, sessionId] : [sessionId]);
    }
    this.look();
  }

  /** Clears the marks of the conversations that the user sees now. */
  look(): void {
    for (const [cwd, { sessionId }] of this.#live) {
      if (this.#unread.includes(sessionId) && this.desk.sees(cwd)) {
        this.read(sessionId);
      }
    }
  }

  /** Clears the mark of a session that the user opened. */
  read(sessionId: string): void {
    if (this.#mark(sessionId, false)) {
      this.desk.changed([sessionId]);
    }
  }

  /** Forgets the marks of sessions that do not exist any more. listed has all sessions of the window. */
  prune(listed: ReadonlySet<string>): void {
    const live = new Set([...this.#live.values()].map((s) => s.sessionId));
    const gone = this.#unread.filter((id) => !listed.has(id) && !live.has(id));
    gone.forEach((id) => this.#mark(id, false));
    if (gone.length > 0) {
      this.desk.changed(gone);
    }
  }

  /** Handles the end of the server, with which all turns ended. */
  stopped(): void {
    const ids = [...this.#live.values()].map((s) => s.sessionId);
    this.#live.clear();
    this.desk.changed(ids);
  }

  #liveOf(cwd: string, sessionId: string): Live {
    let live = this.#live.get(cwd);
    if (live?.sessionId !== sessionId) {
      live = { sessionId, running: false, approvals: 0, questions: new Set() };
      this.#live.set(cwd, live);
    }
    return live;
  }

  #mark(sessionId: string, unread: boolean): boolean {
    if (this.#unread.includes(sessionId) === unread) {
      return false;
    }
    const others = this.#unread.filter((id) => id !== sessionId);
    this.#unread = unread ? [...others, sessionId].slice(-maxUnread) : others;
    void this.memory.update(unreadKey, this.#unread);
    return true;
  }
}
