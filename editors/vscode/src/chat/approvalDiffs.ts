import * as path from 'node:path';
import * as vscode from 'vscode';

import type { ApproveParams } from '../wire.gen';
import type { Approvals } from './approvals';
import { changeUri, currentText } from './changes';
import { resolvePath } from './files';
import { sidesOf } from './patch';

/** The context key with the documents whose editors have the buttons Accept and Reject. */
const pendingKey = 'xcshLs.pendingChanges';

interface Shown {
  readonly cwd: string;
  readonly id: string;
  readonly sides: readonly [vscode.Uri, vscode.Uri];
  /** For a change that is no approval: receives the user's answer, false if the editor was closed. */
  readonly settle?: (accepted: boolean) => void;
}

/**
 * The diff editors of pending approvals. Their titles have buttons that answer, and they are closed when the
 * approval is answered anywhere, or withdrawn. To close one answers nothing.
 */
export class ApprovalDiffs implements vscode.Disposable {
  #shown: Shown[] = [];
  readonly #subscriptions: vscode.Disposable[];

  constructor(private readonly approvals: Approvals) {
    const settled = approvals.onSettled((cwd, id) => void this.#close((s) => s.cwd === cwd && s.id === id));
    this.#subscriptions = [
      new vscode.Disposable(() => settled.dispose()),
      vscode.commands.registerCommand('xcshLs.change.accept', (uri?: unknown) => this.#answer(uri, true)),
      vscode.commands.registerCommand('xcshLs.change.reject', (uri?: unknown) => this.#answer(uri, false)),
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
        this.#forget((shown) => closed.some((tab) => isDiffOf(tab, shown)));
      }),
    ];
  }

  /** Shows the change of a pending approval. */
  async open(params: ApproveParams): Promise<void> {
    const { cwd, id, diff = '' } = params;
    const name = params.paths?.[0] ?? '';
    const open = this.#shown.find((shown) => shown.cwd === cwd && shown.id === id);
    const file = resolvePath(cwd, name);
    const sides = sidesOf(file === undefined ? undefined : await currentText(file), diff);
    if (!sides || file === undefined) {
      void vscode.window.showWarningMessage(vscode.l10n.t('No change to show for {0}.', name));
      return;
    }
    if (!this.approvals.find(cwd, id)) {
      return; // answered meanwhile
    }
    const shown = open ?? { cwd, id, sides: [changeUri(file, sides.before), changeUri(file, sides.after)] as const };
    if (!open) {
      this.#shown.push(shown);
      await this.#publish();
    }
    const title = sides.whole
      ? vscode.l10n.t('{0} (proposed by xcsh)', path.basename(file))
      : vscode.l10n.t('{0} (proposed by xcsh, excerpts)', path.basename(file));
    await vscode.commands.executeCommand('vscode.diff', ...shown.sides, title, { preview: true });
    if (!this.approvals.find(cwd, id)) {
      await this.#close((s) => s === shown); // answered while it was opening
    }
  }

  /** Shows a change that the user asked for, and waits for the answer. To close the editor rejects the change. */
  async review(file: string, before: string, after: string): Promise<boolean> {
    const sides = [changeUri(file, before), changeUri(file, after)] as const;
    const title = vscode.l10n.t('{0} (proposed by xcsh)', path.basename(file));
    let shown: Shown | undefined;
    try {
      return await new Promise<boolean>((settle, fail) => {
        shown = { cwd: '', id: '', sides, settle };
        this.#shown.push(shown);
        void this.#publish().then(() =>
          vscode.commands.executeCommand('vscode.diff', ...sides, title, { preview: true }).then(undefined, fail),
        );
      });
    } finally {
      await this.#close((s) => s === shown);
    }
  }

  /** Answers the approval of the diff editor with this document, or of the active one. */
  #answer(uri: unknown, accepted: boolean): void {
    const named = uri instanceof vscode.Uri ? uri.toString() : undefined;
    const active = vscode.window.tabGroups.activeTabGroup.activeTab;
    const shown =
      this.#shown.find(({ sides }) => sides.some((side) => side.toString() === named)) ??
      this.#shown.find((s) => active && isDiffOf(active, s));
    if (shown?.settle) {
      shown.settle(accepted);
    } else if (shown) {
      this.approvals.decide(shown.cwd, shown.id, accepted ? 'once' : 'deny');
    }
  }

  async #close(which: (shown: Shown) => boolean): Promise<void> {
    const gone = this.#shown.filter(which);
    if (gone.length === 0) {
      return;
    }
    this.#forget(which);
    const tabs = vscode.window.tabGroups.all.flatMap((g) => g.tabs).filter((tab) => gone.some((s) => isDiffOf(tab, s)));
    if (tabs.length > 0) {
      await vscode.window.tabGroups.close(tabs, true);
    }
  }

  #forget(which: (shown: Shown) => boolean): void {
    const left = this.#shown.filter((shown) => !which(shown));
    for (const gone of this.#shown.filter(which)) {
      gone.settle?.(false); // without effect after an answer
    }
    if (left.length !== this.#shown.length) {
      this.#shown = left;
      void this.#publish();
    }
  }

  async #publish(): Promise<void> {
    const uris = this.#shown.flatMap(({ sides }) => sides.map((side) => side.toString()));
    await vscode.commands.executeCommand('setContext', pendingKey, uris);
  }

  dispose(): void {
    this.#forget(() => true);
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

function isDiffOf({ input }: vscode.Tab, { sides: [left, right] }: Shown): boolean {
  return (
    input instanceof vscode.TabInputTextDiff &&
    input.original.toString() === left.toString() &&
    input.modified.toString() === right.toString()
  );
}
