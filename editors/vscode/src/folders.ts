import * as path from 'node:path';

/** Returns the innermost of the directories that contain the file. */
export function innermost<T extends { readonly cwd: string }>(folders: readonly T[], file: string): T | undefined {
  return folders.filter((folder) => contains(folder.cwd, file)).sort((a, b) => b.cwd.length - a.cwd.length)[0];
}

/** Reports whether the file is the directory itself or below it. */
export function contains(dir: string, file: string): boolean {
  const rest = path.relative(dir, file);
  return rest === '' || (rest !== '..' && !rest.startsWith('..' + path.sep) && !path.isAbsolute(rest));
}

/** Reports whether both paths name the same directory, whatever their spelling. */
export function sameDirectory(a: string, b: string): boolean {
  return path.relative(a, b) === '';
}

/** Returns a path for display, with the home directory as "~". */
export function shortPath(file: string, home: string): string {
  return home !== '' && contains(home, file) ? path.join('~', path.relative(home, file)) : file;
}
