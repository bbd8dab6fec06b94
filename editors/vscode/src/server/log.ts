/** A record of the server's log, for a log channel, which adds the time itself. */
export interface LogRecord {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
}

/** Parses a line of the server's log: a JSON object, or arbitrary output of a crashing program. */
export function logRecord(line: string): LogRecord {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return { level: 'info', text: line };
  }
  if (typeof record !== 'object' || record === null) {
    return { level: 'info', text: line };
  }
  const { level, ts: _time, caller: _caller, logger, msg, ...fields } = record as Record<string, unknown>;
  const from = typeof logger === 'string' ? `[${logger}] ` : '';
  const more = Object.keys(fields).length > 0 ? ' ' + JSON.stringify(fields) : '';
  const known = (['debug', 'info', 'warn', 'error'] as const).find((name) => name === level);
  return { level: known ?? 'error', text: `${from}${String(msg)}${more}` };
}
