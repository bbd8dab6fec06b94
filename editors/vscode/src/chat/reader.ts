import type { CommandName, SessionInfo, Snapshot, SnapshotMessage } from '../wire.gen';
import type { JsonObject, Reading, ReadingState } from './messages';
import { ServerError } from '../server/errors';

/** A session that is shown without being resumed. */
export interface ReadSession {
  readonly info: Pick<SessionInfo, 'path' | 'id' | 'name' | 'cwd'> & Partial<SessionInfo>;
  /** The directory of the folder of the window from which it is read. */
  readonly cwd: string;
  readonly state: ReadingState;
  /** For followed: the session in the team's store. The path of info is the address of its document. */
  readonly follow?: Followed;
}

/** A session of the team's store that is read along. */
export interface Followed {
  readonly sid: string;
  /** The user who writes it, "" if unknown. */
  readonly owner: string;
  /** The device that writes it, "" if none does. */
  readonly device: string;
}

/** Returns the user and the device that write a session. */
export function writerOf({ owner, device }: Followed): string {
  return [owner, device].filter((part) => part !== '').join(' · ');
}

/** A message to go to, and words to mark in it. */
export interface Spot {
  readonly entryId: string;
  readonly words: readonly string[];
}

/** Runs a command of the server. */
export type Run<Token> = (command: CommandName, args: JsonObject, token: Token) => Promise<unknown>;

const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 };

/**
 * Answers a page as if the session were live in a folder where nothing ever runs: the snapshot is made of its newest
 * messages, and pages and searches are those of its file. The page can run no other command.
 */
export class Reader<Token> {
  constructor(
    readonly session: ReadSession,
    private readonly run: Run<Token>,
  ) {}

  /** Describes the session for the page, apart from its messages. */
  reading(place: Reading['place']): Reading {
    const { info, state, follow } = this.session;
    const by = follow ? writerOf(follow) : (info.lockedBy ?? '');
    return { path: info.path, name: info.name, place, state, by };
  }

  async answer(command: CommandName, args: JsonObject, token: Token): Promise<unknown> {
    switch (command) {
      case 'xcsh.messages':
        return this.#messages(args, token);
      case 'xcsh.snapshot':
        return this.#snapshot(args['last'], token);
      default:
        throw new ServerError(`A session that is only read can't run ${command}.`, 'denied');
    }
  }

  #messages(args: JsonObject, token: Token): Promise<unknown> {
    const { info, cwd } = this.session;
    return this.run('xcsh.messages', { ...args, cwd, source: info.path }, token);
  }

  async #snapshot(last: unknown, token: Token): Promise<Snapshot> {
    const { info } = this.session;
    const limit = typeof last === 'number' ? { limit: last } : {};
    const page = (await this.#messages({ ...limit, history: true }, token)) as {
      messages: SnapshotMessage[] | null;
      older?: Snapshot['older'];
      total: number;
    };
    return {
      state: {
        cwd: info.cwd,
        sessionId: info.id || info.path,
        file: info.path,
        title: info.title || info.name,
        leafId: page.messages?.at(-1)?.entryId ?? null,
        persistent: true,
        messageCount: page.total,
        isStreaming: false,
        isCompacting: false,
        model: null,
        models: {},
        thinkingLevel: 'off',
        approvalMode: 'read-only',
        mode: 'none',
        queued: { steering: 0, followUp: 0 },
        usage: nothing,
        origin: info.origin ?? '',
      } as unknown as Snapshot['state'],
      messages: page.messages ?? [],
      ...(page.older ? { older: page.older } : {}),
      tools: [],
      queues: { steering: [], followUp: [] },
      approvals: [],
      questions: [],
      background: [],
      contextUsage: { tokens: 0 },
      seq: 0,
    };
  }
}
