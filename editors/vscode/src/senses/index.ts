import * as vscode from 'vscode';

import { ownPath } from '../context/places';
import { endLook, look } from '../server/looked';
import type {
  ContextParams,
  EditorCodeAction,
  EditorDiagnosticsParams,
  EditorDiagnosticsResult,
  EditorDocumentDiagnostics,
  EditorFolderParams,
  EditorLocation,
  EditorPosition,
  EditorSymbol,
  OpenEditor,
  RequestMap,
} from '../wire.gen';
import type { ContextAnswer } from '../context/answer';
import { codeActionOf, diagnosticOf, hoverText, locationOf, symbolOf, workspaceEditOf } from './convert';
import type { SenseRequest } from './requests';
import { Settling } from './settling';

type Params<R extends SenseRequest> = RequestMap[`xcsh/editor/${R}`]['params'];

const maxDocuments = 50;
const maxResolved = 50;

/** A document that was just opened may have no providers yet: the extensions of its language are starting. */
const startingMs = 8000;
const retryMs = 300;

const providers = {
  definition: 'vscode.executeDefinitionProvider',
  typeDefinition: 'vscode.executeTypeDefinitionProvider',
  implementation: 'vscode.executeImplementationProvider',
  references: 'vscode.executeReferenceProvider',
} as const;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Answers the server's requests about code, with what the extensions of languages know. It changes nothing. */
export class EditorSenses implements vscode.Disposable {
  readonly #settling = new Settling();

  constructor(private readonly context: (params: ContextParams) => Promise<ContextAnswer>) {}

  /** Answers the request xcsh/editor/NAME. */
  answer(request: SenseRequest, params: unknown): Promise<unknown> {
    if (!vscode.workspace.isTrusted) {
      return Promise.resolve(request === 'diagnostics' ? { documents: [] } : null);
    }
    switch (request) {
      case 'diagnostics':
        return this.#diagnostics(params as EditorDiagnosticsParams);
      case 'definition':
      case 'typeDefinition':
      case 'implementation':
      case 'references':
        return this.#places(request, params as Params<'definition'>);
      case 'hover':
        return this.#hover(params as Params<'hover'>);
      case 'symbols':
        return this.#symbols(params as Params<'symbols'>);
      case 'rename':
        return this.#rename(params as Params<'rename'>);
      case 'codeActions':
        return this.#codeActions(params as Params<'codeActions'>);
      case 'editors':
        return Promise.resolve(openEditors(params as EditorFolderParams));
      case 'selection':
        return this.#selection(params as EditorFolderParams);
    }
  }

  async #diagnostics({ uris, settleMs }: EditorDiagnosticsParams): Promise<EditorDiagnosticsResult> {
    if (!uris || uris.length === 0) {
      const all = vscode.languages.getDiagnostics().filter(([uri]) => uri.scheme === 'file');
      return { documents: all.map(([uri, items]) => ({ uri: uri.toString(), items: items.map(diagnosticOf) })) };
    }
    const deadline = Date.now() + Math.min(Math.max(Number(settleMs) || 0, 0), 10_000);
    const documents = await Promise.all(uris.slice(0, maxDocuments).map((uri) => this.#document(uri, deadline)));
    return { documents: documents.filter((d) => d !== undefined) };
  }

  /** Returns the problems of a file, undefined for one that cannot be opened. */
  async #document(asked: string, deadline: number): Promise<EditorDocumentDiagnostics | undefined> {
    try {
      const { document } = await open(asked);
      if (Date.now() < deadline) {
        await this.#settling.settle(document, deadline);
      }
      return {
        uri: asked,
        version: document.version,
        ...(this.#settling.isStale(document.uri.toString()) ? { stale: true } : {}),
        items: vscode.languages.getDiagnostics(document.uri).map(diagnosticOf),
      };
    } catch {
      return undefined;
    }
  }

  async #places(request: keyof typeof providers, { uri, position }: Params<'definition'>): Promise<EditorLocation[]> {
    const found = await ask<(vscode.Location | vscode.LocationLink)[]>(uri, (file) => [
      providers[request],
      file,
      at(position),
    ]);
    return (found ?? []).map(locationOf);
  }

  async #hover({ uri, position }: Params<'hover'>): Promise<RequestMap['xcsh/editor/hover']['result']> {
    const found = await ask<vscode.Hover[]>(uri, (file) => ['vscode.executeHoverProvider', file, at(position)]);
    const value = hoverText(found ?? []);
    return value === '' ? null : { kind: 'markdown', value };
  }

  async #symbols({ uri, query }: Params<'symbols'>): Promise<EditorSymbol[]> {
    const found =
      uri === undefined || uri === ''
        ? await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
            'vscode.executeWorkspaceSymbolProvider',
            query ?? '',
          )
        : await ask<(vscode.DocumentSymbol | vscode.SymbolInformation)[]>(uri, (file) => [
            'vscode.executeDocumentSymbolProvider',
            file,
          ]);
    return (found ?? []).map(symbolOf);
  }

  async #rename({ uri, position, newName }: Params<'rename'>): Promise<RequestMap['xcsh/editor/rename']['result']> {
    const found = await ask<vscode.WorkspaceEdit>(uri, (file) => [
      'vscode.executeDocumentRenameProvider',
      file,
      at(position),
      newName,
    ]);
    return found ? workspaceEditOf(found) : null;
  }

  async #codeActions({ uri, range, only }: Params<'codeActions'>): Promise<EditorCodeAction[]> {
    const part = new vscode.Range(at(range.start), at(range.end));
    const found = await ask<(vscode.CodeAction | vscode.Command)[]>(uri, (file) => [
      'vscode.executeCodeActionProvider',
      file,
      part,
      only?.[0],
      maxResolved,
    ]);
    return (found ?? []).map(codeActionOf);
  }

  async #selection({ cwd }: EditorFolderParams): Promise<EditorLocation | null> {
    const found = await this.context({ cwd, kind: 'selection' });
    return found && 'uri' in found && found.range ? { uri: found.uri, range: found.range } : null;
  }

  dispose(): void {
    this.#settling.dispose();
  }
}

const at = ({ line, character }: EditorPosition): vscode.Position => new vscode.Position(line, character);

/** Opens a document without showing it. isNew says that it was not open before. */
async function open(asked: string): Promise<{ document: vscode.TextDocument; isNew: boolean }> {
  const uri = vscode.Uri.parse(asked, true);
  if (uri.scheme !== 'file') {
    throw new Error(`${asked} is not a file.`);
  }
  const known = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
  if (known) {
    return { document: known, isNew: false };
  }
  look(uri);
  try {
    return { document: await vscode.workspace.openTextDocument(uri), isNew: true };
  } catch (error) {
    endLook(uri);
    throw error;
  }
}

/**
 * Runs a command that asks providers about a file. Until the extensions of its language have started, which the symbols of
 * the file show, an answer without content is asked for again.
 */
async function ask<T>(uri: string, command: (file: vscode.Uri) => [string, ...unknown[]]): Promise<T | undefined> {
  const { document, isNew } = await open(uri);
  const until = isNew ? Date.now() + startingMs : 0;
  for (let isStarted = !isNew; ;) {
    const isLast = isStarted || Date.now() >= until;
    let found: T | undefined;
    try {
      found = await vscode.commands.executeCommand<T | undefined>(...command(document.uri));
    } catch (error) {
      if (isLast) throw error;
    }
    if (isLast || !isEmpty(found)) {
      return found;
    }
    const symbols = vscode.commands.executeCommand<unknown[]>('vscode.executeDocumentSymbolProvider', document.uri);
    isStarted = !isEmpty(await Promise.resolve(symbols).catch(() => []));
    if (!isStarted) await pause(retryMs);
  }
}

/** Lists the open files of a folder. */
function openEditors({ cwd }: EditorFolderParams): OpenEditor[] {
  const found = new Map<string, OpenEditor>();
  const active = vscode.window.activeTextEditor?.document.uri.toString();
  const visible = vscode.window.visibleTextEditors.map((editor) => editor.document.uri.toString());
  for (const tab of vscode.window.tabGroups.all.flatMap((group) => group.tabs)) {
    const uri = tab.input instanceof vscode.TabInputText ? tab.input.uri : undefined;
    if (uri === undefined || ownPath(cwd, uri) === undefined) {
      continue;
    }
    const name = uri.toString();
    const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === name);
    found.set(name, {
      uri: name,
      ...(document ? { languageId: document.languageId } : {}),
      ...(name === active ? { active: true } : {}),
      ...(visible.includes(name) ? { visible: true } : {}),
      ...(tab.isDirty ? { dirty: true } : {}),
    });
  }
  return [...found.values()];
}
