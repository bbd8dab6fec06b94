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
  TextDocumentContentRequest,
  type DynamicFeature,
  type LanguageClientOptions,
  type StaticFeature,
  type WorkspaceEdit,
} from 'vscode-languageclient/node';

import { serverSettings, type SettingsReader } from '../settings';
import { contextKinds, type ContextAnswer, type ContextParams } from '../context/answer';
import type { Notifications } from '../late';
import { senseRequests, type SenseRequest } from '../senses/requests';
import type { RequestMap } from '../wire.gen';
import { Documents, documentSelector } from './documents';
import { logRecord } from './log';
import { saveDocument } from './saving';
import { canShow, followScheme, isFollowed, isTranscript } from './showing';
import { introduction, type Introduction } from './version';

/** Callbacks of a connection. */
export interface ConnectionEvents {
  notification<M extends keyof Notifications>(method: M, params: Notifications[M]): void;
  /** Answers a permission request; undefined leaves it to the server's message box. */
  approve(
    params: RequestMap['xcsh/approve']['params'],
    token: vscode.CancellationToken,
  ): Thenable<RequestMap['xcsh/approve']['result'] | undefined>;
  /** The providers whose keys the extension has. */
  keyProviders(): string[];
  /** Returns the API key of a provider, null if there is none. The answer is not logged. */
  key(provider: string): Promise<string | null>;
  /** Returns what a prompt that is being sent refers to, null if there is nothing. */
  context(params: ContextParams): Promise<ContextAnswer>;
  /** Answers a request about code. */
  sense(request: SenseRequest, params: unknown): Promise<unknown>;
  /** Called before the server changes documents. Returns a function to call after the edit. */
  editing(edit: WorkspaceEdit): () => void;
  /** The text of a document that the server makes has changed. */
  contentChanged(uri: string): void;
  /** The server exited unexpectedly. */
  ended(): void;
}

const notifications = [
  'xcsh/event',
  'xcsh/sessionChanged',
  'xcsh/sessionState',
  'xcsh/sessionsChanged',
  'xcsh/modelsChanged',
] as const;

/**
 * Without the override of registerFeature, the library would register the server's commands in VS Code only while the
 * server is running. The extension registers its commands permanently, so that the palette can
 * start the server and show why it cannot start.
 */
export class Client extends LanguageClient {
  /** Does not show a message: the extension shows each error once. */
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  /** Traces the methods of messages only: their data contains keys, and settings of a workspace turn the trace on. */
  override trace(message: string): void {
    super.trace(message);
  }

  override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    if ((feature as Partial<DynamicFeature<unknown>>).registrationType?.method !== ExecuteCommandRequest.method) {
      super.registerFeature(feature);
    }
  }
}

/** Makes a client trace nothing instead of whole messages, in the format json. The library's function is private. */
export function withoutObjects<C extends object>(client: C): C {
  return Object.assign(client, { traceObject: () => undefined });
}

/** One server process and the connection to it. It is started once and stopped once. */
export class Connection {
  readonly #client: Client;
  #stopping = false;

  constructor(
    program: string,
    output: vscode.LogOutputChannel,
    documents: Documents,
    settings: SettingsReader,
    logLevel: string,
    private readonly events: ConnectionEvents,
  ) {
    const current = () => serverSettings(settings, vscode.workspace.isTrusted);
    const options: LanguageClientOptions = {
      documentSelector,
      outputChannel: output,
      initializationOptions: { ...current(), keyProviders: events.keyProviders(), contextKinds },
      // The caller that requested the start shows the error.
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
            params.items.every((item) => item.section === 'xcshLs') ? params.items.map(current) : next(params, token),
          handleApplyEdit: async (params, next) => {
            const over = events.editing(params.edit);
            try {
              return await next(params, new vscode.CancellationTokenSource().token);
            } finally {
              over();
            }
          },
        },
        // A document that the server opens must not take the focus while the user is typing.
        window: {
          showDocument: (params, token, next) => {
            if (!canShow(params, vscode.env.remoteName, vscode.env.uiKind === vscode.UIKind.Web)) {
              return { success: false };
            }
            if (isFollowed(params)) {
              return { success: true }; // the chat shows it
            }
            const open = () => next({ ...params, takeFocus: false }, token);
            return isTranscript(params) ? showPreview(params.uri, open) : open();
          },
        },
      },
    };
    // The home directory: the program must not load libraries from a workspace.
    const run = { command: program, args: ['--stdio', '--log-level', logLevel], options: { cwd: os.homedir() } };
    this.#client = withoutObjects(new Client('xcshLs', 'xcsh-ls', run, options));
    documents.attach(this.#client);
    for (const method of notifications) {
      this.#client.onNotification(method, (params) => events.notification(method, params));
    }
    this.#client.onRequest('xcsh/approve', async (params: RequestMap['xcsh/approve']['params'], token) => {
      const answer = await events.approve(params, token);
      // The server then shows a message box.
      return answer === undefined ? new ResponseError(ErrorCodes.MethodNotFound, 'Nothing shows it.') : answer;
    });
    this.#client.onRequest('xcsh/key', async ({ provider }: RequestMap['xcsh/key']['params']) => ({
      key: await events.key(provider),
    }));
    this.#client.onRequest('xcsh/context', (params: ContextParams) => events.context(params));
    for (const request of senseRequests) {
      this.#client.onRequest(`xcsh/editor/${request}`, (params: unknown) => events.sense(request, params));
    }
    this.#client.onRequest('xcsh/save', (params: RequestMap['xcsh/save']['params']) => saveDocument(params));
    this.#client.onDidChangeState(({ oldState, newState }) => {
      if (newState === State.Stopped && oldState === State.Running && !this.#stopping) {
        events.ended();
      }
    });
  }

  /** Starts the process. Rejects if it cannot be run or does not respond like the server. */
  async start(): Promise<Introduction> {
    await this.#client.start();
    const documents = this.#client.getFeature(TextDocumentContentRequest.method)?.getProviders();
    documents?.forEach(({ scheme, onDidChangeEmitter }) => {
      if (scheme === followScheme) {
        onDidChangeEmitter.event((uri) => this.events.contentChanged(uri.toString()));
      }
    });
    return introduction(this.#client.initializeResult);
  }

  get running(): boolean {
    return this.#client.isRunning();
  }

  executeCommand(command: string, args: object, token?: vscode.CancellationToken): Promise<unknown> {
    return this.#client.sendRequest(ExecuteCommandRequest.type, { command, arguments: [args] }, token);
  }

  /** Notifies the server that its settings, or the trust in the workspace, changed. */
  async settingsChanged(): Promise<void> {
    await this.#client.sendNotification('workspace/didChangeConfiguration', { settings: null });
  }

  /** Notifies the server that the keys, or the providers that have one, changed. */
  async keysChanged(providers: string[]): Promise<void> {
    await this.#client.sendNotification('xcsh/keysChanged', { providers });
  }

  /** Stops the process; if it does not respond, it is killed. */
  async stop(): Promise<void> {
    this.#stopping = true;
    try {
      await this.#client.dispose(3000);
    } catch {
      // It was not running, or did not exit in time and is killed by the library.
    }
  }
}

/** Shows a Markdown document as it is rendered, or as text without VS Code's own preview. */
async function showPreview<R>(uri: string, otherwise: () => R): Promise<{ success: boolean } | Awaited<R>> {
  try {
    await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.parse(uri));
    return { success: true };
  } catch {
    return await otherwise();
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
