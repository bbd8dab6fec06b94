import * as vscode from 'vscode';

/** How long language servers are silent when they have reported everything about a text. */
const quietMs = 200;

/** After this time without a report, the known problems are those of the current text. */
const settledMs = 5000;

/** How long a document of a language is waited for about which no extension has ever reported. */
const silentMs = 300;

/** Files that are larger are not compared with the disk. */
const maxCompared = 4 << 20;

/** Knows whether the problems of a document belong to its current text, and waits until they do. */
export class Settling implements vscode.Disposable {
  readonly #changed = new Map<string, number>();
  readonly #reported = new Map<string, number>();
  readonly #silent = new Set<string>();
  readonly #event = new vscode.EventEmitter<string>();
  readonly #subscriptions: vscode.Disposable[];

  constructor() {
    const changed = (document: vscode.TextDocument): void => {
      if (document.uri.scheme === 'file') {
        this.#changed.set(document.uri.toString(), Date.now());
        this.#event.fire(document.uri.toString());
      }
    };
    this.#subscriptions = [
      this.#event,
      vscode.workspace.onDidOpenTextDocument(changed),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0) changed(document);
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => {
        this.#changed.delete(uri.toString());
        this.#reported.delete(uri.toString());
      }),
      vscode.languages.onDidChangeDiagnostics(({ uris }) => {
        for (const uri of uris) {
          this.#reported.set(uri.toString(), Date.now());
          const document = vscode.workspace.textDocuments.find((d) => d.uri.toString() === uri.toString());
          if (document) this.#silent.delete(document.languageId);
          this.#event.fire(uri.toString());
        }
      }),
    ];
  }

  /** Reports whether no extension has reported about the text of a document since it changed. */
  isStale(uri: string): boolean {
    const changed = this.#changed.get(uri);
    return changed !== undefined && (this.#reported.get(uri) ?? 0) < changed && Date.now() - changed < settledMs;
  }

  /** Waits until extensions have reported about the current text of a document, at most until the deadline. */
  async settle(document: vscode.TextDocument, deadline: number): Promise<void> {
    const uri = document.uri.toString();
    await this.#likeDisk(document, deadline);
    const isSilent = this.#silent.has(document.languageId);
    const until = isSilent ? Math.min(deadline, Date.now() + silentMs) : deadline;
    while (this.isStale(uri) && Date.now() < until) {
      await this.#next(uri, until);
    }
    if (this.isStale(uri)) {
      if (!this.#reported.has(uri)) this.#silent.add(document.languageId);
      return;
    }
    // Most extensions report more than once: first the syntax, then the types.
    for (let quiet = this.#quiet(uri); Date.now() < Math.min(quiet, deadline); quiet = this.#quiet(uri)) {
      await this.#next(uri, Math.min(quiet, deadline));
    }
  }

  #quiet(uri: string): number {
    return (this.#reported.get(uri) ?? 0) + quietMs;
  }

  /** Waits until a document without unsaved changes has the text of its file, which the server may just have written. */
  async #likeDisk(document: vscode.TextDocument, deadline: number): Promise<void> {
    const differs = async (): Promise<boolean> => {
      if (document.isDirty || document.isClosed) return false;
      try {
        const { size } = await vscode.workspace.fs.stat(document.uri);
        if (size > maxCompared) return false;
        const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(document.uri));
        return text.replace(/\r\n?/g, '\n') !== document.getText().replace(/\r\n?/g, '\n');
      } catch {
        return false;
      }
    };
    while (Date.now() < deadline && (await differs())) {
      await this.#next(document.uri.toString(), deadline);
    }
  }

  /** Waits for the next event about a document, at most until a time. */
  #next(uri: string, until: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        subscription.dispose();
        resolve();
      };
      const timer = setTimeout(done, Math.max(0, until - Date.now()));
      const subscription = this.#event.event((changed) => {
        if (changed === uri) done();
      });
    });
  }

  dispose(): void {
    this.#subscriptions.forEach((s) => s.dispose());
  }
}
