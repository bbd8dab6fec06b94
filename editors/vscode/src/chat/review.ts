import * as path from 'node:path';
import * as vscode from 'vscode';

import { changeUri } from './changes';
import { visible } from './visible';

/** The context key that shows Accept and Reject in the title of the diff editor. */
const reviewingKey = 'xcshLs.reviewing';
/** The context key that offers Review Change in the palette. */
const waitingKey = 'xcshLs.changeWaiting';

/** The subset of a cancellation token that is used here. */
export interface Token {
  onCancellationRequested(listener: () => void): { dispose(): void };
}

/** A change that the user can accept or reject. */
export interface Change {
  readonly document: vscode.TextDocument;
  readonly line: number;
  readonly announcement: string;
  /** Returns the current text without and with the change; undefined if the change no longer applies. */
  readonly sides: () => readonly [string, string] | undefined;
  /** Warnings about the change. */
  readonly notes: readonly string[];
  /** The user asked for this change just now: it is shown without an announcement. */
  readonly asked?: boolean;
}

interface Waiting extends Change {
  readonly settle: (accept: boolean) => void;
}

/**
 * Pending changes. A mark at the change and a notification announce each; the diff editor opens
 * only on the user's request, because it takes the focus. Closing it is not a decision.
 */
export class Reviews implements vscode.Disposable {
  readonly #waiting: Waiting[] = [];
  #shown: { change: Waiting; left: vscode.Uri; right: vscode.Uri } | undefined;
  readonly #mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    overviewRulerColor: new vscode.ThemeColor('editorOverviewRuler.infoForeground'),
    overviewRulerLane: vscode.OverviewRulerLane.Center,
    after: { margin: '0 0 0 2em', color: new vscode.ThemeColor('editorCodeLens.foreground') },
  });
  readonly #subscriptions: vscode.Disposable[];

  constructor() {
    this.#subscriptions = [
      this.#mark,
      vscode.window.onDidChangeVisibleTextEditors(() => this.#draw()),
      vscode.window.tabGroups.onDidChangeTabs((e) => this.#closed(e.closed)),
    ];
  }

  /** Announces a change and waits for the user's decision. A change whose request has ended is rejected. */
  async decide(change: Change, token?: Token): Promise<boolean> {
    let waiting: Waiting | undefined;
    let cancelled: { dispose(): void } | undefined;
    try {
      return await new Promise<boolean>((settle) => {
        cancelled = token?.onCancellationRequested(() => settle(false));
        waiting = { ...change, settle };
        this.#waiting.push(waiting);
        this.#changed();
        void (waiting.asked ? this.open(waiting) : this.#announce(waiting));
      });
    } finally {
      cancelled?.dispose();
      await this.#forget(waiting);
    }
  }

  async #announce(change: Waiting): Promise<void> {
    const [review, reject] = [vscode.l10n.t('Review'), vscode.l10n.t('Reject')];
    const text = [change.announcement, ...change.notes].join(' ');
    const answer = await vscode.window.showInformationMessage(visible(text), review, reject);
    if (answer === review) {
      await this.open(change);
    } else if (answer === reject) {
      change.settle(false);
    }
  }

  /** Shows a change in a diff editor, at the user's request. */
  async open(change: Waiting | undefined = this.#nearest()): Promise<void> {
    if (!change || !this.#waiting.includes(change)) {
      return;
    }
    const sides = change.sides();
    const name = path.basename(change.document.fileName);
    if (!sides) {
      change.settle(false);
      void vscode.window.showWarningMessage(
        vscode.l10n.t("Couldn't apply the change: {0} has been edited since.", name),
      );
      return;
    }
    const [left, right] = sides.map((text) => changeUri(change.document.fileName, text)) as [vscode.Uri, vscode.Uri];
    await this.#close();
    this.#shown = { change, left, right };
    await vscode.commands.executeCommand('setContext', reviewingKey, true);
    const title = vscode.l10n.t('{0} (proposed by xcsh)', name);
    await vscode.commands.executeCommand('vscode.diff', left, right, title, { preview: true });
    const [accept, reject] = [vscode.l10n.t('Accept'), vscode.l10n.t('Reject')];
    const question = [vscode.l10n.t('Apply this change to {0}?', name), ...change.notes].join(' ');
    const answer = await vscode.window.showInformationMessage(visible(question), accept, reject);
    if (answer !== undefined) {
      change.settle(answer === accept);
    }
  }

  /** Accepts or rejects the change in the diff editor. */
  answer(accept: boolean): void {
    this.#shown?.change.settle(accept);
  }

  #nearest(): Waiting | undefined {
    const active = vscode.window.activeTextEditor?.document;
    return this.#waiting.find((w) => w.document === active) ?? this.#waiting[0];
  }

  async #forget(change: Waiting | undefined): Promise<void> {
    this.#waiting.splice(0, Infinity, ...this.#waiting.filter((w) => w !== change));
    this.#changed();
    if (this.#shown?.change === change) {
      await this.#close();
    }
  }

  #changed(): void {
    void vscode.commands.executeCommand('setContext', waitingKey, this.#waiting.length > 0);
    this.#draw();
  }

  #draw(): void {
    const contentText = vscode.l10n.t('xcsh: change ready for review');
    for (const editor of vscode.window.visibleTextEditors) {
      const lines = this.#waiting
        .filter((w) => w.document === editor.document)
        .map((w) => Math.min(w.line, editor.document.lineCount - 1));
      editor.setDecorations(
        this.#mark,
        lines.map((line) => ({ range: new vscode.Range(line, 0, line, 0), renderOptions: { after: { contentText } } })),
      );
    }
  }

  /** Handles a closed diff editor: the change is still pending. */
  #closed(tabs: readonly vscode.Tab[]): void {
    const shown = this.#shown;
    if (shown && tabs.some((tab) => isDiff(tab, shown.left, shown.right))) {
      this.#shown = undefined;
      void vscode.commands.executeCommand('setContext', reviewingKey, false);
      if (this.#waiting.includes(shown.change)) {
        void this.#announce(shown.change);
      }
    }
  }

  async #close(): Promise<void> {
    const shown = this.#shown;
    this.#shown = undefined;
    if (!shown) {
      return;
    }
    await vscode.commands.executeCommand('setContext', reviewingKey, false);
    const tabs = vscode.window.tabGroups.all
      .flatMap((g) => g.tabs)
      .filter((tab) => isDiff(tab, shown.left, shown.right));
    if (tabs.length > 0) {
      await vscode.window.tabGroups.close(tabs, true);
    }
  }

  dispose(): void {
    for (const change of [...this.#waiting]) {
      change.settle(false);
    }
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

function isDiff(tab: vscode.Tab, left: vscode.Uri, right: vscode.Uri): boolean {
  const { input } = tab;
  return (
    input instanceof vscode.TabInputTextDiff &&
    input.original.toString() === left.toString() &&
    input.modified.toString() === right.toString()
  );
}
