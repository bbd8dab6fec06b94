import * as vscode from 'vscode';

import type { Question } from '../wire.gen';
import type { ChatPanel } from './panel';
import type { QuestionAnswer } from './questions';
import { visible } from './visible';

/** A longer question is not shown in a notification, which might not show all of it. In characters. */
const maxNotified = 400;

/** Announces a question of an extension while the panel is hidden. It does not take the focus. */
export async function announce(panel: ChatPanel, cwd: string, question: Question): Promise<QuestionAnswer> {
  const yes = vscode.l10n.t('Yes');
  const no = vscode.l10n.t('No');
  const show = vscode.l10n.t('Answer in Chat');
  const words = visible([question.title, question.message ?? ''].filter(Boolean).join('\n'));
  const whole = words.length <= maxNotified;
  const text = vscode.l10n.t('An extension of the engine asks: {0}', whole ? words : words.slice(0, maxNotified) + '…');
  const buttons = question.method === 'confirm' && whole ? [yes, no, show] : [show];
  const chosen = await vscode.window.showInformationMessage(text, ...buttons);
  if (chosen === show) {
    await panel.focus(cwd);
  }
  return chosen === yes || chosen === no ? { confirmed: chosen === yes } : undefined;
}
