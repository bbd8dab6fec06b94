import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import type { LocalFolder } from '../host';
import type { Attachment, Spot } from './messages';

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
