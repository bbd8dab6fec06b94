import * as path from 'node:path';
import * as vscode from 'vscode';

import { findProgram } from '../server/locate';
import { ownSettings } from '../settings';
import type { SessionInfo } from '../wire.gen';
import { settings, type Window } from '../window';

const t = vscode.l10n.t;

/** A session that was continued in a terminal, and the folder that it returns to. */
interface Handed {
  readonly cwd: string;
  readonly path: string;
}

/**
 * The terminals in which sessions were continued. When one closes, its session becomes live here
 * again.
 */
export class Terminals implements vscode.Disposable {
  readonly #handed = new Map<vscode.Terminal, Handed>();
  readonly #subscriptions: vscode.Disposable[];

  constructor(private readonly window: Window) {
    this.#subscriptions = [
      vscode.window.onDidCloseTerminal((terminal) => void this.#takeBack(terminal)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('xcshLs.terminal')) {
          this.announce();
        }
      }),
    ];
    this.announce();
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

  open(program: string, info: { id: string; name: string; cwd: string }, back?: Handed): void {
    const terminal = vscode.window.createTerminal({
      name: info.name,
      cwd: info.cwd,
      shellPath: program,
      shellArgs: ['--resume', info.id],
      iconPath: new vscode.ThemeIcon('comment-discussion'),
    });
    if (back) {
      this.#handed.set(terminal, back);
    }
    terminal.show();
  }

  async #takeBack(terminal: vscode.Terminal): Promise<void> {
    const handed = this.#handed.get(terminal);
    this.#handed.delete(terminal);
    if (!handed || !this.window.folders.some((folder) => folder.cwd === handed.cwd)) {
      return;
    }
    const args = { cwd: handed.cwd, target: handed.path, onOtherProject: 'open' };
    try {
      const state = await this.window.request('xcsh.state', { cwd: handed.cwd });
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
  let back: Handed | undefined;
  try {
    if (folder !== undefined) {
      const state = await window.request('xcsh.state', { cwd: folder });
      if (state.file === info.path) {
        const { created, cancelledBy } = await window.request('xcsh.new', { cwd: folder });
        if (!created) {
          void vscode.window.showWarningMessage(t('Canceled by {0}.', cancelledBy ?? '?'));
          return;
        }
        back = { cwd: folder, path: info.path };
      }
    }
  } catch (error) {
    await window.showError(error, { command: 'xcsh.new', args: { cwd: folder } });
    return;
  }
  terminals.open(program, { id: info.id, name: info.name, cwd: info.cwd || folder || path.dirname(info.path) }, back);
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
