import { allowedCommands, type CallError, type JsonObject, type ToPage } from './messages';
import type { CommandName } from '../wire.gen';

/** A cancellation source, like VS Code's CancellationTokenSource. */
export interface Stop<Token> {
  readonly token: Token;
  cancel(): void;
  dispose(): void;
}

/** Services for the calls of a page. */
export interface CallHost<Token> {
  /** The commands that the page may run; by default, those of the chat. */
  readonly allowed?: readonly string[];
  /** The directory of the folder that the page shows; undefined if none. */
  cwd(): string | undefined;
  run(command: CommandName, args: JsonObject, token: Token): Promise<unknown>;
  stop(): Stop<Token>;
  post(m: ToPage): void;
  /** Converts an error to the form that is sent to the page. */
  failure(error: unknown): CallError;
}

const refused = (message: string): CallError => ({ message, kind: 'denied' });

/**
 * Runs the commands that a page calls: only listed commands, and only for the page's own folder.
 * Every call is answered once, unless the page has been closed by then.
 */
export class Calls<Token> {
  readonly #running = new Map<number, Stop<Token>>();

  constructor(private readonly host: CallHost<Token>) {}

  /** Runs a command and posts its answer. It does not reject. */
  async call(id: number, command: string, args: JsonObject): Promise<void> {
    const cwd = this.host.cwd();
    if (!(this.host.allowed ?? allowedCommands).includes(command)) {
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
      return; // the call is from a closed page, whose numbers a new page uses again
    }
    this.host.post(error ? { kind: 'answer', id, error } : { kind: 'answer', id, result: result ?? null });
  }

  cancel(id: number): void {
    this.#running.get(id)?.cancel();
  }

  /** Drops the calls of a closed page. They are not canceled: a turn does not end with its panel. */
  forget(): void {
    this.#running.clear();
  }
}
