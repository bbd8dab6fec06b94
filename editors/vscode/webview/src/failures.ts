// What a failure of a call offers to the user.

import type { WindowCommand } from '../../src/chat/messages';
import { t } from './l10n';
import { actionsOf } from './state/engine';
import type { Action } from './state/engine';
import type { Cause } from './state/model';
import type { Failure } from './state/store';
import { str } from './state/wire';

/** Returns the ways to continue after a failure. An engine that cannot read the session's file can get a copy. */
export function waysAfter({ kind, data }: Failure): Action[] {
  const engine = str(data.engine);
  if (kind !== 'argumentNeeded' || data.field !== 'fork' || engine === '') return actionsOf(data.actions);
  return [{ title: t('Fork Session'), command: 'xcsh.setEngine', args: { engine, fork: true } }];
}

export const showLog = (): Action => ({ title: t('Show log'), command: 'window.log', args: {} });

/** Returns the buttons of a failure for which the server sends none, and what ends it. */
export function usualWays({ kind, data }: Failure): { text?: string; actions: Action[]; cause: Cause } {
  const window = (title: string, command: WindowCommand): Action => ({ title, command: `window.${command}`, args: {} });
  switch (kind) {
    case 'provider': {
      const { provider } = data;
      const key: Action = { title: t('Add API key'), command: 'xcsh.setKey', args: { provider } };
      return {
        actions: [window(t('Choose model'), 'model'), ...(data.reason === 'noKey' ? [key] : [])],
        cause: 'model',
      };
    }
    case 'noServer':
      return { actions: [window(t('Restart'), 'restart'), showLog()], cause: 'server' };
    case 'busy':
      if (data.pid !== undefined)
        return {
          text: t('This session is running in another window.'),
          actions: [window(t('Fork Here'), 'fork'), { title: t('Try Again'), command: 'page.say', args: {} }],
          cause: 'turn',
        };
      return { actions: [], cause: 'turn' };
    case 'internal':
    case 'unknown':
      return { actions: [showLog()], cause: 'turn' };
    default:
      return { actions: [], cause: 'turn' };
  }
}
