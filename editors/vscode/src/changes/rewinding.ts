import * as path from 'node:path';
import * as vscode from 'vscode';

import { visible } from '../chat/visible';
import type { Host } from '../host';
import { toServerError } from '../server/errors';
import type { CommandMap, RewindPath, RewindResult } from '../wire.gen';
import { conflicts } from './hunks';

type RewindArgs = CommandMap['xcsh.rewind']['args'];

const t = vscode.l10n.t;

/** The maximum number of plans if files change in the meantime. */
const maxPlans = 3;

/** The maximum number of conflicts that a message lists. */
const maxListed = 8;

/**
 * Runs xcsh.rewind. After a rewind, the documents that had no unsaved changes before are saved; the result lists the others as
 * unsaved.
 */
export async function rewind(host: Host, args: RewindArgs, token?: vscode.CancellationToken): Promise<RewindResult> {
  const dirty = new Set(vscode.workspace.textDocuments.filter((d) => d.isDirty).map((d) => d.uri.fsPath));
  const result = await host.request('xcsh.rewind', args, token);
  if (!result.rewound) {
    return result;
  }
  const unsaved: string[] = [];
  for (const file of result.unsaved ?? []) {
    const document = vscode.workspace.textDocuments.find((d) => d.uri.scheme === 'file' && d.uri.fsPath === file);
    const saved = document !== undefined && !dirty.has(file) && (!document.isDirty || (await document.save()));
    if (!saved) {
      unsaved.push(file);
    }
  }
  return { ...result, unsaved };
}

/** Returns a conflict as a line for a message. */
export function conflictLine({ path: file, text, places }: RewindPath): string {
  const lines = (places ?? []).map(({ start, end }) => (start === end ? `${start}` : `${start}–${end}`)).join(', ');
  const why = text ?? t('The change cannot be undone.');
  return visible(lines === '' ? `${path.basename(file)}: ${why}` : `${path.basename(file)}:${lines}: ${why}`);
}

/**
 * Undoes changes, or redoes them with `redo`, without a preview: the user sees the changes, and can reverse the action. If
 * there are conflicts, it shows them and changes no file. Returns whether files were changed.
 */
export async function takeBack(host: Host, args: RewindArgs): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    const plan = await host.request('xcsh.rewind', { ...args, dryRun: true });
    if (!plan.planToken) {
      await showConflicts(plan);
      return false;
    }
    try {
      const done = await rewind(host, { ...args, planToken: plan.planToken });
      await report(host, args, done);
      return done.rewound === true;
    } catch (error) {
      if (toServerError(error).kind !== 'stale' || tries === maxPlans) {
        throw error;
      }
    }
  }
}

async function showConflicts(plan: RewindResult): Promise<void> {
  const found = conflicts(plan);
  const more = found.length - maxListed;
  const lines = found.slice(0, maxListed).map(conflictLine);
  if (more > 0) {
    lines.push(t('and {0} more', more));
  }
  if (found.length === 0) {
    void vscode.window.showInformationMessage(t('There is nothing to undo.'));
    return;
  }
  await vscode.window.showWarningMessage(t('No file was changed, because some changes cannot be undone.'), {
    modal: true,
    detail: lines.join('\n'),
  });
}

/** Shows the result, and offers Redo. Does not wait for the answer. */
async function report(host: Host, args: RewindArgs, done: RewindResult): Promise<void> {
  if (!done.rewound) {
    if (done.cancelledBy) {
      void vscode.window.showInformationMessage(t('Canceled by {0}.', visible(done.cancelledBy)));
    }
    return;
  }
  const { cwd } = args;
  const files = done.files ?? 0;
  const unsaved = done.unsaved?.length ?? 0;
  const isRedo = args.redo !== undefined;
  const text = [
    isRedo
      ? files === 1
        ? t('Redid the changes of 1 file.')
        : t('Redid the changes of {0} files.', files)
      : files === 1
        ? t('Undid the changes of 1 file.')
        : t('Undid the changes of {0} files.', files),
    ...(unsaved > 0 ? [unsaved === 1 ? t('1 of them is not saved.') : t('{0} of them are not saved.', unsaved)] : []),
  ].join(' ');
  const again = t('Redo');
  const id = isRedo ? undefined : done.id;
  void vscode.window.showInformationMessage(text, ...(id ? [again] : [])).then((answer) => {
    if (answer === again && id && cwd !== undefined) {
      return takeBack(host, { cwd, redo: id }).then(undefined, (error: unknown) => host.showError(error));
    }
    return undefined;
  });
}
