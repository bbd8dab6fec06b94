import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { reviewFiles } from '../changes/opening';
import { pendingOf } from '../late';
import type { CommandMap, CommandName, SessionState } from '../wire.gen';
import { ownSettings } from '../settings';
import { settings, type Window } from '../window';
import { loginTerminal } from '../native/login';
import { showReport } from '../native/reports';
import { doctorReport, statsReport } from '../native/reportText';
import type { Args } from './arguments';
import { askSavePath } from './choices';
import { ownName } from './enginePick';
import { engineLabel, ownEngine } from './engineRows';
import { exportName } from './exporting';
import { oneLine } from './items';

const t = vscode.l10n.t;

type Presenter<C extends CommandName> = (
  window: Window,
  args: Args,
  result: CommandMap[C]['result'],
) => Promise<void> | void;

/** How long a short message stays in the status bar, in milliseconds. */
const briefMs = 5000;

const presenters: { [C in CommandName]?: Presenter<C> } = {
  'xcsh.new': (window, args, result) => {
    if (refused(result.created, result.cancelledBy)) {
      return;
    }
    window.useFolder(args.cwd);
    brief(t('New session'));
  },
  'xcsh.resume': resumed,
  'xcsh.continue': resumed,
  'xcsh.fork': async (window, args, result) => {
    if (refused(result.forked, result.cancelledBy)) {
      return;
    }
    window.useFolder(args.cwd);
    brief(t('Forked: {0}', nameOf(result.session)));
    await giveBack(window, args.cwd, result.editorText);
  },
  'xcsh.branch': (window, args, result) => giveBack(window, args.cwd, result.editorText),
  'xcsh.chooseBranch': (window, args, result) => {
    if (result.cancelledBy) {
      refused(false, result.cancelledBy);
      return;
    }
    window.useFolder(args.cwd);
    if (result.choice === 'fork') {
      brief(t('Forked: {0}', nameOf(result.session)));
    }
  },
  'xcsh.label': (_window, args) => brief(args['label'] === null ? t('Label removed') : t('Label saved')),
  'xcsh.rename': (_window, _args, result) => brief(t('Renamed to {0}', result.title)),
  'xcsh.describe': (_window, _args, result) =>
    brief(result.description === '' ? t('Description removed') : t('Description saved')),
  'xcsh.save': (_window, _args, result) => brief(t('Saved: {0}', result.title || result.slug)),
  'xcsh.import': (_window, args, result) => imported(args, result),
  'xcsh.move': (_window, _args, result) => brief(t('Moved to {0}', result.session.cwd)),
  'xcsh.delete': async (window, args, result) => {
    const undo = t('Undo');
    const name = String(args.name ?? path.basename(String(args['source'])));
    const answer = await vscode.window.showInformationMessage(t('"{0}" was moved to the trash.', name), undo);
    if (answer === undo) {
      await window.request('xcsh.undelete', { cwd: args.cwd, trashed: result.trashed });
      brief(t('Session restored'));
    }
  },
  'xcsh.undelete': async (_window, args, result) => {
    const resume = t('Resume');
    const name = String(args.name ?? path.basename(result.path));
    if ((await vscode.window.showInformationMessage(t('"{0}" was restored.', name), resume)) === resume) {
      await vscode.commands.executeCommand('xcsh.resume', { cwd: args.cwd, target: result.path });
    }
  },
  'xcsh.deleteTrashed': () => brief(t('Session deleted permanently')),
  'xcsh.export': async (_window, _args, result) => {
    const open = t('Open');
    const reveal = t('Show in Folder');
    const secrets = secretsText(result.redacted);
    const message = secrets
      ? t('Exported to {0}; secrets redacted: {1}.', result.path, secrets)
      : t('Exported to {0}', result.path);
    const buttons = result.opened ? [reveal] : [open, reveal];
    const answer = await vscode.window.showInformationMessage(message, ...buttons);
    const uri = vscode.Uri.file(result.path);
    if (answer === open) {
      await openExported(uri);
    } else if (answer === reveal) {
      await vscode.commands.executeCommand('revealFileInOS', uri);
    }
  },
  'xcsh.changes': (_window, args, result) => reviewFiles(args.cwd, result.files ?? [], t('Changes by xcsh')),
  'xcsh.keep': (_window, _args, { kept, pending }) =>
    brief(
      pending === 0
        ? t('Everything is reviewed')
        : kept === 1
          ? t('1 change kept, {0} to review', pending)
          : t('{0} changes kept, {1} to review', kept, pending),
    ),
  'xcsh.dump': dumped,
  'xcsh.share': (_window, _args, result) => shared(result),
  'xcsh.doctor': async (window, _args, result) => showReport(window, t('Session Check'), doctorReport(result, t)),
  'xcsh.stats': async (window, _args, result) => showReport(window, t('Session Statistics'), statsReport(result, t)),
  // The panel shows the answer; while it is hidden, the end of the turn is announced.
  'xcsh.prompt': (_window, _args, result) => {
    if (result.queued) {
      brief(t('Queued. It will be sent when the current turn ends.'));
    }
  },
  'xcsh.steer': () => brief(t('Queued. It will be sent after the running tool calls.')),
  'xcsh.followUp': () => brief(t('Queued. It will be sent when the current turn ends.')),
  'xcsh.abort': (_window, _args, result) => brief(result.aborted ? t('Stopped') : t('Nothing is running')),
  'xcsh.compact': (_window, _args, result) => brief(t('Compacted {0} tokens', result.tokensBefore)),
  'xcsh.setModel': (_window, _args, result) => brief(t('Model: {0}', result.model?.id ?? t('none'))),
  'xcsh.setThinking': (_window, _args, result) => brief(t('Thinking: {0}', result.thinkingLevel)),
  'xcsh.setEngine': engineChosen,
  'xcsh.login': loggingIn,
  'xcsh.trust': (_window, _args, result) =>
    brief(
      result.state === 'trusted'
        ? t("The folder's set-up is used")
        : result.state === 'withoutServers'
          ? t("The folder's set-up is used without its servers")
          : t("The folder's set-up is not used"),
    ),
  'xcsh.team.follow': (_window, args, { uri }) => (args['stop'] === true ? undefined : following(args.cwd, uri)),
  'xcsh.team.take': () => brief(t('This device writes the session now')),
  'xcsh.team.unshare': () => brief(t('Removed from the team')),
  'xcsh.team.undelete': () => brief(t('Session restored')),
  'xcsh.setApproval': (_window, _args, result) => brief(t('Permissions: {0}', result.mode)),
  'xcsh.bash': async (window, _args, result) => {
    const show = t('Show Output');
    const message = result.cancelled
      ? t('Stopped: {0}', result.command)
      : t('{0} ended with exit code {1}', result.command, result.exitCode ?? '?');
    const answer = await vscode.window.showInformationMessage(message, show);
    if (answer === show) {
      await showReport(window, result.command, '```\n' + result.output + '\n```\n');
    }
  },
};

/** Shows the result of a command, if there is anything to show. */
export async function present<C extends CommandName>(
  window: Window,
  command: C,
  args: Args,
  result: CommandMap[C]['result'],
): Promise<void> {
  await (presenters[command] as Presenter<C> | undefined)?.(window, args, result);
}

/**
 * Shows a page in the browser. If the page is on a remote machine, the browser cannot reach it, and
 * an editor shows its source.
 */
async function openExported(uri: vscode.Uri): Promise<void> {
  const here = vscode.env.remoteName === undefined && vscode.env.uiKind === vscode.UIKind.Desktop;
  if (here && uri.path.endsWith('.html') && (await vscode.env.openExternal(uri))) {
    return;
  }
  await vscode.commands.executeCommand('vscode.open', uri);
}

/** Shows a session of the team's store that is read along. */
async function following(cwd: string, uri: string): Promise<void> {
  await vscode.commands.executeCommand('xcshLs.team.follow', { cwd, uri });
}

async function resumed(window: Window, args: Args, result: CommandMap['xcsh.resume']['result']): Promise<void> {
  if (result.following) {
    return following(args.cwd, result.following);
  }
  if (refused(result.switched, result.cancelledBy)) {
    return;
  }
  window.useFolder(args.cwd);
  const name = nameOf(result.session);
  const resumedAs = result.forkedFrom ? t('Forked into this folder: {0}', name) : t('Resumed: {0}', name);
  if (pendingOf(result).length === 0) {
    await repaired(args.cwd, name, result.repairs?.length ?? 0, resumedAs);
    return;
  }
  brief(resumedAs);
  const read = await window.late.whenRead(args.cwd, result.session.sessionId);
  if (read) {
    await repaired(args.cwd, nameOf(read.state), read.repairs?.length ?? 0);
  }
}

/** Shows the number of problems that were worked around, or else a short message. */
async function repaired(cwd: string, name: string, repairs: number, otherwise?: string): Promise<void> {
  if (repairs === 0) {
    if (otherwise) {
      brief(otherwise);
    }
    return;
  }
  const check = t('Check for Damage');
  const message =
    repairs === 1
      ? t('Resumed {0}; 1 problem in its file was worked around.', name)
      : t('Resumed {0}; {1} problems in its file were worked around.', name, repairs);
  if ((await vscode.window.showInformationMessage(message, check)) === check) {
    await vscode.commands.executeCommand('xcsh.doctor', { cwd });
  }
}

/** Shows that a hook or another client canceled the operation. */
function refused(done: boolean, by: string | undefined): boolean {
  if (!done) {
    void vscode.window.showWarningMessage(by ? t('Canceled by {0}.', by) : t('The operation was canceled.'));
  }
  return !done;
}

/** Makes a prompt available for editing after going back to before it. */
async function giveBack(window: Window, cwd: string, text: string | null | undefined): Promise<void> {
  if (!text || (await window.compose(cwd, text))) {
    return;
  }
  const edit = t('Edit and Resend');
  const copy = t('Copy');
  const answer = await vscode.window.showInformationMessage(
    t('Went back to before this message: {0}', shortened(text)),
    edit,
    copy,
  );
  if (answer === edit) {
    const edited = await vscode.window.showInputBox({
      value: text,
      prompt: t('Ask xcsh'),
      ignoreFocusOut: true,
    });
    if (edited?.trim()) {
      await vscode.commands.executeCommand('xcsh.prompt', { cwd, text: edited });
    }
  } else if (answer === copy) {
    await vscode.env.clipboard.writeText(text);
  }
}

/** Offers the engine that the user selected from the list for the other folders, too. */
async function engineChosen(window: Window, args: Args, result: CommandMap['xcsh.setEngine']['result']): Promise<void> {
  const name = engineLabel(result, ownName);
  if (args.name === undefined || args['remember'] === true || result.name === ownEngine) {
    brief(t('{0} answers from the next prompt on', name));
    return;
  }
  const all = t('Use in All Folders');
  const answer = await vscode.window.showInformationMessage(
    t('{0} answers in this folder from the next prompt on.', name),
    all,
  );
  if (answer === all) {
    await window.request('xcsh.setEngine', { cwd: args.cwd, engine: result.name, remember: true });
    brief(t('{0} answers in all folders', name));
  }
}

function loggingIn(_window: Window, _args: Args, result: CommandMap['xcsh.login']['result']): void {
  const title = (engine: string): string => t('Log in to {0}', engine);
  const options = loginTerminal(result, title, os.homedir(), process.env['PATH']);
  if (!options) {
    void vscode.window.showInformationMessage(result.message);
    return;
  }
  vscode.window.createTerminal({ ...options, iconPath: new vscode.ThemeIcon('key') }).show();
  // A program without arguments logs in by a command of its own.
  void vscode.window.showInformationMessage(
    options.shellArgs.length === 0
      ? t('Enter /login in the terminal to log in to {0}. Then send your prompt again.', result.engine)
      : t('Log in to {0} in the terminal. Then send your prompt again.', result.engine),
  );
}

/** Returns the number of secrets of each kind, "" if there are none. */
export function secretsText(kinds: Record<string, number> | undefined | null): string {
  const found = Object.entries(kinds ?? {}).filter(([, n]) => n > 0);
  return found.map(([kind, n]) => `${kind} ${n}`).join(', ');
}

async function dumped(window: Window, args: Args, result: CommandMap['xcsh.dump']['result']): Promise<void> {
  if (result.empty) {
    void vscode.window.showInformationMessage(result.text);
    return;
  }
  const secrets = secretsText(result.redacted);
  switch (await dumpTarget()) {
    case undefined:
      return;
    case 'clipboard':
      await vscode.env.clipboard.writeText(result.text);
      brief(
        secrets ? t('Copied the session as text; secrets redacted: {0}.', secrets) : t('Copied the session as text'),
      );
      return;
    case 'editor': {
      const document = await vscode.workspace.openTextDocument({ language: 'markdown', content: result.text });
      await vscode.window.showTextDocument(document);
      return;
    }
    case 'file': {
      const file = await askSavePath(window, args.cwd, exportName('session', 'markdown').replace(/md$/, 'txt'), {});
      if (file) {
        const uri = vscode.Uri.file(file);
        await vscode.workspace.fs.writeFile(uri, Buffer.from(result.text));
        await vscode.window.showTextDocument(uri);
      }
    }
  }
}

async function dumpTarget(): Promise<string | undefined> {
  const to = ownSettings(settings).dumpTo;
  if (to !== 'ask') {
    return to;
  }
  const picked = await vscode.window.showQuickPick(
    [
      { label: `$(clippy) ${t('Clipboard')}`, to: 'clipboard' },
      { label: `$(new-file) ${t('New editor')}`, to: 'editor' },
      { label: `$(save) ${t('File')}`, to: 'file' },
    ],
    { placeHolder: t('Select where to dump the session') },
  );
  return picked?.to;
}

async function shared(result: CommandMap['xcsh.share']['result']): Promise<void> {
  const url = [result.previewUrl, result.url].find((link) => /^https?:/i.test(link ?? ''));
  const open = t('Open');
  const copy = t('Copy Link');
  const message = result.message ?? (url ? t('Shared: {0}', url) : t('Session shared'));
  const answer = await vscode.window.showInformationMessage(message, ...(url ? [open, copy] : []));
  if (url && answer === open) {
    await vscode.env.openExternal(vscode.Uri.parse(url, true));
  } else if (url && answer === copy) {
    await vscode.env.clipboard.writeText(url);
  }
}

/** Shows the result of an import. If the server asked for the files itself, it has already shown the result. */
async function imported(args: Args, result: CommandMap['xcsh.import']['result']): Promise<void> {
  if (args['paths'] === undefined && args['dir'] === undefined) {
    return;
  }
  const files = result.files ?? [];
  const done = files.filter((file) => file.status === 'imported' || file.status === 'updated');
  const failed = files.filter((file) => file.status === 'failed');
  const there = files.length - done.length - failed.length;
  const message =
    done.length === 1
      ? t('Imported 1 session; {0} already imported.', there)
      : t('Imported {0} sessions; {1} already imported.', done.length, there);
  if (failed.length > 0) {
    const reason = failed[0]?.reason ?? '';
    void vscode.window.showWarningMessage(`${message} ${t('{0} failed: {1}', failed.length, reason)}`);
    return;
  }
  const resume = t('Resume');
  const target = done.length === 1 ? done[0]?.file : undefined;
  const answer = await vscode.window.showInformationMessage(message, ...(target ? [resume] : []));
  if (answer === resume) {
    await vscode.commands.executeCommand('xcsh.resume', { cwd: args.cwd, target });
  }
}

function brief(message: string): void {
  vscode.window.setStatusBarMessage(`$(check) ${message}`, briefMs);
}

function nameOf(state: SessionState): string {
  return state.title ?? (pendingOf(state).includes('title') ? '…' : state.sessionId);
}

function shortened(text: string): string {
  const line = oneLine(text);
  return line.length > 200 ? line.slice(0, 199) + '…' : line;
}
