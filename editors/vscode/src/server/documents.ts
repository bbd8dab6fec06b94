import * as vscode from 'vscode';
import type { LanguageClientOptions, Middleware } from 'vscode-languageclient/node';
import { DidOpenTextDocumentNotification, type BaseLanguageClient } from 'vscode-languageclient/node';

/** Selects every file. Which of them are sent to the server is decided for each file. */
export const documentSelector: LanguageClientOptions['documentSelector'] = [{ scheme: 'file' }];

/**
 * Limits the documents that the server receives: those of the workspace folders, whose unsaved text
 * the tools must see, and session files. Settings and other open files are not sent.
 */
export class Documents implements vscode.Disposable {
  readonly #announced = new Set<string>();
  readonly #subscription: vscode.Disposable;
  #client: BaseLanguageClient | undefined;

  constructor() {
    // An added folder can have documents that are already open.
    this.#subscription = vscode.workspace.onDidChangeWorkspaceFolders(() => this.#tellOfMore());
  }

  /** Sets the client that receives document notifications from now on. It has received none yet. */
  attach(client: BaseLanguageClient): void {
    this.#announced.clear();
    this.#client = client;
  }

  readonly middleware: Middleware = {
    didOpen: async (document, next) => {
      if (concerns(document)) {
        this.#announced.add(document.uri.toString());
        await next(document);
      }
    },
    didChange: async (event, next) => {
      if (this.#announced.has(event.document.uri.toString())) {
        await next(event);
      }
    },
    didSave: async (document, next) => {
      if (this.#announced.has(document.uri.toString())) {
        await next(document);
      }
    },
    didClose: async (document, next) => {
      if (this.#announced.delete(document.uri.toString())) {
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
      if (document.uri.scheme === 'file' && concerns(document) && !this.#announced.has(uri)) {
        this.#announced.add(uri);
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
