import * as os from 'node:os';
import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import { shortPath } from '../folders';
import type { Window } from '../window';
import { engineRows, type EngineRow } from './engineRows';

const t = vscode.l10n.t;

/** The name of the server's own engine, for users. */
export const ownName = 'xcsh-ls';

type RowItem = vscode.QuickPickItem & { row: EngineRow };

/** Lets the user select the program that answers in a folder. The list opens before the programs are found. */
export async function pickEngine(window: Window, cwd: string): Promise<EngineRow | undefined> {
  const picked = await vscode.window.showQuickPick(engineItems(window, cwd), {
    placeHolder: t('Select the program that answers in this folder'),
    matchOnDetail: true,
  });
  if (picked?.row.problem) {
    void vscode.window.showWarningMessage(picked.row.problem);
    return undefined;
  }
  return picked?.row;
}

async function engineItems(window: Window, cwd: string): Promise<RowItem[]> {
  const words = {
    own: ownName,
    ownDetail: t('Included; uses your API keys'),
    current: t('current'),
    usable: t('Ready to use'),
    unusable: t('Not available'),
  };
  const rows = engineRows(await window.request('xcsh.engines', { cwd }), words, (path) =>
    shortPath(path, os.homedir()),
  );
  return rows.map((row) =>
    row.group === undefined
      ? { label: visible(row.label), description: row.description, detail: visible(row.detail), row }
      : { label: row.label, kind: vscode.QuickPickItemKind.Separator, row },
  );
}
