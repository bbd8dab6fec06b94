import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import type { LocalFolder } from '../host';
import type { Attachment, Spot } from './messages';
import { best } from './rank';

const maxFound = 50;
const maxListed = 20_000;
const listedForMs = 10_000;
const ignored = '**/{node_modules,.git,.hg,.svn,dist,out,build,target,.venv,__pycache__}/**';

/** Returns a file as an attachment, with its label and its URI. */
export function attachmentOf(uri: vscode.Uri, folder: LocalFolder | undefined, range?: vscode.Range): Attachment {
  const relative = folder ? path.relative(folder.cwd, uri.fsPath) : uri.fsPath;
  const name = relative.startsWith('..') ? path.basename(uri.fsPath) : relative.split(path.sep).join('/');
  return { uri: uri.toString(), name, ...(range && !range.isEmpty ? { range: placesOf(range) } : {}) };
}

function placesOf(range: vscode.Range): NonNullable<Attachment['range']> {
  const place = (p: vscode.Position): { line: number; character: number } => ({ line: p.line, character: p.character });
  return { start: place(range.start), end: place(range.end) };
}

/** Returns the file of the active or last active editor, with its selection. */
export function editorFile(
  editor: vscode.TextEditor | undefined,
  folder: LocalFolder | undefined,
): Attachment | undefined {
  if (
    editor?.document.uri.scheme !== 'file' ||
    !folder ||
    path.relative(folder.cwd, editor.document.uri.fsPath).startsWith('..')
  ) {
    return undefined;
  }
  return attachmentOf(editor.document.uri, folder, editor.selection);
}

/** Lets the user select files to attach. */
export async function pickFiles(folder: LocalFolder | undefined): Promise<Attachment[]> {
  const picked = await vscode.window.showOpenDialog({
    canSelectMany: true,
    openLabel: vscode.l10n.t('Attach'),
    ...(folder ? { defaultUri: folder.uri } : {}),
  });
  return (picked ?? []).map((uri) => attachmentOf(uri, folder));
}

/** Finds files of a folder by a part of their path. A stale list is read again. */
export class FileFinder {
  #listed: { cwd: string; at: number; paths: Promise<string[]> } | undefined;

  async find(folder: LocalFolder, query: string): Promise<Attachment[]> {
    const paths = await this.#list(folder);
    return best(query, paths, maxFound).map((name) => ({
      uri: vscode.Uri.joinPath(folder.uri, name).toString(),
      name,
    }));
  }

  #list(folder: LocalFolder): Promise<string[]> {
    const now = Date.now();
    if (this.#listed?.cwd !== folder.cwd || now - this.#listed.at > listedForMs) {
      const all = vscode.workspace.findFiles(new vscode.RelativePattern(folder.uri, '**/*'), ignored, maxListed);
      const paths = Promise.resolve(all).then((uris) =>
        uris.map((uri) => path.relative(folder.cwd, uri.fsPath).split(path.sep).join('/')),
      );
      this.#listed = { cwd: folder.cwd, at: now, paths };
    }
    return this.#listed.paths;
  }
}

/** Resolves a path that a text mentions; undefined if it is on another machine. */
export function resolvePath(cwd: string, text: string): string | undefined {
  const home = text === '~' || text.startsWith('~/') ? path.join(os.homedir(), text.slice(1)) : text;
  const file = path.resolve(cwd, home);
  return /^[\\/]{2}/.test(text) || /^[\\/]{2}/.test(file) ? undefined : file;
}

/** Opens a file that the conversation mentions, at a place or with its lines selected. */
export async function openFile(cwd: string, text: string, spot: Partial<Spot> = {}): Promise<void> {
  const file = resolvePath(cwd, text);
  const uri = file === undefined ? undefined : vscode.Uri.file(file);
  const stat = uri && (await Promise.resolve(vscode.workspace.fs.stat(uri)).catch(() => undefined));
  if (!uri || !stat) {
    void vscode.window.showWarningMessage(vscode.l10n.t("Couldn't find {0}.", text));
    return;
  }
  if (stat.type & vscode.FileType.Directory) {
    await vscode.commands.executeCommand('revealInExplorer', uri);
    return;
  }
  const at = rangeOf(spot);
  await vscode.commands.executeCommand('vscode.open', uri, { preview: true, ...(at ? { selection: at } : {}) });
}

/** Returns a place as a range: several lines, or a position. The editor limits it to the document. */
function rangeOf({ line, column, endLine }: Partial<Spot>): vscode.Range | undefined {
  if (!line) {
    return undefined;
  }
  const start = new vscode.Position(line - 1, column ? column - 1 : 0);
  return new vscode.Range(start, endLine && endLine > line ? new vscode.Position(endLine, 0) : start);
}
