import { realpath } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { contains } from '../folders';
import type { ApprovalDiffs } from './approvalDiffs';
import { resolvePath } from './files';
import type { CodeBlock } from './messages';
import { patched } from './patch';
import { placed, type Selected } from './placing';

let diffs: ApprovalDiffs | undefined;

/** Sets where changes from blocks of code are reviewed. */
export function reviewCodeIn(place: ApprovalDiffs): void {
  diffs = place;
}

/** Returns the editor that the user worked in. A page in an editor tab has no active editor beside it. */
function currentEditor(): vscode.TextEditor | undefined {
  const { activeTextEditor, visibleTextEditors } = vscode.window;
  const files = visibleTextEditors.filter(({ document }) => ['file', 'untitled'].includes(document.uri.scheme));
  return activeTextEditor ?? (files.length === 1 ? files[0] : undefined);
}

/** Inserts code at the cursor, or in place of the selection. */
export async function insertCode(code: string): Promise<void> {
  const editor = currentEditor();
  if (!editor) {
    void vscode.window.showInformationMessage(vscode.l10n.t('Open a file first: there is no cursor to insert at.'));
    return;
  }
  const { document } = editor;
  const done = await editor.edit((edit) => {
    for (const selection of editor.selections) {
      edit.replace(selection, code);
    }
  });
  if (!done) {
    const name = path.basename(document.fileName);
    void vscode.window.showWarningMessage(vscode.l10n.t("Couldn't insert the code: {0} is read-only.", name));
    return;
  }
  await vscode.window.showTextDocument(document, editor.viewColumn);
}

/** The file of a block of code. A new one has a document without text, which is not saved. */
interface Target {
  readonly document: vscode.TextDocument;
  readonly isNew: boolean;
  readonly selected?: Selected;
}

/** Shows the change that a block of code makes to its file. It is made only if the user accepts it there. */
export async function applyCode(cwd: string, block: CodeBlock): Promise<void> {
  const target = await targetOf(cwd, block);
  if (typeof target === 'string') {
    void vscode.window.showInformationMessage(target);
    return;
  }
  const { document, isNew } = target;
  const version = document.version;
  const name = vscode.workspace.asRelativePath(document.uri.fsPath, false);
  const sides = (): readonly [string, string] | undefined => {
    // A selection is of the text that the user saw.
    const now = target.selected && document.version !== version ? undefined : changedText(document, block, target);
    return now === undefined ? undefined : [document.getText(), now];
  };
  const first = sides();
  if (!first) {
    void vscode.window.showInformationMessage(
      vscode.l10n.t('Select the lines of {0} that the code replaces: their place is not clear.', name),
    );
    return;
  }
  if (first[0] === first[1]) {
    void vscode.window.showInformationMessage(vscode.l10n.t('{0} already contains this code.', name));
    return;
  }
  if (controls(name)) {
    void vscode.window.showWarningMessage(vscode.l10n.t('Changes protected files: {0}.', name));
  }
  const accepted = await diffs?.review(document.uri.fsPath, ...first);
  if (accepted) {
    await make(document, isNew, sides(), name);
  }
}

/** Files that make other programs do something. */
const controls = (name: string): boolean => /(?:^|[\\/])\.[^\\/]+[\\/]|(?:^|[\\/])\.[^\\/]+$/.test(name);

function changedText(document: vscode.TextDocument, block: CodeBlock, target: Target): string | undefined {
  const text = document.getText();
  if (isDiff(block)) {
    return patched(text, block.code + '\n');
  }
  return target.isNew ? block.code + '\n' : placed(text, block.code, target.selected);
}

const isDiff = ({ language, code }: CodeBlock): boolean =>
  ['diff', 'patch'].includes(language) && /^@@ -\d/m.test(code);

/** Returns the file that a block names, else that of the current editor; a sentence if there is none. */
async function targetOf(cwd: string, block: CodeBlock): Promise<Target | string> {
  const editor = currentEditor();
  const header = isDiff(block) ? /^\+\+\+ (?:b\/)?([^\t\n]+)/m.exec(block.code)?.[1] : undefined;
  const named = header ?? block.path;
  if (named !== '' && named !== '/dev/null') {
    const found = await fileOf(cwd, named, header !== undefined || block.fromFence);
    if (found) {
      return typeof found === 'string' ? found : withSelection(found, editor);
    }
  }
  if (!editor || editor.document.uri.scheme !== 'file') {
    return vscode.l10n.t('Open the file that the code belongs to: the answer names none.');
  }
  return withSelection({ document: editor.document, isNew: false }, editor);
}

function withSelection(target: Target, editor: vscode.TextEditor | undefined): Target {
  const { document } = target;
  if (editor?.document !== document || editor.selection.isEmpty) {
    return target;
  }
  const { start, end } = editor.selection;
  return { ...target, selected: { start: document.offsetAt(start), end: document.offsetAt(end) } };
}

/** Returns a file of the workspace by its name; undefined if there is none, a sentence if it may not be changed. */
async function fileOf(cwd: string, name: string, mayBeNew: boolean): Promise<Target | string | undefined> {
  const file = resolvePath(cwd, name);
  const uri = file === undefined ? undefined : vscode.Uri.file(file);
  if (!file || !uri || !(await isWithin(file))) {
    return vscode.l10n.t("{0} is not in a workspace folder, so the code can't be applied to it.", name);
  }
  if (await Promise.resolve(vscode.workspace.fs.stat(uri)).catch(() => undefined)) {
    try {
      return { document: await vscode.workspace.openTextDocument(uri), isNew: false };
    } catch {
      return vscode.l10n.t("{0} is not a text file, so the code can't be applied to it.", name);
    }
  }
  if (!mayBeNew) {
    return undefined;
  }
  return { document: await vscode.workspace.openTextDocument(uri.with({ scheme: 'untitled' })), isNew: true };
}

/** Reports whether a path is in a workspace folder, also after its links are followed, and outside of .git. */
async function isWithin(file: string): Promise<boolean> {
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri).filter((u) => u.scheme === 'file');
  const root = folders.map((u) => u.fsPath).find((dir) => contains(dir, file));
  if (root === undefined) {
    return false;
  }
  let existing = file;
  while (existing !== root && !(await realpath(existing).catch(() => undefined))) {
    existing = path.dirname(existing);
  }
  const [dir, real] = await Promise.all([realpath(root), realpath(existing)]).catch(() => ['', '']);
  const inside = dir !== '' && contains(dir!, real!);
  return inside && ![file, real!].some((f) => f.split(path.sep).some((part) => part.toLowerCase() === '.git'));
}

/** Returns the parts in which two texts differ, by offsets. */
function difference(before: string, after: string): { start: number; end: number; text: string } {
  let start = 0;
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < shorter - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) };
}

/** Makes an accepted change: in the editor's text, which the user saves, or as a new file. */
async function make(
  document: vscode.TextDocument,
  isNew: boolean,
  sides: readonly [string, string] | undefined,
  name: string,
): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  const uri = isNew ? document.uri.with({ scheme: 'file' }) : document.uri;
  if (sides && isNew) {
    edit.createFile(uri, { contents: Buffer.from(sides[1]), overwrite: false });
  } else if (sides) {
    const { start, end, text } = difference(...sides);
    edit.replace(uri, new vscode.Range(document.positionAt(start), document.positionAt(end)), text);
  }
  if (!sides || !(await vscode.workspace.applyEdit(edit))) {
    void vscode.window.showWarningMessage(vscode.l10n.t("Couldn't apply the change: {0} has been edited since.", name));
    return;
  }
  await vscode.window.showTextDocument(uri, { preview: false });
}
