import { commands } from './commands.gen';

const needTrust: ReadonlySet<string> = new Set(commands.filter((c) => c.needsTrust).map((c) => c.name));

/** Reports whether a command of the server may run in a workspace that the user has not trusted. */
export function allowedInRestrictedMode(command: string): boolean {
  return !needTrust.has(command);
}
