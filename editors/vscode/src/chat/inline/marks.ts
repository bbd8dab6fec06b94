import * as vscode from 'vscode';

import type { InlineSession } from './session';
import type { Ref } from './texts';

/** A place in a file that the user decides about. */
export interface Spot {
  readonly session: InlineSession;
  readonly ref: Ref;
  /** The first line, from 0. */
  readonly line: number;
  /** The number of lines; 0 for a place between two lines. */
  readonly lines: number;
  /** False for a proposed change, whose lines are still the old ones. */
  readonly isMade: boolean;
}

/** Returns the undecided places of a request, in order. */
export function spotsOf(session: InlineSession): Spot[] {
  const proposed = session.request.changes.flatMap(({ id, proposal }) =>
    proposal.hunks.flatMap((hunk, index): Spot[] =>
      proposal.fits && proposal.verdict(index) === undefined
        ? [{ session, ref: { kind: 'hunk', ask: id, index }, line: hunk.line, lines: hunk.lines, isMade: false }]
        : [],
    ),
  );
  const made =
    session.request.phase === 'review'
      ? session.request.made.map((m): Spot => {
          return { session, ref: { kind: 'made', made: m }, line: m.line, lines: m.lines, isMade: true };
        })
      : [];
  return [...proposed, ...made];
}

/** Marks the changed lines in the text. */
export class Marks implements vscode.Disposable, vscode.CodeLensProvider {
  readonly #lensesChanged = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#lensesChanged.event;
  readonly #old = lineDecoration('diffEditor.removedLineBackground', 'editorGutter.deletedBackground');
  readonly #new = lineDecoration('diffEditor.insertedLineBackground', 'editorGutter.addedBackground');
  readonly #subscriptions: vscode.Disposable[];

  constructor(private readonly spots: () => readonly Spot[]) {
    this.#subscriptions = [
      this.#old,
      this.#new,
      this.#lensesChanged,
      vscode.languages.registerCodeLensProvider({ scheme: 'file' }, this),
      vscode.window.onDidChangeVisibleTextEditors(() => this.#draw()),
    ];
  }

  update(): void {
    this.#lensesChanged.fire();
    this.#draw();
  }

  #draw(): void {
    const spots = this.spots();
    for (const editor of vscode.window.visibleTextEditors) {
      const own = spots.filter((spot) => isIn(spot, editor.document));
      const ranges = (isMade: boolean): vscode.Range[] =>
        own.filter((s) => s.isMade === isMade && s.lines > 0).map((s) => rangeOf(s, editor.document));
      editor.setDecorations(this.#old, ranges(false));
      editor.setDecorations(this.#new, ranges(true));
    }
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    return this.spots()
      .filter((spot) => isIn(spot, document))
      .flatMap((spot) => {
        const range = rangeOf(spot, document);
        return [
          lens(range, 'xcshLs.inlineChat.keep', vscode.l10n.t('Keep'), spot),
          lens(range, 'xcshLs.inlineChat.undo', vscode.l10n.t('Undo'), spot),
        ];
      });
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

const isIn = (spot: Spot, document: vscode.TextDocument): boolean =>
  spot.session.uri.toString() === document.uri.toString();

function rangeOf(spot: Spot, document: vscode.TextDocument): vscode.Range {
  const most = document.lineCount - 1;
  const line = Math.min(spot.line, most);
  return new vscode.Range(line, 0, Math.min(line + Math.max(spot.lines, 1) - 1, most), 0);
}

const lens = (range: vscode.Range, command: string, title: string, spot: Spot): vscode.CodeLens =>
  new vscode.CodeLens(range.with({ end: range.start }), { command, title, arguments: [spot] });

/** The bar at the left is visible in high contrast too, where lines have no background. */
function lineDecoration(background: string, bar: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor(background),
    borderColor: new vscode.ThemeColor(bar),
    borderStyle: 'solid',
    borderWidth: '0 0 0 3px',
    overviewRulerColor: new vscode.ThemeColor(bar),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });
}
