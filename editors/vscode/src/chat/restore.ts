import type { CommandMap } from '../wire.gen';

/** What is kept of a folder over restarts of the server and of the window. */
export interface Memory {
  get(key: string): string | undefined;
  update(key: string, value: string | undefined): PromiseLike<void>;
}

type Run = <C extends 'xcsh.state' | 'xcsh.resume'>(
  command: C,
  args: CommandMap[C]['args'],
) => Promise<CommandMap[C]['result']>;

/**
 * Brings a folder's conversation back after the server was started again, which begins with
 * a fresh session. A session that somebody chose meanwhile is left alone.
 */
export class Restorer {
  readonly #done = new Map<string, Promise<void>>();

  constructor(
    private readonly memory: Memory,
    private readonly run: Run,
    private readonly log: (text: string) => void,
  ) {}

  /** The server is another one: every folder has to be looked at again. */
  restarted(): void {
    this.#done.clear();
  }

  /** Remembers which session a folder shows. */
  async remember(cwd: string, file: string | null): Promise<void> {
    if (file !== null && this.memory.get(keyOf(cwd)) !== file) {
      await this.memory.update(keyOf(cwd), file);
    }
  }

  /** Makes the folder's remembered session the live one, once for each server. It does not reject. */
  restore(cwd: string): Promise<void> {
    let done = this.#done.get(cwd);
    if (!done) {
      done = this.#restore(cwd).catch((error) =>
        this.log(`the last session of ${cwd} did not come back: ${String(error)}`),
      );
      this.#done.set(cwd, done);
    }
    return done;
  }

  async #restore(cwd: string): Promise<void> {
    const file = this.memory.get(keyOf(cwd));
    if (file === undefined) {
      return;
    }
    const state = await this.run('xcsh.state', { cwd });
    if (state.file === file || state.messageCount > 0 || state.isStreaming) {
      return;
    }
    try {
      await this.run('xcsh.resume', { cwd, target: file, onOtherProject: 'fail' });
    } catch (error) {
      await this.memory.update(keyOf(cwd), undefined);
      // A session without an answer has no file: there is nothing to bring back.
      if ((error as { kind?: unknown }).kind !== 'notFound') {
        throw error;
      }
    }
  }
}

const keyOf = (cwd: string): string => `xcshLs.chat.session:${cwd}`;
