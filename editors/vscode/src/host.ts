import type * as vscode from 'vscode';

import type { ServerStatus } from './server/status';
import type { Notifications } from './late';
import type { ApproveAnswer, ApproveParams, CommandMap, CommandName } from './wire.gen';

/** A workspace folder on a disk that the server can read. */
export interface LocalFolder {
  readonly name: string;
  /** The absolute path, which commands take as cwd. */
  readonly cwd: string;
  readonly uri: vscode.Uri;
}

/** Shows a permission request; undefined leaves it to the server's message box. */
export type Approver = (params: ApproveParams, token: vscode.CancellationToken) => Thenable<ApproveAnswer | undefined>;

/** Called before an edit by the server, with the new texts by document. The returned function is called after it. */
export type EditWatcher = (texts: ReadonlyMap<string, readonly string[]>) => () => void;

/** The panel in which the user writes prompts and reads answers. */
export interface Conversation {
  /** Puts a text into the composer. False if there is none now. */
  compose(cwd: string, text: string): Thenable<boolean>;
  /** Shows the plan of a rewind to an entry, for confirmation. Returns false if no view can show it. */
  rewind(cwd: string, entryId: string): Thenable<boolean>;
  /** Shows the conversation of a folder. False if the folder has none. */
  reveal(cwd: string): Thenable<boolean>;
  /** Reports whether the conversation of a folder is visible. */
  shows(cwd: string): boolean;
  /** Fires when a conversation becomes visible. */
  readonly onDidShow: vscode.Event<void>;
  /** Reports whether a part of the extension runs a turn in a folder and shows its result by itself. */
  readonly presents: (cwd: string) => boolean;
}

/**
 * The services that the parts of the extension share, one instance per window. Only request and
 * ready start the server.
 */
export interface Host {
  readonly context: vscode.ExtensionContext;
  readonly output: vscode.LogOutputChannel;

  readonly status: ServerStatus;
  /** Fires when the server starts, stops, or cannot be found. After a restart, its earlier notifications are void. */
  readonly onDidChangeStatus: vscode.Event<ServerStatus>;

  /** The workspace folders that can have sessions, in order. */
  readonly folders: readonly LocalFolder[];
  /** The folder of the active editor, or the only folder, or the last one used. */
  readonly liveFolder: LocalFolder | undefined;
  /** Fires when the folders or the live folder change. */
  readonly onDidChangeFolders: vscode.Event<void>;

  /** Starts the server if necessary. Rejects with a ServerError if it cannot run. */
  ready(): Promise<void>;

  /**
   * Runs a command of the server and returns its result. Rejects with a ServerError; shows nothing.
   * Starts the server if necessary; in an untrusted workspace, only read-only commands run.
   */
  request<C extends CommandName>(
    command: C,
    args: CommandMap[C]['args'],
    token?: vscode.CancellationToken,
  ): Promise<CommandMap[C]['result']>;

  /** Calls the listener for every notification of this kind, including those of later server processes. */
  onNotification<M extends keyof Notifications>(
    method: M,
    listener: (params: Notifications[M]) => void,
  ): vscode.Disposable;

  /** Fires with the address of a document whose text the server makes, when that has changed. */
  readonly onDidChangeContent: vscode.Event<string>;

  /** Registers the part of the extension that shows permission requests. The newest one is used. */
  setApprover(approver: Approver): vscode.Disposable;

  /** Registers a listener that distinguishes the server's edits from the user's. */
  watchEdits(watcher: EditWatcher): vscode.Disposable;

  /** Registers the panel in which prompts are written. The newest one is used. */
  setConversation(conversation: Conversation): vscode.Disposable;

  /** Returns a text to the user for editing, for example the prompt after going back to before it. */
  compose(cwd: string, text: string): Promise<boolean>;

  /** Shows the plan of a rewind to an entry, for confirmation. */
  rewind(cwd: string, entryId: string): Promise<boolean>;

  /** Shows the conversation of a folder, if it has one. */
  reveal(cwd: string): Promise<boolean>;

  /** Reports whether the conversation of a folder is visible. */
  shows(cwd: string): boolean;

  /** Fires when a conversation becomes visible. */
  readonly onDidShow: vscode.Event<void>;

  /** Shows an error once, with the available remedies. A cancelled command shows nothing. */
  showError(error: unknown, about?: { command: CommandName; args: Record<string, unknown> }): Promise<void>;
}
