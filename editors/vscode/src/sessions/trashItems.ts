import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { TrashedSession } from '../wire.gen';
import type { TrashedNode, TrashNode } from './model';

const t = vscode.l10n.t;

/** Returns the line of the trash, which is closed at first. */
export function trashItem(node: TrashNode): vscode.TreeItem {
  const item = new vscode.TreeItem(t('Trash'), vscode.TreeItemCollapsibleState.Collapsed);
  item.id = node.id;
  item.iconPath = new vscode.ThemeIcon('trash');
  item.description = String(node.children.length);
  item.contextValue = 'trash';
  const { length } = node.children;
  item.accessibilityInformation = {
    label: length === 1 ? t('Trash, 1 deleted session') : t('Trash, {0} deleted sessions', length),
  };
  return item;
}

/** Returns the line of a deleted session. */
export function trashedItem({ id, session }: TrashedNode): vscode.TreeItem {
  const item = new vscode.TreeItem(session.name, vscode.TreeItemCollapsibleState.None);
  item.id = id;
  item.iconPath = new vscode.ThemeIcon('comment');
  item.description = deletedAt(session);
  item.tooltip = new vscode.MarkdownString()
    .appendText(session.name)
    .appendMarkdown('\n\n')
    .appendText(t('It would be restored to {0}.', shortPath(session.path, os.homedir())));
  item.contextValue = 'trashed';
  item.accessibilityInformation = { label: `${session.name}, ${deletedAt(session)}` };
  return item;
}

/** Returns when a session was deleted, in words. */
export function deletedAt({ trashedAt }: TrashedSession): string {
  const at = new Date(trashedAt);
  if (Number.isNaN(at.getTime())) {
    return t('deleted'); // the record is not that of a deletion
  }
  return t('deleted {0}', at.toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' }));
}
