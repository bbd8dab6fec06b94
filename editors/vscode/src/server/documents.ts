import * as vscode from 'vscode';
import type { LanguageClientOptions, Middleware } from 'vscode-languageclient/node';
import { DidOpenTextDocumentNotification, type BaseLanguageClient } from 'vscode-languageclient/node';

/** Every file; which of them the server is told of is decided one by one. */
export const documentSelector: LanguageClientOptions['documentSelector'] = [{ scheme: 'file' }];

/**
 * Keeps the server to the documents that are its business: those of the workspace
 * folders, whose unsaved text the tools must see, and session files. Settings and other
 * files that happen to be open stay here.
 */
export class Documents implements vscode.Disposable {
  readonly #told = new Set<string>();
  readonly #subscription: vscode.Disposable;
  #client: BaseLanguageClient | undefined;

  constructor() {
    // A folder that is added may have had open documents all along.
    this.#subscription = vscode.workspace.onDidChangeWorkspaceFolders(() => this.#tellOfMore());
  }

  /** The client that the documents are told to from now on; it knows of none yet. */
  attach(client: BaseLanguageClient): void {
    this.#told.clear();
    this.#client = client;
  }

  readonly middleware: Middleware = {
    didOpen: async (document, next) => {
      if (concerns(document)) {
        this.#told.add(document.uri.toString());
        await next(document);
      }
    },
    didChange: async (event, next) => {
      if (this.#told.has(event.document.uri.toString())) {
        await next(event);
      }
    },
    didSave: async (document, next) => {
      if (this.#told.has(document.uri.toString())) {
        await next(document);
      }
    },
    didClose: async (document, next) => {
      if (this.#told.delete(document.uri.toString())) {
        await next(document);
      }
    },
    provideCodeActions: (document, range, context, token, next) =>
      concerns(document) && vscode.workspace.isTrusted ? next(document, range, context, token) : [],
    provideDocumentLinks: (document, token, next) => (isSession(document) ? next(document, token) : []),
    provideDocumentSymbols: (document, token, next) => (isSession(document) ? next(document, token) : []),
    provideFoldingRanges: (document, context, token, next) =>
      isSession(document) ? next(document, context, token) : undefined,
    provideHover: (document, position, token, next) =>
      isSession(document) ? next(document, position, token) : undefined,
    provideCodeLenses: (document, token, next) => (isSession(document) ? next(document, token) : []),
  };

  #tellOfMore(): void {
    const client = this.#client;
    if (!client?.isRunning()) {
      return;
    }
    for (const document of vscode.workspace.textDocuments) {
      const uri = document.uri.toString();
      if (document.uri.scheme === 'file' && concerns(document) && !this.#told.has(uri)) {
        this.#told.add(uri);
        void client.sendNotification(
          DidOpenTextDocumentNotification.type,
          client.code2ProtocolConverter.asOpenTextDocumentParams(document),
        );
      }
    }
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

function concerns(document: vscode.TextDocument): boolean {
  return isSession(document) || vscode.workspace.getWorkspaceFolder(document.uri) !== undefined;
}

function isSession(document: vscode.TextDocument): boolean {
  return document.uri.path.endsWith('.jsonl');
}
