import * as vscode from 'vscode';

import type { Window } from '../window';
import { EntryTree, type EntryLine, type Section } from './entryTree';
import { oneLine } from './items';

const t = vscode.l10n.t;

/** The pause in typing after which a large session is searched, in milliseconds. */
const typingPauseMs = 150;

type Item = vscode.QuickPickItem & { readonly line?: EntryLine };

/** Lets the user select an entry of the live session: one of their messages, or any entry if the button is on. */
export async function pickEntry(window: Window, cwd: string, title: string): Promise<string | undefined> {
  const tree = new EntryTree((command, args) => window.request(command, { ...args, cwd }));
  return new EntryPick(tree, title).show();
}

class EntryPick {
  readonly #pick = vscode.window.createQuickPick<Item>();
  #everything = false;
  #pause: NodeJS.Timeout | undefined;
  #pending = 0;

  constructor(
    private readonly tree: EntryTree,
    title: string,
  ) {
    this.#pick.title = title;
    this.#pick.matchOnDescription = true;
    this.#pick.keepScrollPosition = true;
  }

  async show(): Promise<string | undefined> {
    const pick = this.#pick;
    try {
      return await new Promise<string | undefined>((resolve, reject) => {
        const load = (run: () => Promise<void>, first = false): void => {
          this.#load(run, first).catch(reject);
        };
        load(() => this.tree.load(), true);
        pick.onDidTriggerButton(() => {
          this.#everything = !this.#everything;
          this.#draw(true);
        });
        pick.onDidChangeValue((value) => {
          clearTimeout(this.#pause);
          if (this.tree.large) {
            this.#pause = setTimeout(() => load(() => this.tree.find(value.trim())), typingPauseMs);
          }
        });
        pick.onDidAccept(() => {
          const line = pick.selectedItems[0]?.line;
          if (line?.kind === 'run') {
            load(() => this.tree.open(line.node.id));
          } else if (line?.kind === 'more') {
            load(() => this.tree.more(line.section, line.of));
          } else if (line) {
            resolve(line.node.id);
            pick.hide();
          }
        });
        pick.onDidHide(() => resolve(undefined));
        pick.show();
      });
    } finally {
      clearTimeout(this.#pause);
      pick.dispose();
    }
  }

  /** Loads a part of the tree, and shows it. */
  async #load(run: () => Promise<void>, first: boolean): Promise<void> {
    this.#pending++;
    this.#pick.busy = true;
    try {
      await run();
    } finally {
      this.#pick.busy = --this.#pending > 0;
    }
    this.#draw(first);
  }

  #draw(first: boolean): void {
    const pick = this.#pick;
    const active = pick.activeItems[0]?.line;
    const lines = this.tree.lines(this.#everything);
    const items: Item[] = [];
    let section: Section | undefined;
    for (const line of lines) {
      if (this.tree.large && line.section !== section) {
        items.push({ label: sectionName(line.section), kind: vscode.QuickPickItemKind.Separator });
      }
      section = line.section;
      items.push(itemOf(line));
    }
    pick.items = items;
    // Users most often go back from the newest entry.
    const at = first ? items.at(-1) : items.find(({ line }) => line && active && isSame(line, active));
    if (at) {
      pick.activeItems = [at];
    }
    pick.placeholder = lines.length > 0 ? t('Type to narrow the list') : t('This session is empty.');
    pick.buttons = [
      this.#everything
        ? { iconPath: new vscode.ThemeIcon('comment'), tooltip: t('Show Messages Only') }
        : { iconPath: new vscode.ThemeIcon('list-tree'), tooltip: t('Show All Entries') },
    ];
  }
}

function isSame(a: EntryLine, b: EntryLine): boolean {
  if (a.section !== b.section || a.kind === 'more' || b.kind === 'more') {
    return a.section === b.section && a.kind === 'more' && b.kind === 'more' && a.of === b.of;
  }
  return a.node.id === b.node.id;
}

function sectionName(section: Section): string {
  switch (section) {
    case 'found':
      return t('Found in this conversation');
    case 'tree':
      return t('All branches');
    case 'conversation':
      return t('This conversation');
  }
}

function itemOf(line: EntryLine): Item {
  if (line.kind === 'more') {
    const label = line.section === 'conversation' ? t('Earlier messages…') : t('More…');
    return { label: `$(ellipsis) ${label}`, alwaysShow: true, line };
  }
  const { node, depth, elsewhere, kind } = line;
  const icon = kind === 'run' ? 'chevron-right' : entryIcon(node.role, node.type);
  return {
    label: `${'\u2003'.repeat(depth)}$(${icon}) ${oneLine(node.preview) || node.type}`,
    description: [
      kind === 'run' && t('{0} entries', (node.count ?? 1).toLocaleString(vscode.env.language)),
      node.label && `$(tag) ${node.label}`,
      elsewhere && t('on another branch'),
      timeOf(node.timestamp),
    ]
      .filter(Boolean)
      .join(' · '),
    // The match can be behind the shown part of the message.
    alwaysShow: line.section === 'found',
    line,
  };
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
