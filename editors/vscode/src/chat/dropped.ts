import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { contains } from '../folders';
import type { LocalFolder } from '../host';
import { attachmentOf } from './files';
import type { Attachment } from './messages';
import { written } from './written';

const maxDropped = 50;
const keptForMs = 7 * 24 * 60 * 60_000;

/** The parts of a drop on the page: files to attach, and references to folders for the text. */
export interface Dropped {
  attachments: Attachment[];
  references: string[];
}

/** Returns the local form of a URI. In a remote window, the explorer names files of the machine on which this runs. */
function localUri(text: string): vscode.Uri | undefined {
  try {
    const uri = vscode.Uri.parse(text, true);
    if (uri.scheme === 'vscode-remote') {
      return uri.with({ scheme: 'file', authority: '' });
    }
    return uri.scheme === 'file' && uri.authority === '' ? uri : undefined;
  } catch {
    return undefined;
  }
}

/** Sorts dropped files and folders. A folder outside of the session's cannot be referred to. */
export async function droppedOf(uris: readonly string[], folder: LocalFolder | undefined): Promise<Dropped> {
  const dropped: Dropped = { attachments: [], references: [] };
  for (const text of uris.slice(0, maxDropped)) {
    const uri = localUri(text);
    const found = uri && (await Promise.resolve(vscode.workspace.fs.stat(uri)).catch(() => undefined));
    if (!uri || !found) continue;
    if (!(found.type & vscode.FileType.Directory)) {
      dropped.attachments.push(attachmentOf(uri, folder));
    } else if (folder && contains(folder.cwd, uri.fsPath)) {
      const name = path.relative(folder.cwd, uri.fsPath).split(path.sep).join('/');
      dropped.references.push(written(name === '' ? './' : `${name}/`));
    } else {
      dropped.references.push(written(uri.fsPath + path.sep));
    }
  }
  return dropped;
}

/** Returns a name that is safe on every system. */
export function safeName(name: string): string {
  const base = name.split(/[\\/]/).at(-1) ?? '';

  const safe = base.replace(/[\u0000-\u001f<>:"|?*\u007f]/g, '_').replace(/^\.+|[. ]+$/g, '');
  return [...safe].slice(0, 100).join('') || 'file';
}

/**
 * Keeps the content of a file that was dropped from outside of the editor, because the page does not get its path. The
 * directory has the name of the content, so that a file that is dropped again is the same one. Old ones are removed.
 */
export async function keepDropped(storage: string, name: string, data: string): Promise<vscode.Uri> {
  const root = path.join(storage, 'dropped');
  await removeOld(root);
  const content = Buffer.from(data, 'base64');
  const dir = path.join(root, createHash('sha256').update(content).digest('hex').slice(0, 16));
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = path.join(dir, safeName(name));
  await writeFile(file, content, { mode: 0o600 });
  return vscode.Uri.file(file);
}

async function removeOld(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const dir = path.join(root, name);
    const found = await stat(dir).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > keptForMs) {
      await rm(dir, { recursive: true, force: true });
    }
  }
}
