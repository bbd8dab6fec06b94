import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import { toServerError } from '../server/errors';
import type { TeamStatus } from '../wire.gen';
import type { Window } from '../window';
import { lightOf, type TeamLight } from './model';

const t = vscode.l10n.t;

/** Shows the unsent sessions in the status bar, and the reason. Never starts the server. */
export class TeamStatusBar implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('xcshLs.team', vscode.StatusBarAlignment.Left, 9);
  readonly #subscriptions: vscode.Disposable[];
  #asked = 0;

  constructor(private readonly window: Window) {
    this.#item.name = t('Team');
    this.#item.command = 'xcshLs.team.status';
    this.#subscriptions = [
      this.#item,
      window.onNotification('xcsh/event', ({ event }) => event.type === 'team_state' && void this.#read()),
      window.onDidChangeStatus(() => void this.#read()),
      vscode.commands.registerCommand('xcshLs.team.status', () => showStatus(window)),
    ];
  }

  async #read(): Promise<void> {
    const asked = ++this.#asked;
    const status = await statusOf(this.window);
    if (asked === this.#asked) {
      this.#show(status);
    }
  }

  #show(status: TeamStatus | undefined): void {
    const light = lightOf(status);
    if (!light || !status) {
      this.#item.hide();
      return;
    }
    this.#item.text = `$(${light.icon}) ${lightText(light)}`;
    this.#item.tooltip = statusText(status); // a string, so that nothing in it is markup
    this.#item.backgroundColor =
      light.problem === 'refused' ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
    this.#item.accessibilityInformation = { label: `${lightText(light)}. ${statusText(status)}` };
    this.#item.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

function lightText({ problem, unsent }: TeamLight): string {
  const parts = [
    problem === 'offline' ? t('offline') : problem === 'refused' ? t('refused') : '',
    unsent > 0 ? t('{0} unsent', unsent) : '',
  ];
  return t('team: {0}', parts.filter((part) => part !== '').join(', '));
}

/** Returns the state of the store; undefined without a running server. */
async function statusOf(window: Window): Promise<TeamStatus | undefined> {
  if (window.status.kind !== 'running') {
    return undefined;
  }
  try {
    return await window.request('xcsh.team.status', window.liveFolder ? { cwd: window.liveFolder.cwd } : {});
  } catch (error) {
    window.output.info(`team: ${toServerError(error).message}`); // a server of the user's choice can be older
    return undefined;
  }
}

/** Returns the state of the store in sentences, without markup. */
function statusText(status: TeamStatus): string {
  const { state, server, user, tls, unsentSessions, since, problem } = status;
  if (state === 'off') {
    return t('Nothing is shared with a team.');
  }
  const at = since === undefined ? undefined : new Date(since);
  const waiting =
    unsentSessions === 0
      ? t('Everything that you share is in the team store.')
      : at === undefined || Number.isNaN(at.getTime())
        ? t('Sessions that are not sent yet: {0}', unsentSessions)
        : t('Sessions that are not sent yet: {0}, since {1}', unsentSessions, at.toLocaleString(vscode.env.language));
  const place =
    server === undefined || server === ''
      ? ''
      : t('Store: {0}, as {1} (connection: {2})', visible(server), visible(user ?? '?'), tls ?? '?');
  return [problem === undefined ? '' : visible(problem), waiting, place].filter((line) => line !== '').join('\n');
}

/** Shows the state of the store. A modal message shows its text as it is. */
async function showStatus(window: Window): Promise<void> {
  try {
    await window.ready();
    const status = await statusOf(window);
    if (status) {
      const [first = '', ...rest] = statusText(status).split('\n');
      await vscode.window.showInformationMessage(first, { modal: true, detail: rest.join('\n') });
    }
  } catch (error) {
    await window.showError(error);
  }
}
