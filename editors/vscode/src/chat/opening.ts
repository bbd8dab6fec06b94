import { access, constants } from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { sameDirectory } from '../folders';
import type { Host } from '../host';
import { toServerError } from '../server/errors';
import type { SessionInfo } from '../wire.gen';
import type { ReadingAction, ReadingState } from './messages';
import type { ReadSession, Spot } from './reader';
import type { SessionTabs } from './tabs';

/** The subject of an action: a line of the view, or of a picker. */
export interface Subject {
  readonly info: SessionInfo;
  readonly cwd?: string;
  /** The message to go to. */
  readonly spot?: Spot;
}

/** The panel, as far as sessions are opened in it. */
export interface OpeningPanel {
  preview(session: ReadSession, spot?: Spot, focus?: boolean): Promise<void>;
  released(file: string): void;
  leavePreview(): void;
  show(cwd: string, spot?: Spot): Promise<void>;
}

/** Makes a session the live one of a folder. Returns whether it is, or that another program has it. Shows other errors. */
export type Resume = (cwd: string, path: string) => Promise<'resumed' | 'locked' | 'failed'>;

/** The terminals of this window, in which sessions run. */
export interface SessionTerminals {
  has(path: string): boolean;
  show(path: string): void;
  /** Ends the program that has a session, if the user agrees. */
  end(path: string): Promise<boolean>;
}

/** Opens sessions: by resuming them or, where that would disturb something, to be read. */
export class Opener {
  constructor(
    private readonly host: Host,
    private readonly panel: OpeningPanel,
    private readonly tabs: () => SessionTabs,
    private readonly resume: Resume,
    private readonly terminals: SessionTerminals,
    private readonly opened: (sessionId: string) => void,
  ) {}

  /** Opens a session in the panel. */
  async open(subject: Subject): Promise<void> {
    const session = await this.#sessionOf(subject);
    this.opened(session.info.id);
    switch (session.state) {
      case 'live':
        return this.panel.show(this.#liveIn(session), subject.spot);
      case 'free':
        return this.#continue(session, subject.spot);
      default:
        return this.panel.preview(session, subject.spot);
    }
  }

  /** Opens a session in an editor tab, to be read. */
  async openInEditor(subject: Subject): Promise<void> {
    this.tabs().open(await this.#sessionOf(subject), subject.spot);
    this.opened(subject.info.id);
  }

  /** Shows a session that continues in a terminal, instead of the empty one that the folder has now. */
  async follow(subject: Subject): Promise<void> {
    await this.panel.preview(await this.#sessionOf(subject), undefined, false);
  }

  /** Handles that the program of a terminal ended. */
  released(file: string): void {
    this.panel.released(file);
    this.tabs().released(file);
  }

  /** Describes the session in a file. */
  async describe(file: string): Promise<ReadSession> {
    const cwd = this.#cwdFor(undefined);
    try {
      return await this.#sessionOf({ info: await this.host.request('xcsh.info', { cwd, source: file }) });
    } catch (error) {
      this.host.output.info(`${file}: ${toServerError(error).message}`);
      return { info: { path: file, id: '', name: path.basename(file, '.jsonl'), cwd: '' }, cwd, state: 'free' };
    }
  }

  /** Runs the user's choice for a session that is only read. */
  async act(session: ReadSession, action: ReadingAction): Promise<void> {
    const { info, cwd } = session;
    if (session.follow && action === 'continue') {
      if ((await this.resume(cwd, session.follow.sid)) === 'resumed') {
        await this.panel.show(cwd);
      }
      return;
    }
    switch (action) {
      case 'continue':
      case 'retry':
        return this.#again(session);
      case 'fork':
        await vscode.commands.executeCommand('xcsh.fork', { cwd, source: info.path });
        await this.host.reveal(cwd);
        return;
      case 'terminal':
        this.terminals.show(info.path);
        return;
      case 'takeOver':
        return (await this.terminals.end(info.path)) ? this.#continue(session) : undefined;
      case 'editor':
        this.tabs().open(session);
        return;
      case 'folder':
        await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(info.cwd), { forceNewWindow: true });
        return;
      case 'trust':
        await vscode.commands.executeCommand('workbench.trust.manage');
        return;
      case 'close':
        return this.panel.leavePreview();
    }
  }

  /** Continues a session, in whatever state it is by now. */
  async #again(session: ReadSession): Promise<void> {
    const live = await this.#liveState(session.cwd);
    if (live?.file === session.info.path || session.state === 'live') {
      return this.panel.show(this.#liveIn(session));
    }
    // The list can be out of date, and resuming does not need the lock: the next prompt would fail.
    const info = await this.host.request('xcsh.info', { cwd: session.cwd, source: session.info.path });
    if (info.lockedBy) {
      return this.panel.preview({ ...session, info, state: 'locked' });
    }
    return this.#continue(session);
  }

  /** Resumes a session, or shows it if another program has it. The server asks before it stops a running turn. */
  async #continue(session: ReadSession, spot?: Spot): Promise<void> {
    switch (await this.resume(session.cwd, session.info.path)) {
      case 'resumed':
        return this.panel.show(session.cwd, spot);
      case 'locked':
        return this.panel.preview({ ...session, state: 'locked' }, spot);
      case 'failed':
    }
  }

  async #sessionOf({ info, cwd: given }: Subject): Promise<ReadSession> {
    const cwd = this.#cwdFor(given);
    return { info, cwd, state: await this.#stateOf(info, cwd) };
  }

  /** The directory from which a session is read: its folder, or else any of the window. */
  #cwdFor(given: string | undefined): string {
    return given ?? this.host.liveFolder?.cwd ?? path.resolve('/');
  }

  /** The folder in which a session is live. */
  #liveIn({ info, cwd }: ReadSession): string {
    return this.host.folders.find((folder) => info.cwd !== '' && sameDirectory(folder.cwd, info.cwd))?.cwd ?? cwd;
  }

  async #stateOf(info: SessionInfo, cwd: string): Promise<ReadingState> {
    if (!vscode.workspace.isTrusted) {
      return 'restricted';
    }
    if (info.live) {
      return 'live';
    }
    if (this.terminals.has(info.path)) {
      return 'terminal';
    }
    if (this.host.folders.length === 0 || (info.cwd !== '' && !sameDirectory(info.cwd, cwd))) {
      return 'elsewhere';
    }
    if (info.lockedBy) {
      return 'locked';
    }
    if (!(await isWritable(info.path))) {
      return 'fixed';
    }
    return (await this.#liveState(cwd))?.isStreaming ? 'working' : 'free';
  }

  async #liveState(cwd: string): Promise<{ isStreaming: boolean; file?: string | null } | undefined> {
    try {
      return await this.host.request('xcsh.state', { cwd });
    } catch {
      return undefined; // resuming reports the problem
    }
  }
}

async function isWritable(file: string): Promise<boolean> {
  try {
    await access(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
