import * as vscode from 'vscode';

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
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #subscriptions: vscode.Disposable[];

  /** The state of the session of this folder changed. */
  readonly onDidChange = this.#changed.event;

  constructor(private readonly host: Host) {
    this.#subscriptions = [
      this.#changed,
      host.onNotification('xcsh/sessionChanged', ({ cwd }) => void this.#read(cwd)),
      host.onNotification('xcsh/sessionState', ({ cwd, state }) => {
        this.#states.set(cwd, state);
        this.#changed.fire(cwd);
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
          const cwds = [...this.#states.keys()];
          this.#states.clear();
          cwds.forEach((cwd) => this.#changed.fire(cwd));
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
    try {
      this.#states.set(cwd, await this.host.request('xcsh.state', { cwd }));
    } catch (error) {
      this.host.output.info(`state of ${cwd}: ${String(error)}`);
      this.#states.delete(cwd);
    }
    this.#changed.fire(cwd);
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
