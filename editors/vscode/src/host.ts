import type * as vscode from 'vscode';

import type { ServerStatus } from './server/status';
import type { ApproveAnswer, ApproveParams, CommandMap, CommandName, NotificationMap } from './wire.gen';

/** A workspace folder on a disk that the server can read. */
export interface LocalFolder {
  readonly name: string;
  /** The absolute path: what commands take as cwd. */
  readonly cwd: string;
  readonly uri: vscode.Uri;
}

/** Shows a permission request; undefined leaves it to the server's message box. */
export type Approver = (params: ApproveParams, token: vscode.CancellationToken) => Thenable<ApproveAnswer | undefined>;

/** Where a person writes prompts and reads answers. */
export interface Conversation {
  /** Puts a text where the next prompt is written. False: there is no such place now. */
  compose(cwd: string, text: string): Thenable<boolean>;
  /** Brings the conversation of a folder to the front. False: it has none. */
  reveal(cwd: string): Thenable<boolean>;
  /** The conversation of a folder is on the screen. */
  shows(cwd: string): boolean;
}

/**
 * What a part of the extension works with. There is one per window. Nothing here starts
 * the server except request and ready.
 */
export interface Host {
  readonly context: vscode.ExtensionContext;
  readonly output: vscode.LogOutputChannel;

  readonly status: ServerStatus;
  /** The server started, ended or cannot be found. After a restart nothing it had told before holds. */
  readonly onDidChangeStatus: vscode.Event<ServerStatus>;

  /** The workspace folders that can have sessions, in their order. */
  readonly folders: readonly LocalFolder[];
  /** The folder of the active editor, or the only one, or the last that was used. */
  readonly liveFolder: LocalFolder | undefined;
  /** The folders or the live folder changed. */
  readonly onDidChangeFolders: vscode.Event<void>;

  /** Starts the server if need be. Rejects with a ServerError when it cannot run. */
  ready(): Promise<void>;

  /**
   * Runs a command of the server and gives its result. Rejects with a ServerError; shows
   * nothing. Starts the server if need be; in a workspace that is not trusted only
   * commands that change nothing run.
   */
  request<C extends CommandName>(
    command: C,
    args: CommandMap[C]['args'],
    token?: vscode.CancellationToken,
  ): Promise<CommandMap[C]['result']>;

  /** Calls the listener for every notification of this kind, also of later servers. */
  onNotification<M extends keyof NotificationMap>(
    method: M,
    listener: (params: NotificationMap[M]) => void,
  ): vscode.Disposable;

  /** Lets one part of the extension show permission requests. The newest wins. */
  setApprover(approver: Approver): vscode.Disposable;

  /** Says where prompts are written. The newest wins. */
  setConversation(conversation: Conversation): vscode.Disposable;

  /** Gives a text back to be edited, for example the prompt that was gone back before. */
  compose(cwd: string, text: string): Promise<boolean>;

  /** Brings the conversation of a folder to the front, where there is such a place. */
  reveal(cwd: string): Promise<boolean>;

  /** Whether the person sees what is said in a folder. */
  shows(cwd: string): boolean;

  /** Shows an error once, with what can be done about it. Says nothing of a cancelled command. */
  showError(error: unknown, about?: { command: CommandName; args: Record<string, unknown> }): Promise<void>;
}
