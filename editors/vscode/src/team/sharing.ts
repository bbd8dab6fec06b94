import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import { askText } from '../palette/choices';
import { toServerError, type ServerError } from '../server/errors';
import type { TeamShareArgs, TeamShareResult } from '../wire.gen';
import type { Window } from '../window';
import { askConsent, type Answer } from './consent';

const t = vscode.l10n.t;

/** The longest text of a modal message, in characters. */
const maxText = 4000;

/**
 * Asks the user whether conversations of a folder may be sent to the team's store, and begins to send them. A caller
 * cannot agree for the user: a plan's token that is among args is not used.
 */
export async function shareWithTeam(window: Window, args: TeamShareArgs): Promise<void> {
  const { planToken: _, ...wanted } = args;
  const shared =
    wanted.scope === 'off'
      ? await stop(window, wanted)
      : await askConsent(
          {
            share: (of, more) => share(window, of, more),
            ask,
            nothingReplaced: () => t('Nothing that looks like a secret was found.'),
            changed: () => void vscode.window.setStatusBarMessage(t('The plan has changed.'), 5000),
          },
          wanted,
        );
  if (shared !== undefined) {
    const done = shared === 'off' ? t('Nothing more is sent to the team') : t('Shared with the team');
    vscode.window.setStatusBarMessage(`$(check) ${done}`, 5000);
  }
}

/** Ends the sending of a project, or of one session, if the user agrees. */
async function stop(window: Window, args: TeamShareArgs): Promise<string | undefined> {
  const button = t('Stop Sharing');
  const message =
    args.source === undefined
      ? t("Stop sending this project's conversations to the team?")
      : t('Stop sending this session to the team?');
  const detail = t('Sessions that are in the store already stay there. You can remove each of them from the team.');
  const answer = await vscode.window.showWarningMessage(message, { modal: true, detail }, button);
  return answer === button ? (await window.request('xcsh.team.share', args)).shared : undefined;
}

/** Calls the server, which can ask for the name of a project without a remote, or for a team. */
async function share(
  window: Window,
  args: TeamShareArgs,
  more: Pick<TeamShareArgs, 'scope' | 'planToken'>,
): Promise<TeamShareResult> {
  for (;;) {
    try {
      return await window.request('xcsh.team.share', { ...args, ...more });
    } catch (problem) {
      const error = toServerError(problem);
      if (error.kind !== 'argumentNeeded' || !(await answered(args, error))) {
        throw error.kind === 'argumentNeeded' ? new vscode.CancellationError() : error;
      }
    }
  }
}

/** Asks for the argument that an error names. Returns false if the user cancels. */
async function answered(args: TeamShareArgs, error: ServerError): Promise<boolean> {
  const { choices } = error.data;
  switch (error.text('field')) {
    case 'name':
      args.name = await askText(visible(error.message), { value: visible(error.text('offer') ?? '') });
      return args.name !== undefined;
    case 'team':
      args.team = await vscode.window.showQuickPick(
        (Array.isArray(choices) ? choices : []).filter((choice): choice is string => typeof choice === 'string'),
        { placeHolder: visible(error.message) },
      );
      return args.team !== undefined;
    default:
      throw error;
  }
}

/** Shows a plan. The texts of a modal message are not interpreted as markup. */
async function ask(text: string, answers: readonly Answer[]): Promise<Answer | undefined> {
  const [message = '', ...rest] = visible(text).split('\n');
  const detail = rest.join('\n').trim();
  const items = [
    ...answers.map((answer) => ({ title: label(answer), answer, isCloseAffordance: false })),
    { title: t('Not Now'), answer: undefined, isCloseAffordance: true },
  ];
  const options = { modal: true, detail: detail.length > maxText ? detail.slice(0, maxText) + '…' : detail };
  return (await vscode.window.showInformationMessage(message, options, ...items))?.answer;
}

function label(answer: Answer): string {
  switch (answer) {
    case 'new':
      return t('From Now On');
    case 'all':
      return t('Also the Older Ones');
    case 'session':
      return t('Share Session');
    case 'replaced':
      return t('Show What Is Replaced');
  }
}
