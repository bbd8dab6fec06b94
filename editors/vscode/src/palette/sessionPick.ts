import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { SessionInfo } from '../wire.gen';
import type { Window } from '../window';
import { isElsewhere } from './elsewhere';
import { partition, sessionDescription, sessionDetail, sessionIcon } from './items';
import { maxShown, pickSearched } from './searchedPick';
import { words } from './words';

const t = vscode.l10n.t;

interface SessionItem extends vscode.QuickPickItem {
  readonly info?: SessionInfo;
}

export interface SessionQuestion {
  readonly cwd: string;
  readonly title: string;
  readonly placeholder: string;
  /** Begin with the sessions of every folder. */
  readonly all?: boolean;
  /** What to choose from instead of all sessions. */
  readonly candidates?: readonly SessionInfo[];
}

type Action = 'preview' | 'fork' | 'export' | 'delete';

type ActionButton = vscode.QuickInputButton & { readonly action: Action };

/** Commands of the buttons; they work on the session while the list stays. */
const actionCommands: Record<Action, string> = {
  preview: 'xcshLs.sessions.transcript',
  fork: 'xcshLs.sessions.fork',
  export: 'xcshLs.sessions.export',
  delete: 'xcshLs.sessions.delete',
};

/** Lets the person choose a session; what is typed is searched for by the server. */
export function pickSession(window: Window, question: SessionQuestion): Promise<SessionInfo | undefined> {
  const { cwd, candidates } = question;
  let all = question.all ?? false;
  const buttons = actionButtons();
  const scopes = {
    button: () =>
      all
        ? { iconPath: new vscode.ThemeIcon('folder'), tooltip: t('Only Sessions of This Folder') }
        : { iconPath: new vscode.ThemeIcon('globe'), tooltip: t('Sessions of All Folders') },
    pressed: () => (all = !all),
  };
  return pickSearched<SessionItem, SessionInfo>({
    title: question.title,
    placeholder: question.placeholder,
    find: async (query, token) => {
      if (candidates) {
        return itemsOf(candidates, { cwd, searched: false, all, buttons });
      }
      const args = { cwd, scope: all ? 'all' : 'folder', query, limit: maxShown };
      const { sessions } = await window.request('xcsh.list', args, token);
      return itemsOf(sessions ?? [], { cwd, searched: query !== '', all, buttons });
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
    // What another program writes meanwhile belongs into the list, too.
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
  const look = [button('preview', 'open-preview', t('Open Transcript')), button('export', 'export', t('Export…'))];
  const change = [button('fork', 'repo-forked', t('Fork')), button('delete', 'trash', t('Delete'))];
  return vscode.workspace.isTrusted ? [...look, ...change] : look;
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
      label: shown.searched ? t('Nothing was found') : t('No sessions found'),
      detail: shown.all ? '' : t('The globe above looks in all folders.'),
      alwaysShow: true,
    });
  }
  return items;
}

function itemOf(info: SessionInfo, shown: Shown): SessionItem {
  const details = [sessionDetail(info)];
  if (isElsewhere(info, shown.cwd)) {
    details.push(shortPath(info.cwd, os.homedir()));
  }
  return {
    label: `$(${sessionIcon(info)}) ${info.name}`,
    description: sessionDescription(info, words),
    detail: details.filter((text) => text !== undefined).join(' — ') || undefined,
    // It was found by what was said in it, which the list does not show.
    alwaysShow: shown.searched,
    buttons: [...shown.buttons],
    info,
  };
}

function separator(label: string): SessionItem {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
