import * as path from 'node:path';
import * as vscode from 'vscode';

import type { ChangedFile, RewindPath } from '../wire.gen';
import { oldestRecord } from './hunks';
import { nothingUri, sideUri } from './texts';

const t = vscode.l10n.t;

/** A file, and the two sides that are compared. */
type Compared = readonly [resource: vscode.Uri, left: vscode.Uri | undefined, right: vscode.Uri | undefined];

/**
 * Returns the sides of a changed file: without the changes to review, and the present file. A file whose changes were all kept
 * is compared with its first state. With the records of a turn, the sides are the file before and after them.
 */
export function sidesOf(cwd: string, file: ChangedFile, turn?: readonly string[]): Compared {
  const now = vscode.Uri.file(file.path);
  const records = file.records ?? [];
  const own = turn ? records.filter((r) => turn.includes(r)) : records;
  const [first, last] = [own[0], own.at(-1)];
  if (turn && first !== undefined && last !== undefined && last !== records.at(-1)) {
    const side = (side: 'before' | 'after', record: string) => sideUri({ cwd, path: file.path, side, record });
    return [now, side('before', first), side('after', last)];
  }
  const old =
    (!turn && file.pending > 0) || first === undefined
      ? sideUri({ cwd, path: file.path, side: 'base' })
      : sideUri({ cwd, path: file.from ?? file.path, side: 'before', record: first });
  return [now, file.status === 'added' ? undefined : old, file.status === 'deleted' ? undefined : now];
}

/** Shows the changes of one file. */
export async function openFileChange(cwd: string, file: ChangedFile, turn?: readonly string[]): Promise<void> {
  if (file.binary) {
    if (file.status !== 'deleted') {
      await vscode.commands.executeCommand('vscode.open', vscode.Uri.file(file.path));
    }
    return;
  }
  const [, left, right] = sidesOf(cwd, file, turn);
  await vscode.commands.executeCommand(
    'vscode.diff',
    left ?? nothingUri(file.path),
    right ?? nothingUri(file.path),
    t('{0} (changed by xcsh)', path.basename(file.path)),
    { preview: true },
  );
}

/** Shows all changes of files in one editor. */
export async function reviewFiles(
  cwd: string,
  files: readonly ChangedFile[],
  title: string,
  turn?: readonly string[],
): Promise<void> {
  const compared = files.filter((file) => !file.binary).map((file) => sidesOf(cwd, file, turn));
  if (compared.length === 0) {
    void vscode.window.showInformationMessage(t('There are no changes of text to show.'));
    return;
  }
  await vscode.commands.executeCommand('vscode.changes', title, compared);
}

/**
 * Shows the effect of a plan: the present files on the left, the planned files on the right. A merged text only exists after
 * the rewind, so a merged file or a conflict is opened at its first difference instead.
 */
export async function openPlanned(cwd: string, planned: RewindPath): Promise<void> {
  const now = vscode.Uri.file(planned.path);
  const record = oldestRecord(planned);
  const place = planned.places?.[0] ?? planned.yours?.[0];
  if (record === undefined) {
    const line = (place?.start ?? 1) - 1;
    const selection = new vscode.Range(Math.max(line, 0), 0, Math.max((place?.end ?? 1) - 1, 0), 0);
    await vscode.commands.executeCommand('vscode.open', now, { selection, preview: true });
    return;
  }
  const [left, right] = plannedSides(cwd, planned, record);
  await vscode.commands.executeCommand(
    'vscode.diff',
    left ?? nothingUri(planned.path),
    right ?? nothingUri(planned.path),
    t('{0} (rewind)', path.basename(planned.path)),
    { preview: true },
  );
}

function plannedSides(
  cwd: string,
  { path: file, action }: RewindPath,
  record: string,
): [vscode.Uri | undefined, vscode.Uri | undefined] {
  const then = sideUri({ cwd, path: file, side: 'before', record });
  return [action === 'create' ? undefined : vscode.Uri.file(file), action === 'remove' ? undefined : then];
}

/** Shows all files of a plan whose new text is known in one editor. */
export async function openPlan(cwd: string, plan: readonly RewindPath[]): Promise<void> {
  const compared = plan.flatMap((planned): Compared[] => {
    const record = oldestRecord(planned);
    return record === undefined || planned.action === 'none'
      ? []
      : [[vscode.Uri.file(planned.path), ...plannedSides(cwd, planned, record)]];
  });
  if (compared.length > 0) {
    await vscode.commands.executeCommand('vscode.changes', t('Changes of the rewind'), compared);
  } else if (plan[0]) {
    await openPlanned(cwd, plan[0]);
  }
}
