import { lstat } from 'node:fs/promises';
import * as path from 'node:path';

import { contains, innermost } from '../folders';
import { resolvePath } from './files';

/**
 * Reports for each path that a text mentions whether it is a file in a workspace folder. A model or a repository chose the
 * paths: nothing outside the folders is accessed, and no symbolic link is followed.
 */
export async function mentionedFiles(
  cwd: string,
  roots: readonly string[],
  paths: readonly string[],
): Promise<boolean[]> {
  const folders = roots.map((root) => ({ cwd: root }));
  const directories = new Map<string, Promise<boolean>>();
  const isDirectory = (dir: string, root: string): Promise<boolean> => {
    const known = directories.get(dir) ?? inner(dir, root);
    directories.set(dir, known);
    return known;
  };
  const inner = async (dir: string, root: string): Promise<boolean> =>
    dir === root || ((await isDirectory(path.dirname(dir), root)) && (await kindOf(dir)) === 'directory');
  const isFile = async (text: string): Promise<boolean> => {
    const file = resolvePath(cwd, text);
    const root = file === undefined ? undefined : innermost(folders, file)?.cwd;
    if (file === undefined || root === undefined || !contains(root, file) || path.relative(root, file) === '') {
      return false;
    }
    return (await isDirectory(path.dirname(file), path.resolve(root))) && (await kindOf(file)) === 'file';
  };
  return Promise.all(paths.map((text) => isFile(text).catch(() => false)));
}

async function kindOf(file: string): Promise<'file' | 'directory' | undefined> {
  try {
    const state = await lstat(file);
    if (state.isFile()) {
      return 'file';
    }
    return state.isDirectory() ? 'directory' : undefined;
  } catch {
    return undefined;
  }
}
