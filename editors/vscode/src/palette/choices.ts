import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { ApprovalMode, ModelItem, ThinkingLevel } from '../wire.gen';
import type { Window } from '../window';
import { entryLines, modelGroups, oneLine, shortCount } from './items';

const t = vscode.l10n.t;

/** Asks for a text. undefined: the person closed the question; an empty text is none. */
export async function askText(
  prompt: string,
  options: { value?: string; placeHolder?: string } = {},
): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({ prompt, ignoreFocusOut: true, ...options });
  return text?.trim() ? text : undefined;
}

/** Lets the person choose an entry of the live session: a prompt, or with the button anything. */
export async function pickEntry(window: Window, cwd: string, title: string): Promise<string | undefined> {
  const { leafId, nodes } = await window.request('xcsh.tree', { cwd });
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { id?: string }>();
  pick.title = title;
  let everything = false;
  const load = (): void => {
    const lines = entryLines(nodes ?? [], leafId, everything);
    pick.items = lines.map(({ node, depth, current }) => ({
      label: `${'\u2003'.repeat(depth)}$(${entryIcon(node.role, node.type)}) ${oneLine(node.preview) || node.type}`,
      description: [node.label && `$(tag) ${node.label}`, current ? '' : t('another branch'), timeOf(node.timestamp)]
        .filter(Boolean)
        .join(' · '),
      id: node.id,
    }));
    // The newest is what one goes back from most often.
    const last = pick.items[pick.items.length - 1];
    pick.activeItems = last ? [last] : [];
    pick.placeholder = lines.length > 0 ? t('Type to narrow the list') : t('There is nothing in this session yet.');
    pick.buttons = [
      everything
        ? { iconPath: new vscode.ThemeIcon('comment'), tooltip: t('Only Prompts') }
        : { iconPath: new vscode.ThemeIcon('list-tree'), tooltip: t('All Entries') },
    ];
  };
  pick.matchOnDescription = true;
  load();
  try {
    return await new Promise((resolve) => {
      pick.onDidTriggerButton(() => {
        everything = !everything;
        load();
      });
      pick.onDidAccept(() => {
        resolve(pick.selectedItems[0]?.id);
        pick.hide();
      });
      pick.onDidHide(() => resolve(undefined));
      pick.show();
    });
  } finally {
    pick.dispose();
  }
}

function entryIcon(role: string | undefined, type: string): string {
  switch (role ?? type) {
    case 'user':
      return 'person';
    case 'assistant':
      return 'hubot';
    case 'toolResult':
      return 'tools';
    case 'compaction':
      return 'fold';
    default:
      return 'circle-small';
  }
}

function timeOf(timestamp: string): string {
  const at = new Date(timestamp);
  return Number.isNaN(at.getTime())
    ? ''
    : at.toLocaleTimeString(vscode.env.language, { hour: '2-digit', minute: '2-digit' });
}

/** Lets the person choose a model: provider/id. */
export async function pickModel(window: Window, cwd: string): Promise<string | undefined> {
  const [{ models }, state] = await Promise.all([
    window.request('xcsh.models', { cwd }),
    window.request('xcsh.state', { cwd }),
  ]);
  const { available, unavailable } = modelGroups(models ?? []);
  const current = state.model && `${state.model.provider}/${state.model.id}`;
  const item = (model: ModelItem): vscode.QuickPickItem & { ref: string } => {
    const ref = `${model.provider}/${model.id}`;
    return {
      label: (ref === current ? '$(check) ' : '') + model.name,
      description: ref,
      detail: [
        model.contextWindow > 0 ? t('{0} tokens', shortCount(model.contextWindow)) : '',
        model.reasoning ? t('thinks') : '',
        model.cost ? t('${0} in, ${1} out for a million tokens', model.cost.input, model.cost.output) : '',
      ]
        .filter(Boolean)
        .join(' · '),
      ref,
    };
  };
  const group = (label: string, of: ModelItem[]): (vscode.QuickPickItem & { ref: string })[] =>
    of.length === 0 ? [] : [{ label, kind: vscode.QuickPickItemKind.Separator, ref: '' }, ...of.map(item)];
  const picked = await vscode.window.showQuickPick(
    [...group(t('Can be used now'), available), ...group(t('Without a key'), unavailable)],
    { placeHolder: t('Which model?'), matchOnDescription: true },
  );
  return picked?.ref;
}

/** Lets the person choose how much the model thinks, of what the model can. */
export async function pickThinking(window: Window, cwd: string): Promise<ThinkingLevel | undefined> {
  const [{ models }, state] = await Promise.all([
    window.request('xcsh.models', { cwd }),
    window.request('xcsh.state', { cwd }),
  ]);
  const model = (models ?? []).find((m) => m.provider === state.model?.provider && m.id === state.model.id);
  const all: ThinkingLevel[] = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
  const levels = model?.thinkingLevels ?? all;
  const picked = await vscode.window.showQuickPick(
    levels.map((level) => ({ label: (level === state.thinkingLevel ? '$(check) ' : '') + level, level })),
    { placeHolder: t('How much may the model think?') },
  );
  return picked?.level;
}

/** Lets the person choose what tools may do without asking. */
export async function pickApproval(): Promise<ApprovalMode | undefined> {
  const modes: { mode: ApprovalMode; detail: string }[] = [
    { mode: 'read-only', detail: t('Nothing is changed and nobody is asked') },
    { mode: 'ask', detail: t('Every change and every command is asked about') },
    { mode: 'auto-edit', detail: t('Files of the folder may be changed, commands are asked about') },
    { mode: 'yolo', detail: t('Everything is allowed') },
  ];
  const picked = await vscode.window.showQuickPick(
    modes.map(({ mode, detail }) => ({ label: mode, detail, mode })),
    { placeHolder: t('What may tools do without asking?') },
  );
  return picked?.mode;
}

/** Lets the person choose a directory: one of the window's folders or any other. */
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
      { placeHolder: t('Move the session to which folder?') },
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

/** Asks where to write a file, beginning where the last one went. */
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

/** Asks what to import: the arguments of the command that say so. undefined: the person closed the question. */
export async function askImport(): Promise<{ paths?: string[]; dir?: string } | undefined> {
  const picked = await vscode.window.showQuickPick(
    [
      { label: t('What agent-base has'), detail: t('All sessions where that program keeps them'), from: 'default' },
      { label: t('Files…'), detail: t('Sessions of agent-base (.json), xcsh, pi or omp (.jsonl)'), from: 'files' },
      { label: t('A folder…'), detail: t('All sessions of agent-base in it'), from: 'folder' },
    ],
    { placeHolder: t('Import what? It is copied; where it comes from stays as it is.') },
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
