import type { ErrorKind } from '../wire.gen';

/** An error of a command, with the server's message for the user. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly kind: ErrorKind | 'noServer' | 'untrusted' | 'unknown',
    readonly data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ServerError';
  }

  /** Returns a member of the data if it is a string, else undefined. */
  text(member: string): string | undefined {
    const value = this.data[member];
    return typeof value === 'string' ? value : undefined;
  }
}

const requestCancelled = -32800;

/** The codes that the client library uses when a connection ends, in JSON-RPC's reserved range. */
const firstOfConnection = -32099;
const lastOfConnection = -32096;

/** Converts the error of a rejected request to a ServerError. */
export function toServerError(error: unknown): ServerError {
  if (error instanceof ServerError) {
    return error;
  }
  const { message, code, data } = (error ?? {}) as { message?: unknown; code?: unknown; data?: unknown };
  const details = typeof data === 'object' && data !== null ? (data as Record<string, unknown>) : {};
  const text = typeof message === 'string' && message !== '' ? message : String(error);
  if (typeof details['kind'] === 'string') {
    return new ServerError(text, details['kind'] as ErrorKind, details);
  }
  // A request that VS Code itself cancelled has no data.
  const cancelled = code === requestCancelled || (error instanceof Error && error.name === 'Canceled');
  return new ServerError(text, cancelled ? 'cancelled' : 'unknown', details);
}

/**
 * Reports whether a request failed because no server was running: the process may have exited a
 * moment before the client notices.
 */
export function isOfConnection(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'number') {
    return code >= firstOfConnection && code <= lastOfConnection;
  }
  return toServerError(error).kind === 'unknown'; // an error of a stream
}
