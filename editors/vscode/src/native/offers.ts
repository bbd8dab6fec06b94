import * as vscode from 'vscode';

import { commands } from '../commands.gen';
import type { Host } from '../host';
import { ownEngine } from '../palette/engineRows';
import { choicesIn, choicesOf, type Choice } from './choices';

const known: ReadonlySet<string> = new Set(commands.map(({ name }) => name));

/**
 * Offers ways to continue after a turn, such as after a model service rejected an entry of the conversation, and after
 * the engine failed while its panel is hidden.
 */
export function registerOffers(host: Host): vscode.Disposable {
  return host.onNotification('xcsh/event', ({ cwd, event }) => {
    const offer = choicesOf(event, cwd, known);
    if (offer && !(event.type === 'engine_changed' && host.shows(cwd))) {
      void show(offer.message, offer.choices);
    }
  });
}

/** Offers the ways to continue in the data of an error. Returns false if it has none. */
export function offerAfter(message: string, actions: unknown, cwd: string): boolean {
  const offer = choicesIn(message, actions, cwd, known);
  if (offer) {
    void show(offer.message, offer.choices);
  }
  return offer !== undefined;
}

const shown = new Set<string>();

async function show(message: string, choices: readonly Choice[]): Promise<void> {
  if (shown.has(message)) {
    return; // an event and the error of a command can have the same failure
  }
  shown.add(message);
  try {
    await ask(message, choices);
  } finally {
    shown.delete(message);
  }
}

async function ask(message: string, choices: readonly Choice[]): Promise<void> {
  const items = choices.map((choice) => ({ title: label(choice), choice }));
  const chosen = await vscode.window.showErrorMessage(message, ...items);
  if (chosen) {
    await vscode.commands.executeCommand(chosen.choice.command, chosen.choice.args);
  }
}

/** The titles are those of the server, in shorter words of the user's language. */
function label({ command, title, args }: Choice): string {
  switch (command) {
    case 'xcsh.login':
      return vscode.l10n.t('Log In');
    case 'xcsh.setEngine':
      return args['engine'] === ownEngine ? vscode.l10n.t('Use xcsh-ls') : title;
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
