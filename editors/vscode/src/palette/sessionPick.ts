import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { SessionInfo } from '../wire.gen';
import type { Window } from '../window';
import { isElsewhere } from './elsewhere';
import { foundText, partition, sessionDescription, sessionDetail, sessionIcon } from './items';
import { pageSize, pickSearched } from './searchedPick';
import { words } from './words';

const t = vscode.l10n.t;

interface SessionItem extends vscode.QuickPickItem {
  readonly info?: SessionInfo;
}

export interface SessionQuestion {
  readonly cwd: string;
  readonly title: string;
  readonly placeholder: string;
  /** Initially show the sessions of all folders. */
  readonly all?: boolean;
  /** The sessions to choose from, instead of all sessions. */
  readonly candidates?: readonly SessionInfo[];
}

type Action = 'preview' | 'fork' | 'export' | 'delete';

type ActionButton = vscode.QuickInputButton & { readonly action: Action };

/** Commands of the buttons; they act on the session while the list stays open. */
const actionCommands: Record<Action, string> = {
  preview: 'xcshLs.sessions.openInEditor',
  fork: 'xcshLs.sessions.fork',
  export: 'xcshLs.sessions.export',
  delete: 'xcshLs.sessions.delete',
};

/** Lets the user select a session. The server searches for the typed text. */
export function pickSession(window: Window, question: SessionQuestion): Promise<SessionInfo | undefined> {
  const { cwd, candidates } = question;
  let all = question.all ?? false;
  let listed: readonly SessionInfo[] = [];
  let search = ''; // of the listed sessions
  const buttons = actionButtons();
  const scopes = {
    button: () =>
      all
        ? { iconPath: new vscode.ThemeIcon('folder'), tooltip: t('Show Sessions from This Folder Only') }
        : { iconPath: new vscode.ThemeIcon('globe'), tooltip: t('Show Sessions from All Folders') },
    pressed: () => (all = !all),
  };
  return pickSearched<SessionItem, SessionInfo>({
    title: question.title,
    placeholder: question.placeholder,
    find: async (query, token, cursor) => {
      if (candidates) {
        return { items: itemsOf(candidates, { cwd, searched: false, all, buttons }) };
      }
      const wanted = `${all} ${query}`;
      // A reload keeps the pages that the user has loaded.
      const limit = cursor === undefined && wanted === search ? Math.max(pageSize, listed.length) : pageSize;
      const from = cursor === undefined ? {} : { cursor };
      const args = { cwd, scope: all ? 'all' : 'folder', query, limit, ...from };
      const { sessions, nextCursor } = await window.request('xcsh.list', args, token);
      const found = added(cursor === undefined ? [] : listed, sessions ?? []);
      if (!token.isCancellationRequested) {
        listed = found;
        search = wanted;
      }
      return { items: itemsOf(found, { cwd, searched: query !== '', all, buttons }), next: nextCursor };
    },
    chosen: (item) => item.info,
    ...(candidates ? {} : scopes),
    act: (button, item, hide) => {
      const { action } = button as ActionButton;
      if (action !== 'delete') {
        hide();
      }
      void vscode.commands.executeCommand(actionCommands[action], { info: item.info, cwd });
    },
    // Sessions that another program writes meanwhile must be listed, too.
    follow: (reload) => window.onNotification('xcsh/sessionsChanged', reload),
    failed: (error) => window.showError(error),
  });
}

function actionButtons(): readonly ActionButton[] {
  const button = (action: Action, icon: string, tooltip: string) => ({
    action,
    iconPath: new vscode.ThemeIcon(icon),
    tooltip,
  });
  const look = [button('preview', 'open-preview', t('Open in Editor')), button('export', 'export', t('Export…'))];
  const change = [button('fork', 'repo-forked', t('Fork')), button('delete', 'trash', t('Delete'))];
  return vscode.workspace.isTrusted ? [...look, ...change] : look;
}

/** Returns the sessions of two pages. A session that was written meanwhile can be on both. */
export function added(listed: readonly SessionInfo[], page: readonly SessionInfo[]): SessionInfo[] {
  const known = new Set(listed.map(({ path }) => path));
  return [...listed, ...page.filter(({ path }) => !known.has(path))];
}

interface Shown {
  readonly cwd: string;
  readonly searched: boolean;
  readonly all: boolean;
  readonly buttons: readonly ActionButton[];
}

function itemsOf(infos: readonly SessionInfo[], shown: Shown): SessionItem[] {
  const { here, elsewhere } = partition(infos, shown.cwd);
  const items: SessionItem[] = [];
  if (here.length > 0) {
    items.push(separator(t('This folder')), ...here.map((info) => itemOf(info, shown)));
  }
  if (elsewhere.length > 0) {
    items.push(separator(t('Other folders')), ...elsewhere.map((info) => itemOf(info, shown)));
  }
  if (items.length === 0) {
    items.push({
      label: shown.searched ? t('No matching results') : t('No sessions found'),
      detail: shown.all ? '' : t('Select the globe icon to search all folders.'),
      alwaysShow: true,
    });
  }
  return items;
}

function itemOf(info: SessionInfo, shown: Shown): SessionItem {
  const details = [foundText(info) ?? sessionDetail(info)];
  if (isElsewhere(info, shown.cwd)) {
    details.push(shortPath(info.cwd, os.homedir()));
  }
  return {
    label: `$(${sessionIcon(info)}) ${info.name}`,
    description:
      info.match === 'fuzzy' ? `${t('similar')} · ${sessionDescription(info, words)}` : sessionDescription(info, words),
    detail: details.filter((text) => text !== undefined).join(' — ') || undefined,
    // The match can be in a message of the session, which the list does not show.
    alwaysShow: shown.searched,
    buttons: [...shown.buttons],
    info,
  };
}

function separator(label: string): SessionItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
