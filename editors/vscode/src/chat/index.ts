import * as vscode from 'vscode';

import type { Host } from '../host';
import type { ApproveParams } from '../wire.gen';
import { Approvals } from './approvals';
import { openChange, registerChanges } from './changes';
import { attachmentOf } from './files';
import { InlineChat } from './inline';
import { innermost } from '../folders';
import { pickPrompt } from '../palette/historyPick';
import type { Decision } from './messages';
import { ChatPanel } from './panel';
import { visible } from './visible';

/** Sets up the chat panel, the inline chat, and where permissions are asked for. */
export function activateChat(host: Host, context: vscode.ExtensionContext): vscode.Disposable {
  const panel: ChatPanel = new ChatPanel(host, context, () => approvals);
  const approvals: Approvals = new Approvals({
    show: (params) => panel.ask(params),
    notify: (params) => notify(panel, params),
    waiting: (count) => panel.badge(count),
  });
  const inline = new InlineChat(host, approvals, panel);
  return vscode.Disposable.from(
    panel,
    inline,
    registerChanges(),
    host.setApprover((params, token) => approvals.ask(params, token)),
    host.setConversation(panel),
    ...commandsOf(host, panel),
  );
}

function commandsOf(host: Host, panel: ChatPanel): vscode.Disposable[] {
  const register = (name: string, run: (...args: unknown[]) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`xcshLs.chat.${name}`, run);
  return [
    register('open', () => panel.focus(host.liveFolder?.cwd)),
    register('new', () => vscode.commands.executeCommand('xcsh.new', ...folderArgs(host))),
    register('resume', () => vscode.commands.executeCommand('xcsh.resume', ...folderArgs(host))),
    register('attach', (uri) => attach(host, panel, uri)),
    register('compact', (args) => compact(host, args)),
    register('history', (args) => recall(host, panel, args)),
  ];
}

/** The folder that a call is about: the one it names, else the live one. */
function cwdOf(host: Host, args: unknown): string | undefined {
  const given = (args ?? {}) as { cwd?: unknown };
  return typeof given.cwd === 'string' ? given.cwd : host.liveFolder?.cwd;
}

const folderArgs = (host: Host): { cwd: string }[] => (host.liveFolder ? [{ cwd: host.liveFolder.cwd }] : []);

/** Attaches the selection of the editor, or the file that a menu is about. */
async function attach(host: Host, panel: ChatPanel, chosen: unknown): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  const uri = chosen instanceof vscode.Uri ? chosen : editor?.document.uri;
  if (uri?.scheme !== 'file') {
    return;
  }
  const folder = innermost(host.folders, uri.fsPath) ?? host.liveFolder;
  const range = editor?.document.uri.toString() === uri.toString() ? editor.selection : undefined;
  await panel.attach([attachmentOf(uri, folder, range)], folder?.cwd);
}

/** Takes something that was said before into the composer. */
async function recall(host: Host, panel: ChatPanel, args: unknown): Promise<void> {
  const cwd = cwdOf(host, args);
  const text = cwd === undefined ? undefined : await pickPrompt(host, cwd);
  if (cwd !== undefined && text !== undefined) {
    await panel.compose(cwd, text);
  }
}

/** Summarises the older part of the conversation, which cannot be taken back in this session. */
async function compact(host: Host, args: unknown): Promise<void> {
  const cwd = cwdOf(host, args);
  if (cwd === undefined) {
    return;
  }
  const yes = vscode.l10n.t('Summarise');
  const detail = vscode.l10n.t(
    'The model goes on with a summary of the older part. The session file keeps everything.',
  );
  if (
    (await vscode.window.showInformationMessage(
      vscode.l10n.t('Summarise the older part of the conversation?'),
      { modal: true, detail },
      yes,
    )) === yes
  ) {
    await vscode.commands.executeCommand('xcsh.compact', { cwd });
  }
}

interface Choice extends vscode.MessageItem {
  readonly decision?: Decision;
  readonly shows?: 'panel' | 'change';
}

/** Asks in a notification, for when the panel is not on the screen. */
async function notify(panel: ChatPanel, params: ApproveParams): Promise<Decision | undefined> {
  const what = params.title || vscode.l10n.t('use {0}', params.tool);
  const outside = params.outside?.length
    ? '\n' + vscode.l10n.t('Outside of the folder: {0}', params.outside.join(', '))
    : '';
  const choices: Choice[] = [
    { title: vscode.l10n.t('Allow'), decision: 'once' },
    ...(params.rules?.length ? [{ title: vscode.l10n.t('Allow for This Session'), decision: 'session' as const }] : []),
    { title: vscode.l10n.t('Deny'), decision: 'deny' },
    params.diff
      ? { title: vscode.l10n.t('Show Change'), shows: 'change' }
      : { title: vscode.l10n.t('Show in Chat'), shows: 'panel' },
  ];
  for (;;) {
    const chosen = await vscode.window.showWarningMessage(
      visible(vscode.l10n.t('xcsh wants to: {0}', what) + outside),
      ...choices,
    );
    if (chosen?.shows === 'change') {
      await openChange(params.cwd, params.paths?.[0] ?? '', params.diff ?? '');
      continue; // the question stays
    }
    if (chosen?.shows === 'panel') {
      await panel.focus(params.cwd);
    }
    return chosen?.decision;
  }
}
