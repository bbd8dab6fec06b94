import * as vscode from 'vscode';

import { ownSettings, type SettingsReader } from '../settings';
import type { CommandMap, CommandName, NotificationMap, RequestMap } from '../wire.gen';
import { Backoff } from './backoff';
import { Connection } from './client';
import { Documents } from './documents';
import { isOfConnection, ServerError, toServerError } from './errors';
import { locateServer, type Located } from './locate';
import type { ServerStatus } from './status';
import { probeVersion } from './version';

type Approve = (
  params: RequestMap['xcsh/approve']['params'],
  token: vscode.CancellationToken,
) => Thenable<RequestMap['xcsh/approve']['result'] | undefined>;

/**
 * The one server of this window: started when something needs it, restarted when it ends
 * by itself, given up when it keeps ending.
 */
export class Server implements vscode.Disposable {
  #status: ServerStatus = { kind: 'stopped' };
  readonly #statusChanged = new vscode.EventEmitter<ServerStatus>();
  readonly #notified = new vscode.EventEmitter<{ method: string; params: unknown }>();
  readonly #documents = new Documents();
  readonly #backoff = new Backoff();
  #connection: Connection | undefined;
  #starting: Promise<Connection> | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #proved: string | undefined; // the program that ran in this window
  #disposed = false;

  readonly onDidChangeStatus = this.#statusChanged.event;

  /** Answers permission requests. */
  approve: Approve = () => Promise.resolve(undefined);

  constructor(
    private readonly extensionDir: string,
    private readonly output: vscode.LogOutputChannel,
    private readonly settings: SettingsReader,
  ) {}

  get status(): ServerStatus {
    return this.#status;
  }

  /** Where the server's program is, by the settings as they are now. */
  locate(): Located {
    return locateServer(ownSettings(this.settings).serverPath, this.extensionDir);
  }

  onNotification<M extends keyof NotificationMap>(
    method: M,
    listener: (params: NotificationMap[M]) => void,
  ): vscode.Disposable {
    return this.#notified.event((event) => {
      if (event.method === method) {
        listener(event.params as NotificationMap[M]);
      }
    });
  }

  /** Runs a command, on a server that is started for it if need be. */
  async request<C extends CommandName>(
    command: C,
    args: CommandMap[C]['args'],
    token?: vscode.CancellationToken,
  ): Promise<CommandMap[C]['result']> {
    const connection = await this.ready();
    try {
      return (await connection.executeCommand(command, args, token)) as CommandMap[C]['result'];
    } catch (error) {
      if (connection !== this.#connection || !connection.running || isOfConnection(error)) {
        throw new ServerError(vscode.l10n.t('The server xcsh-ls ended while it was at work.'), 'noServer');
      }
      throw toServerError(error);
    }
  }

  /** The running server; starts it if need be. One that was given up stays so until restart. */
  async ready(): Promise<Connection> {
    if (this.#connection?.running) {
      return this.#connection;
    }
    if (this.#status.kind === 'failed') {
      throw new ServerError(this.#status.message, 'noServer');
    }
    clearTimeout(this.#restartTimer);
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    return this.#starting;
  }

  /** Ends the server and starts another, whatever went wrong before. */
  async restart(): Promise<void> {
    await this.stop();
    this.#backoff.forget();
    this.#proved = undefined;
    await this.ready();
  }

  /** Ends the server; the next command starts it again. */
  async stop(): Promise<void> {
    clearTimeout(this.#restartTimer);
    await this.#starting?.catch(() => undefined);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.stop();
    this.#setStatus({ kind: 'stopped' });
  }

  /** The section xcshLs changed. */
  async settingsChanged(): Promise<void> {
    if (this.#connection?.running) {
      await this.#connection.settingsChanged();
    }
  }

  async #start(): Promise<Connection> {
    const program = await this.#program();
    this.#setStatus({ kind: 'starting' });
    this.output.info(`Starting ${program}`);
    const connection = new Connection(
      program,
      this.output,
      this.#documents,
      this.settings,
      ownSettings(this.settings).logLevel,
      {
        notification: (method, params) => this.#notified.fire({ method, params }),
        approve: (params, token) => this.approve(params, token),
        ended: () => this.#ended(connection),
      },
    );
    try {
      const { version, mismatch } = await connection.start();
      if (mismatch) {
        throw new ServerError(
          vscode.l10n.t(
            'it speaks version {0} of the protocol and this extension version {1}. Update the older of the two.',
            mismatch.theirs ?? '?',
            mismatch.ours,
          ),
          'noServer',
        );
      }
      if (!connection.running) {
        throw new Error(vscode.l10n.t('it ended at once.'));
      }
      this.#connection = connection;
      this.#proved = program;
      this.#setStatus({ kind: 'running', version });
      this.output.info(`Running ${version}`);
      return connection;
    } catch (error) {
      await connection.stop();
      const reason = error instanceof Error ? error.message : String(error);
      this.output.error(`${program}: ${reason}`);
      if (program === this.#proved && !(error instanceof ServerError)) {
        this.#crashed(); // it is the right one, and something ended it while it started
        throw new ServerError(vscode.l10n.t('The server xcsh-ls ended while it was at work.'), 'noServer');
      }
      throw this.#giveUp(vscode.l10n.t('The server {0} cannot be used: {1}', program, reason));
    }
  }

  /** The path of the program, once it has proved to be the server. */
  async #program(): Promise<string> {
    const located = this.locate();
    switch (located.kind) {
      case 'found':
        break;
      case 'missing':
        throw this.#lacks(vscode.l10n.t('The server xcsh-ls was not found.'));
      case 'wrongSetting':
        throw this.#lacks(
          vscode.l10n.t('{0}, the server in the setting xcshLs.server.path, cannot be run.', located.path),
        );
    }
    if (located.from !== 'extension') {
      try {
        await probeVersion(located.path);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw this.#lacks(vscode.l10n.t('{0} is not the server xcsh-ls: {1}', located.path, reason));
      }
    }
    return located.path;
  }

  #lacks(message: string): ServerError {
    this.#setStatus({ kind: 'missing', message });
    return new ServerError(message, 'noServer');
  }

  #giveUp(message: string): ServerError {
    this.#setStatus({ kind: 'failed', message });
    return new ServerError(message, 'noServer');
  }

  #ended(connection: Connection): void {
    if (this.#disposed || connection !== this.#connection) {
      return;
    }
    this.#connection = undefined;
    this.#crashed();
  }

  /** Starts the server again after a while, unless it keeps ending. */
  #crashed(): void {
    if (this.#disposed) {
      return;
    }
    const verdict = this.#backoff.crashed(Date.now());
    if (!verdict.restart) {
      const { message } = this.#giveUp(vscode.l10n.t('The server xcsh-ls ended five times within three minutes.'));
      void this.#offerRestart(message);
      return;
    }
    this.output.warn(`The server ended; next start in ${verdict.delayMs} ms`);
    this.#setStatus({ kind: 'starting' });
    this.#restartTimer = setTimeout(
      () => void this.ready().catch((error) => this.output.error(String(error))),
      verdict.delayMs,
    );
  }

  async #offerRestart(message: string): Promise<void> {
    const restart = vscode.l10n.t('Restart');
    const log = vscode.l10n.t('Show Log');
    const answer = await vscode.window.showErrorMessage(message, restart, log);
    if (answer === restart) {
      await vscode.commands.executeCommand('xcshLs.server.restart');
    } else if (answer === log) {
      this.output.show();
    }
  }

  #setStatus(status: ServerStatus): void {
    this.#status = status;
    if (!this.#disposed) {
      this.#statusChanged.fire(status);
    }
  }

  /** Ends the server with the window. */
  async shutdown(): Promise<void> {
    this.dispose();
    await this.#connection?.stop();
  }

  dispose(): void {
    this.#disposed = true;
    clearTimeout(this.#restartTimer);
    this.#documents.dispose();
    this.#statusChanged.dispose();
    this.#notified.dispose();
  }
}
