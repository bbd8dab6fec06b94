import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';

import { commands } from '../commands.gen';
import type { Host } from '../host';
import { toServerError } from '../server/errors';
import { Calls } from './calls';
import type { FromPage, JsonObject, Reading, ReadingAction, ToPage } from './messages';
import { Reader, type ReadSession, type Run, type Spot } from './reader';
import { mentioned, openedOf } from './webview';

/** The commands that a page can run for a session that is only read. */
const readingCommands: readonly string[] = ['xcsh.messages', 'xcsh.snapshot'];

/** Where a session is shown. */
export interface ReadingPlace {
  readonly place: Reading['place'];
  post(m: ToPage): void;
  act(session: ReadSession, action: ReadingAction): unknown;
}

/** The extension's side of a page that shows a session without resuming it. It follows the session's file. */
export class ReadingPage implements vscode.Disposable {
  readonly #run: Run<vscode.CancellationToken>;
  readonly #calls: Calls<vscode.CancellationToken>;
  readonly #subscription: vscode.Disposable;
  #reader: Reader<vscode.CancellationToken>;
  #seen = '';
  #over = false;
  #spot: Spot | undefined;

  constructor(
    private readonly host: Host,
    session: ReadSession,
    private readonly at: ReadingPlace,
  ) {
    this.#run = (command, args, token) => host.request(command, args as never, token);
    this.#reader = new Reader(session, this.#run);
    this.#calls = new Calls({
      allowed: readingCommands,
      cwd: () => session.cwd,
      run: (command, args, token) => this.#reader.answer(command, args, token),
      stop: () => new vscode.CancellationTokenSource(),
      post: (m) => at.post(m),
      failure: (error) => {
        const { message, kind, data } = toServerError(error);
        return { message, kind, data: { ...data } };
      },
    });
    this.#subscription = vscode.Disposable.from(
      host.onNotification('xcsh/sessionsChanged', () => void this.#follow()),
      host.onNotification('xcsh/sessionChanged', ({ sessionId, reason, previousSessionFile }) => {
        if (sessionId === this.session.info.id) {
          this.#become(reason === 'shutdown' ? 'free' : 'live');
        } else if (previousSessionFile === this.session.info.path) {
          this.#become('free');
        }
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.#become('free')),
    );
    void this.#state().then((state) => (this.#seen = state));
  }

  get session(): ReadSession {
    return this.#reader.session;
  }

  /** Shows that the session can be continued now, or is. */
  #become(state: 'free' | 'live'): void {
    if (!this.#over && state !== this.session.state) {
      this.#reader = new Reader({ ...this.session, state }, this.#run);
      const reading = this.#reader.reading(this.at.place);
      this.at.post({ kind: 'reading', reading, trusted: vscode.workspace.isTrusted });
    }
  }

  /** Handles that the program that has the session ended. */
  released(file: string): void {
    if (file === this.session.info.path && this.session.state === 'terminal') {
      this.#become('free');
    }
  }

  /** Sends the initial state to a new page. The server is started by the page's first call. */
  begin(kept: JsonObject | null): void {
    this.#calls.forget();
    this.at.post({
      kind: 'init',
      server: 'running',
      folders: [],
      cwd: this.session.cwd,
      commands: commands.map(({ name }) => name).filter((name) => readingCommands.includes(name)),
      trusted: vscode.workspace.isTrusted,
      texts: vscode.l10n.bundle ?? {},
      kept,
      reading: this.#reader.reading(this.at.place),
      now: Date.now(),
    });
    if (this.#spot) {
      this.reveal(this.#spot);
    }
  }

  /** Scrolls to a message, also of a page that is not ready yet. */
  reveal(spot: Spot): void {
    this.#spot = spot;
    this.at.post({ kind: 'reveal', entryId: spot.entryId, words: [...spot.words] });
  }

  /** Handles a message of the page; false if it needs the place. */
  async handle(m: FromPage): Promise<boolean> {
    const { info, cwd } = this.session;
    switch (m.kind) {
      case 'call':
        await this.#calls.call(m.id, m.command, m.args);
        return true;
      case 'cancel':
        this.#calls.cancel(m.id);
        return true;
      case 'reading':
        await this.at.act(this.session, m.action);
        return true;
      case 'fork':
        await vscode.commands.executeCommand('xcsh.fork', {
          cwd,
          source: info.path,
          entryId: m.entryId,
          position: m.position,
        });
        await this.host.reveal(cwd);
        return true;
      case 'keep':
        this.#spot = undefined; // the page knows where it is
        return false;
      case 'openFile':
      case 'openLink':
      case 'openDiff':
      case 'copy':
      case 'insertCode':
      case 'applyCode':
        await openedOf(m, info.cwd || cwd);
        return true;
      case 'findMentioned':
        this.at.post({ kind: 'answer', id: m.id, result: await mentioned(info.cwd || cwd, m.paths) });
        return true;
      default:
        return false;
    }
  }

  /** Reads the newest messages again if the file changed. */
  async #follow(): Promise<void> {
    const state = await this.#state();
    if (state !== this.#seen) {
      this.#seen = state;
      this.at.post({ kind: 'read', params: { sessionId: this.session.info.id || this.session.info.path } });
    }
  }

  async #state(): Promise<string> {
    try {
      const { size, mtimeMs } = await stat(this.session.info.path);
      return `${size} ${mtimeMs}`;
    } catch {
      return '';
    }
  }

  dispose(): void {
    this.#over = true;
    this.#calls.forget();
    this.#subscription.dispose();
  }
}
