import * as vscode from 'vscode';

import { innermost } from '../../folders';
import type { Host } from '../../host';

/** Arguments that a light bulb or a keybinding can pass. */
export interface Preset {
  readonly uri?: vscode.Uri;
  readonly range?: vscode.Range;
  /** A request that is sent at once. */
  readonly wish?: string;
}

/** Offers to change the selection, or the range of a diagnostic. */
export class LightBulb implements vscode.CodeActionProvider {
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
