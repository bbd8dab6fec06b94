import type { ServerError } from '../server/errors';
import { reasonOf } from '../chat/ways';
import type { CommandName } from '../wire.gen';

/** A remedy for an error, offered as a button. */
export type Remedy =
  | 'forkHere'
  | 'openThatFolder'
  | 'openInPlace'
  | 'checkFile'
  | 'install'
  | 'settings'
  | 'log'
  | 'restart'
  | 'trust'
  | 'chooseModel'
  | 'addKey'
  | 'tryAgain'
  | 'stopTurn'
  | 'waitForTurn'
  | 'overwrite'
  | 'addNumber'
  | 'takeTitle'
  | 'exportText';

/** How an error is shown: its buttons, and whether it is modal. */
export interface Handling {
  readonly remedies: readonly Remedy[];
  readonly modal: boolean;
  readonly severity: 'info' | 'warning' | 'error';
}

/** Reports whether an error comes from the engine, or offers one. No event of the server offers its ways to continue. */
export function isOfEngine(error: ServerError): boolean {
  const { actions } = error.data;
  const ofEngine = ['xcsh.login', 'xcsh.setEngine'];
  return (
    Array.isArray(actions) && actions.some((a: { command?: unknown } | null) => ofEngine.includes(String(a?.command)))
  );
}

/** Reports whether another program, or another window, has the session open. */
export function isHeldElsewhere(error: ServerError): boolean {
  return error.kind === 'busy' && error.data['pid'] !== undefined;
}

/** The remedies for an error of a command, or undefined if nothing is shown, such as if the user canceled. */
export function handlingOf(error: ServerError, command?: CommandName): Handling | undefined {
  switch (error.kind) {
    case 'cancelled':
      return undefined;
    case 'otherProject':
      return { remedies: ['forkHere', 'openThatFolder', 'openInPlace'], modal: true, severity: 'info' };
    case 'damaged':
      return warning(['checkFile']);
    case 'newerVersion':
      return warning(['forkHere']);
    case 'busy':
      // Only a prompt of this extension can be queued behind the current turn; if another program
      // holds the session, the error has its process id.
      if (isHeldElsewhere(error)) {
        return warning(['forkHere', 'tryAgain']);
      }
      if (error.data['owner'] !== undefined) {
        return warning(['tryAgain']); // another user writes the session
      }
      return warning(command === 'xcsh.prompt' ? ['waitForTurn', 'stopTurn'] : ['stopTurn']);
    case 'notPersistent':
      return warning(['settings']);
    case 'provider':
      if (reasonOf(error) !== undefined) {
        return { remedies: ['chooseModel', 'addKey'], modal: false, severity: 'warning' };
      }
      // A notification of its own offers the ways to continue.
      return Array.isArray(error.data['actions'])
        ? undefined
        : { remedies: ['chooseModel', 'log'], modal: false, severity: 'error' };
    case 'tooLarge':
      // The message names the command for a text of any size.
      return warning(command === 'xcsh.dump' || command === 'xcsh.transcript' ? ['exportText'] : []);
    case 'fileExists':
      return warning(command === 'xcsh.export' ? ['overwrite'] : []);
    case 'nameInUse':
      return warning(['addNumber', 'takeTitle']);
    case 'notFound':
    case 'denied':
    case 'stale':
    case 'outsideRoot':
    case 'limit':
    case 'offline':
      return warning([]);
    case 'refused':
      return warning(['settings']);
    case 'untrusted':
      return warning(['trust']);
    case 'noServer':
      return { remedies: ['install', 'restart', 'log'], modal: false, severity: 'error' };
    case 'ambiguous':
    case 'argumentNeeded':
    case 'invalidArgument':
      return { remedies: [], modal: false, severity: 'error' };
    default:
      return { remedies: ['log'], modal: false, severity: 'error' };
  }
}

function warning(remedies: readonly Remedy[]): Handling {
  return { remedies, modal: false, severity: 'warning' };
}
