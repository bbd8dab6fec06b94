import * as vscode from 'vscode';

import { innermost } from '../folders';
import type { Host } from '../host';
import type { ChangeStates } from './states';

const t = vscode.l10n.t;

/** Shows Keep and Undo above each change, if the user has enabled it. */
export class ChangeLenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];

  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(
    private readonly host: Host,
    private readonly states: ChangeStates,
    private readonly enabled: () => boolean,
  ) {
    this.#subscriptions = [
      this.#changed,
      states.onDidChange(() => this.#changed.fire()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('xcshLs.changes')) {
          this.#changed.fire();
        }
      }),
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
    ];
  }

  async provideCodeLenses(document: vscode.TextDocument, token: vscode.CancellationToken): Promise<vscode.CodeLens[]> {
    const file = document.uri.fsPath;
    const cwd = innermost(this.host.folders, file)?.cwd;
    const known = cwd === undefined ? undefined : this.states.of(cwd)?.files?.find((f) => f.path === file);
    if (!this.enabled() || cwd === undefined || !known || known.pending === 0 || known.binary) {
      return [];
    }
    const { files } = await this.host.request(
      'xcsh.changes',
      { cwd, since: 'session', path: file, hunks: true },
      token,
    );
    const hunks = files?.find((f) => f.path === file)?.hunks?.filter((h) => h.state === 'pending') ?? [];
    return hunks.flatMap(({ hunk, newStart }) => {
      const line = Math.min(Math.max(newStart - 1, 0), document.lineCount - 1);
      const at = new vscode.Range(line, 0, line, 0);
      const argument = { cwd, path: file, hunk };
      return [
        new vscode.CodeLens(at, { command: 'xcshLs.changes.keepHunk', title: t('Keep'), arguments: [argument] }),
        new vscode.CodeLens(at, { command: 'xcshLs.changes.undoHunk', title: t('Undo'), arguments: [argument] }),
      ];
    });
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
