// Places in the conversation that are shown: the reading position of the user, and the hits of a search.

import { t } from '../l10n';
import type { Kept } from '../state/draft';
import { Failure } from '../state/store';
import { itemWith, shownItems } from '../state/window';
import { blocks } from '../state/wire';
import type { Hit } from '../state/wire';
import type { PageState } from './state';
import type { Marked, Reveal } from './ui';

export class Places {
  private wanted: Marked | null = null; // a message to show once the session is known
  private returned = false; // the reading position of an earlier page was restored

  constructor(private readonly page: PageState) {}

  /** Resets the state of an earlier session. */
  began(): void {
    this.returned = false;
    this.wanted = null;
  }

  /** Restores the reading position again when the messages have been loaded again. */
  reloading(): void {
    this.returned = false;
  }

  /** Shows a message that a search outside of the page found, once the session is known. */
  want(wanted: Marked): void {
    this.wanted = wanted;
  }

  /** Shows the wanted message, or else the reading position. */
  followed(): void {
    if (this.wanted) void this.showWanted(this.wanted);
    else this.returnTo(this.page.ui.kept);
  }

  /** Shows the messages that an earlier page showed, for example before it was hidden. */
  private returnTo({ scroll, place }: Kept): void {
    if (this.returned) return;
    this.returned = true;
    if (scroll !== null && place) void this.reveal(place).catch(() => undefined);
  }

  /** Shows a message that a search outside of the page found. It can be on another branch. */
  private async showWanted(wanted: Marked): Promise<void> {
    this.wanted = null;
    this.returned = true;
    try {
      await this.showHit(wanted);
      this.page.set({ marked: wanted });
    } catch (e) {
      if (!(e instanceof Failure)) return;
      const other = e.kind === 'notFound';
      this.page.notice('info', other ? t('The message that was found is on another branch.') : e.message);
    }
  }

  /** Draws a message, and scrolls to it. It rejects with a Failure. */
  private async reveal(to: Reveal): Promise<void> {
    const reveal = { ...to };
    this.page.set({ reveal }); // it waits until the message is drawn
    try {
      await this.page.store.jump(to.entryId);
    } catch (e) {
      if (this.page.ui.reveal === reveal) this.page.set({ reveal: null });
      throw e;
    }
  }

  /** Shows a message that a search found, and the output that contains it. */
  async showHit({ entryId }: Pick<Hit, 'entryId'>): Promise<void> {
    await this.reveal({ entryId });
    // The output of a call is folded.
    const item = itemWith(shownItems(this.page.store.state.view), entryId);
    const call = Object.entries(item?.calls ?? {}).find(([, c]) => c.entryId === entryId)?.[0];
    const at = item && call !== undefined ? blocks(item.message.content).findIndex((b) => b.id === call) : -1;
    if (item && at >= 0) this.page.fold(`${item.entryId}/${at}`, true);
  }
}
