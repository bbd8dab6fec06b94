import * as path from 'node:path';
import * as vscode from 'vscode';

import type { LocalFolder } from '../host';
import type { ChangedFile, ChangesResult } from '../wire.gen';
import { grouped } from './hunks';
import { sideUri } from './texts';

const t = vscode.l10n.t;

/** A file in the view of source control. */
export interface ChangedResource extends vscode.SourceControlResourceState {
  readonly cwd: string;
  readonly file: ChangedFile;
}

/** The id of the provider and the prefix of the ids of its groups, which `when` clauses of menus use. */
export const providerId = 'xcsh';

const statusNames: Record<string, () => string> = {
  added: () => t('Added'),
  modified: () => t('Modified'),
  deleted: () => t('Deleted'),
  renamed: () => t('Renamed'),
  mode: () => t('Permissions changed'),
  link: () => t('Link changed'),
};

const statusIcons: Record<string, string> = {
  added: 'diff-added',
  modified: 'diff-modified',
  deleted: 'diff-removed',
  renamed: 'diff-renamed',
  mode: 'key',
  link: 'file-symlink-file',
};

/** Returns a description of a file's changes. */
export function describeFile(file: ChangedFile): string {
  const parts = [(statusNames[file.status] ?? statusNames['modified']!)()];
  if (file.from) {
    parts.push(t('was {0}', path.basename(file.from)));
  }
  if (file.added + file.removed > 0) {
    parts.push(`+${file.added} −${file.removed}`);
  }
  if (file.pending > 0 && !file.binary) {
    parts.push(file.pending === 1 ? t('1 change to review') : t('{0} changes to review', file.pending));
  }
  if (!file.rewindable && file.text) {
    parts.push(file.text);
  }
  return parts.join(' · ');
}

function resourceOf(cwd: string, file: ChangedFile): ChangedResource {
  const resourceUri = vscode.Uri.file(file.path);
  const resource: ChangedResource = {
    cwd,
    file,
    resourceUri,
    contextValue: file.rewindable ? 'change' : 'fixed',
    decorations: {
      strikeThrough: file.status === 'deleted',
      faded: file.pending === 0,
      tooltip: describeFile(file),
      iconPath: new vscode.ThemeIcon(statusIcons[file.status] ?? 'diff-modified'),
    },
  };
  return {
    ...resource,
    command: { command: 'xcshLs.changes.open', title: t('Open Changes'), arguments: [{ cwd, file, resourceUri }] },
  };
}

/** The changes of one folder's session as a provider of source control. It exists while there are changes. */
export class ChangesControl implements vscode.Disposable, vscode.QuickDiffProvider {
  readonly #control: vscode.SourceControl;
  readonly #review: vscode.SourceControlResourceGroup;
  readonly #kept: vscode.SourceControlResourceGroup;
  #pending: ReadonlySet<string> = new Set();

  constructor(readonly folder: LocalFolder) {
    const name = vscode.workspace.workspaceFolders && vscode.workspace.workspaceFolders.length > 1 ? folder.name : '';
    const label = name === '' ? t('xcsh changes') : t('xcsh changes in {0}', name);
    this.#control = vscode.scm.createSourceControl(providerId, label, folder.uri);
    this.#control.inputBox.visible = false;
    this.#review = this.#control.createResourceGroup('review', t('To Review'));
    this.#kept = this.#control.createResourceGroup('kept', t('Kept'));
    this.#kept.hideWhenEmpty = true;
  }

  /** Returns the text that the gutter compares a file with: the file without the changes that were not reviewed. */
  provideOriginalResource(uri: vscode.Uri): vscode.Uri | undefined {
    const { cwd } = this.folder;
    return uri.scheme === 'file' && this.#pending.has(uri.fsPath)
      ? sideUri({ cwd, path: uri.fsPath, side: 'base' })
      : undefined;
  }

  show(changes: ChangesResult): void {
    const { cwd } = this.folder;
    const { review, kept } = grouped(changes.files ?? []);
    this.#review.resourceStates = review.map((file) => resourceOf(cwd, file));
    this.#kept.resourceStates = kept.map((file) => resourceOf(cwd, file));
    this.#control.count = review.length;
    const pending = new Set(review.filter((file) => !file.binary).map((file) => file.path));
    if (pending.size !== this.#pending.size || [...pending].some((file) => !this.#pending.has(file))) {
      this.#pending = pending;
      // The editor requests it once for each file, and again when the provider changes.
      Object.assign(this.#control, { quickDiffProvider: undefined });
      this.#control.quickDiffProvider = this;
    }
  }

  dispose(): void {
    this.#control.dispose();
  }
}
