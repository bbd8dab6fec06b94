import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import { oneLine, sessionDescription, sessionIcon } from '../palette/items';
import { words } from '../palette/words';
import { toServerError } from '../server/errors';
import { ownSettings } from '../settings';
import type { Attention } from '../native/attention';
import type { SessionEvent, SessionInfo } from '../wire.gen';
import { teamItem, teamProblemItem, teamSessionItem, teamTooltip, teamUserItem } from '../team/items';
import { loadTeam } from '../team/list';
import { settings, type Window } from '../window';
import { loadTree, pageSize } from './loader';
import type { Terminals } from '../native/terminal';
import { contextValue, nameRanges, rangesOf, sessionsOf, type Node, type SessionNode, type TimeNode } from './model';
import { standingBadge, standingColor, standingIcon, standingWord, type Shown } from './standings';
import { TrashList } from './trash';
import { trashedItem, trashItem } from './trashItems';

const t = vscode.l10n.t;

/** How long changes are collected before the list is reloaded, in milliseconds. */
const quietMs = 200;

/** The events after which the section of the team is loaded again. */
const changesTeam: ReadonlySet<string> = new Set<SessionEvent['type']>(['team_state', 'team_writer', 'team_forked']);

/** The view of sessions: loaded when it is shown, and reloaded when the server reports changes. */
export class SessionsView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<Node | undefined>();
  readonly #trash = new TrashList();
  readonly #view: vscode.TreeView<Node>;
  readonly #subscriptions: vscode.Disposable[];
  readonly #limits = new Map<string, number>();
  #all = ownSettings(settings).allFolders;
  #query = '';
  #quiet: NodeJS.Timeout | undefined;
  #loading: vscode.CancellationTokenSource | undefined;
  #nodes: readonly Node[] | undefined; // the displayed nodes; undefined until the view requests them

  readonly onDidChangeTreeData = this.#changed.event;

  constructor(
    private readonly window: Window,
    private readonly attention: Attention,
    private readonly terminals: Terminals,
  ) {
    this.#view = vscode.window.createTreeView('xcshLs.sessions', { treeDataProvider: this, showCollapseAll: true });
    this.#subscriptions = [
      this.#view,
      this.#changed,
      window.onNotification('xcsh/sessionsChanged', () => this.refresh()),
      window.onNotification('xcsh/sessionChanged', () => this.refresh()),
      window.onNotification('xcsh/event', ({ event }) => changesTeam.has(event.type) && this.refresh()),
      window.onDidChangeStatus((status) => {
        void setContext('server', status.kind);
        // A restarted server can see other files; without a server, the view is empty.
        this.refresh();
      }),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.refresh()),
      attention.onDidChange((ids) => this.#showStandings(({ id }) => ids.includes(id))),
      terminals.onDidHand(({ info }) => this.#showStandings(({ path }) => path === info.path)),
      terminals.onDidEnd((file) => this.#showStandings(({ path }) => path === file)),
    ];
    this.#showBadge();
    void setContext('server', window.status.kind);
    void setContext('allFolders', this.#all);
    void setContext('searching', false);
  }

  /** Draws the lines of some sessions again. */
  #showStandings(changed: (info: SessionInfo) => boolean): void {
    this.#showBadge();
    for (const node of sessionsOf(this.#nodes ?? [])) {
      if (changed(node.info)) {
        this.#changed.fire(node);
      }
    }
  }

  #showBadge(): void {
    this.#view.badge = standingBadge(this.attention.unread);
  }

  /** Lists the trash again, too. */
  trashChanged(): void {
    this.#trash.forget();
    this.refresh();
  }

  /** Reloads the list after a short delay. */
  refresh(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => void this.#reload(), quietMs);
  }

  /**
   * Loads the list first and then shows it if it has changed: while the editor requests lines, it
   * has none, and clicks have no effect.
   */
  async #reload(): Promise<void> {
    const { visible } = this.#view;
    const nodes = visible ? await this.#load() : undefined;
    if (visible && (nodes === undefined || JSON.stringify(nodes) === JSON.stringify(this.#nodes))) {
      return;
    }
    this.#nodes = nodes;
    this.#changed.fire(undefined);
  }

  async showAll(all: boolean): Promise<void> {
    this.#all = all;
    this.#limits.clear();
    await setContext('allFolders', all);
    await this.#reload();
    await vscode.commands.executeCommand('xcshLs.sessions.focus');
  }

  async search(): Promise<void> {
    const query = await vscode.window.showInputBox({
      value: this.#query,
      prompt: t('Search titles, prompts, answers, IDs, and paths. All words must match.'),
      placeHolder: t('Search sessions'),
    });
    if (query !== undefined) {
      await this.find(query.trim());
    }
  }

  /** Shows the sessions that match a query; an empty query shows all. */
  async find(query: string): Promise<void> {
    this.#query = query;
    this.#showQuery();
    await setContext('searching', query !== '');
    await this.#reload();
    await vscode.commands.executeCommand('xcshLs.sessions.focus');
  }

  /** Shows the query above the list, in place of an earlier error. */
  #showQuery(found = true): void {
    const message = found ? t('Sessions matching “{0}”', this.#query) : t('No sessions match “{0}”.', this.#query);
    this.#view.message = this.#query === '' ? undefined : message;
  }

  more(cwd: string): Promise<void> {
    this.#limits.set(cwd, (this.#limits.get(cwd) ?? pageSize) + pageSize);
    return this.#reload();
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node) {
      return node.kind === 'more' ? [] : [...node.children];
    }
    this.#nodes ??= (await this.#load()) ?? [];
    return [...this.#nodes];
  }

  /** Loads the tree; undefined if a newer request replaced this one. */
  async #load(): Promise<Node[] | undefined> {
    this.#loading?.cancel();
    const { status, folders } = this.window;
    if (status.kind === 'missing' || status.kind === 'failed' || (folders.length === 0 && !this.#all)) {
      this.#showQuery(); // an old message would hide the instructions
      return [];
    }
    const loading = (this.#loading = new vscode.CancellationTokenSource());
    try {
      const wanted = { all: this.#all, query: this.#query, limits: this.#limits };
      const [nodes, team] = await Promise.all([
        loadTree(this.window, wanted, loading.token),
        loadTeam(this.window, this.#query, loading.token),
      ]);
      const shared = team ? [team] : [];
      const sessions = [...sessionsOf(nodes)];
      this.#showQuery(nodes.length + shared.length > 0);
      void setContext('empty', nodes.length === 0);
      if (this.#query !== '') {
        return [...nodes, ...shared];
      }
      if (!nodes.some(hasMore)) {
        this.attention.prune(new Set(sessions.map(({ info }) => info.id)));
      }
      const trash = await this.#trash.node(this.window, this.#all, nodes, loading.token);
      return [...nodes, ...shared, ...(trash ? [trash] : [])];
    } catch (error) {
      const problem = toServerError(error);
      if (loading.token.isCancellationRequested) {
        return undefined;
      }
      // The welcome text describes problems with the server.
      if (problem.kind !== 'noServer' && problem.kind !== 'cancelled') {
        this.#view.message = problem.message;
      }
      this.window.output.warn(`sessions view: ${problem.message}`);
      return [];
    } finally {
      loading.dispose();
    }
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const { Collapsed, Expanded, None } = vscode.TreeItemCollapsibleState;
    switch (node.kind) {
      case 'folder': {
        const own = this.window.folders.some((folder) => folder.cwd === node.cwd);
        const item = new vscode.TreeItem(node.name, own ? Expanded : Collapsed);
        item.id = node.id;
        item.iconPath = new vscode.ThemeIcon('folder');
        item.tooltip = node.cwd;
        item.contextValue = 'folder';
        return item;
      }
      case 'time': {
        const recent = node.span === 'day' || (node.span === 'week' && node.ago === 1);
        const item = new vscode.TreeItem(
          timeLabel(node),
          recent || node.children.length <= alwaysOpen ? Expanded : Collapsed,
        );
        item.id = node.id;
        item.contextValue = 'time';
        return item;
      }
      case 'similar': {
        const item = new vscode.TreeItem(t('Similar'), Expanded);
        item.id = node.id;
        item.tooltip = t('These sessions only contain something similar to a word.');
        item.contextValue = 'similar';
        return item;
      }
      case 'match': {
        const item = new vscode.TreeItem({ label: node.snippet.text, highlights: rangesOf(node.snippet) }, None);
        item.id = node.id;
        item.tooltip = node.snippet.text;
        item.contextValue = 'match';
        item.command = openCommand(node);
        return item;
      }
      case 'session': {
        const { info } = node;
        const label = { label: info.name, highlights: nameRanges(info) };
        const standing = this.attention.of(info.id) ?? (this.terminals.has(info.path) ? 'terminal' : undefined);
        const description = [...(standing ? [standingWord(standing)] : []), sessionDescription(info, words)].join(
          ' · ',
        );
        const item = new vscode.TreeItem(label, node.children.length > 0 ? Expanded : None);
        // When a line gets its first fork, it needs a new id, or VS Code would show it collapsed.
        item.id = node.children.length > 0 ? `${node.id}+` : node.id;
        item.description = description;
        item.iconPath = iconOf(info, standing);
        item.contextValue = contextValue(node);
        item.command = openCommand(node);
        item.accessibilityInformation = { label: `${info.name}, ${description}` };
        return item;
      }
      case 'more': {
        const item = new vscode.TreeItem(t('More…'), None);
        item.id = node.id;
        item.iconPath = new vscode.ThemeIcon('ellipsis');
        item.command = { command: 'xcshLs.sessions.more', title: t('More…'), arguments: [node.cwd] };
        return item;
      }
      case 'team':
        return teamItem(node);
      case 'teamProblem':
        return teamProblemItem(node);
      case 'teamUser':
        return teamUserItem(node);
      case 'teamSession':
        return teamSessionItem(node);
      case 'trash':
        return trashItem(node);
      case 'trashed':
        return trashedItem(node);
    }
  }

  /** Creates tooltips on demand, because the list can be long. */
  resolveTreeItem(item: vscode.TreeItem, node: Node): vscode.TreeItem {
    if (node.kind === 'session') {
      item.tooltip = tooltip(node);
    } else if (node.kind === 'teamSession') {
      item.tooltip = teamTooltip(node);
    }
    return item;
  }

  dispose(): void {
    clearTimeout(this.#quiet);
    this.#loading?.cancel();
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

function setContext(key: string, value: unknown): Thenable<unknown> {
  return vscode.commands.executeCommand('setContext', `xcshLs.${key}`, value);
}

const hasMore = (node: Node): boolean => node.kind === 'more' || node.children.some(hasMore);

function iconOf(info: SessionInfo, standing: Shown | undefined): vscode.ThemeIcon {
  const color = standing
    ? standingColor(standing)
    : info.live
      ? 'charts.green'
      : info.damagedLines > 0
        ? 'list.warningForeground'
        : undefined;
  const icon = standing ? standingIcon(standing) : sessionIcon(info);
  return new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
}

/** Groups of at most this many sessions are open, however old they are. */
const alwaysOpen = 3;

const openCommand = (node: Node): vscode.Command => ({
  command: 'xcshLs.sessions.open',
  title: t('Open Session'),
  arguments: [node],
});

function timeLabel({ span, day, ago }: TimeNode): string {
  const named = (options: Intl.DateTimeFormatOptions) => day.toLocaleDateString(vscode.env.language, options);
  switch (span) {
    case 'day':
      return ago <= 0 ? t('Today') : ago === 1 ? t('Yesterday') : named({ weekday: 'long' });
    case 'week':
      return ago === 1 ? t('Last week') : t('{0} weeks ago', ago);
    case 'month':
      return named(ago < 10 ? { month: 'long' } : { month: 'long', year: 'numeric' });
  }
}

function tooltip(node: SessionNode): vscode.MarkdownString {
  const { info } = node;
  const text = new vscode.MarkdownString(undefined, true);
  text
    .appendMarkdown('**')
    .appendText(info.title ?? info.name)
    .appendMarkdown('**\n\n');
  const first = oneLine(info.firstMessage);
  if (first !== '' && first !== info.title) {
    text.appendText(first.length > 300 ? first.slice(0, 299) + '…' : first).appendMarkdown('\n\n');
  }
  text.appendMarkdown('---\n\n');
  for (const [icon, line] of tooltipLines(info)) {
    text.appendMarkdown(`$(${icon}) `).appendText(line).appendMarkdown('  \n');
  }
  return text;
}

function tooltipLines(info: SessionInfo): [icon: string, text: string][] {
  const when = (iso: string): string => {
    const at = new Date(iso);
    return Number.isNaN(at.getTime()) ? iso : at.toLocaleString(vscode.env.language);
  };
  const lines: [string, string][] = [
    ['clock', t('Modified {0}', when(info.modified))],
    ['history', t('Created {0}', when(info.created))],
    ['comment', `${words.messages(info.messageCount)}, ${size(info.size)}`],
    ['folder', info.cwd === '' ? t('no folder') : shortPath(info.cwd, os.homedir())],
    ['key', info.id],
  ];
  if (info.live) {
    lines.push(['comment-discussion', t('Active in this window')]);
  } else if (info.lockedBy) {
    lines.push(['lock', words.runningIn(info.lockedBy)]);
  }
  if (info.damagedLines > 0) {
    lines.push(['warning', words.damaged(info.damagedLines)]);
  }
  return lines;
}

function size(bytes: number): string {
  return bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1e3))} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
