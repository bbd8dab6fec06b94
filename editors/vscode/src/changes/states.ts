import * as vscode from 'vscode';

import type { Host } from '../host';
import type { ChangesResult } from '../wire.gen';

/** The delay before changes are read again, in milliseconds. */
const pauseMs = 150;

/** The events after which the changes of a session may differ. */
const telling: ReadonlySet<string> = new Set(['changes_changed', 'rewound', 'agent_end']);

/** The file changes of each folder's live session, kept up to date while the server is running. Never starts the server. */
export class ChangeStates implements vscode.Disposable {
  readonly #states = new Map<string, ChangesResult>();
  readonly #asked = new Map<string, number>();
  readonly #pending = new Map<string, NodeJS.Timeout>();
  readonly #changed = new vscode.EventEmitter<string>();
  readonly #subscriptions: vscode.Disposable[];

  /** Fires when the changes of a folder's session differ. */
  readonly onDidChange = this.#changed.event;

  constructor(private readonly host: Host) {
    this.#subscriptions = [
      this.#changed,
      host.onNotification('xcsh/sessionChanged', ({ cwd, reason }) =>
        reason === 'shutdown' ? this.#forget(cwd) : this.later(cwd),
      ),
      host.onNotification('xcsh/event', ({ cwd, event }) => {
        if (telling.has(event.type)) {
          this.later(cwd);
        }
      }),
      host.onDidChangeStatus(({ kind }) => {
        if (kind !== 'running') {
          [...this.#states.keys()].forEach((cwd) => this.#forget(cwd));
        }
      }),
    ];
  }

  of(cwd: string): ChangesResult | undefined {
    return this.#states.get(cwd);
  }

  get folders(): string[] {
    return [...this.#states.keys()];
  }

  /** Reads the changes of a folder after a delay; combines several requests. */
  later(cwd: string): void {
    if (this.#pending.has(cwd)) {
      return;
    }
    this.#pending.set(
      cwd,
      setTimeout(() => {
        this.#pending.delete(cwd);
        void this.read(cwd);
      }, pauseMs),
    );
  }

  /** Reads the changes of a folder. Drops an answer that is older than the shown one. */
  async read(cwd: string): Promise<void> {
    if (this.host.status.kind !== 'running') {
      return;
    }
    const asked = (this.#asked.get(cwd) ?? 0) + 1;
    this.#asked.set(cwd, asked);
    try {
      const state = await this.host.request('xcsh.changes', { cwd, since: 'session' });
      if (asked === this.#asked.get(cwd)) {
        this.#states.set(cwd, state);
        this.#changed.fire(cwd);
      }
    } catch (error) {
      this.host.output.info(`changes of ${cwd}: ${String(error)}`);
    }
  }

  #forget(cwd: string): void {
    clearTimeout(this.#pending.get(cwd));
    this.#pending.delete(cwd);
    this.#asked.set(cwd, (this.#asked.get(cwd) ?? 0) + 1);
    if (this.#states.delete(cwd)) {
      this.#changed.fire(cwd);
    }
  }

  dispose(): void {
    this.#pending.forEach((timer) => clearTimeout(timer));
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
