import { allowedCommands, type CallError, type JsonObject, type ToPage } from './messages';
import type { CommandName } from '../wire.gen';

/** Something that can be told to stop. It is what VS Code calls a CancellationTokenSource. */
export interface Stop<Token> {
  readonly token: Token;
  cancel(): void;
  dispose(): void;
}

/** What the calls of a page work with. */
export interface CallHost<Token> {
  /** The directory of the folder that the page shows; undefined is none. */
  cwd(): string | undefined;
  run(command: CommandName, args: JsonObject, token: Token): Promise<unknown>;
  stop(): Stop<Token>;
  post(m: ToPage): void;
  /** Makes of an error what a page is told. */
  failure(error: unknown): CallError;
}

const refused = (message: string): CallError => ({ message, kind: 'denied' });

/**
 * Runs the commands that a page calls: those on the list only, about the page's own folder
 * only. Every call is answered once, unless the page is gone by then.
 */
export class Calls<Token> {
  readonly #running = new Map<number, Stop<Token>>();

  constructor(private readonly host: CallHost<Token>) {}

  /** Runs a command and posts its answer. It does not reject. */
  async call(id: number, command: string, args: JsonObject): Promise<void> {
    const cwd = this.host.cwd();
    if (!allowedCommands.includes(command)) {
      return this.#answer(id, undefined, refused(`The chat may not run ${command}.`));
    }
    if (cwd === undefined) {
      return this.#answer(id, undefined, refused('No folder is open.'));
    }
    if (this.#running.has(id)) {
      return;
    }
    const stop = this.host.stop();
    this.#running.set(id, stop);
    try {
      this.#answer(id, await this.host.run(command as CommandName, { ...args, cwd }, stop.token), undefined, stop);
    } catch (error) {
      this.#answer(id, undefined, this.host.failure(error), stop);
    } finally {
      if (this.#running.get(id) === stop) {
        this.#running.delete(id);
      }
      stop.dispose();
    }
  }

  #answer(id: number, result: unknown, error?: CallError, stop?: Stop<Token>): void {
    if (stop && this.#running.get(id) !== stop) {
      return; // of a page that is gone, whose numbers another one uses again
    }
    this.host.post(error ? { kind: 'answer', id, error } : { kind: 'answer', id, result: result ?? null });
  }

  cancel(id: number): void {
    this.#running.get(id)?.cancel();
  }

  /** Forgets the calls of a page that is gone. What they began goes on: a turn does not end with its panel. */
  forget(): void {
    this.#running.clear();
  }
}
