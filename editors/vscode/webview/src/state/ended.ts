// How a tool call ended. A call that the user denied or stopped has an error as its result, like one that failed: only
// the text tells them apart, in the words of the program that recorded it.

import type { CallStatus } from './model';
import { obj, plainText } from './wire';

/** The result of a call whose text says that the user denied it. `reason` is the user's own, if there is one. */
const denials: readonly RegExp[] = [
  // This program's, also as pi records it when it asked for permission here.
  /^(?:Error: )?The user denied this (?:[^\s]{1,100} )?call\.(?: The user's reason: (?<reason>[^]*)| Ask what to do instead, or continue without it\.)?$/,
  /^(?:Error: )?The user did not approve the plan, so plan mode is still on\.(?: Revise the plan\. The user's reason: (?<reason>[^]*)| End your turn and ask what to change\.)$/,
  // omp's.
  /^Tool call denied by user: [^\s]{1,100}$/,
  // Imported sessions of Claude Code.
  /^(?:Error: )?User rejected tool use$/,
  /^The user doesn't want to (?:proceed with this tool use|take this action right now)\./,
];

/** The results of calls that were stopped before they ended, or never began. */
const stops: readonly RegExp[] = [
  /^The user stopped the turn; this call did not finish\.$/,
  /(?:^|\n\n)Command aborted(?:\n\n\[|$)/, // after the output of a command
  /^(?:Error: )?Operation aborted$/,
  /^aborted by signal$/,
  /^Skipped due to queued user message\.?$/,
  /^\[Request interrupted by user for tool use\]$/,
];

/** Longer texts are results of tools. In UTF-16 units. */
const maxDenial = 20_000;
/** The end of a long output in which the note of its command is searched. */
const noteLength = 2000;

const denialIn = (result: unknown): RegExpExecArray | null => {
  const text = plainText(obj(result).content).trim();
  if (text.length > maxDenial) return null;
  for (const pattern of denials) {
    const found = pattern.exec(text);
    if (found) return found;
  }
  return null;
};

/** Returns the status of a call with a result. */
export function endedAs(result: unknown, isError: unknown): CallStatus {
  if (isError !== true) return 'done';
  if (denialIn(result)) return 'denied';
  const text = plainText(obj(result).content).trim().slice(-noteLength);
  const interrupted = obj(obj(result).details).interrupted === true; // the server ended before the call did
  return interrupted || stops.some((pattern) => pattern.test(text)) ? 'stopped' : 'failed';
}

/** Returns the user's reason for denying a call; "" if there is none. */
export const denialReason = (result: unknown): string => denialIn(result)?.groups?.reason?.trim() ?? '';
