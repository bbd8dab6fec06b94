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
