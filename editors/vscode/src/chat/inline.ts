import * as path from 'node:path';
import * as vscode from 'vscode';

import { innermost } from '../folders';
import type { Host, LocalFolder } from '../host';
import type { ApproveParams } from '../wire.gen';
import type { Approvals } from './approvals';
import { Applied } from './applied';
import { attachmentOf } from './files';
import { instruction } from './instruction';
import type { Decision } from './messages';
import type { ChatPanel } from './panel';
import { patched } from './patch';
import { Reviews, type Token } from './review';
import { warningsOf } from './warnings';

/** Arguments that a light bulb or a keybinding can pass. */
interface Preset {
  readonly uri?: vscode.Uri;
  readonly range?: vscode.Range;
  readonly wish?: string;
}

/** The tools whose calls are reviewed as changes. */
const changing = new Set(['edit', 'write']);

/**
 * Asks the model to change the selection. The change is announced, and shown when the user opens
 * it. Only after the user accepts it does the server apply it to the open document, as one edit
 * that can be undone.
 */
export class InlineChat implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  readonly #reviews = new Reviews();

  /** The changes that wait for the user's review. */
  get reviews(): Reviews {
    return this.#reviews;
  }

  constructor(
    private readonly host: Host,
    private readonly approvals: Approvals,
    private readonly panel: ChatPanel,
  ) {
    this.#subscriptions = [
      vscode.commands.registerCommand('xcshLs.inlineChat', (preset?: Preset) => this.#start(preset ?? {})),
      vscode.commands.registerCommand('xcshLs.inlineChat.review', () => this.#reviews.open()),
      vscode.commands.registerCommand('xcshLs.inlineChat.accept', () => this.#reviews.answer(true)),
      vscode.commands.registerCommand('xcshLs.inlineChat.reject', () => this.#reviews.answer(false)),
      vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, new LightBulb(host), {
        providedCodeActionKinds: LightBulb.kinds,
      }),
    ];
  }

  async #start(preset: Preset): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const document = preset.uri ? await vscode.workspace.openTextDocument(preset.uri) : editor?.document;
    if (document?.uri.scheme !== 'file') {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('Open a file in a workspace folder to change it with xcsh.'),
      );
      return;
    }
    const folder = innermost(this.host.folders, document.uri.fsPath);
    if (!folder) {
      void vscode.window.showInformationMessage(vscode.l10n.t('This file is not in a folder of this workspace.'));
      return;
    }
    const range = wholeLines(document, preset.range ?? (editor?.document === document ? editor.selection : undefined));
    const wish = await vscode.window.showInputBox({
      title: vscode.l10n.t(
        'Change lines {0} to {1} of {2}',
        range.start.line + 1,
        range.end.line + 1,
        path.basename(document.fileName),
      ),
      prompt: vscode.l10n.t('You review the change before it is applied.'),
      placeHolder: vscode.l10n.t('Describe the change'),
      value: preset.wish ?? '',
      ignoreFocusOut: true,
    });
    if (wish?.trim()) {
      await this.#ask(folder, document, range, wish.trim());
    }
  }

  /** Runs one turn. Changes to the file go to the review, all other approvals to their usual place. */
  async #ask(folder: LocalFolder, document: vscode.TextDocument, range: vscode.Range, wish: string): Promise<void> {
    const edits = new DocumentEdits(this.host, document);
    let reviewed = 0;
    const stop = this.approvals.review((params, token) => {
      if (
        params.cwd !== folder.cwd ||
        !changing.has(params.tool) ||
        params.paths?.[0] !== document.uri.fsPath ||
        !params.diff
      ) {
        return undefined;
      }
      reviewed++;
      return this.#propose(params, document, range.start.line, edits, token);
    });
    const args = {
      cwd: folder.cwd,
      text: instruction(path.relative(folder.cwd, document.uri.fsPath), range.start.line + 1, range.end.line + 1, wish),
      attachments: [{ uri: document.uri.toString(), range: attachmentOf(document.uri, folder, range).range ?? null }],
    };
    try {
      const options = {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('xcsh: {0}', wish),
        cancellable: true,
      };
      const result = await vscode.window.withProgress(options, (_progress, token) =>
        this.host.request('xcsh.prompt', args, token),
      );
      if (reviewed === 0 && edits.made === 0) {
        void this.#tellAnswer(folder, textOf(result.message));
      }
    } catch (error) {
      await this.host.showError(error, { command: 'xcsh.prompt', args });
    } finally {
      stop();
    }
    await this.#afterwards(document, edits);
  }

  async #tellAnswer(folder: LocalFolder, answer: string): Promise<void> {
    const show = vscode.l10n.t('Open Chat');
    const text = answer ? answer.slice(0, 300) : vscode.l10n.t('xcsh made no changes.');
    if ((await vscode.window.showInformationMessage(text, show)) === show) {
      await this.panel.focus(folder.cwd);
    }
  }

  /** Announces a proposed change, and waits for the user's review. */
  async #propose(
    params: ApproveParams,
    document: vscode.TextDocument,
    line: number,
    edits: DocumentEdits,
    token: Token,
  ): Promise<Decision> {
    const diff = params.diff ?? '';
    const accepted = await this.#reviews.decide(
      {
        document,
        line: lineOf(diff) ?? line,
        announcement: vscode.l10n.t('xcsh wants to change {0}.', path.basename(document.fileName)),
        sides: () => {
          const then = patched(document.getText(), diff);
          // Undefined: the file no longer matches the change.
          return then === undefined ? undefined : [document.getText(), then];
        },
        notes: warningsOf(params),
      },
      token,
    );
    if (accepted) {
      edits.skip();
    }
    return accepted ? 'once' : 'deny';
  }

  /** If the mode allows edits without asking, they are reviewed after the fact. */
  async #afterwards(document: vscode.TextDocument, edits: DocumentEdits): Promise<void> {
    const { applied } = edits;
    const first = applied.first;
    if (first === undefined) {
      return edits.dispose();
    }
    const name = path.basename(document.fileName);
    try {
      const accepted = await this.#reviews.decide({
        document,
        line: document.positionAt(first).line,
        announcement: vscode.l10n.t('xcsh changed {0}.', name),
        sides: () => [applied.without, applied.text],
        notes: [],
      });
      if (!accepted) {
        await undo(document, applied, name);
      }
    } finally {
      edits.dispose();
    }
  }

  dispose(): void {
    this.#reviews.dispose();
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

/** Tracks the server's edits in one document. */
class DocumentEdits implements vscode.Disposable {
  readonly applied: Applied;
  made = 0;
  #skip = 0;
  readonly #subscription: vscode.Disposable;

  constructor(host: Host, document: vscode.TextDocument) {
    this.applied = new Applied(document.getText());
    const uri = document.uri.toString();
    this.#subscription = vscode.Disposable.from(
      host.watchEdits((texts) => {
        const found = [...texts].find(([other]) => vscode.Uri.parse(other).toString() === uri)?.[1];
        if (!found || this.#skip-- > 0) {
          this.#skip = Math.max(this.#skip, 0);
          return () => undefined;
        }
        this.#skip = 0;
        this.made++;
        return this.applied.expect(found);
      }),
      vscode.workspace.onDidChangeTextDocument((e) => {
        if (e.document === document) {
          this.applied.changed(
            e.contentChanges.map((c) => ({ offset: c.rangeOffset, length: c.rangeLength, text: c.text })),
          );
        }
      }),
    );
  }

  /** Excludes the next edit, which the user has already reviewed. */
  skip(): void {
    this.#skip++;
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

/** Undoes the server's changes at their current positions. The user's later changes are kept. */
async function undo(document: vscode.TextDocument, applied: Applied, name: string): Promise<void> {
  const { touched } = applied.counts;
  const edit = new vscode.WorkspaceEdit();
  for (const { offset, length, text } of applied.undo()) {
    const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
    edit.replace(document.uri, range, text);
  }
  const undone = edit.size === 0 || (await vscode.workspace.applyEdit(edit));
  if (!undone) {
    void vscode.window.showWarningMessage(
      vscode.l10n.t("Couldn't reject the change: {0} has been edited since. Undo the change in the editor.", name),
    );
  } else if (touched > 0) {
    void vscode.window.showWarningMessage(
      vscode.l10n.t('Some parts of the change to {0} were edited later and have been kept.', name),
    );
  }
}

/** Returns the document line, from 0, at which a diff begins. */
function lineOf(diff: string): number | undefined {
  const line = /^@@ -(\d+)/m.exec(diff)?.[1];
  return line === undefined ? undefined : Math.max(0, Number(line) - 1);
}

/** Returns the lines that a selection touches; without a selection, the line of the cursor. */
function wholeLines(document: vscode.TextDocument, selection: vscode.Range | undefined): vscode.Range {
  const start = selection?.start.line ?? 0;
  const endsBefore = selection && !selection.isEmpty && selection.end.character === 0 && selection.end.line > start;
  const end = selection ? selection.end.line - (endsBefore ? 1 : 0) : Math.max(0, document.lineCount - 1);
  return new vscode.Range(start, 0, end, document.lineAt(Math.min(end, document.lineCount - 1)).range.end.character);
}

function textOf(message: unknown): string {
  const content = (message as { content?: unknown } | undefined)?.content;
  if (!Array.isArray(content)) {
    return '';
  }
  return content
    .map((b: { type?: unknown; text?: unknown }) => (b.type === 'text' && typeof b.text === 'string' ? b.text : ''))
    .join('\n')
    .trim();
}

/** Offers to change the selection, or the range of a diagnostic. */
class LightBulb implements vscode.CodeActionProvider {
  static readonly kinds = [vscode.CodeActionKind.RefactorRewrite, vscode.CodeActionKind.QuickFix];

  constructor(private readonly host: Host) {}

  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    if (!vscode.workspace.isTrusted || !innermost(this.host.folders, document.uri.fsPath)) {
      return [];
    }
    const action = (title: string, kind: vscode.CodeActionKind, preset: Preset): vscode.CodeAction => {
      const a = new vscode.CodeAction(title, kind);
      a.command = { command: 'xcshLs.inlineChat', title, arguments: [preset] };
      return a;
    };
    const fixes = context.diagnostics.slice(0, 3).map((d) => {
      const title = vscode.l10n.t('Fix with xcsh and Review: {0}', d.message.split('\n')[0]?.slice(0, 60) ?? '');
      const fix = action(title, vscode.CodeActionKind.QuickFix, {
        uri: document.uri,
        range: d.range,
        wish: vscode.l10n.t('Fix this: {0}', d.message),
      });
      fix.diagnostics = [d];
      return fix;
    });
    if (range.isEmpty) {
      return fixes;
    }
    return [
      ...fixes,
      action(vscode.l10n.t('Change with xcsh…'), vscode.CodeActionKind.RefactorRewrite, { uri: document.uri, range }),
    ];
  }
}
