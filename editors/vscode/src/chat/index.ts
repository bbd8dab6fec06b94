import * as vscode from 'vscode';

import type { Host } from '../host';
import { followedSid } from '../team/model';
import type { ApproveParams, SessionEvent, SessionInfo } from '../wire.gen';
import { reviewCodeIn } from './applyCode';
import { Approvals } from './approvals';
import { ApprovalDiffs } from './approvalDiffs';
import { registerChanges } from './changes';
import { attachmentOf } from './files';
import { InlineChat } from './inline';
import { innermost } from '../folders';
import { pickPrompt } from '../palette/historyPick';
import type { Decision } from './messages';
import { announce } from './announce';
import { Questions } from './questions';
import { Opener, type Resume, type SessionTerminals, type Subject } from './opening';
import { ChatPanel, chatView } from './panel';
import { Placement } from './placement';
import { SessionTabs } from './tabs';
import { visible } from './visible';
import { ownSettings } from '../settings';
import { settings } from '../window';
import { scopeOf, warningsOf, widerScopeOf } from './warnings';

/** The parts of the extension that sessions are opened with. */
export interface ChatParts {
  readonly resume: Resume;
  readonly terminals: SessionTerminals & {
    readonly onDidHand: vscode.Event<Subject>;
    readonly onDidEnd: vscode.Event<string>;
  };
  /** Called when the user opens a session. */
  readonly opened: (sessionId: string) => void;
}

/** Sets up the chat panel, the inline chat, and the permission prompts. */
export function activateChat(host: Host, context: vscode.ExtensionContext, parts: ChatParts): vscode.Disposable {
  const { resume, terminals, opened } = parts;
  const panel: ChatPanel = new ChatPanel(
    host,
    context,
    () => approvals,
    () => questions,
    (params) => diffs.open(params),
    (session, action) => opener.act(session, action),
  );
  const opener: Opener = new Opener(host, panel, () => tabs, resume, terminals, opened);
  const tabs: SessionTabs = new SessionTabs(host, opener);
  const approvals: Approvals = new Approvals({
    show: (params) => panel.ask(params),
    notify: async (params) => (announces() ? notify(panel, diffs, params) : undefined),
    waiting: (count) => panel.badge('approvals', count),
  });
  const questions: Questions = new Questions({
    shows: (cwd) => panel.shows(cwd),
    notify: async (cwd, question) => (announces() ? announce(panel, cwd, question) : undefined),
    answer: (cwd, id, answer) =>
      void host.request('xcsh.answer', { cwd, id, ...answer }).catch((error: unknown) => host.showError(error)),
    waiting: (count) => panel.badge('questions', count),
  });
  const diffs: ApprovalDiffs = new ApprovalDiffs(approvals);
  reviewCodeIn(diffs);
  const inline = new InlineChat(host, approvals, panel, diffs);
  return vscode.Disposable.from(
    panel,
    tabs,
    new Placement(context.extensionUri, chatView, panel),
    inline,
    diffs,
    registerChanges(),
    terminals.onDidHand((subject) => void opener.follow(subject).catch((error: unknown) => host.showError(error))),
    terminals.onDidEnd((file) => opener.released(file)),
    host.setApprover((params, token) => approvals.ask(params, token)),
    host.setConversation(panel),
    host.onNotification('xcsh/event', ({ cwd, event }) => questions.follow(cwd, event)),
    host.onNotification('xcsh/event', ({ event }) => firstAnswer(event)),
    host.onDidChangeStatus(({ kind }) => kind !== 'running' && (questions.clear(), approvals.clear())),
    ...commandsOf(host, panel),
    ...openingCommands(host, panel, opener, tabs),
  );
}

/** Whether requests of a hidden conversation are shown in notifications. The badge and the list show them in any case. */
const announces = (): boolean => ownSettings(settings).notifications !== 'off';

/** Completes the step of the walkthrough that is about the first prompt. */
function firstAnswer(event: SessionEvent): void {
  if (event.type === 'agent_end' && event.stopReason === 'stop') {
    void vscode.commands.executeCommand('setContext', 'xcshLs.answered', true);
  }
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
    register('find', () => panel.find()),
  ];
}

function openingCommands(host: Host, panel: ChatPanel, opener: Opener, tabs: SessionTabs): vscode.Disposable[] {
  const register = (name: string, open: (subject: Subject) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(`xcshLs.sessions.${name}`, async (given?: unknown) => {
      const subject = given as Subject | undefined;
      if (typeof subject?.info?.path === 'string') {
        await open(subject).catch((error: unknown) => host.showError(error));
      }
    });
  return [
    register('open', (subject) => opener.open(subject)),
    register('openInEditor', (subject) => opener.openInEditor(subject)),
    vscode.commands.registerCommand('xcshLs.team.follow', (given?: unknown) =>
      followTeam(host, panel, given).catch((error: unknown) => host.showError(error)),
    ),
    vscode.commands.registerCommand('xcshLs.chat.openInEditor', () => openLive(host, opener)),
    vscode.commands.registerCommand('xcshLs.reading.find', () => tabs.find()),
  ];
}

/** Shows a session of the team's store in the panel, to be read along. given names a line of the view, or its address. */
async function followTeam(host: Host, panel: ChatPanel, given: unknown): Promise<void> {
  const { cwd, uri, info } = (given ?? {}) as { cwd?: unknown; uri?: unknown; info?: SessionInfo };
  const sid = typeof uri === 'string' ? followedSid(uri) : info?.team?.sid;
  if (typeof cwd !== 'string' || sid === undefined) {
    return;
  }
  const followed = await host.request('xcsh.team.follow', { cwd, source: sid });
  const known = info ?? (await infoOf(host, cwd, sid));
  const follow = { sid, owner: known?.team?.owner ?? '', device: known?.team?.writer ?? '' };
  const named = { id: known?.id ?? '', name: known?.name ?? sid, cwd: known?.cwd ?? '', title: known?.title ?? '' };
  await panel.preview({ info: { ...named, path: followed.uri }, cwd, state: 'followed', follow });
}

/** Returns a session of the team's store, as far as it is in the list. */
async function infoOf(host: Host, cwd: string, sid: string): Promise<SessionInfo | undefined> {
  try {
    const { sessions } = await host.request('xcsh.list', { cwd, scope: 'team' });
    return (sessions ?? []).find(({ team }) => team?.sid === sid);
  } catch {
    return undefined; // it is only for the name
  }
}

/** Opens the folder's live session in an editor tab. */
async function openLive(host: Host, opener: Opener): Promise<void> {
  const cwd = host.liveFolder?.cwd;
  if (cwd === undefined) {
    return;
  }
  try {
    const { file } = await host.request('xcsh.state', { cwd });
    const info = file ? await host.request('xcsh.info', { cwd, source: file }) : undefined;
    if (!info || info.entries === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('This session has no messages.'));
      return;
    }
    await opener.openInEditor({ info, cwd });
  } catch (error) {
    await host.showError(error);
  }
}

/** Returns the folder of a call: the named one, else the live one. */
function cwdOf(host: Host, args: unknown): string | undefined {
  const given = (args ?? {}) as { cwd?: unknown };
  return typeof given.cwd === 'string' ? given.cwd : host.liveFolder?.cwd;
}

const folderArgs = (host: Host): { cwd: string }[] => (host.liveFolder ? [{ cwd: host.liveFolder.cwd }] : []);

/** Attaches the editor's selection, or the file that a menu was opened on. */
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

/** Lets the user select an earlier prompt and puts it into the composer. */
async function recall(host: Host, panel: ChatPanel, args: unknown): Promise<void> {
  const cwd = cwdOf(host, args);
  const text = cwd === undefined ? undefined : await pickPrompt(host, cwd);
  if (cwd !== undefined && text !== undefined) {
    await panel.compose(cwd, text);
  }
}

/** Summarizes the older part of the conversation, which cannot be undone in this session. */
async function compact(host: Host, args: unknown): Promise<void> {
  const cwd = cwdOf(host, args);
  if (cwd === undefined) {
    return;
  }
  const yes = vscode.l10n.t('Compact');
  const detail = vscode.l10n.t(
    'The model continues with a summary of the earlier messages. The session file keeps all messages.',
  );
  if (
    (await vscode.window.showInformationMessage(
      vscode.l10n.t('Compact the conversation?'),
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

/** Longer scopes are not offered in a notification, which might not show all of them. In characters. */
const maxNotified = 400;

/** Converts "Edit a.go" to "edit a.go", for use inside a sentence. */
function uncapitalized(title: string): string {
  return /^[A-Z][a-z]/.test(title) ? title[0]!.toLowerCase() + title.slice(1) : title;
}

/** Returns the question. A command comes after the question mark, which would look like a part of it. */
function wish(params: ApproveParams): string {
  if (params.title?.startsWith('Run ')) {
    return vscode.l10n.t('Allow xcsh to run this command? {0}', params.title.slice('Run '.length));
  }
  const what = params.title ? uncapitalized(params.title) : vscode.l10n.t('use {0}', params.tool);
  return vscode.l10n.t('Allow xcsh to {0}?', what);
}

/** Returns the text of a notification and its buttons. */
function question(params: ApproveParams): { text: string; choices: Choice[] } {
  const scope = scopeOf(params);
  const parts = [wish(params), ...warningsOf(params)];
  if (scope) {
    parts.push(vscode.l10n.t('“Allow for This Session” applies to: {0}', scope));
  }
  const wider = widerScopeOf(params);
  if (wider) {
    parts.push(vscode.l10n.t('“Allow All Reading Tools for This Session” applies to: {0}', wider));
  }
  const text = visible(parts.join('\n'));
  const whole = text.length <= maxNotified;
  const choices: Choice[] = [
    ...(whole ? [{ title: vscode.l10n.t('Allow'), decision: 'once' as const }] : []),
    ...(whole && scope ? [{ title: vscode.l10n.t('Allow for This Session'), decision: 'session' as const }] : []),
    ...(whole && wider
      ? [{ title: vscode.l10n.t('Allow All Reading Tools for This Session'), decision: 'session-wider' as const }]
      : []),
    { title: vscode.l10n.t('Deny'), decision: 'deny' },
    params.diff && whole
      ? { title: vscode.l10n.t('Show Change'), shows: 'change' }
      : { title: vscode.l10n.t('Show in Chat'), shows: 'panel' },
  ];
  return { text: whole ? text : text.slice(0, maxNotified) + '…', choices };
}

/** Asks in a notification, for when the panel is hidden. It does not take the focus. */
async function notify(panel: ChatPanel, diffs: ApprovalDiffs, params: ApproveParams): Promise<Decision | undefined> {
  const { text, choices } = question(params);
  for (;;) {
    const chosen = await vscode.window.showWarningMessage(text, ...choices);
    if (chosen?.shows === 'change') {
      await diffs.open(params);
      continue; // the question remains open
    }
    if (chosen?.shows === 'panel') {
      await panel.focus(params.cwd);
    }
    return chosen?.decision;
  }
}
