import * as vscode from 'vscode';

import type { Question } from '../wire.gen';
import type { ChatPanel } from './panel';
import type { QuestionAnswer } from './questions';
import { visible } from './visible';

/** A longer question is not shown in a notification, which might not show all of it. In characters. */
const maxNotified = 400;

function announcement({ from }: Question, words: string): string {
  switch (from) {
    case 'model':
      return vscode.l10n.t('The model asks: {0}', words);
    case 'server':
      return vscode.l10n.t('A server asks: {0}', words);
    default:
      return vscode.l10n.t('An extension of the engine asks: {0}', words);
  }
}

/** Announces a question while the panel is hidden. It does not take the focus. */
export async function announce(panel: ChatPanel, cwd: string, question: Question): Promise<QuestionAnswer> {
  const yes = vscode.l10n.t('Yes');
  const no = vscode.l10n.t('No');
  const show = vscode.l10n.t('Answer in Chat');
  const words = visible([question.title, question.message ?? ''].filter(Boolean).join('\n'));
  const whole = words.length <= maxNotified;
  const shown = whole ? words : words.slice(0, maxNotified) + '…';
  const text = announcement(question, shown);
  const buttons = question.method === 'confirm' && whole ? [yes, no, show] : [show];
  const chosen = await vscode.window.showInformationMessage(text, ...buttons);
  if (chosen === show) {
    await panel.focus(cwd);
  }
  return chosen === yes || chosen === no ? { confirmed: chosen === yes } : undefined;
}
