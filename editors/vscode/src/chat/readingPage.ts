import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';

import { commands } from '../commands.gen';
import type { Host } from '../host';
import { toServerError } from '../server/errors';
import { Calls } from './calls';
import { Following } from './following';
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
  readonly #following: Following | undefined;
  #reader: Reader<vscode.CancellationToken>;
  #seen = '';
  #over = false;
  #spot: Spot | undefined;

  constructor(
    private readonly host: Host,
    session: ReadSession,
    private readonly at: ReadingPlace,
  ) {
    this.#following = session.follow && new Following(host, session.cwd, session.follow.sid);
    this.#run = async (command, args, token) => {
      await this.#following?.begin();
      return host.request(command, args as never, token);
    };
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
      ...(this.#following ? [this.#following, ...this.#followStore()] : []),
      host.onNotification('xcsh/sessionsChanged', () => void this.#follow()),
      host.onNotification('xcsh/sessionChanged', ({ sessionId, reason, previousSessionFile }) => {
        if (sessionId === this.session.info.id) {
          this.#become(reason === 'shutdown' ? 'free' : 'live');
        } else if (previousSessionFile === this.session.info.path) {
          this.#become('free');
        }
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => session.follow || this.#become('free')),
    );
    void this.#state().then((state) => (this.#seen = state));
  }

  get session(): ReadSession {
    return this.#reader.session;
  }

  /** Follows a session of the team's store: its messages, and who writes it. */
  #followStore(): vscode.Disposable[] {
    return [
      this.host.onDidChangeContent((uri) => uri === this.session.info.path && this.#readAgain()),
      this.host.onNotification('xcsh/event', ({ event }) => {
        const { follow } = this.session;
        if (follow && event.type === 'team_writer' && event.sid === follow.sid) {
          const writer = { owner: event.owner ?? follow.owner, device: event.device ?? '' };
          this.#show({ ...this.session, follow: { ...follow, ...writer } });
        }
      }),
    ];
  }

  /** Handles that the page is not shown any more. A session of the team's store is followed again with the next page. */
  hidden(): void {
    this.#following?.end();
  }

  /** Shows that the session can be continued now, or is. */
  #become(state: 'free' | 'live'): void {
    if (state !== this.session.state) {
      this.#show({ ...this.session, state });
    }
  }

  #show(session: ReadSession): void {
    if (!this.#over) {
      this.#reader = new Reader(session, this.#run);
      const reading = this.#reader.reading(this.at.place);
      this.at.post({ kind: 'reading', reading, trusted: this.#trusted });
    }
  }

  /** Whether the page offers what changes sessions. One that is only in the team's store has no file to fork. */
  get #trusted(): boolean {
    return vscode.workspace.isTrusted && this.session.follow === undefined;
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
      trusted: this.#trusted,
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
      this.#readAgain();
    }
  }

  #readAgain(): void {
    this.at.post({ kind: 'read', params: { sessionId: this.session.info.id || this.session.info.path } });
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
