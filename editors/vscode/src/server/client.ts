import * as os from 'node:os';
import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  ErrorCodes,
  ExecuteCommandRequest,
  LanguageClient,
  ResponseError,
  State,
  type DynamicFeature,
  type LanguageClientOptions,
  type StaticFeature,
} from 'vscode-languageclient/node';

import { serverSettings, type SettingsReader } from '../settings';
import type { NotificationMap, RequestMap } from '../wire.gen';
import { Documents, documentSelector } from './documents';
import { logRecord } from './log';
import { introduction, type Introduction } from './version';

/** What a connection tells the one who made it. */
export interface ConnectionEvents {
  notification<M extends keyof NotificationMap>(method: M, params: NotificationMap[M]): void;
  /** Answers a permission request; undefined leaves it to the server's message box. */
  approve(
    params: RequestMap['xcsh/approve']['params'],
    token: vscode.CancellationToken,
  ): Thenable<RequestMap['xcsh/approve']['result'] | undefined>;
  /** The server ended without being told to. */
  ended(): void;
}

const notifications = ['xcsh/event', 'xcsh/sessionChanged', 'xcsh/sessionsChanged'] as const;

/**
 * The library registers every command of the server in VS Code while the server runs.
 * Ours are registered once and for all, whether it runs or not, so that the palette can
 * start it and say what is wrong when it cannot; so the library must leave that.
 */
class Client extends LanguageClient {
  /** What is wrong is said once, by the extension. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    if ((feature as Partial<DynamicFeature<unknown>>).registrationType?.method !== ExecuteCommandRequest.method) {
      super.registerFeature(feature);
    }
  }
}

/** One process of the server and the connection to it. It is started once and ends once. */
export class Connection {
  readonly #client: Client;
  #stopping = false;

  constructor(
    program: string,
    output: vscode.LogOutputChannel,
    documents: Documents,
    settings: SettingsReader,
    logLevel: string,
    events: ConnectionEvents,
  ) {
    const options: LanguageClientOptions = {
      documentSelector,
      outputChannel: output,
      initializationOptions: serverSettings(settings),
      // What is wrong is said by the one who asked for the start.
      initializationFailedHandler: () => false,
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      stdioOptions: { stdout: () => {}, stderr: (stream) => forwardLog(stream, output) },
      middleware: {
        ...documents.middleware,
        workspace: {
          configuration: (params, token, next) =>
            params.items.every((item) => item.section === 'xcshLs')
              ? params.items.map(() => serverSettings(settings))
              : next(params, token),
        },
      },
    };
    // The home directory: a program must not find its libraries in somebody's workspace.
    const run = { command: program, args: ['--stdio', '--log-level', logLevel], options: { cwd: os.homedir() } };
    this.#client = new Client('xcshLs', 'xcsh-ls', run, options);
    documents.attach(this.#client);
    for (const method of notifications) {
      this.#client.onNotification(method, (params) => events.notification(method, params));
    }
    this.#client.onRequest('xcsh/approve', async (params: RequestMap['xcsh/approve']['params'], token) => {
      const answer = await events.approve(params, token);
      // The server then shows a message box.
      return answer === undefined ? new ResponseError(ErrorCodes.MethodNotFound, 'Nothing shows it.') : answer;
    });
    this.#client.onDidChangeState(({ oldState, newState }) => {
      if (newState === State.Stopped && oldState === State.Running && !this.#stopping) {
        events.ended();
      }
    });
  }

  /** Starts the process. Rejects when it cannot be run or does not answer as a server. */
  async start(): Promise<Introduction> {
    await this.#client.start();
    return introduction(this.#client.initializeResult);
  }

  get running(): boolean {
    return this.#client.isRunning();
  }

  executeCommand(command: string, args: object, token?: vscode.CancellationToken): Promise<unknown> {
    return this.#client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [args] }, token);
  }

  /** Tells the server to read its settings again. */
  async settingsChanged(): Promise<void> {
    await this.#client.sendNotification('workspace/didChangeConfiguration', { settings: null });
  }

  /** Ends the process; one that does not answer is killed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    try {
      await this.#client.dispose(3000);
    } catch {
      // It was not running, or did not end in time and is killed by the library.
    }
  }
}

/** Writes the server's log to the channel, each record at its level. */
function forwardLog(stream: NodeJS.ReadableStream, output: vscode.LogOutputChannel): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const { level, text } = logRecord(line);
      output[level](text);
    }
  });
}
