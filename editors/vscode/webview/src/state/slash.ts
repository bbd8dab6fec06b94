// The /command at the beginning of the prompt, while it is being typed.

import { list, obj, str } from './wire';

/** A command of the server, or of the engine. */
export interface SlashCommand {
  name: string; // without the slash
  description: string;
  hint: string; // what its arguments are; "" if it has none
}

const maxCommands = 2000;
const maxName = 200; // characters
const maxDescription = 300; // characters
const maxShown = 50;

/** Returns the name that ends at the cursor, undefined if the text does not begin with a command there. */
export function slashAt(text: string, cursor: number): string | undefined {
  const m = /^\/([^\s/]{0,200})$/.exec(text.slice(0, cursor));
  return m ? m[1] : undefined;
}

/** Reads the result of xcsh.commands. Names that cannot be typed as one word are dropped. */
export function commandsOf(v: unknown): SlashCommand[] {
  return list(obj(v).commands)
    .slice(0, maxCommands)
    .map(obj)
    .map((c) => ({
      name: str(c.name),
      description: oneLine(c.description),
      hint: oneLine(c.argumentHint),
    }))
    .filter((c) => c.name !== '' && c.name.length <= maxName && !/[\s/\p{Cc}]/u.test(c.name));
}

const oneLine = (v: unknown) => str(v).replace(/\s+/g, ' ').trim().slice(0, maxDescription);

/** Returns the commands whose names match, those that begin with the query first. */
export function matching(commands: readonly SlashCommand[], query: string): SlashCommand[] {
  const wanted = query.toLowerCase();
  const place = (c: SlashCommand) => c.name.toLowerCase().indexOf(wanted);
  return commands
    .filter((c) => place(c) >= 0)
    .map((c) => ({ c, begins: place(c) === 0 }))
    .sort((a, b) => Number(b.begins) - Number(a.begins) || a.c.name.localeCompare(b.c.name))
    .slice(0, maxShown)
    .map(({ c }) => c);
}

/** Returns the text with the command completed, and the new cursor position. */
export function completeCommand(text: string, cursor: number, name: string): { text: string; cursor: number } {
  const head = `/${name} `;
  return { text: head + text.slice(cursor).replace(/^\S*[ ]?/, ''), cursor: head.length };
}
