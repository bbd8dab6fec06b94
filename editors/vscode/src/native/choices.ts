import type { Action, SessionEvent } from '../wire.gen';

/** A way to continue after a turn, as a button. */
export interface Choice {
  readonly title: string;
  readonly command: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The message of the end of a turn, or of a failed engine, and its choices; undefined if the server offers none. */
export function choicesOf(
  event: SessionEvent,
  cwd: string,
  known: ReadonlySet<string>,
): { readonly message: string; readonly choices: readonly Choice[] } | undefined {
  if (event.type === 'engine_changed') {
    return event.state === 'failed' ? choicesIn(event.message ?? '', event.actions, cwd, known) : undefined;
  }
  return event.type === 'agent_end' ? choicesIn(event.errorMessage ?? '', event.actions, cwd, known) : undefined;
}

/** Returns the choices of a failure whose commands exist; undefined if there are none. */
export function choicesIn(
  message: string,
  actions: unknown,
  cwd: string,
  known: ReadonlySet<string>,
): { readonly message: string; readonly choices: readonly Choice[] } | undefined {
  const choices = (Array.isArray(actions) ? (actions as (Action | null)[]) : [])
    .filter((a): a is Action => Boolean(a?.title) && known.has(a?.command ?? ''))
    .map(({ title, command, arguments: args }) => ({ title, command, args: { ...args, cwd } }));
  return choices.length > 0 ? { message, choices } : undefined;
}
