import { ServerError, toServerError } from '../../server/errors';

interface Disposable {
  dispose(): unknown;
}

/** The subset of a cancellation token that is used here. */
export interface Token {
  readonly isCancellationRequested: boolean;
  onCancellationRequested(listener: () => void): Disposable;
}

/** A request that waits for its turn. */
export interface Waiter<T> {
  readonly cwd: string;
  readonly token: Token;
  /** Called when the request has to wait. */
  queued(): void;
  /** Called before each attempt to send it. */
  sent(): void;
  /** Sends it. Resolves when its turn has ended, and rejects with `busy` if another one is running. */
  send(): Promise<T>;
}

/** Reports whether another turn is running in this window. A session that another program holds stays held. */
function isBusy(problem: unknown): boolean {
  const error = toServerError(problem);
  return error.kind === 'busy' && error.data['pid'] === undefined;
}

/** Waits for a promise; rejects with `cancelled` if the token is cancelled first. */
async function waited(promise: Promise<unknown>, token: Token): Promise<void> {
  let listening: Disposable | undefined;
  const cancelled = new Promise<never>((_, reject) => {
    const stop = (): void => reject(new ServerError('Canceled', 'cancelled'));
    if (token.isCancellationRequested) {
      return stop();
    }
    listening = token.onCancellationRequested(stop);
  });
  try {
    await Promise.race([promise, cancelled]);
  } finally {
    listening?.dispose();
  }
}

/** Sends the requests of a folder one after the other, and waits for turns that were started elsewhere. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** ends: registers a listener for anything that can end the work in a folder. */
  constructor(private readonly ends: (cwd: string, listener: () => void) => Disposable) {}

  async run<T>(request: Waiter<T>): Promise<T> {
    const { cwd, token } = request;
    const before = this.#last.get(cwd);
    let over: () => void = () => undefined;
    const mine = new Promise<void>((done) => (over = done));
    const last = Promise.all([before, mine]).then(() => undefined);
    this.#last.set(cwd, last);
    try {
      if (before) {
        request.queued();
        await waited(before, token);
      }
      return await this.#send(request);
    } finally {
      over();
      if (this.#last.get(cwd) === last) {
        this.#last.delete(cwd);
      }
    }
  }

  async #send<T>(request: Waiter<T>): Promise<T> {
    for (;;) {
      let ended: () => void = () => undefined;
      const end = new Promise<void>((done) => (ended = done));
      const listening = this.ends(request.cwd, ended); // before the attempt: the other turn may end during it
      try {
        request.sent();
        return await request.send();
      } catch (error) {
        if (!isBusy(error)) {
          throw error;
        }
        request.queued();
        await waited(end, request.token);
      } finally {
        listening.dispose();
      }
    }
  }
}
