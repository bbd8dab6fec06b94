import * as path from 'node:path';

/** The innermost of the directories that the file is in. */
export function innermost<T extends { readonly cwd: string }>(folders: readonly T[], file: string): T | undefined {
  return folders.filter((folder) => contains(folder.cwd, file)).sort((a, b) => b.cwd.length - a.cwd.length)[0];
}

/** The file is the directory or below it. */
export function contains(dir: string, file: string): boolean {
  const rest = path.relative(dir, file);
  return rest === '' || (rest !== '..' && !rest.startsWith('..' + path.sep) && !path.isAbsolute(rest));
}

/** Both are the same directory, however they are spelt. */
export function sameDirectory(a: string, b: string): boolean {
  return path.relative(a, b) === '';
}

/** A path with the home directory as "~", for people. */
export function shortPath(file: string, home: string): string {
  return home !== '' && contains(home, file) ? path.join('~', path.relative(home, file)) : file;
}
