import * as vscode from 'vscode';

import { commands } from '../commands.gen';
import type { Host } from '../host';
import { choicesOf, type Choice } from './choices';

/** Offers ways to continue after a turn, such as after a model service rejected an entry of the conversation. */
export function registerOffers(host: Host): vscode.Disposable {
  const known = new Set<string>(commands.map(({ name }) => name));
  return host.onNotification('xcsh/event', ({ cwd, event }) => {
    const offer = choicesOf(event, cwd, known);
    if (offer) {
      void show(offer.message, offer.choices);
    }
  });
}

async function show(message: string, choices: readonly Choice[]): Promise<void> {
  const items = choices.map((choice) => ({ title: label(choice), choice }));
  const chosen = await vscode.window.showErrorMessage(message, ...items);
  if (chosen) {
    await vscode.commands.executeCommand(chosen.choice.command, chosen.choice.args);
  }
}

/** The titles are those of the server, in shorter words of the user's language. */
function label({ command, title }: Choice): string {
  switch (command) {
    case 'xcsh.branch':
      return vscode.l10n.t('Go Back');
    case 'xcsh.compact':
      return vscode.l10n.t('Compact');
    case 'xcsh.setModel':
      return vscode.l10n.t('Choose Model');
    default:
      return title;
  }
}
