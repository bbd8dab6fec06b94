import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { ApprovalMode, ModelItem, ThinkingLevel } from '../wire.gen';
import type { Window } from '../window';
import { modelGroups, shortCount } from './items';

const t = vscode.l10n.t;

/** Shows an input box. Returns undefined if the user cancels or enters nothing. */
export async function askText(
  prompt: string,
  options: { value?: string; placeHolder?: string } = {},
): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({ prompt, ignoreFocusOut: true, ...options });
  return text?.trim() ? text : undefined;
}

// These lists open immediately and are filled when the server answers: a list that opened later
// would take keys that the user types meanwhile.

/** Lets the user select a model, of one provider if it is given. Returns it as provider/id. */
export async function pickModel(window: Window, cwd: string, provider?: string): Promise<string | undefined> {
  const picked = await vscode.window.showQuickPick(modelItems(window, cwd, provider), {
    placeHolder: t('Select a model'),
    matchOnDescription: true,
  });
  return picked?.ref;
}

type RefItem = vscode.QuickPickItem & { ref: string };

async function modelItems(window: Window, cwd: string, provider?: string): Promise<RefItem[]> {
  const [{ models }, state] = await Promise.all([
    window.request('xcsh.models', { cwd }),
    window.request('xcsh.state', { cwd }),
  ]);
  const { available, unavailable } = modelGroups(
    (models ?? []).filter((model) => provider === undefined || model.provider === provider),
  );
  const current = state.model && `${state.model.provider}/${state.model.id}`;
  const item = (model: ModelItem): RefItem => {
    const ref = `${model.provider}/${model.id}`;
    return {
      label: (ref === current ? '$(check) ' : '') + model.name,
      description: ref,
      detail: [
        model.contextWindow > 0 ? t('{0} tokens', shortCount(model.contextWindow)) : '',
        model.reasoning ? t('Reasoning') : '',
        model.cost ? t('${0} in / ${1} out per 1M tokens', model.cost.input, model.cost.output) : '',
      ]
        .filter(Boolean)
        .join(' · '),
      ref,
    };
  };
  const group = (label: string, of: ModelItem[]): RefItem[] =>
    of.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator, ref: '' }, ...of.map(item)];
  return [...group(t('Ready to use'), available), ...group(t('API key needed'), unavailable)];
}

/** Lets the user select one of the model's thinking levels. */
export async function pickThinking(window: Window, cwd: string): Promise<ThinkingLevel | undefined> {
  const picked = await vscode.window.showQuickPick(thinkingItems(window, cwd), {
    placeHolder: t('Select a thinking level'),
  });
  return picked?.level;
}

type LevelItem = vscode.QuickPickItem & { level: ThinkingLevel };

async function thinkingItems(window: Window, cwd: string): Promise<LevelItem[]> {
  const [{ models }, state] = await Promise.all([
    window.request('xcsh.models', { cwd }),
    window.request('xcsh.state', { cwd }),
  ]);
  const model = (models ?? []).find((m) => m.provider === state.model?.provider && m.id === state.model.id);
  const all: ThinkingLevel[] = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  const levels = model?.thinkingLevels ?? all;
  return levels.map((level) => ({
    label: (level === state.thinkingLevel ? '$(check) ' : '') + levelName(level),
    description: idUnlessNamed(level, levelName(level)),
    level,
  }));
}

/** The identifier of a choice, as settings use it, unless its label is the same word. */
const idUnlessNamed = (id: string, label: string): string => (id === label.toLowerCase() ? '' : id);

/** The label of a thinking level; the panel uses the same words. */
function levelName(level: ThinkingLevel): string {
  const names: Record<ThinkingLevel, string> = {
    off: t('Off'),
    minimal: t('Minimal'),
    low: t('Low'),
    medium: t('Medium'),
    high: t('High'),
    xhigh: t('Extra high'),
    max: t('Maximum'),
  };
  return names[level];
}

/** Lets the user select an approval mode. */
export async function pickApproval(): Promise<ApprovalMode | undefined> {
  const modes: { mode: ApprovalMode; label: string; detail: string }[] = [
    { mode: 'read-only', label: t('Read-only'), detail: t('Read files only; no edits or commands') },
    { mode: 'ask', label: t('Ask first'), detail: t('Ask before every edit and command') },
    {
      mode: 'auto-edit',
      label: t('Auto-edit'),
      detail: t('Edit files in the workspace without asking; ask before commands'),
    },
    { mode: 'yolo', label: t('Full access'), detail: t('Allow every edit and command without asking') },
  ];
  const picked = await vscode.window.showQuickPick(
    modes.map(({ mode, label, detail }) => ({ label, description: idUnlessNamed(mode, label), detail, mode })),
    { placeHolder: t('Select a permission level') },
  );
  return picked?.mode;
}

/** Lets the user turn plan mode on or off, or pause it. */
export async function pickMode(): Promise<string | undefined> {
  const picked = await vscode.window.showQuickPick(
    [
      { label: t('Plan mode'), detail: t('Read files and write a plan, without making changes'), mode: 'plan' },
      { label: t('Pause plan mode'), detail: t('Make changes, and continue planning later'), mode: 'plan_paused' },
      { label: t('No mode'), detail: t('Make changes, as far as the permissions allow'), mode: 'none' },
    ],
    { placeHolder: t('Select a session mode') },
  );
  return picked?.mode;
}

/** Lets the user decide about another program's branch. */
export async function pickBranchChoice(question: string): Promise<string | undefined> {
  const picked = await vscode.window.showQuickPick(
    [
      { label: t('Follow'), detail: t('Continue on the other branch'), choice: 'follow' },
      { label: t('Stay'), detail: t('Continue on your branch'), choice: 'stay' },
      { label: t('Fork'), detail: t('Continue your branch in a new session'), choice: 'fork' },
    ],
    { placeHolder: question },
  );
  return picked?.choice;
}

/** Lets the user select a directory: a workspace folder or any other. */
export async function pickDirectory(window: Window, except: string): Promise<string | undefined> {
  const others = window.folders.filter((folder) => folder.cwd !== except);
  if (others.length > 0) {
    const picked = await vscode.window.showQuickPick(
      [
        ...others.map((folder) => ({
          label: folder.name,
          description: shortPath(folder.cwd, os.homedir()),
          cwd: folder.cwd,
        })),
        { label: t('Another Folder…'), description: '', cwd: '' },
      ],
      { placeHolder: t('Select a folder to move the session to') },
    );
    if (picked === undefined || picked.cwd !== '') {
      return picked?.cwd;
    }
  }
  const chosen = await vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
    openLabel: t('Move Here'),
  });
  return chosen?.[0]?.fsPath;
}

const lastExportDir = 'xcshLs.lastExportDir';

/** Asks where to save a file, starting in the directory of the last one. */
export async function askSavePath(
  window: Window,
  cwd: string,
  name: string,
  filters: Record<string, string[]>,
): Promise<string | undefined> {
  const dir = window.context.globalState.get<string>(lastExportDir) ?? cwd;
  const target = await vscode.window.showSaveDialog({ defaultUri: vscode.Uri.file(path.join(dir, name)), filters });
  if (target) {
    await window.context.globalState.update(lastExportDir, path.dirname(target.fsPath));
  }
  return target?.fsPath;
}

/** Lets the user select what to import. Returns the arguments of the command, or undefined if the user cancels. */
export async function askImport(): Promise<{ paths?: string[]; dir?: string } | undefined> {
  const picked = await vscode.window.showQuickPick(
    [
      {
        label: t('agent-base'),
        detail: t('Import all sessions from the default agent-base location'),
        from: 'default',
      },
      { label: t('Files…'), detail: t('Sessions from agent-base (.json), xcsh, pi, or omp (.jsonl)'), from: 'files' },
      { label: t('Folder…'), detail: t('Import all agent-base sessions in a folder'), from: 'folder' },
    ],
    { placeHolder: t('Select sessions to import (copies; the originals are not changed)') },
  );
  if (!picked || picked.from === 'default') {
    return picked && {};
  }
  const folders = picked.from === 'folder';
  const chosen = await vscode.window.showOpenDialog({
    canSelectFiles: !folders,
    canSelectFolders: folders,
    canSelectMany: !folders,
    openLabel: t('Import'),
    filters: folders ? {} : { [t('Sessions')]: ['json', 'jsonl'] },
  });
  const paths = chosen?.map((uri) => uri.fsPath) ?? [];
  if (paths.length === 0) {
    return undefined;
  }
  return folders ? { dir: paths[0] } : { paths };
}
