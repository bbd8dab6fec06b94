import * as vscode from 'vscode';

import { engineLabel, ownEngine } from '../palette/engineRows';
import { shortCount } from '../palette/items';
import { pendingOf } from '../late';
import { ownSettings } from '../settings';
import type { SessionState } from '../wire.gen';
import { settings, type Window } from '../window';
import type { LiveStates } from './live';

const t = vscode.l10n.t;

/** Shows the live session of the active editor's folder in the status bar. */
export class Status implements vscode.Disposable {
  readonly #item = vscode.window.createStatusBarItem('xcshLs.session', vscode.StatusBarAlignment.Left, 10);
  readonly #subscriptions: vscode.Disposable[];

  constructor(
    private readonly window: Window,
    private readonly states: LiveStates,
  ) {
    this.#item.name = t('Session');
    this.#item.command = 'xcshLs.menu';
    this.#subscriptions = [
      this.#item,
      states.onDidChange(() => this.#show()),
      window.onDidChangeFolders(() => this.#show()),
      window.onDidChangeStatus(() => this.#show()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('xcshLs.statusBar')) {
          this.#show();
        }
      }),
    ];
    this.#show();
  }

  #show(): void {
    const { status, liveFolder } = this.window;
    const state = liveFolder && this.states.of(liveFolder.cwd);
    if (!ownSettings(settings).statusBar || status.kind === 'stopped' || status.kind === 'missing') {
      this.#item.hide();
      return;
    }
    const failed = status.kind === 'failed';
    this.#item.backgroundColor = failed ? new vscode.ThemeColor('statusBarItem.errorBackground') : undefined;
    if (failed) {
      this.#item.text = '$(error) xcsh';
      this.#item.tooltip = status.message;
    } else if (status.kind === 'starting') {
      this.#item.text = '$(loading~spin) xcsh';
      this.#item.tooltip = t('Starting the xcsh-ls server');
    } else if (state) {
      this.#item.text = statusText(state);
      this.#item.tooltip = statusTooltip(state);
    } else {
      this.#item.text = '$(comment) xcsh';
      this.#item.tooltip = t('No session is open in this folder');
    }
    this.#item.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

/** Returns the text of the status bar. A value that is still being read is not shown. */
function statusText(state: SessionState): string {
  const icon = state.isStreaming || state.isCompacting ? '$(loading~spin)' : '$(comment-discussion)';
  const name = state.title ?? untitled(state, state.messageCount > 0 ? state.sessionId.slice(0, 8) : t('new session'));
  return `${icon} ${name.length > 30 ? name.slice(0, 29) + '…' : name}`;
}

/** Returns the name of a session without a known title. */
const untitled = (state: SessionState, name: string): string => (pendingOf(state).includes('title') ? '…' : name);

function statusTooltip(state: SessionState): vscode.MarkdownString {
  const text = new vscode.MarkdownString(undefined, true);
  text
    .appendMarkdown('**')
    .appendText(state.title ?? untitled(state, state.sessionId))
    .appendMarkdown('**\n\n');
  for (const [icon, line] of statusLines(state)) {
    text.appendMarkdown(`$(${icon}) `).appendText(line).appendMarkdown('  \n');
  }
  return text;
}

/** Returns what is known of a session, as icons and lines. */
function statusLines(state: SessionState): [icon: string, line: string][] {
  const pending = pendingOf(state);
  const model = state.model ? `${state.model.provider}/${state.model.id}` : t('no model');
  const about = [
    !pending.includes('model') && model,
    !pending.includes('thinkingLevel') && t('thinking: {0}', state.thinkingLevel),
  ].filter((part) => part !== false);
  const lines: [string, string][] = about.length > 0 ? [['hubot', about.join(', ')]] : [];
  if (state.engine.name !== ownEngine) {
    lines.unshift(['server-environment', engineLabel(state.engine, '')]);
  }
  if (pending.length > 0) {
    lines.push(['book', t('Reading the session…')]);
  } else {
    const { totalTokens, cost } = state.usage;
    const used = [state.messageCount, shortCount(totalTokens), cost.toFixed(2)];
    lines.push(['comment', t('{0} messages, {1} tokens, ${2}', ...used)]);
  }
  lines.push(['file', state.file ?? t('not saved')]);
  if (state.isStreaming) {
    lines.unshift(['loading~spin', t('The agent is running')]);
  }
  if (state.unsaved) {
    lines.unshift(['warning', t('Not saved: {0}', state.unsaved)]);
  }
  return lines;
}
