import * as vscode from 'vscode';

import type { Window } from '../window';
import { toServerError, type ServerError } from '../server/errors';
import type { CommandName } from '../wire.gen';
import { offerAfter } from '../native/offers';
import { handlingOf, isHeldElsewhere, isOfEngine, type Handling, type Remedy } from './remedies';

/** The command that caused an error, so that it can be retried in another way. */
export interface About {
  readonly command: CommandName;
  readonly args: Record<string, unknown>;
}

/** Shows an error with its remedies, and runs the selected one. */
export async function showProblem(window: Window, problem: unknown, about?: About): Promise<void> {
  const error = toServerError(problem);
  window.output.warn(`${about?.command ?? 'xcsh'}: ${error.kind}: ${error.message}`);
  const cwd = about?.args['cwd'];
  if (isOfEngine(error) && typeof cwd === 'string' && offerAfter(error.message, error.data['actions'], cwd)) {
    return;
  }
  const handling = handlingOf(error, about?.command);
  if (!handling) {
    return;
  }
  const remedies = handling.remedies.filter((remedy) => about !== undefined || !needsCommand.has(remedy));
  const items = remedies.map((remedy) => ({ title: label(remedy), remedy }));
  const chosen = await show(handling, isHeldElsewhere(error) ? heldElsewhere() : error.message, items);
  if (chosen) {
    await apply(window, chosen.remedy, error, about);
  }
}

/** The log has the process that holds the session. */
const heldElsewhere = (): string => vscode.l10n.t('This session is running in another window.');

const needsCommand: ReadonlySet<Remedy> = new Set(['forkHere', 'tryAgain', 'openInPlace', 'waitForTurn', 'overwrite']);

type Item = vscode.MessageItem & { readonly remedy: Remedy };

function show(handling: Handling, message: string, items: Item[]): Thenable<Item | undefined> {
  const options: vscode.MessageOptions = { modal: handling.modal };
  switch (handling.severity) {
    case 'info':
      return vscode.window.showInformationMessage(message, options, ...items);
    case 'warning':
      return vscode.window.showWarningMessage(message, options, ...items);
    case 'error':
      return vscode.window.showErrorMessage(message, options, ...items);
  }
}

function label(remedy: Remedy): string {
  switch (remedy) {
    case 'forkHere':
      return vscode.l10n.t('Fork Here');
    case 'openThatFolder':
      return vscode.l10n.t('Open Its Folder');
    case 'openInPlace':
      return vscode.l10n.t('Open in Place');
    case 'checkFile':
      return vscode.l10n.t('Check for Damage');
    case 'install':
      return vscode.l10n.t('Show Instructions');
    case 'settings':
      return vscode.l10n.t('Open Settings');
    case 'log':
      return vscode.l10n.t('Show Log');
    case 'restart':
      return vscode.l10n.t('Restart Server');
    case 'trust':
      return vscode.l10n.t('Manage Trust');
    case 'chooseModel':
      return vscode.l10n.t('Choose Model');
    case 'addKey':
      return vscode.l10n.t('Add API Key');
    case 'tryAgain':
      return vscode.l10n.t('Try Again');
    case 'stopTurn':
      return vscode.l10n.t('Stop');
    case 'waitForTurn':
      return vscode.l10n.t('Queue Message');
    case 'overwrite':
      return vscode.l10n.t('Overwrite');
    case 'addNumber':
      return vscode.l10n.t('Add Number to Name');
    case 'takeTitle':
      return vscode.l10n.t('Use This Title');
    case 'exportText':
      return vscode.l10n.t('Export…');
  }
}

async function apply(window: Window, remedy: Remedy, error: ServerError, about?: About): Promise<void> {
  const execute = vscode.commands.executeCommand;
  const again = (more: Record<string, unknown>): Thenable<unknown> =>
    execute(about?.command ?? '', { ...about?.args, ...more });
  const source = error.text('path') ?? about?.args['target'] ?? about?.args['source'];
  const cwd = about?.args['cwd'];
  switch (remedy) {
    case 'forkHere':
      await (about?.command === 'xcsh.resume' && error.kind !== 'busy'
        ? again({ onOtherProject: 'fork' })
        : execute('xcsh.fork', { cwd, source }));
      return;
    case 'openInPlace':
      await again({ onOtherProject: 'open' });
      return;
    case 'openThatFolder': {
      const folder = error.text('cwd');
      if (folder) {
        await execute('vscode.openFolder', vscode.Uri.file(folder), { forceNewWindow: true });
      }
      return;
    }
    case 'checkFile':
      await execute('xcsh.doctor', { cwd, source });
      return;
    case 'install':
      await execute('xcshLs.server.install');
      return;
    case 'settings':
      await execute('workbench.action.openSettings', 'xcshLs.');
      return;
    case 'log':
      window.output.show();
      return;
    case 'restart':
      await execute('xcshLs.server.restart');
      return;
    case 'trust':
      await execute('workbench.trust.manage');
      return;
    case 'chooseModel':
      await execute('xcsh.setModel', { cwd });
      return;
    case 'addKey':
      await execute('xcsh.setKey', { cwd, provider: error.text('provider') });
      return;
    case 'tryAgain':
      await again({});
      return;
    case 'stopTurn':
      await execute('xcsh.abort', { cwd });
      return;
    case 'waitForTurn':
      await again({ streamingBehavior: 'followUp' });
      return;
    case 'overwrite':
      await again({ overwrite: true });
      return;
    case 'addNumber':
      await again({ onConflict: 'suffix' });
      return;
    case 'takeTitle':
      await again({ onConflict: 'takeOver' });
      return;
    case 'exportText': {
      const format = about?.command === 'xcsh.dump' ? 'text' : 'markdown';
      await execute('xcsh.export', { cwd, ...(source === undefined ? {} : { source }), format });
      return;
    }
  }
}
