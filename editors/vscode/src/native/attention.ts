import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import { ownSettings } from '../settings';
import { settings, type Window } from '../window';
import type { LiveStates } from './live';
import { Standings, type Ended, type Standing } from './standing';

const t = vscode.l10n.t;

/** A longer reason is cut. In characters. */
const maxReason = 300;

/** Follows the sessions of this window, and announces the end of turns that the user did not see. */
export class Attention implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<readonly string[]>();
  readonly #standings: Standings;
  readonly #subscriptions: vscode.Disposable;

  /** The standing of these sessions changed. */
  readonly onDidChange = this.#changed.event;

  constructor(
    private readonly window: Window,
    private readonly states: LiveStates,
  ) {
    this.#standings = new Standings(window.context.workspaceState, {
      sees: (cwd) => vscode.window.state.focused && window.shows(cwd),
      ended: (cwd, sessionId, end) => void this.#announce(cwd, sessionId, end),
      changed: (ids) => this.#changed.fire(ids),
    });
    this.#subscriptions = vscode.Disposable.from(
      this.#changed,
      window.onNotification('xcsh/event', ({ cwd, sessionId, event }) => this.#standings.follow(cwd, sessionId, event)),
      window.onNotification('xcsh/sessionChanged', ({ cwd, sessionId }) => this.#standings.switched(cwd, sessionId)),
      window.onDidShow(() => this.#standings.look()),
      vscode.window.onDidChangeWindowState(() => this.#standings.look()),
      window.onDidChangeStatus(({ kind }) => {
        if (kind !== 'running') {
          this.#standings.stopped();
        }
      }),
    );
  }

  /** Returns the standing of a session; undefined if it neither runs nor needs attention. */
  of(sessionId: string): Standing | undefined {
    return this.#standings.of(sessionId);
  }

  get unread(): number {
    return this.#standings.unread;
  }

  /** Handles that the user opened a session. */
  read(sessionId: string): void {
    this.#standings.read(sessionId);
  }

  /** Forgets sessions that do not exist any more. */
  prune(listed: ReadonlySet<string>): void {
    this.#standings.prune(listed);
  }

  async #announce(cwd: string, sessionId: string, end: Ended): Promise<void> {
    if (ownSettings(settings).notifications !== 'whenHidden' || this.window.presents(cwd, end.stopReason)) {
      return;
    }
    const show = t('Show Conversation');
    const name = await this.#nameOf(cwd, sessionId);
    const failed = end.stopReason === 'error';
    const reason = visible((end.errorMessage ?? '').replace(/\s+/g, ' ').trim());
    const answer = failed
      ? await vscode.window.showWarningMessage(
          t('“{0}” stopped with an error: {1}', name, reason.slice(0, maxReason) || t('unknown error')),
          show,
        )
      : await vscode.window.showInformationMessage(t('“{0}” is finished.', name), show);
    if (answer === show) {
      await this.#show(cwd, sessionId);
    }
  }

  async #nameOf(cwd: string, sessionId: string): Promise<string> {
    try {
      const state = await this.window.request('xcsh.state', { cwd });
      const known = state.sessionId === sessionId ? (state.title ?? this.states.of(cwd)?.title) : undefined;
      const { matches } = known
        ? { matches: [] }
        : await this.window.request('xcsh.resolve', { cwd, target: sessionId });
      return visible(known ?? matches?.find(({ id }) => id === sessionId)?.name ?? t('The conversation'));
    } catch {
      return t('The conversation');
    }
  }

  /** Shows the conversation, also if the folder has another session by now. */
  async #show(cwd: string, sessionId: string): Promise<void> {
    try {
      const state = await this.window.request('xcsh.state', { cwd });
      if (state.sessionId === sessionId) {
        await this.window.reveal(cwd);
        return;
      }
      const info = await this.window.request('xcsh.info', { cwd, source: sessionId });
      await vscode.commands.executeCommand('xcshLs.sessions.open', { info, cwd });
    } catch (error) {
      await this.window.showError(error);
    }
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }
}
