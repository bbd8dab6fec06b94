import * as vscode from 'vscode';

import { contains } from '../folders';
import { Tail, ranText, type Ran } from './output';

// The API of VS Code 1.93; this extension also runs in earlier versions.
interface Execution {
  readonly commandLine: { readonly value: string };
  readonly cwd: vscode.Uri | undefined;
  read(): AsyncIterable<string>;
}
interface Started {
  readonly terminal: vscode.Terminal;
  readonly execution: Execution;
}
type Ended = Started & { readonly exitCode: number | undefined };
interface ShellWindow {
  readonly onDidStartTerminalShellExecution?: vscode.Event<Started>;
  readonly onDidEndTerminalShellExecution?: vscode.Event<Ended>;
}

interface Last {
  readonly execution: Execution;
  readonly output: Tail;
  readonly at: number; // grows
  exitCode: number | undefined;
  running: boolean;
}

/**
 * Remembers the last command of each terminal and the end of its output, as far as the shell integration reports them.
 * They leave the editor only with a prompt that refers to them.
 */
export class TerminalWatcher implements vscode.Disposable {
  readonly #last = new Map<vscode.Terminal, Last>();
  readonly #subscriptions: vscode.Disposable[];
  #count = 0;

  constructor() {
    const shell = vscode.window as ShellWindow;
    this.#subscriptions = [
      vscode.window.onDidCloseTerminal((terminal) => void this.#last.delete(terminal)),
      ...[
        shell.onDidStartTerminalShellExecution?.((e) => void this.#started(e)),
        shell.onDidEndTerminalShellExecution?.((e) => this.#ended(e)),
      ].filter((d) => d !== undefined),
    ];
  }

  async #started({ terminal, execution }: Started): Promise<void> {
    const output = new Tail();
    this.#last.set(terminal, { execution, output, at: ++this.#count, exitCode: undefined, running: true });
    try {
      for await (const piece of execution.read()) {
        output.add(piece);
      }
    } catch {
      // the terminal is gone; the output until then stays
    }
  }

  #ended({ terminal, execution, exitCode }: Ended): void {
    const last = this.#last.get(terminal);
    if (last?.execution === execution) {
      last.running = false;
      last.exitCode = exitCode;
    }
  }

  /** Returns the last command in a folder, of the active terminal if it ran one there; undefined if none is known. */
  lastIn(cwd: string): Ran | undefined {
    const inside = [...this.#last].filter(([, { execution }]) => execution.cwd && contains(cwd, execution.cwd.fsPath));
    const active = inside.find(([terminal]) => terminal === vscode.window.activeTerminal);
    const newest = active ?? inside.sort(([, a], [, b]) => b.at - a.at)[0];
    if (!newest) {
      return undefined;
    }
    const { execution, output, exitCode, running } = newest[1];
    return { command: execution.commandLine.value, output: output.text, exitCode, running };
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
    this.#last.clear();
  }
}

/** Describes the last command in a folder, or else returns the selection in the active terminal. */
export async function terminalText(watcher: TerminalWatcher, cwd: string): Promise<string | undefined> {
  const ran = watcher.lastIn(cwd);
  return ran ? ranText(ran) : await terminalSelection(cwd);
}

/** Reports whether a terminal was opened in a folder. */
function belongsTo(terminal: vscode.Terminal, cwd: string): boolean {
  const { cwd: at } = terminal.creationOptions as vscode.TerminalOptions;
  const first = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const dir = typeof at === 'string' ? at : (at?.fsPath ?? first);
  return dir !== undefined && contains(cwd, dir);
}

/** Returns the selected text of the active terminal. VS Code gives it only by way of the clipboard, which is restored. */
async function terminalSelection(cwd: string): Promise<string | undefined> {
  const terminal = vscode.window.activeTerminal;
  const before = terminal && belongsTo(terminal, cwd) ? await vscode.env.clipboard.readText() : '';
  if (before === '') {
    return undefined; // it could contain an image, which cannot be restored
  }
  const mark = `xcsh ${Math.random()}`;
  await vscode.env.clipboard.writeText(mark);
  try {
    await vscode.commands.executeCommand('workbench.action.terminal.copySelection');
    const selected = await vscode.env.clipboard.readText();
    return selected === mark || selected.trim() === '' ? undefined : selected;
  } finally {
    await vscode.env.clipboard.writeText(before);
  }
}
