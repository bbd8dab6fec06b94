import * as vscode from 'vscode';

import { askElsewhere, isElsewhere } from '../palette/elsewhere';
import { runCommand } from '../palette/runner';
import { continueInTerminal, type Terminals } from '../native/terminal';
import type { CommandName, SessionInfo } from '../wire.gen';
import type { Window } from '../window';
import type { TrashedNode } from './model';
import type { SessionsView } from './view';

/** The subject of an action: a line of the view, or of a picker. */
export interface Subject {
  readonly info: SessionInfo;
  readonly cwd?: string;
}

/** Registers the actions on a session, and on the view. */
export function registerSessionActions(window: Window, view: SessionsView, terminals: Terminals): vscode.Disposable {
  const register = (name: string, run: (subject: Subject) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`xcshLs.sessions.${name}`, async (given?: unknown) => {
      if (isSubject(given)) {
        await run(given);
      }
    });
  const execute =
    (command: CommandName, more: (subject: Subject) => Record<string, unknown> = () => ({})) =>
    async (subject: Subject): Promise<void> => {
      const cwd = subject.cwd ?? window.liveFolder?.cwd ?? subject.info.cwd;
      await runCommand(window, command, { cwd, name: subject.info.name, source: subject.info.path, ...more(subject) });
    };
  const plain = (name: string, run: (...given: never[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`xcshLs.sessions.${name}`, run);
  return vscode.Disposable.from(
    register('resume', (subject) => resume(window, subject)),
    register('fork', execute('xcsh.fork')),
    register('export', execute('xcsh.export')),
    register('rename', execute('xcsh.rename')),
    register('delete', execute('xcsh.delete')),
    register('transcript', execute('xcsh.transcript')),
    register('check', execute('xcsh.doctor')),
    register('copyId', ({ info }) => vscode.env.clipboard.writeText(info.id)),
    register('copyPath', ({ info }) => vscode.env.clipboard.writeText(info.path)),
    register('openFolder', ({ info }) =>
      vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(info.cwd), { forceNewWindow: true }),
    ),
    register('openInTerminal', ({ info, cwd }) => continueInTerminal(window, terminals, info, cwd)),
    trash('restore', window, 'xcsh.undelete'),
    trash('delete', window, 'xcsh.deleteTrashed'),
    window.onDidRun((command) => changesTrash.has(command) && view.trashChanged()),
    plain('refresh', () => view.trashChanged()),
    plain('search', () => view.search()),
    plain('clearSearch', () => view.find('')),
    plain('showAll', () => view.showAll(true)),
    plain('showFolder', () => view.showAll(false)),
    plain('more', (cwd: string) => view.more(cwd)),
  );
}

/** The commands after which the trash is listed again. */
const changesTrash: ReadonlySet<CommandName> = new Set<CommandName>([
  'xcsh.delete',
  'xcsh.deleteTrashed',
  'xcsh.purge',
  'xcsh.undelete',
]);

/** Registers an action on a line of the trash. */
function trash(name: string, window: Window, command: 'xcsh.undelete' | 'xcsh.deleteTrashed'): vscode.Disposable {
  return vscode.commands.registerCommand(`xcshLs.trash.${name}`, async (given?: unknown) => {
    const session = (given as Partial<TrashedNode> | undefined)?.session;
    if (typeof session?.trashed === 'string') {
      const cwd = window.liveFolder?.cwd ?? session.cwd;
      await runCommand(window, command, { cwd, name: session.name, trashed: session.trashed });
    }
  });
}

/** Resumes a session of a folder. An error is shown, except that another program has the session. */
export async function resumeOr(window: Window, cwd: string, path: string): Promise<'resumed' | 'locked' | 'failed'> {
  const target = { cwd, target: path };
  let locked = false;
  const result = await runCommand(window, 'xcsh.resume', target, (error) => {
    locked = error.kind === 'busy' && (error.data['pid'] !== undefined || error.data['path'] !== undefined);
    return locked;
  });
  return locked ? 'locked' : result?.switched ? 'resumed' : 'failed';
}

/** Resumes a session in its folder, or asks what to do with it here. */
async function resume(window: Window, subject: Subject): Promise<void> {
  const cwd = subject.cwd ?? (await window.chooseFolder())?.cwd;
  if (cwd === undefined) {
    return;
  }
  if (isElsewhere(subject.info, cwd) && (await askElsewhere(subject.info, cwd)) !== 'open') {
    return;
  }
  await runCommand(window, 'xcsh.resume', { cwd, target: subject.info.path });
}

function isSubject(given: unknown): given is Subject {
  const info = (given as Partial<Subject> | undefined)?.info;
  return typeof info?.path === 'string';
}
