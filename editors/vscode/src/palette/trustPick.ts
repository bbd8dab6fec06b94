// The user's decision about the set-up that a folder brings.

import * as vscode from 'vscode';

import type { SetupBrought } from '../wire.gen';
import type { Window } from '../window';
import { oneLine } from './items';

const t = vscode.l10n.t;

type Decision = vscode.QuickPickItem & { decision?: string; file?: string };

/**
 * Shows what the set-up of a folder consists of, and lets the user decide whether to use it. Selecting one of its parts
 * opens the file. Returns undefined if the user has not decided.
 */
export async function pickTrust(window: Window, cwd: string): Promise<string | undefined> {
  const trust = await window.request('xcsh.trust', { cwd });
  const brings = trust.brings ?? [];
  if (brings.length === 0) {
    void vscode.window.showInformationMessage(t('This folder brings no set-up of its own.'));
    return undefined;
  }
  const mark = (state: string) => (trust.state === state ? '$(check) ' : '');
  const servers = brings.filter((b) => b.kind === 'server').map((b) => oneLine(`${b.name}: ${b.starts ?? ''}`));
  const items: Decision[] = [
    {
      label: mark('trusted') + t('Use'),
      decision: 'all',
      ...(servers.length > 0 ? { detail: t('Starts {0}', servers.join('; ')) } : {}),
    },
    { label: mark('withoutServers') + t('Use without servers'), decision: 'without-servers' },
    { label: mark('untrusted') + t("Don't use"), decision: 'none' },
    { label: t('This folder brings'), kind: vscode.QuickPickItemKind.Separator },
    ...brings.map(part),
  ];
  const picked = await vscode.window.showQuickPick(items, {
    title: t('Trust the set-up of {0}?', oneLine(trust.folder)),
    placeHolder: trust.question ? oneLine(trust.question) : t('Select a decision, or a part to open its file'),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked?.file !== undefined) {
    await vscode.window.showTextDocument(vscode.Uri.file(picked.file));
  }
  return picked?.decision;
}

function part({ kind, name, path, starts }: SetupBrought): Decision {
  return { label: oneLine(name), description: kind, detail: oneLine(starts ?? path), file: path };
}
