import * as vscode from 'vscode';

import type { CommandName, SessionInfo, TeamShareArgs } from '../wire.gen';
import type { Window } from '../window';
import {
  askImport,
  askSavePath,
  askText,
  pickApproval,
  pickDirectory,
  pickBranchChoice,
  pickMode,
  pickModel,
  pickThinking,
} from './choices';
import { askElsewhere, isElsewhere } from './elsewhere';
import { pickEngine } from './enginePick';
import { pickPending } from './changesPick';
import { pickEntry } from './entryPick';
import { exportFilters, exportName } from './exporting';
import { pickSession } from './sessionPick';
import { pickTrust } from './trustPick';
import { confirmedDeletion, pickTrashed } from './trashPick';
import { addKey } from '../keys/enter';
import { shareWithTeam } from '../team/sharing';
import { ownSettings } from '../settings';
import { settings } from '../window';

const t = vscode.l10n.t;

/**
 * The arguments of a command while they are being completed. name is the name of the session, if
 * known, or of the engine that the user selected; among is the provider whose models are offered. They are not sent.
 */
export type Args = Record<string, unknown> & { cwd: string; name?: unknown; among?: unknown };

/** Asks for the missing arguments of a command. Returns false if the user cancels. */
type Asker = (window: Window, args: Args) => Promise<boolean>;

/** Commands that need more than one answer, or a different question than their input kind. */
export const askers: Partial<Record<CommandName, Asker>> = {
  'xcsh.resume': async (window, args) => {
    // The extension asks about sessions of another project itself, with more options than yes and
    // no.
    args['onOtherProject'] ??= 'fail';
    // And about those that another user writes.
    args['onBusy'] ??= 'fail';
    if (args['target'] !== undefined) {
      return true;
    }
    const info = await pickSession(window, {
      cwd: args.cwd,
      title: t('Resume Session'),
      placeholder: t('Select a session. Type to search titles, prompts, and answers.'),
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
        title: t('Delete Session'),
        placeholder: t('Select a session to move to the trash'),
      });
      if (!put(args, 'source', info?.path)) {
        return false;
      }
      args['name'] = info?.name;
    }
    // Delete moves the session to the trash, which allows undo, so no confirmation is needed.
    return put(args, 'confirm', true);
  },
  'xcsh.undelete': (window, args) => askTrashed(window, args, t('Select a session to restore')),
  'xcsh.deleteTrashed': async (window, args) =>
    (await askTrashed(window, args, t('Select a session to delete permanently'))) &&
    (args['confirm'] !== undefined ||
      ((await confirmedDeletion(String(args.name ?? args['trashed']))) && put(args, 'confirm', true))),
  'xcsh.export': async (window, args) => {
    if (args['path'] === undefined) {
      const format = typeof args['format'] === 'string' ? args['format'] : ownSettings(settings).exportFormat;
      const name = typeof args['name'] === 'string' ? args['name'] : await nameOf(window, args);
      const path = await askSavePath(window, args.cwd, exportName(name, format), exportFilters(format, t));
      if (!put(args, 'path', path)) {
        return false;
      }
      // The dialog has already asked about an existing file.
      args['overwrite'] = true;
    }
    if (!ownSettings(settings).redactExports) {
      args['redact'] ??= false;
    }
    return true;
  },
  'xcsh.dump': (_window, args) => {
    if (!ownSettings(settings).redactExports) {
      args['redact'] ??= false;
    }
    return Promise.resolve(true);
  },
  'xcsh.branch': async (window, args) =>
    args['entryId'] !== undefined ||
    put(args, 'entryId', await pickEntry(window, args.cwd, t('Select a message to go back to'))),
  // The chat shows the plan and asks for confirmation.
  'xcsh.rewind': async (window, args) => {
    const targets = ['before', 'to', 'records', 'toolCallId', 'hunks', 'paths', 'redo'];
    if (targets.some((name) => args[name] !== undefined)) {
      return true;
    }
    const entry = await pickEntry(window, args.cwd, t('Select a message to rewind to'));
    if (entry !== undefined) {
      await window.rewind(args.cwd, entry);
    }
    return false;
  },
  'xcsh.keep': async (window, args) =>
    ['hunks', 'paths', 'all'].some((name) => args[name] !== undefined) ||
    put(args, 'paths', await pickPending(window, args.cwd)),
  'xcsh.label': async (window, args) => {
    if (
      args['entryId'] === undefined &&
      !put(args, 'entryId', await pickEntry(window, args.cwd, t('Select a message to label')))
    ) {
      return false;
    }
    if (args['label'] === undefined) {
      const label = await vscode.window.showInputBox({
        prompt: t('Label (leave empty to remove it)'),
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
    const detail = t('Anyone with the link can read all of it.');
    return (await vscode.window.showWarningMessage(t('Share this session?'), { modal: true, detail }, share)) === share;
  },
  // The plan is shown, and carried out if the user agrees. Another extension must not decide for the user.
  'xcsh.team.share': async (window, args) => {
    const { name: _name, among: _among, ...given } = args;
    const name = typeof args.name === 'string' ? { name: args.name } : {};
    await shareWithTeam(window, { ...(given as TeamShareArgs), ...name });
    return false;
  },
  'xcsh.rename': async (window, args) => {
    if (args['title'] !== undefined) {
      return true;
    }
    const value = typeof args['name'] === 'string' ? args['name'] : await nameOf(window, args);
    return put(args, 'title', await askText(t('New title'), { value }));
  },
  'xcsh.save': async (window, args) => {
    if (args['title'] !== undefined || args['source'] !== undefined) {
      return true;
    }
    const value = await nameOf(window, args);
    const prompt = t('Title (leave empty to keep the current one)');
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
    args['model'] !== undefined || put(args, 'model', await pickModel(window, args.cwd, providerOf(args))),
  // The key is asked for, saved, and used here; it is no argument, which could be shown or logged.
  'xcsh.setKey': async (window, args) => {
    if (args['key'] !== undefined || args['remove'] === true) {
      return true;
    }
    await addKey(window, args.cwd, typeof args['provider'] === 'string' ? args['provider'] : undefined);
    return false;
  },
  'xcsh.setThinking': async (window, args) =>
    args['level'] !== undefined || put(args, 'level', await pickThinking(window, args.cwd)),
  'xcsh.setEngine': async (window, args) => {
    if (args['engine'] !== undefined) {
      return true;
    }
    const row = await pickEngine(window, args.cwd);
    args.name = row?.engine;
    return put(args, 'engine', row?.engine);
  },
  // A task or another extension must not decide for the user, so that the decision is no argument.
  'xcsh.trust': async (window, args) => put(args, 'decision', await pickTrust(window, args.cwd)),
  'xcsh.setMode': async (_window, args) => args['mode'] !== undefined || put(args, 'mode', await pickMode()),
  'xcsh.setApproval': async (_window, args) => args['mode'] !== undefined || put(args, 'mode', await pickApproval()),
  'xcsh.prompt': async (window, args) => {
    if (args['text'] !== undefined) {
      return true;
    }
    if (!put(args, 'text', await askText(t('Ask xcsh')))) {
      return false;
    }
    // The user wants to read the answer. Calls by other extensions do not change the window.
    await window.reveal(args.cwd);
    return true;
  },
  'xcsh.steer': async (_window, args) =>
    args['text'] !== undefined || put(args, 'text', await askText(t('Message to send to the running turn'))),
  'xcsh.followUp': async (_window, args) =>
    args['text'] !== undefined || put(args, 'text', await askText(t('Message to send when the current turn ends'))),
  'xcsh.bash': async (_window, args) =>
    args['command'] !== undefined ||
    put(args, 'command', await askText(t('Command to run in this folder'), { placeHolder: 'go test ./...' })),
};

/** Asks for a deleted session, unless the call names one. */
async function askTrashed(window: Window, args: Args, question: string): Promise<boolean> {
  if (args['trashed'] !== undefined) {
    return true;
  }
  const session = await pickTrashed(window, args.cwd, question);
  args.name = session?.name;
  return put(args, 'trashed', session?.trashed);
}

/** Asks for the argument named by an argumentNeeded error. Returns false if the user cancels. */
export async function askNeeded(
  window: Window,
  args: Args,
  need: { field: string; input: string; question: string; choices?: unknown; engine?: string | undefined },
): Promise<boolean> {
  if (need.field === 'fork') {
    return askFork(window, args, need.question, need.engine);
  }
  switch (need.input) {
    case 'session': {
      // The choices are those of xcsh.list, which the list requests a page at a time.
      const info = await pickSession(window, {
        cwd: args.cwd,
        title: need.question,
        placeholder: need.question,
        all: args['scope'] === 'all',
      });
      return put(args, need.field, info?.path);
    }
    case 'entry':
      return put(args, need.field, await pickEntry(window, args.cwd, need.question));
    case 'engine':
      return put(args, need.field, (await pickEngine(window, args.cwd))?.engine);
    case 'model':
      return put(args, need.field, await pickModel(window, args.cwd));
    case 'path':
      return put(args, need.field, await askSavePath(window, args.cwd, 'session.html', {}));
    default:
      if (need.field === 'choice') {
        return put(args, need.field, await pickBranchChoice(need.question));
      }
      if (Array.isArray(need.choices) && need.choices.every((choice) => typeof choice === 'string')) {
        const picked = await vscode.window.showQuickPick(need.choices as string[], { placeHolder: need.question });
        return put(args, need.field, picked);
      }
      return put(args, need.field, await askText(need.question));
  }
}

/**
 * Asks whether an engine that cannot read the session's file gets a copy that it can read. For a prompt, the copy is
 * made before the prompt is sent again; engine is the one of the folder then.
 */
async function askFork(window: Window, args: Args, question: string, engine?: string): Promise<boolean> {
  const fork = t('Fork Session');
  if ((await vscode.window.showInformationMessage(question, { modal: true }, fork)) !== fork) {
    return false;
  }
  if (engine === undefined) {
    return put(args, 'fork', true);
  }
  await window.request('xcsh.setEngine', { cwd: args.cwd, engine, fork: true });
  return true;
}

/** Lets the user select one of the sessions that match a name. */
export async function askWhich(window: Window, args: Args, field: string, candidates: unknown): Promise<boolean> {
  const info = await pickSession(window, {
    cwd: args.cwd,
    title: t('Multiple Sessions Match'),
    placeholder: t('Select a session'),
    candidates: sessionsOf(candidates),
  });
  return put(args, field, info?.path);
}

/** Returns the choices of an error as sessions; a candidate has fewer members than a listed session. */
function sessionsOf(choices: unknown): SessionInfo[] {
  return (Array.isArray(choices) ? choices : []).map((choice: Partial<SessionInfo>) => ({
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

/** Returns the name of the session in the arguments, for a proposed name. */
async function nameOf(window: Window, args: Args): Promise<string> {
  if (typeof args['source'] === 'string') {
    const { matches } = await window.request('xcsh.resolve', { cwd: args.cwd, target: args['source'] });
    return matches?.[0]?.name ?? '';
  }
  const state = await window.request('xcsh.state', { cwd: args.cwd });
  return state.title ?? '';
}

const providerOf = ({ among }: Args): string | undefined => (typeof among === 'string' ? among : undefined);

/** Sets an argument to the answer; returns false if there is none. */
function put(args: Args, field: string, answer: unknown): boolean {
  if (answer === undefined) {
    return false;
  }
  args[field] = answer;
  return true;
}
