import * as path from 'node:path';
import * as vscode from 'vscode';

import { innermost } from '../folders';
import type { Host, LocalFolder } from '../host';
import type { ApproveParams } from '../wire.gen';
import type { Approvals } from './approvals';
import { changeUri, currentText } from './changes';
import { attachmentOf } from './files';
import { instruction } from './instruction';
import type { Decision } from './messages';
import type { ChatPanel } from './panel';
import { patched } from './patch';

/** The context key that shows Accept and Reject in the title of the diff editor. */
const reviewingKey = 'xcshLs.reviewing';

/** What a light bulb or a keybinding may bring along. */
interface Preset {
  readonly uri?: vscode.Uri;
  readonly range?: vscode.Range;
  readonly wish?: string;
}

/** The tools whose calls are reviewed as changes. */
const changing = new Set(['edit', 'write']);

/**
 * Asks the model for a change of what is selected. The change is shown before it is made;
 * only when the person accepts it does the server put it into the open document, as one
 * edit that can be undone.
 */
export class InlineChat implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable[];
  #decide: ((accept: boolean) => void) | undefined;

  constructor(
    private readonly host: Host,
    private readonly approvals: Approvals,
    private readonly panel: ChatPanel,
  ) {
    this.#subscriptions = [
      vscode.commands.registerCommand('xcshLs.inlineChat', (preset?: Preset) => this.#start(preset ?? {})),
      vscode.commands.registerCommand('xcshLs.inlineChat.accept', () => this.#decide?.(true)),
      vscode.commands.registerCommand('xcshLs.inlineChat.reject', () => this.#decide?.(false)),
      vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, new LightBulb(host), {
        providedCodeActionKinds: LightBulb.kinds,
      }),
    ];
  }

  async #start(preset: Preset): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const document = preset.uri ? await vscode.workspace.openTextDocument(preset.uri) : editor?.document;
    if (document?.uri.scheme !== 'file') {
      void vscode.window.showInformationMessage(vscode.l10n.t('Open a file of a folder to ask for a change of it.'));
      return;
    }
    const folder = innermost(this.host.folders, document.uri.fsPath);
    if (!folder) {
      void vscode.window.showInformationMessage(vscode.l10n.t('The file is in no folder of this window.'));
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
      prompt: vscode.l10n.t('The change is shown before it is made.'),
      placeHolder: vscode.l10n.t('What is to be different?'),
      value: preset.wish ?? '',
      ignoreFocusOut: true,
    });
    if (wish?.trim()) {
      await this.#ask(folder, document, range, wish.trim());
    }
  }

  /** Runs one turn. Changes of the file come to the review, everything else where it always does. */
  async #ask(folder: LocalFolder, document: vscode.TextDocument, range: vscode.Range, wish: string): Promise<void> {
    const before = document.getText();
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
      return this.#review(params, token);
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
      if (reviewed === 0) {
        await this.#afterwards(folder, document, before, textOf(result.message));
      }
    } catch (error) {
      await this.host.showError(error, { command: 'xcsh.prompt', args });
    } finally {
      stop();
    }
  }

  /** Shows a change that is not made yet, and waits for the person. */
  async #review(
    params: ApproveParams,
    token: { readonly isCancellationRequested: boolean; onCancellationRequested(f: () => void): { dispose(): void } },
  ): Promise<Decision> {
    const file = params.paths?.[0] ?? '';
    const now = (await currentText(file)) ?? '';
    const then = patched(now, params.diff ?? '');
    if (then === undefined || token.isCancellationRequested) {
      return 'deny'; // the file is another one than the change was made for
    }
    return (await this.#shown(vscode.Uri.file(file), changeUri(file, then), token)) ? 'once' : 'deny';
  }

  /** A mode that allows edits lets them be made unasked: then they are reviewed after the fact. */
  async #afterwards(folder: LocalFolder, document: vscode.TextDocument, before: string, answer: string): Promise<void> {
    const after = document.getText();
    if (after === before) {
      const show = vscode.l10n.t('Open Chat');
      const text = answer ? answer.slice(0, 300) : vscode.l10n.t('xcsh made no change.');
      if ((await vscode.window.showInformationMessage(text, show)) === show) {
        await this.panel.focus(folder.cwd);
      }
      return;
    }
    if (await this.#shown(changeUri(document.fileName, before), document.uri)) {
      return;
    }
    if (document.getText() !== after) {
      void vscode.window.showWarningMessage(
        vscode.l10n.t('{0} was changed meanwhile; undo the change in its editor.', path.basename(document.fileName)),
      );
      return;
    }
    const edit = new vscode.WorkspaceEdit();
    edit.replace(document.uri, new vscode.Range(document.positionAt(0), document.positionAt(after.length)), before);
    await vscode.workspace.applyEdit(edit);
  }

  /** Shows two sides and says whether the person accepted. Closing the diff is a no. */
  async #shown(
    left: vscode.Uri,
    right: vscode.Uri,
    token?: { onCancellationRequested(f: () => void): { dispose(): void } },
  ): Promise<boolean> {
    this.#decide?.(false); // an older review that nobody answered
    const name = path.basename(right.path);
    let done = (_accept: boolean): void => undefined;
    const decided = new Promise<boolean>((resolve) => {
      done = resolve;
    });
    this.#decide = done;
    const watching = [
      vscode.window.tabGroups.onDidChangeTabs((e) => e.closed.some((tab) => isDiff(tab, left, right)) && done(false)),
      ...(token ? [token.onCancellationRequested(() => done(false))] : []),
    ];
    try {
      await vscode.commands.executeCommand('setContext', reviewingKey, true);
      await vscode.commands.executeCommand('vscode.diff', left, right, vscode.l10n.t('{0} (proposed by xcsh)', name), {
        preview: true,
      });
      const [accept, reject] = [vscode.l10n.t('Accept'), vscode.l10n.t('Reject')];
      void vscode.window
        .showInformationMessage(vscode.l10n.t('Accept the change of {0}?', name), accept, reject)
        .then((a) => a && done(a === accept));
      return await decided;
    } finally {
      for (const w of watching) {
        w.dispose();
      }
      if (this.#decide === done) {
        this.#decide = undefined;
        await vscode.commands.executeCommand('setContext', reviewingKey, false);
      }
      await closeDiff(left, right);
    }
  }

  dispose(): void {
    this.#decide?.(false);
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

async function closeDiff(left: vscode.Uri, right: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((g) => g.tabs).filter((tab) => isDiff(tab, left, right));
  if (tabs.length > 0) {
    await vscode.window.tabGroups.close(tabs, true);
  }
}

/** The lines that a selection touches; without one, the line of the cursor. */
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

/** Offers a change of what is selected, and of what a diagnostic is about. */
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
      const title = vscode.l10n.t('Review a fix by xcsh: {0}', d.message.split('\n')[0]?.slice(0, 60) ?? '');
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
