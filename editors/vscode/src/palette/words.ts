import * as vscode from 'vscode';

import type { Words } from './items';

const t = vscode.l10n.t;

/** The words of lists in the language of the window. */
export const words: Words = {
  live: t('active'),
  fork: t('fork'),
  runningIn: (by) => t('running in another program ({0})', by),
  damaged: (lines) => (lines === 1 ? t('1 damaged line') : t('{0} damaged lines', lines)),
  branches: (n) => (n === 1 ? t('1 branch') : t('{0} branches', n)),
  messages: (n) => (n === 1 ? t('1 message') : t('{0} messages', n)),
  inMemory: t('not saved'),
};
