import * as vscode from 'vscode';

import { pendingOf } from '../late';
import type { Host } from '../host';
import type { SessionEvent, SessionState } from '../wire.gen';

/** The events that change the state of a session. */
const telling: ReadonlySet<SessionEvent['type']> = new Set<SessionEvent['type']>([
  'agent_start',
  'agent_end',
  'engine_changed',
  'model_changed',
  'thinking_level_changed',
  'auto_compaction_start',
  'auto_compaction_end',
]);

/** The live session of each folder, kept up to date while the server runs. Never starts it. */
export class LiveStates implements vscode.Disposable {
  readonly #states = new Map<string, SessionState>();
  readonly #names = new Map<string, string>(); // of sessions without a title, by id
  readonly #shown = new Map<string, number>(); // the number of the last message or request with news, by folder
  #count = 0;
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #subscriptions: vscode.Disposable[];

  /** The state of the session of this folder changed. */
  readonly onDidChange = this.#changed.event;

  constructor(private readonly host: Host) {
    this.#subscriptions = [
      this.#changed,
      host.onNotification('xcsh/sessionChanged', ({ cwd }) => void this.#read(cwd)),
      host.onNotification('xcsh/sessionState', ({ cwd, state }) => {
        this.#show(cwd, ++this.#count, state);
      }),
      // A title can change, by a command of this extension or by another program.
      host.onNotification('xcsh/sessionsChanged', () =>
        [...this.#states.keys()].forEach((cwd) => void this.#read(cwd)),
      ),
      host.onNotification('xcsh/event', ({ cwd, event }) => {
        if (telling.has(event.type)) {
          void this.#read(cwd);
        }
      }),
      host.onDidChangeStatus(({ kind }) => {
        if (kind !== 'running') {
          const after = ++this.#count;
          [...this.#states.keys()].forEach((cwd) => this.#show(cwd, after, undefined));
        }
      }),
    ];
  }

  /** Returns the state; undefined if no session has been opened in this folder. */
  of(cwd: string): SessionState | undefined {
    return this.#states.get(cwd);
  }

  async #read(cwd: string): Promise<void> {
    if (this.host.status.kind !== 'running') {
      return;
    }
    const asked = ++this.#count;
    try {
      const state = await this.host.request('xcsh.state', { cwd });
      this.#show(cwd, asked, { ...state, ...(await this.#named(state)) });
    } catch (error) {
      this.host.output.info(`state of ${cwd}: ${String(error)}`);
      this.#show(cwd, asked, undefined);
    }
  }

  /** Shows a state, unless a later one is shown: answers can come in any order. */
  #show(cwd: string, number: number, state: SessionState | undefined): void {
    if (number < (this.#shown.get(cwd) ?? 0)) {
      return;
    }
    this.#shown.set(cwd, number);
    if (state) {
      this.#states.set(cwd, state);
    } else {
      this.#states.delete(cwd);
    }
    this.#changed.fire(cwd);
  }

  /** Returns the name of a session without a title: the beginning of its first prompt, as in the lists. */
  async #named(state: SessionState): Promise<{ title?: string }> {
    const { cwd, sessionId, title, messageCount } = state;
    if (title || state.file === null || !(messageCount > 0) || pendingOf(state).length > 0) {
      return {};
    }
    const known = this.#names.get(sessionId);
    if (known !== undefined) {
      return { title: known };
    }
    try {
      const { matches } = await this.host.request('xcsh.resolve', { cwd, target: sessionId });
      const name = matches?.find((m) => m.id === sessionId)?.name;
      if (!name || sessionId.startsWith(name)) {
        return {};
      }
      this.#names.set(sessionId, name);
      return { title: name };
    } catch {
      return {}; // its file is written with the first answer
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
