import type { ErrorKind } from '../wire.gen';

/** What went wrong with a command, as the server says it: one sentence for a person. */
export class ServerError extends Error {
  constructor(
    message: string,
    readonly kind: ErrorKind | 'noServer' | 'untrusted' | 'unknown',
    readonly data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.name = 'ServerError';
  }

  /** A member of the data that is a text, else undefined. */
  text(member: string): string | undefined {
    const value = this.data[member];
    return typeof value === 'string' ? value : undefined;
  }
}

const requestCancelled = -32800;

/** The codes that the client library gives when a connection ends: those of JSON-RPC's reserved range that it uses. */
const firstOfConnection = -32099;
const lastOfConnection = -32096;

/** The ServerError that a rejected request stands for. */
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
 * Whether a request failed because there was nobody to answer: the process may be gone a
 * moment before the client notices.
 */
export function isOfConnection(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code === 'number') {
    return code >= firstOfConnection && code <= lastOfConnection;
  }
  return toServerError(error).kind === 'unknown'; // of a stream
}
