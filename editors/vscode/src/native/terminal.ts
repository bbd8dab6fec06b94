import * as path from 'node:path';
import * as vscode from 'vscode';

import { findProgram } from '../server/locate';
import { ownSettings } from '../settings';
import type { SessionInfo } from '../wire.gen';
import { settings, type Window } from '../window';

const t = vscode.l10n.t;

/** A session that runs in a terminal of this window. */
interface Held {
  readonly path: string;
  /** The folder that it returns to when the terminal closes. */
  readonly back?: string;
}

/** A session that was live in a folder of this window, and continues in a terminal. */
interface Handed {
  readonly info: SessionInfo;
  readonly cwd: string;
}

/**
 * The terminals in which sessions were continued. When one closes, a session that was live here becomes live here
 * again.
 */
export class Terminals implements vscode.Disposable {
  readonly #held = new Map<vscode.Terminal, Held>();
  readonly #handed = new vscode.EventEmitter<Handed>();
  readonly #ended = new vscode.EventEmitter<string>();
  readonly #subscriptions: vscode.Disposable[];

  /** The live session of a folder continues in a terminal. */
  readonly onDidHand = this.#handed.event;

  /** The terminal of the session in this file closed. */
  readonly onDidEnd = this.#ended.event;

  constructor(private readonly window: Window) {
    this.#subscriptions = [
      this.#handed,
      this.#ended,
      vscode.window.onDidCloseTerminal((terminal) => void this.#closed(terminal)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('xcshLs.terminal')) {
          this.announce();
        }
      }),
    ];
    this.announce();
  }

  /** Reports whether a session runs in a terminal. */
  has(path: string): boolean {
    return this.#terminalOf(path) !== undefined;
  }

  /** Shows the terminal of a session, and gives it the focus. */
  show(path: string): void {
    this.#terminalOf(path)?.show();
  }

  /** Ends the program that has a session, if the user agrees. Returns whether none has it any more. */
  async end(path: string): Promise<boolean> {
    const terminal = this.#terminalOf(path);
    if (!terminal) {
      return true;
    }
    const yes = t('End Program');
    const detail = t('If it is working, its answer is lost from the last message on.');
    const question = t('End the program in the terminal “{0}”?', terminal.name);
    if ((await vscode.window.showWarningMessage(question, { modal: true, detail }, yes)) !== yes) {
      return false;
    }
    if (this.#held.has(terminal)) {
      this.#held.set(terminal, { path }); // the caller resumes it
      const ended = new Promise<void>((done) => {
        const waiting = this.onDidEnd((of) => {
          if (of === path) {
            waiting.dispose();
            done();
          }
        });
      });
      terminal.dispose();
      await ended;
    }
    return true;
  }

  #terminalOf(path: string): vscode.Terminal | undefined {
    return [...this.#held].find(([, held]) => held.path === path)?.[0];
  }

  /** Returns the path of the terminal program, if it is installed. */
  program(): string | undefined {
    const name = ownSettings(settings).terminalProgram;
    return name === '' ? undefined : findProgram(name);
  }

  /** Sets the context key for "a terminal program is available". */
  announce(): void {
    void vscode.commands.executeCommand('setContext', 'xcshLs.terminalProgram', this.program() !== undefined);
  }

  /** Continues a session in a terminal. back is the folder in which it was live. */
  open(program: string, info: SessionInfo, cwd: string, back?: string): void {
    const terminal = vscode.window.createTerminal({
      name: info.name,
      cwd,
      shellPath: program,
      shellArgs: ['--resume', info.id],
      iconPath: new vscode.ThemeIcon('comment-discussion'),
    });
    this.#held.set(terminal, { path: info.path, ...(back === undefined ? {} : { back }) });
    if (back !== undefined) {
      this.#handed.fire({ info: { ...info, live: false }, cwd: back });
    }
    terminal.show();
  }

  async #closed(terminal: vscode.Terminal): Promise<void> {
    const held = this.#held.get(terminal);
    this.#held.delete(terminal);
    if (held) {
      await this.#takeBack(held);
      this.#ended.fire(held.path);
    }
  }

  async #takeBack({ path, back }: Held): Promise<void> {
    if (back === undefined || !this.window.folders.some((folder) => folder.cwd === back)) {
      return;
    }
    const args = { cwd: back, target: path, onOtherProject: 'open' };
    try {
      const state = await this.window.request('xcsh.state', { cwd: back });
      if (state.messageCount > 0) {
        // Another conversation was started here meanwhile, which must not be left without asking.
        return;
      }
      const { switched, session } = await this.window.request('xcsh.resume', args);
      if (switched) {
        vscode.window.setStatusBarMessage(
          `$(check) ${t('Session returned from terminal: {0}', session.title ?? session.sessionId)}`,
          5000,
        );
      }
    } catch (error) {
      await this.window.showError(error, { command: 'xcsh.resume', args });
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

/**
 * Continues a session in a terminal. If it is live here, the folder first switches to a new
 * session, so that only one program writes to the file.
 */
export async function continueInTerminal(
  window: Window,
  terminals: Terminals,
  info: SessionInfo,
  cwd?: string,
): Promise<void> {
  const program = terminals.program();
  if (program === undefined) {
    const open = t('Open Settings');
    const answer = await vscode.window.showWarningMessage(
      t(
        "Couldn't find {0}, the program that continues sessions in a terminal.",
        ownSettings(settings).terminalProgram || '""',
      ),
      open,
    );
    if (answer === open) {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'xcshLs.terminal.program');
    }
    return;
  }
  const folder = cwd ?? window.liveFolder?.cwd;
  let back: string | undefined;
  try {
    if (folder !== undefined) {
      const state = await window.request('xcsh.state', { cwd: folder });
      if (state.file === info.path) {
        const { created, cancelledBy } = await window.request('xcsh.new', { cwd: folder });
        if (!created) {
          void vscode.window.showWarningMessage(t('Canceled by {0}.', cancelledBy ?? '?'));
          return;
        }
        back = folder;
      }
    }
  } catch (error) {
    await window.showError(error, { command: 'xcsh.new', args: { cwd: folder } });
    return;
  }
  terminals.open(program, info, info.cwd || folder || path.dirname(info.path), back);
}

/** Continues the live session of the folder in a terminal. */
export async function continueLive(window: Window, terminals: Terminals): Promise<void> {
  const cwd = (await window.chooseFolder())?.cwd;
  if (cwd === undefined) {
    return;
  }
  try {
    const state = await window.request('xcsh.state', { cwd });
    const { matches } =
      state.file === null ? { matches: [] } : await window.request('xcsh.resolve', { cwd, target: state.file });
    const [info] = matches ?? [];
    if (!info) {
      void vscode.window.showInformationMessage(
        t('This session has not been saved yet. It is saved with the first answer.'),
      );
      return;
    }
    await continueInTerminal(window, terminals, info, cwd);
  } catch (error) {
    await window.showError(error);
  }
}
