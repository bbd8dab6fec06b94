// The ways to continue that the server sends with a failure, as buttons.

import { actionCommands, windowCommands } from '../../../src/chat/messages';
import { visible } from '../../../src/chat/visible';
import { t } from '../l10n';
import { own } from '../state/engine';
import type { Action } from '../state/engine';

/** Returns the actions that the page offers. */
export function offered(actions: readonly Action[]): readonly Action[] {
  return actions.filter(
    ({ command }) =>
      actionCommands.some((known) => known === command) ||
      windowCommands.some((known) => `window.${known}` === command) ||
      command === 'page.say' ||
      command === 'page.redo',
  );
}

/** Returns the title in the language of the window, for the usual actions. engine is the one that failed. */
export function titleOf({ title, command, args }: Action, engine: string): string {
  if (args['fork'] === true) return t('Fork Session');
  if (command === 'xcsh.setEngine' && args['engine'] === own) return t('Use xcsh-ls');
  if (command === 'xcsh.setEngine' && args['engine'] === engine) return t('Start Again');
  if (command === 'xcsh.login') return t('Log In');
  if (command === 'xcsh.setModel') return t('Choose Model');
  if (command === 'xcsh.setKey') return t('Enter Key…');
  if (command === 'page.redo') return t('Redo');
  if (command === 'window.compact') return t('Try Again');
  return visible(title);
}
