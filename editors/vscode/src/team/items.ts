import * as os from 'node:os';
import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import { shortPath } from '../folders';
import { oneLine, sessionDescription } from '../palette/items';
import { words } from '../palette/words';
import {
  arrows,
  otherWriter,
  teamContext,
  type TeamInfo,
  type TeamNode,
  type TeamProblemNode,
  type TeamSessionNode,
  type TeamUserNode,
} from './model';

const t = vscode.l10n.t;

/** The scheme of the addresses by which a line's decoration is found. */
const scheme = 'xcsh-team-line';

const { Expanded, None } = vscode.TreeItemCollapsibleState;

/** Returns the line above the sessions of the team's store. */
export function teamItem(node: TeamNode): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Team'), Expanded);
  item.id = node.id;
  item.iconPath = new vscode.ThemeIcon('organization');
  item.tooltip = t('Sessions of this project in the store of your team');
  item.contextValue = 'teamSection';
  return item;
}

/** Returns the line that reports that the section is empty or out of date. */
export function teamProblemItem({ id, message }: TeamProblemNode): vscode.TreeItem {
  const text = message === '' ? t('No sessions of this project are shared') : oneLine(visible(message));
  const item = new vscode.TreeItem(text, None);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon(message === '' ? 'info' : 'debug-disconnect');
  item.tooltip = text;
  item.contextValue = 'teamProblem';
  return item;
}

export function teamUserItem({ id, owner, children }: TeamUserNode): vscode.TreeItem {
  const item = new vscode.TreeItem(oneLine(visible(owner)) || '?', Expanded);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon('account');
  item.description = String(children.length);
  item.contextValue = 'teamUser';
  const name = oneLine(visible(owner));
  item.accessibilityInformation = {
    label: children.length === 1 ? t('{0}, 1 session', name) : t('{0}, {1} sessions', name, children.length),
  };
  return item;
}

/** Returns the line of a session. A badge marks one that another device writes. */
export function teamSessionItem(node: TeamSessionNode): vscode.TreeItem {
  const { info } = node;
  const { team } = info;
  const item = new vscode.TreeItem(visible(info.name), None);
  const description = [arrows(team), sessionDescription(info, words)].filter((part) => part !== '').join(' · ');
  item.id = node.id;
  item.resourceUri = vscode.Uri.from({ scheme, path: `/${team.sid}`, query: otherWriter(info) });
  item.description = description;
  item.iconPath = new vscode.ThemeIcon(iconOf(node));
  item.contextValue = teamContext(node);
  item.command = { command: 'xcshLs.team.open', title: t('Resume'), arguments: [node] };
  item.accessibilityInformation = { label: [visible(info.name), ...statesOf(info), description].join(', ') };
  return item;
}

function iconOf({ info }: TeamSessionNode): string {
  if (info.team.deleted) {
    return 'trash';
  }
  return info.live ? 'comment-discussion' : info.team.remote ? 'cloud' : 'comment';
}

/** Returns the notable properties of a session in words. */
function statesOf(info: TeamInfo): string[] {
  const { team } = info;
  const device = otherWriter(info);
  return [
    device !== '' ? writing(device) : '',
    team.unsent ? t('not sent yet: {0}', size(team.unsent)) : '',
    team.newer ? t('newer in the store: {0}', size(team.newer)) : '',
    team.visible === 'me' ? t('Only you can read it') : '',
  ].filter((text) => text !== '');
}

const writing = (device: string): string => t('Being written on {0}', oneLine(visible(device)));

/** Returns the tooltip of a session. */
export function teamTooltip({ info, cwd }: TeamSessionNode): vscode.MarkdownString {
  const text = new vscode.MarkdownString(undefined, true);
  text.appendMarkdown('**').appendText(visible(info.name)).appendMarkdown('**\n\n');
  const first = oneLine(visible(info.firstMessage));
  if (first !== '' && first !== info.title) {
    text.appendText(first.length > 300 ? first.slice(0, 299) + '…' : first).appendMarkdown('\n\n');
  }
  text.appendMarkdown('---\n\n');
  const lines: [icon: string, line: string][] = [
    ['account', oneLine(visible(info.team.owner))],
    ...statesOf(info).map((line): [string, string] => ['info', line]),
    ['folder', shortPath(cwd, os.homedir())],
    ['key', info.team.sid],
  ];
  for (const [icon, line] of lines) {
    text.appendMarkdown(`$(${icon}) `).appendText(line).appendMarkdown('  \n');
  }
  return text;
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Registers the badges of sessions that another device writes. */
export function registerTeamBadges(): vscode.Disposable {
  return vscode.window.registerFileDecorationProvider({
    provideFileDecoration: (uri) =>
      uri.scheme === scheme && uri.query !== '' ? new vscode.FileDecoration('✎', writing(uri.query)) : undefined,
  });
}
