import * as path from 'node:path';
import * as vscode from 'vscode';

import { resolvePath } from '../chat/files';
import { best } from '../chat/rank';
import { contains } from '../folders';
import type { LocalFolder } from '../host';
import { findSymbols } from './places';
import { isSecret } from './secret';

/** Something that a prompt can refer to with @. The name of a folder ends with a slash. */
export interface Found {
  kind: 'file' | 'folder' | 'symbol';
  name: string;
  about: string; // where a symbol is
}

const maxFound = 50;
const maxListed = 20_000;
const listedForMs = 10_000;
const ignored = '**/{node_modules,.git,.hg,.svn,dist,out,build,target,.venv,__pycache__}/**';

/** Returns the folders that contain the files, each with a slash at its end. */
export function foldersOf(paths: readonly string[]): string[] {
  const all = new Set<string>();
  for (const file of paths) {
    for (let at = file.indexOf('/'); at >= 0; at = file.indexOf('/', at + 1)) {
      all.add(file.slice(0, at + 1));
    }
  }
  return [...all];
}

/** Finds the files, folders and symbols of a folder. A stale list is read again. */
export class ReferenceFinder {
  #listed: { cwd: string; at: number; names: Promise<string[]> } | undefined;

  /** Finds files and folders by a part of their path, and symbols by a part of their name after "symbol:". */
  async find(folder: LocalFolder, query: string): Promise<Found[]> {
    const symbol = /^symbol:(.*)$/.exec(query)?.[1];
    if (symbol !== undefined) {
      const found = symbol === '' ? [] : await findSymbols(folder.cwd, symbol);
      return found.slice(0, maxFound).map((s) => ({ kind: 'symbol', name: s.name, about: s.path }));
    }
    const names = await this.#list(folder);
    return best(query, names, maxFound).map((name) => ({
      kind: name.endsWith('/') ? 'folder' : 'file',
      name,
      about: '',
    }));
  }

  /** Returns those of the names that are files or folders. */
  async known(folder: LocalFolder, names: readonly string[]): Promise<string[]> {
    const exists = await Promise.all(
      names.map(async (name) => {
        const file = resolvePath(folder.cwd, name);
        const isOwn =
          file !== undefined && (contains(folder.cwd, file) || path.isAbsolute(name) || name.startsWith('~/'));
        if (!isOwn) return false;
        const stat = await Promise.resolve(vscode.workspace.fs.stat(vscode.Uri.file(file))).catch(() => undefined);
        return stat !== undefined;
      }),
    );
    return names.filter((_, i) => exists[i]);
  }

  #list(folder: LocalFolder): Promise<string[]> {
    const now = Date.now();
    if (this.#listed?.cwd !== folder.cwd || now - this.#listed.at > listedForMs) {
      const all = vscode.workspace.findFiles(new vscode.RelativePattern(folder.uri, '**/*'), ignored, maxListed);
      const names = Promise.resolve(all).then((uris) => {
        const files = uris
          .map((uri) => path.relative(folder.cwd, uri.fsPath).split(path.sep).join('/'))
          .filter((name) => !isSecret(name));
        return [...files, ...foldersOf(files)];
      });
      this.#listed = { cwd: folder.cwd, at: now, names };
    }
    return this.#listed.names;
  }
}
