import * as vscode from 'vscode';
import type { LanguageClientOptions, Middleware } from 'vscode-languageclient/node';
import { DidOpenTextDocumentNotification, type BaseLanguageClient } from 'vscode-languageclient/node';

import { endLook, isLooked } from './looked';

/** Selects every file. Which of them are sent to the server is decided for each file. */
export const documentSelector: LanguageClientOptions['documentSelector'] = [{ scheme: 'file' }];

/**
 * Limits the documents that the server receives: those of the workspace folders, whose unsaved text
 * the tools must see, and session files. Settings and other open files are not sent.
 */
export class Documents implements vscode.Disposable {
  readonly #announced = new Set<string>();
  readonly #subscriptions: vscode.Disposable[];
  #client: BaseLanguageClient | undefined;

  constructor() {
    this.#subscriptions = [
      // An added folder can have documents that are already open.
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.#tellOfMore()),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        this.#endLooks(editors.map((editor) => editor.document));
      }),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        // Later, when the client library has ignored this change: the server gets the whole text.
        if (document.isDirty && isLooked(document.uri)) setTimeout(() => this.#endLooks([document]));
      }),
    ];
  }

  /** Sets the client that receives document notifications from now on. It has received none yet. */
  attach(client: BaseLanguageClient): void {
    this.#announced.clear();
    this.#client = client;
  }

  readonly middleware: Middleware = {
    didOpen: async (document, next) => {
      if (concerns(document) && !isOnlyLooked(document)) {
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
      endLook(document.uri);
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

  /** Sends documents that were opened for a look and that are the user's now. */
  #endLooks(documents: readonly vscode.TextDocument[]): void {
    if (documents.filter((d) => !d.isClosed && endLook(d.uri)).length > 0) {
      this.#tellOfMore();
    }
  }

  #tellOfMore(): void {
    const client = this.#client;
    if (!client?.isRunning()) {
      return;
    }
    for (const document of vscode.workspace.textDocuments) {
      const uri = document.uri.toString();
      if (
        document.uri.scheme === 'file' &&
        concerns(document) &&
        !isLooked(document.uri) &&
        !this.#announced.has(uri)
      ) {
        this.#announced.add(uri);
        void client.sendNotification(
          DidOpenTextDocumentNotification.type,
          client.code2ProtocolConverter.asOpenTextDocumentParams(document),
        );
      }
    }
  }

  dispose(): void {
    this.#subscriptions.forEach((s) => s.dispose());
  }
}

/** Reports whether a document was opened only for a look, and is not on the screen. */
function isOnlyLooked(document: vscode.TextDocument): boolean {
  return isLooked(document.uri) && !vscode.window.visibleTextEditors.some((e) => e.document === document);
}

function concerns(document: vscode.TextDocument): boolean {
  return isSession(document) || vscode.workspace.getWorkspaceFolder(document.uri) !== undefined;
}

function isSession(document: vscode.TextDocument): boolean {
  return document.uri.path.endsWith('.jsonl');
}
