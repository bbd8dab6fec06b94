import * as path from 'node:path';
import * as vscode from 'vscode';

import { contains } from '../folders';
import type { ContextAnswer, Part } from './answer';
import { problemsText, type Problem } from './problems';
import { isSecret } from './secret';
import { bestSymbols } from './symbols';

/** Returns the path of a file relative to a folder; undefined if it is outside, or usually contains credentials. */
export function ownPath(cwd: string, uri: vscode.Uri): string | undefined {
  if (uri.scheme !== 'file' || !contains(cwd, uri.fsPath)) {
    return undefined;
  }
  const name = path.relative(cwd, uri.fsPath).split(path.sep).join('/');
  return isSecret(name) ? undefined : name;
}

const partOf = ({ start, end }: vscode.Range): Part => ({
  start: { line: start.line, character: start.character },
  end: { line: end.line, character: end.character },
});

/** Returns the file of the editor that the user used last, or the selection in it. */
export function editorPlace(
  cwd: string,
  editor: vscode.TextEditor | undefined,
  kind: 'buffer' | 'selection',
): ContextAnswer {
  const label = editor && ownPath(cwd, editor.document.uri);
  if (!editor || label === undefined || (kind === 'selection' && editor.selection.isEmpty)) {
    return null;
  }
  const uri = editor.document.uri.toString();
  return kind === 'buffer' ? { uri, label } : { uri, range: partOf(editor.selection), label };
}

/** Lists the problems of the files in a folder. */
export function problemsIn(cwd: string): ContextAnswer {
  const problems: Problem[] = [];
  for (const [uri, diagnostics] of vscode.languages.getDiagnostics()) {
    const name = ownPath(cwd, uri);
    for (const { range, message, severity, source, code } of name === undefined ? [] : diagnostics) {
      const id = typeof code === 'object' ? code.value : code;
      problems.push({
        path: name!,
        line: range.start.line + 1,
        column: range.start.character + 1,
        severity,
        message,
        source: [source, id].filter((part) => part !== undefined && part !== '').join(' '),
      });
    }
  }
  const text = problemsText(problems);
  return text === undefined ? null : { text, label: vscode.l10n.t('Problems') };
}

/** Finds symbols of a folder by name, the best match first. */
export async function findSymbols(
  cwd: string,
  query: string,
): Promise<{ name: string; path: string; uri: vscode.Uri; range: vscode.Range }[]> {
  const found =
    (await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
      'vscode.executeWorkspaceSymbolProvider',
      query,
    )) ?? [];
  const own = found.flatMap(({ name, location }) => {
    const file = ownPath(cwd, location.uri);
    return file === undefined ? [] : [{ name, path: file, uri: location.uri, range: location.range }];
  });
  return bestSymbols(query, own);
}

/** Returns the definition of a symbol. */
export async function symbolPlace(cwd: string, query: string): Promise<ContextAnswer> {
  const [best] = query.trim() === '' ? [] : await findSymbols(cwd, query.trim());
  if (!best) {
    return null;
  }
  const whole = (await wholeSymbol(best.uri, best.name, best.range)) ?? best.range;
  return { uri: best.uri.toString(), range: partOf(whole), label: best.name };
}

/** Returns the range of a whole symbol, because a search can return only the range of its name. */
async function wholeSymbol(uri: vscode.Uri, name: string, at: vscode.Range): Promise<vscode.Range | undefined> {
  const outline =
    (await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(
      'vscode.executeDocumentSymbolProvider',
      uri,
    )) ?? [];
  let found: vscode.Range | undefined;
  const look = (symbols: readonly vscode.DocumentSymbol[]): void => {
    for (const symbol of symbols) {
      if (!symbol.range.contains(at.start)) continue;
      if (symbol.name === name || symbol.name.endsWith(`.${name}`)) found = symbol.range;
      look(symbol.children ?? []);
    }
  };
  look(outline);
  return found;
}
