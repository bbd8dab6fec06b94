import * as vscode from 'vscode';

/** The pause in typing after which a search starts, in milliseconds. */
const typingPauseMs = 150;

/** How many items a list shows before the user loads more; typing narrows it. */
export const pageSize = 100;

/** The items found so far. */
export interface Found<I> {
  readonly items: readonly I[];
  /** The cursor of further items; undefined if there are none. */
  readonly next?: string | undefined;
}

/** A quick pick that the server searches while the user types. */
export interface Search<I extends vscode.QuickPickItem, R> {
  readonly title: string;
  readonly placeholder: string;
  /** Returns the items for the typed text, in display order. With a cursor, these are the earlier items and more. */
  find(query: string, token: vscode.CancellationToken, cursor?: string): Promise<Found<I>>;
  /** Returns the result for a selected item; undefined keeps the list open. */
  chosen(item: I): R | undefined;
  /** The button above the list, which changes the scope of the search. */
  button?(): vscode.QuickInputButton;
  /** Called when the button is pressed; the items are reloaded afterwards. */
  pressed?(): void;
  /** Called when a button of an item is pressed. */
  act?(button: vscode.QuickInputButton, item: I, hide: () => void): void;
  /** Calls the listener when the items should be reloaded. */
  follow?(reload: () => void): vscode.Disposable;
  /** Called when the items could not be loaded. */
  failed(error: unknown): Promise<void>;
}

/** Shows the list. Returns undefined if the user closes it. */
export function pickSearched<I extends vscode.QuickPickItem, R>(search: Search<I, R>): Promise<R | undefined> {
  return new SearchedPick(search).show();
}

/** The last item of a list that has more. */
interface More extends vscode.QuickPickItem {
  readonly cursor: string;
}

const isMore = (item: vscode.QuickPickItem): item is More => 'cursor' in item;

class SearchedPick<I extends vscode.QuickPickItem, R> {
  readonly #pick = vscode.window.createQuickPick<I | More>();
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
    pick.keepScrollPosition = true;
    // The server sorts the items; the list would sort them by the position of the match.
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
        pick.onDidTriggerItemButton(({ button, item }) => {
          if (!isMore(item)) {
            search.act?.(button, item, () => pick.hide());
          }
        }),
        pick.onDidAccept(() => {
          const item = pick.selectedItems[0];
          if (item && isMore(item)) {
            void this.#load(item.cursor);
            return;
          }
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

  /** Loads the items for the typed text, or more of them. */
  async #load(cursor?: string): Promise<void> {
    this.#running?.cancel();
    const running = (this.#running = new vscode.CancellationTokenSource());
    this.#pick.busy = true;
    try {
      const { items, next } = await this.search.find(this.#pick.value.trim(), running.token, cursor);
      if (!running.token.isCancellationRequested) {
        const first = this.#pick.items.findIndex(isMore);
        this.#pick.items = next === undefined ? items : [...items, moreItem(next)];
        // The next items take the place of "More…".
        const active = cursor === undefined ? undefined : this.#pick.items[first];
        if (active) {
          this.#pick.activeItems = [active];
        }
        this.#pick.busy = false;
      }
    } catch (error) {
      // A newer search has replaced this one.
      if (!running.token.isCancellationRequested) {
        this.#pick.hide();
        await this.search.failed(error);
      }
    } finally {
      running.dispose();
    }
  }
}

function moreItem(cursor: string): More {
  return { label: `$(ellipsis) ${vscode.l10n.t('More…')}`, alwaysShow: true, cursor };
}
