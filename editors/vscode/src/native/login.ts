import * as path from 'node:path';

import type { LoginResult } from '../wire.gen';

/** The options of a terminal, a subset of VS Code's. */
export interface LoginTerminal {
  readonly name: string;
  readonly cwd: string;
  readonly shellPath: string;
  readonly shellArgs: string[];
  readonly env: Record<string, string>;
}

/**
 * Returns the terminal in which the user logs in to an engine; undefined if it has no command. The program runs
 * without a shell, and in the home directory: a login concerns the user, and nothing of a folder is read for it. Its
 * directory comes first in PATH, because editors that were started from a desktop have a short one, and the
 * interpreter of a script is usually beside it.
 */
export function loginTerminal(
  { engine, command }: Pick<LoginResult, 'engine' | 'command'>,
  title: (engine: string) => string,
  home: string,
  searched: string | undefined,
): LoginTerminal | undefined {
  const [program, ...args] = command ?? [];
  if (!program) {
    return undefined;
  }
  const own = path.isAbsolute(program) ? [path.dirname(program)] : [];
  const PATH = [...own, ...(searched ? [searched] : [])].join(path.delimiter);
  return { name: title(engine), cwd: home, shellPath: program, shellArgs: args, env: PATH ? { PATH } : {} };
}
