import type { SessionEvent } from '../wire.gen';

/** A way to continue after a turn, as a button. */
export interface Choice {
  readonly title: string;
  readonly command: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The message of the end of a turn and its choices; undefined if the server offers none. */
export function choicesOf(
  event: SessionEvent,
  cwd: string,
  known: ReadonlySet<string>,
): { readonly message: string; readonly choices: readonly Choice[] } | undefined {
  if (event.type !== 'agent_end') {
    return undefined;
  }
  const choices = (event.actions ?? [])
    .filter(({ title, command }) => title && known.has(command))
    .map(({ title, command, arguments: args }) => ({ title, command, args: { ...args, cwd } }));
  return choices.length > 0 ? { message: event.errorMessage ?? '', choices } : undefined;
}
