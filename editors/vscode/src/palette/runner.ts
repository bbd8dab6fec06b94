import * as vscode from 'vscode';

import { commands } from '../commands.gen';
import { offerWays } from '../keys/wayIn';
import { askBusy, isWritten } from '../team/busy';
import { toServerError, type ServerError } from '../server/errors';
import type { CommandMap, CommandName } from '../wire.gen';
import type { Window } from '../window';
import { askers, askNeeded, askWhich, type Args } from './arguments';
import { present } from './outcomes';

/** The maximum number of follow-up questions for a command. */
const maxQuestions = 5;

/** Long-running commands: they show progress and can be canceled. */
const slow: Partial<Record<CommandName, () => string>> = {
  'xcsh.prompt': () => vscode.l10n.t('Waiting for an answer…'),
  'xcsh.bash': () => vscode.l10n.t('Running…'),
  'xcsh.resume': () => vscode.l10n.t('Opening the session…'),
  'xcsh.compact': () => vscode.l10n.t('Compacting the conversation…'),
  'xcsh.export': () => vscode.l10n.t('Exporting…'),
  'xcsh.branch': () => vscode.l10n.t('Going back…'),
};

/**
 * Registers all server commands in VS Code. They work before the server is running; the first one
 * starts it.
 */
export function registerServerCommands(window: Window): vscode.Disposable {
  const registered: vscode.Disposable[] = [];
  for (const { name } of commands) {
    try {
      registered.push(
        vscode.commands.registerCommand(name, (given?: unknown) => runCommand(window, name as CommandName, given)),
      );
    } catch (error) {
      // Another extension has already registered the command; everything else must still work.
      window.output.warn(`${name} is taken: ${String(error)}`);
    }
  }
  return vscode.Disposable.from(...registered);
}

/**
 * Runs a command for the user: asks for missing arguments, shows the result, and shows an error
 * once, unless the caller expected it. Returns the result, or undefined if there is none.
 */
export async function runCommand<C extends CommandName>(
  window: Window,
  command: C,
  given?: unknown,
  expected: (error: ServerError) => boolean = () => false,
): Promise<CommandMap[C]['result'] | undefined> {
  const args = argumentsOf(given);
  try {
    const cwd = args['cwd'] ?? (await window.chooseFolder())?.cwd;
    if (typeof cwd !== 'string') {
      return undefined;
    }
    const complete: Args = Object.assign(args, { cwd: directoryOf(cwd) });
    if (!((await askers[command]?.(window, complete)) ?? true)) {
      return undefined;
    }
    const result = await marked(window, command, complete.cwd, () => untilAnswered(window, command, complete));
    if (result !== undefined) {
      await present(window, command, complete, result);
    }
    return result;
  } catch (error) {
    if (command === 'xcsh.prompt' && (await offeredWay(window, args, error))) {
      return runCommand(window, command, args);
    }
    if (!expected(toServerError(error))) {
      await window.showError(error, { command, args });
    }
    return undefined;
  }
}

/** Marks the folder while a prompt is answered: its failure is shown here, and is not announced once more. */
async function marked<R>(window: Window, command: CommandName, cwd: string, run: () => Promise<R>): Promise<R> {
  if (command !== 'xcsh.prompt') {
    return run();
  }
  window.prompting.add(cwd);
  try {
    return await run();
  } finally {
    window.prompting.delete(cwd);
  }
}

/** Offers the ways to get an answer, if a prompt was refused for want of a model. Returns whether to send it again. */
async function offeredWay(window: Window, args: Record<string, unknown>, error: unknown): Promise<boolean> {
  const { cwd } = args;
  try {
    return typeof cwd === 'string' && (await offerWays(window, cwd, toServerError(error)));
  } catch (failure) {
    await window.showError(failure);
    return false;
  }
}

/** Menus pass the clicked item, which is not one of the command's arguments. */
function argumentsOf(given: unknown): Record<string, unknown> {
  const plain = typeof given === 'object' && given !== null && Object.getPrototypeOf(given) === Object.prototype;
  return plain ? { ...(given as object) } : {};
}

function directoryOf(cwd: string): string {
  return cwd.startsWith('file:') ? vscode.Uri.parse(cwd).fsPath : cwd;
}

/** Repeats the command until it needs no further answer. */
async function untilAnswered<C extends CommandName>(
  window: Window,
  command: C,
  args: Args,
): Promise<CommandMap[C]['result'] | undefined> {
  for (let question = 0; ; question++) {
    try {
      const { name: _name, among: _among, ...wire } = args;
      return await withProgress(command, (token) => window.request(command, wire as CommandMap[C]['args'], token));
    } catch (problem) {
      const error = toServerError(problem);
      if (question >= maxQuestions) {
        throw error;
      }
      let answered: boolean;
      if (error.kind === 'argumentNeeded' && error.text('field')) {
        answered = await askNeeded(window, args, {
          field: error.text('field') ?? '',
          input: error.text('input') ?? '',
          question: error.message,
          choices: error.data['choices'],
          engine: error.text('engine'),
        });
      } else if (command === 'xcsh.resume' && args['onBusy'] === 'fail' && isWritten(error)) {
        args['onBusy'] = await askBusy(error);
        answered = args['onBusy'] !== undefined;
      } else if (error.kind === 'ambiguous') {
        const field = args['target'] !== undefined ? 'target' : 'source';
        answered = await askWhich(window, args, field, error.data['candidates']);
      } else {
        throw error;
      }
      if (!answered) {
        return undefined;
      }
    }
  }
}

/** How long a command may take before progress is shown, in milliseconds. */
const pendingDelayMs = 400;

async function withProgress<R>(command: CommandName, run: (token: vscode.CancellationToken) => Promise<R>): Promise<R> {
  const source = new vscode.CancellationTokenSource();
  const result = run(source.token);
  try {
    const title = slow[command];
    if (title && (await isPending(result, pendingDelayMs))) {
      await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: title(), cancellable: true },
        (_progress, token) => {
          token.onCancellationRequested(() => source.cancel());
          return result.catch(() => undefined);
        },
      );
    }
    return await result;
  } finally {
    source.dispose();
  }
}

/** Waits for a promise, but no longer than ms; returns whether it is still pending. */
async function isPending(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<true>((resolve) => (timer = setTimeout(() => resolve(true), ms)));
  const settled = promise.then(
    () => false,
    () => false,
  );
  const pending = await Promise.race([settled, late]);
  clearTimeout(timer);
  return pending;
}
