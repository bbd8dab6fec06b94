import { pendingOf } from '../late';
import type { CommandMap } from '../wire.gen';

/** Storage that persists across restarts of the server and of the window. */
export interface Memory {
  get(key: string): string | undefined;
  update(key: string, value: string | undefined): PromiseLike<void>;
}

type Run = <C extends 'xcsh.state' | 'xcsh.resume'>(
  command: C,
  args: CommandMap[C]['args'],
) => Promise<CommandMap[C]['result']>;

/**
 * Restores a folder's conversation after the server was restarted, because the new server begins
 * with an empty session. A session that the user chose meanwhile is not replaced.
 */
export class Restorer {
  readonly #done = new Map<string, Promise<void>>();

  constructor(
    private readonly memory: Memory,
    private readonly run: Run,
    private readonly log: (text: string) => void,
  ) {}

  /** Handles a new server process: every folder has to be restored again. */
  restarted(): void {
    this.#done.clear();
  }

  /** Records which session a folder shows. */
  async remember(cwd: string, file: string | null): Promise<void> {
    if (file !== null && this.memory.get(keyOf(cwd)) !== file) {
      await this.memory.update(keyOf(cwd), file);
    }
  }

  /** Resumes the folder's recorded session, once per server process. It does not reject. */
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
    // A session that is still being read has an unknown number of messages.
    const chosen = state.messageCount > 0 || pendingOf(state).length > 0;
    if (state.file === file || chosen || state.isStreaming) {
      return;
    }
    try {
      await this.run('xcsh.resume', { cwd, target: file, onOtherProject: 'fail' });
    } catch (error) {
      await this.memory.update(keyOf(cwd), undefined);
      // A session without an answer has no file, so there is nothing to restore.
      if ((error as { kind?: unknown }).kind !== 'notFound') {
        throw error;
      }
    }
  }
}

const keyOf = (cwd: string): string => `xcshLs.chat.session:${cwd}`;
