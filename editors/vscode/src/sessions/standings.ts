import * as vscode from 'vscode';

import type { Standing } from '../native/standing';

const t = vscode.l10n.t;

/** The standing of a session in the list. A terminal of the window can have it, too. */
export type Shown = Standing | 'terminal';

const icons: Record<Shown, string> = {
  running: 'loading~spin',
  approval: 'bell-dot',
  question: 'question',
  unread: 'circle-filled',
  terminal: 'terminal',
};

const colors: Record<Shown, string | undefined> = {
  running: 'charts.green',
  approval: 'list.warningForeground',
  question: 'list.warningForeground',
  unread: 'charts.blue',
  terminal: undefined,
};

/** Returns the codicon of a session that does something or waits for the user. */
export const standingIcon = (standing: Shown): string => icons[standing];

/** Returns the color of that icon, by its name in themes. */
export const standingColor = (standing: Shown): string | undefined => colors[standing];

/** Returns the words for it, which screen readers read. */
export function standingWord(standing: Shown): string {
  switch (standing) {
    case 'running':
      return t('running');
    case 'approval':
      return t('waiting for approval');
    case 'question':
      return t('waiting for an answer');
    case 'unread':
      return t('finished, unread');
    case 'terminal':
      return t('in a terminal');
  }
}

/** Returns the badge for a number of sessions that ended unseen. */
export function standingBadge(unread: number): vscode.ViewBadge | undefined {
  if (unread === 0) {
    return undefined;
  }
  return {
    value: unread,
    tooltip: unread === 1 ? t('1 session is finished and unread') : t('{0} sessions are finished and unread', unread),
  };
}
