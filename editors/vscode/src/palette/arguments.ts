import * as vscode from 'vscode';

import type { CommandName, SessionInfo } from '../wire.gen';
import type { Window } from '../window';
import {
  askImport,
  askSavePath,
  askText,
  pickApproval,
  pickDirectory,
  pickEntry,
  pickModel,
  pickThinking,
} from './choices';
import { askElsewhere, isElsewhere } from './elsewhere';
import { exportFilters, exportName } from './exporting';
import { pickSession } from './sessionPick';
import { ownSettings } from '../settings';
import { settings } from '../window';

const t = vscode.l10n.t;

/**
 * The arguments of a command, on the way to be complete. name is what the session is
 * called, where that is known; it is not sent.
 */
export type Args = Record<string, unknown> & { cwd: string; name?: unknown };

/** Asks for what a command lacks. False: the person closed a question. */
type Asker = (window: Window, args: Args) => Promise<boolean>;

/** Commands that need more than one answer, or another question than their input says. */
export const askers: Partial<Record<CommandName, Asker>> = {
  'xcsh.resume': async (window, args) => {
    // What to do about another project is asked by us, with more ways than yes and no.
    args['onOtherProject'] ??= 'fail';
    if (args['target'] !== undefined) {
      return true;
    }
    const info = await pickSession(window, {
      cwd: args.cwd,
      title: t('Resume a Session'),
      placeholder: t('Which session? Type to search in titles, prompts and answers.'),
      all: args['scope'] === 'all',
    });
    if (info && isElsewhere(info, args.cwd)) {
      return (await askElsewhere(info, args.cwd)) === 'open' && put(args, 'target', info.path);
    }
    return put(args, 'target', info?.path);
  },
  'xcsh.delete': async (window, args) => {
    if (args['source'] === undefined) {
      const info = await pickSession(window, {
        cwd: args.cwd,
        title: t('Delete a Session'),
        placeholder: t('Which session? It goes to the trash.'),
      });
      if (!put(args, 'source', info?.path)) {
        return false;
      }
      args['name'] = info?.name;
    }
    // The trash gives back what was a slip, so nothing is asked.
    return put(args, 'confirm', true);
  },
  'xcsh.export': async (window, args) => {
    if (args['path'] === undefined) {
      const format = typeof args['format'] === 'string' ? args['format'] : ownSettings(settings).exportFormat;
      const name = typeof args['name'] === 'string' ? args['name'] : await nameOf(window, args);
      const path = await askSavePath(window, args.cwd, exportName(name, format), exportFilters(format, t));
      if (!put(args, 'path', path)) {
        return false;
      }
      // The dialog has asked about a file that exists.
      args['overwrite'] = true;
    }
    if (ownSettings(settings).redactExports) {
      args['redact'] ??= true;
    }
    return true;
  },
  'xcsh.branch': async (window, args) =>
    args['entryId'] !== undefined ||
    put(args, 'entryId', await pickEntry(window, args.cwd, t('Go back to which prompt?'))),
  'xcsh.label': async (window, args) => {
    if (
      args['entryId'] === undefined &&
      !put(args, 'entryId', await pickEntry(window, args.cwd, t('Label which prompt?')))
    ) {
      return false;
    }
    if (args['label'] === undefined) {
      const label = await vscode.window.showInputBox({
        prompt: t('The label; empty takes it away'),
        ignoreFocusOut: true,
      });
      if (label === undefined) {
        return false;
      }
      args['label'] = label.trim() || null;
    }
    return true;
  },
  'xcsh.share': async () => {
    const share = t('Share');
    const question = t('Share the session? Whoever has the link can read all of it.');
    return (await vscode.window.showWarningMessage(question, { modal: true }, share)) === share;
  },
  'xcsh.rename': async (window, args) => {
    if (args['title'] !== undefined) {
      return true;
    }
    const value = typeof args['name'] === 'string' ? args['name'] : await nameOf(window, args);
    return put(args, 'title', await askText(t('The new title of the session'), { value }));
  },
  'xcsh.save': async (window, args) => {
    if (args['title'] !== undefined || args['source'] !== undefined) {
      return true;
    }
    const value = await nameOf(window, args);
    const prompt = t('The title of the session; empty leaves it as it is');
    const title = await vscode.window.showInputBox({ prompt, value, ignoreFocusOut: true });
    if (title?.trim() && title !== value) {
      args['title'] = title;
    }
    return title !== undefined;
  },
  'xcsh.import': async (_window, args) => {
    if (args['paths'] !== undefined || args['dir'] !== undefined) {
      return true;
    }
    const where = await askImport();
    Object.assign(args, where);
    return where !== undefined;
  },
  'xcsh.move': async (window, args) =>
    args['to'] !== undefined || put(args, 'to', await pickDirectory(window, args.cwd)),
  'xcsh.setModel': async (window, args) =>
    args['model'] !== undefined || put(args, 'model', await pickModel(window, args.cwd)),
  'xcsh.setThinking': async (window, args) =>
    args['level'] !== undefined || put(args, 'level', await pickThinking(window, args.cwd)),
  'xcsh.setApproval': async (_window, args) => args['mode'] !== undefined || put(args, 'mode', await pickApproval()),
  'xcsh.prompt': async (window, args) => {
    if (args['text'] !== undefined) {
      return true;
    }
    if (!put(args, 'text', await askText(t('What do you want to ask?')))) {
      return false;
    }
    // Whoever asks wants to read the answer. Calls of other extensions leave the window as it is.
    await window.reveal(args.cwd);
    return true;
  },
  'xcsh.steer': async (_window, args) =>
    args['text'] !== undefined || put(args, 'text', await askText(t('What should the turn that runs know?'))),
  'xcsh.followUp': async (_window, args) =>
    args['text'] !== undefined || put(args, 'text', await askText(t('What comes next, once the turn is over?'))),
  'xcsh.bash': async (_window, args) =>
    args['command'] !== undefined ||
    put(args, 'command', await askText(t('A command line to run in the folder'), { placeHolder: 'go test ./...' })),
};

/** Asks for one argument that the server says it needs. False: the person closed the question. */
export async function askNeeded(
  window: Window,
  args: Args,
  need: { field: string; input: string; question: string; choices?: unknown },
): Promise<boolean> {
  switch (need.input) {
    case 'session': {
      const candidates = sessionsOf(need.choices);
      const info = await pickSession(window, {
        cwd: args.cwd,
        title: need.question,
        placeholder: need.question,
        candidates,
      });
      return put(args, need.field, info?.path);
    }
    case 'entry':
      return put(args, need.field, await pickEntry(window, args.cwd, need.question));
    case 'model':
      return put(args, need.field, await pickModel(window, args.cwd));
    case 'path':
      return put(args, need.field, await askSavePath(window, args.cwd, 'session.html', {}));
    default:
      if (Array.isArray(need.choices) && need.choices.every((choice) => typeof choice === 'string')) {
        const picked = await vscode.window.showQuickPick(need.choices as string[], { placeHolder: need.question });
        return put(args, need.field, picked);
      }
      return put(args, need.field, await askText(need.question));
  }
}

/** Lets the person choose among the sessions that a name fits. */
export async function askWhich(window: Window, args: Args, field: string, candidates: unknown): Promise<boolean> {
  const info = await pickSession(window, {
    cwd: args.cwd,
    title: t('Several Sessions Match'),
    placeholder: t('Which one is meant?'),
    candidates: sessionsOf(candidates) ?? [],
  });
  return put(args, field, info?.path);
}

/** What an error names as sessions; a candidate has less than a session of a list. */
function sessionsOf(choices: unknown): SessionInfo[] | undefined {
  if (!Array.isArray(choices)) {
    return undefined;
  }
  return choices.map((choice: Partial<SessionInfo>) => ({
    path: '',
    id: '',
    cwd: '',
    name: choice.id ?? '',
    firstMessage: '',
    messageCount: 0,
    created: '',
    modified: '',
    timeAgo: choice.modified ?? '',
    size: 0,
    entries: 0,
    branches: 0,
    damagedLines: 0,
    live: false,
    origin: '',
    ...choice,
  }));
}

/** The name of the session that the arguments mean, for a proposal. */
async function nameOf(window: Window, args: Args): Promise<string> {
  if (typeof args['source'] === 'string') {
    const { matches } = await window.request('xcsh.resolve', { cwd: args.cwd, target: args['source'] });
    return matches?.[0]?.name ?? '';
  }
  const state = await window.request('xcsh.state', { cwd: args.cwd });
  return state.title ?? '';
}

/** Sets an argument to the answer; false when there is none. */
function put(args: Args, field: string, answer: unknown): boolean {
  if (answer === undefined) {
    return false;
  }
  args[field] = answer;
  return true;
}
