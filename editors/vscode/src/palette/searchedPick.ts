import * as vscode from 'vscode';

/** How long the person may pause in typing before a search begins, in milliseconds. */
const typingPauseMs = 150;

/** How many items a list shows at most; typing narrows it. */
export const maxShown = 200;

/** A list to choose from that the server searches while the person types. */
export interface Search<I extends vscode.QuickPickItem, R> {
  readonly title: string;
  readonly placeholder: string;
  /** The items for what was typed, in the order in which they are shown. */
  find(query: string, token: vscode.CancellationToken): Promise<I[]>;
  /** What choosing an item gives; undefined keeps the list open. */
  chosen(item: I): R | undefined;
  /** The button above the list, which changes what is searched. */
  button?(): vscode.QuickInputButton;
  /** The button was pressed; the items are asked for anew afterwards. */
  pressed?(): void;
  /** A button of an item was pressed. */
  act?(button: vscode.QuickInputButton, item: I, hide: () => void): void;
  /** Calls the listener when the items should be asked for anew. */
  follow?(reload: () => void): vscode.Disposable;
  /** The items could not be had. */
  failed(error: unknown): Promise<void>;
}

/** Shows the list; undefined: the person closed it. */
export function pickSearched<I extends vscode.QuickPickItem, R>(search: Search<I, R>): Promise<R | undefined> {
  return new SearchedPick(search).show();
}

class SearchedPick<I extends vscode.QuickPickItem, R> {
  readonly #pick = vscode.window.createQuickPick<I>();
  #running: vscode.CancellationTokenSource | undefined;
  #pause: NodeJS.Timeout | undefined;

  constructor(private readonly search: Search<I, R>) {}

  show(): Promise<R | undefined> {
    const pick = this.#pick;
    const { search } = this;
    pick.title = search.title;
    pick.placeholder = search.placeholder;
    pick.matchOnDescription = true;
    pick.matchOnDetail = true;
    // The server has the order; the list would sort by the place of the match.
    (pick as { sortByLabel?: boolean }).sortByLabel = false;
    this.#showButton();
    const subscriptions: vscode.Disposable[] = [pick];
    return new Promise<R | undefined>((resolve) => {
      subscriptions.push(
        pick.onDidChangeValue(() => this.#typed()),
        pick.onDidTriggerButton(() => {
          search.pressed?.();
          this.#showButton();
          void this.#load();
        }),
        pick.onDidTriggerItemButton(({ button, item }) => search.act?.(button, item, () => pick.hide())),
        pick.onDidAccept(() => {
          const item = pick.selectedItems[0];
          const result = item && search.chosen(item);
          if (result !== undefined) {
            resolve(result);
            pick.hide();
          }
        }),
        pick.onDidHide(() => resolve(undefined)),
        ...(search.follow ? [search.follow(() => void this.#load())] : []),
      );
      pick.show();
      void this.#load();
    }).finally(() => {
      clearTimeout(this.#pause);
      this.#running?.cancel();
      vscode.Disposable.from(...subscriptions).dispose();
    });
  }

  #showButton(): void {
    const button = this.search.button?.();
    this.#pick.buttons = button ? [button] : [];
  }

  #typed(): void {
    clearTimeout(this.#pause);
    this.#pick.busy = true;
    this.#pause = setTimeout(() => void this.#load(), typingPauseMs);
  }

  async #load(): Promise<void> {
    this.#running?.cancel();
    const running = (this.#running = new vscode.CancellationTokenSource());
    this.#pick.busy = true;
    try {
      const items = await this.search.find(this.#pick.value.trim(), running.token);
      if (!running.token.isCancellationRequested) {
        this.#pick.items = items;
        this.#pick.busy = false;
      }
    } catch (error) {
      // A newer search has taken the place of this one.
      if (!running.token.isCancellationRequested) {
        this.#pick.hide();
        await this.search.failed(error);
      }
    } finally {
      running.dispose();
    }
  }
}
