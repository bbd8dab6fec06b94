import * as os from 'node:os';
import * as vscode from 'vscode';

import { shortPath } from '../folders';
import type { Host } from '../host';
import type { PastPrompt } from '../wire.gen';
import { oneLine } from './items';

const t = vscode.l10n.t;

/** How long the person may pause in typing before a search begins, in milliseconds. */
const typingPauseMs = 120;

/** How many prompts the list shows at most; typing narrows it. */
const maxShown = 200;

interface PromptItem extends vscode.QuickPickItem {
  readonly prompt?: PastPrompt;
}

/**
 * Lets the person choose among what was said before, here and in the terminal programs; what
 * is typed is searched for by the server.
 */
export function pickPrompt(host: Host, cwd: string): Promise<string | undefined> {
  return new HistoryPick(host, cwd).show();
}

class HistoryPick {
  readonly #pick = vscode.window.createQuickPick<PromptItem>();
  #here = false;
  #search: vscode.CancellationTokenSource | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly host: Host,
    private readonly cwd: string,
  ) {}

  show(): Promise<string | undefined> {
    const pick = this.#pick;
    pick.title = t('Prompt History');
    pick.placeholder = t('What was said before? Type to search; the beginning of each word is enough.');
    // The server has the order; the list would sort it by the place of the match.
    (pick as { sortByLabel?: boolean }).sortByLabel = false;
    this.#showButton();
    const subscriptions: vscode.Disposable[] = [pick];
    return new Promise<string | undefined>((resolve) => {
      subscriptions.push(
        pick.onDidChangeValue(() => {
          clearTimeout(this.#pause);
          pick.busy = true;
          this.#pause = setTimeout(() => void this.#load(), typingPauseMs);
        }),
        pick.onDidTriggerButton(() => {
          this.#here = !this.#here;
          this.#showButton();
          void this.#load();
        }),
        pick.onDidAccept(() => {
          const prompt = pick.selectedItems[0]?.prompt;
          if (prompt) {
            resolve(prompt.prompt);
            pick.hide();
          }
        }),
        pick.onDidHide(() => resolve(undefined)),
      );
      pick.show();
      void this.#load();
    }).finally(() => {
      clearTimeout(this.#pause);
      this.#search?.cancel();
      vscode.Disposable.from(...subscriptions).dispose();
    });
  }

  #showButton(): void {
    this.#pick.buttons = [
      this.#here
        ? { iconPath: new vscode.ThemeIcon('globe'), tooltip: t('Prompts of All Folders') }
        : { iconPath: new vscode.ThemeIcon('folder'), tooltip: t('Only Prompts of This Folder') },
    ];
  }

  async #load(): Promise<void> {
    this.#search?.cancel();
    const search = (this.#search = new vscode.CancellationTokenSource());
    const query = this.#pick.value.trim();
    this.#pick.busy = true;
    try {
      const { prompts, problem } = await this.host.request(
        'xcsh.history',
        { cwd: this.cwd, scope: this.#here ? 'folder' : 'all', query, limit: maxShown },
        search.token,
      );
      if (!search.token.isCancellationRequested) {
        this.#pick.items = this.#items(prompts ?? [], problem);
        this.#pick.busy = false;
      }
    } catch (error) {
      // A newer search has taken the place of this one.
      if (!search.token.isCancellationRequested) {
        this.#pick.hide();
        await this.host.showError(error);
      }
    } finally {
      search.dispose();
    }
  }

  #items(prompts: readonly PastPrompt[], problem: string | undefined): PromptItem[] {
    const items: PromptItem[] = prompts.map((prompt) => ({
      label: oneLine(prompt.prompt),
      description: [
        ...(prompt.unanswered ? [t('never answered')] : []),
        ...(prompt.cwd && prompt.cwd !== this.cwd ? [shortPath(prompt.cwd, os.homedir())] : []),
      ].join(' · '),
      // The words may be anywhere in a prompt of many lines.
      alwaysShow: true,
      prompt,
    }));
    if (problem) {
      items.push({ label: `$(warning) ${problem}`, alwaysShow: true });
    } else if (items.length === 0) {
      items.push({ label: t('Nothing was found'), alwaysShow: true });
    }
    return items;
  }
}
