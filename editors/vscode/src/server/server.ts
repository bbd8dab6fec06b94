import * as vscode from 'vscode';
import type { WorkspaceEdit } from 'vscode-languageclient/node';

import { ownSettings, type SettingsReader } from '../settings';
import type { ContextAnswer, ContextParams } from '../context/answer';
import type { SenseRequest } from '../senses/requests';
import type { KeyStore } from '../keys/store';
import type { Notifications } from '../late';
import type { CommandMap, CommandName, RequestMap } from '../wire.gen';
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
 * The single server of this window: started on demand, restarted when it exits unexpectedly, given
 * up when it keeps exiting.
 */
export class Server implements vscode.Disposable {
  #status: ServerStatus = { kind: 'stopped' };
  readonly #statusChanged = new vscode.EventEmitter<ServerStatus>();
  readonly #notified = new vscode.EventEmitter<{ method: string; params: unknown }>();
  readonly #contentChanged = new vscode.EventEmitter<string>();
  readonly #documents = new Documents();
  readonly #backoff = new Backoff();
  #connection: Connection | undefined;
  #starting: Promise<Connection> | undefined;
  #restartTimer: NodeJS.Timeout | undefined;
  #proved: string | undefined; // the verified path of the program in this window
  #disposed = false;

  readonly onDidChangeStatus = this.#statusChanged.event;

  /** Fires with the address of a document whose text the server makes, when that has changed. */
  readonly onDidChangeContent = this.#contentChanged.event;

  /** Called before each edit by the server; the returned function is called after it. */
  editing: (edit: WorkspaceEdit) => () => void = () => () => undefined;

  /** The API keys that the user saved in the editor. A workspace without trust gets none. */
  keys: Pick<KeyStore, 'providers' | 'get' | 'check'> = {
    providers: [],
    get: () => Promise.resolve(undefined),
    check: () => Promise.resolve(),
  };

  /** Returns what a prompt refers to in the editor. */
  context: (params: ContextParams) => Promise<ContextAnswer> = () => Promise.resolve(null);

  /** Answers requests about code. */
  sense: (request: SenseRequest, params: unknown) => Promise<unknown> = () => Promise.resolve(null);

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

  /** Locates the server's program, according to the current settings. */
  locate(): Located {
    return locateServer(ownSettings(this.settings).serverPath, this.extensionDir);
  }

  onNotification<M extends keyof Notifications>(
    method: M,
    listener: (params: Notifications[M]) => void,
  ): vscode.Disposable {
    return this.#notified.event((event) => {
      if (event.method === method) {
        listener(event.params as Notifications[M]);
      }
    });
  }

  /** Runs a command. Starts the server if necessary. */
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
        throw new ServerError(vscode.l10n.t('The xcsh-ls server stopped unexpectedly.'), 'noServer');
      }
      throw toServerError(error);
    }
  }

  /** Returns the running server; starts it if necessary. A server that was given up must be restarted explicitly. */
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

  /** Stops the server and starts a new one, regardless of earlier failures. */
  async restart(): Promise<void> {
    await this.stop();
    this.#backoff.forget();
    this.#proved = undefined;
    await this.ready();
  }

  /** Stops the server; the next command starts it again. */
  async stop(): Promise<void> {
    clearTimeout(this.#restartTimer);
    await this.#starting?.catch(() => undefined);
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.stop();
    this.#setStatus({ kind: 'stopped' });
  }

  /** Handles a change in the section xcshLs, or of the trust in the workspace. Requests sent later find it in force. */
  async settingsChanged(): Promise<void> {
    if (this.#starting) {
      await this.#starting.catch(() => undefined); // it may have read the settings already
    }
    if (this.#connection?.running) {
      await this.#connection.settingsChanged();
    }
  }

  /** Handles a change of the keys, or of the trust in the workspace. Requests sent later use the new keys. */
  async keysChanged(): Promise<void> {
    if (this.#starting) {
      await this.#starting.catch(() => undefined); // it may have read the list already
    }
    if (this.#connection?.running) {
      await this.#connection.keysChanged(this.#keyProviders());
    }
  }

  #keyProviders(): string[] {
    return vscode.workspace.isTrusted ? this.keys.providers : [];
  }

  async #start(): Promise<Connection> {
    const program = await this.#program();
    await this.keys.check();
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
        keyProviders: () => this.#keyProviders(),
        key: async (provider) => (vscode.workspace.isTrusted ? ((await this.keys.get(provider)) ?? null) : null),
        context: (params) => this.context(params),
        sense: (request, params) => this.sense(request, params),
        editing: (edit) => this.editing(edit),
        contentChanged: (uri) => this.#contentChanged.fire(uri),
        ended: () => this.#ended(connection),
      },
    );
    try {
      const { version, mismatch } = await connection.start();
      if (mismatch) {
        throw new ServerError(
          vscode.l10n.t(
            'it uses protocol version {0}, and this extension uses version {1}. Update the older of the two.',
            mismatch.theirs ?? '?',
            mismatch.ours,
          ),
          'noServer',
        );
      }
      if (!connection.running) {
        throw new Error(vscode.l10n.t('it exited immediately.'));
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
        this.#crashed(); // it is the right program, but it exited during startup
        throw new ServerError(vscode.l10n.t('The xcsh-ls server stopped unexpectedly.'), 'noServer');
      }
      throw this.#giveUp(vscode.l10n.t("Couldn't use the server {0}: {1}", program, reason));
    }
  }

  /** Returns the path of the program, after verifying that it is the server. */
  async #program(): Promise<string> {
    const located = this.locate();
    switch (located.kind) {
      case 'found':
        break;
      case 'missing':
        throw this.#lacks(vscode.l10n.t("Couldn't find the xcsh-ls server."));
      case 'wrongSetting':
        throw this.#lacks(vscode.l10n.t("Couldn't run {0} (setting xcshLs.server.path).", located.path));
    }
    if (located.from !== 'extension') {
      try {
        await probeVersion(located.path);
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw this.#lacks(vscode.l10n.t('{0} is not the xcsh-ls server: {1}', located.path, reason));
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

  /** Restarts the server after a delay, unless it keeps exiting. */
  #crashed(): void {
    if (this.#disposed) {
      return;
    }
    const verdict = this.#backoff.crashed(Date.now());
    if (!verdict.restart) {
      const { message } = this.#giveUp(vscode.l10n.t('The xcsh-ls server stopped five times within three minutes.'));
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

  /** Stops the server with the window. */
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
    this.#contentChanged.dispose();
  }
}
