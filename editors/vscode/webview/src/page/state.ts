// The shared state of the page: the session, the page's own state, and how failures are shown.

import type { FromPage, JsonObject } from '../../../src/chat/messages';
import { showLog, usualWays, waysAfter } from '../failures';
import { keptOf } from '../state/draft';
import type { Kept, Place } from '../state/draft';
import type { Action } from '../state/engine';
import type { Cause, Notice } from '../state/model';
import { Failure, Store } from '../state/store';
import { emptyUi } from './ui';
import type { Ui } from './ui';

/** The page's environment. */
export interface Surroundings {
  post(m: FromPage): void;
  load(): unknown;
  save(kept: Kept): void;
}

export class PageState {
  readonly store: Store;
  ui: Ui;
  private readonly watchers = new Set<() => void>();

  constructor(private readonly around: Surroundings) {
    this.store = new Store((m) => around.post(m));
    this.ui = emptyUi(keptOf(around.load()));
  }

  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  getUi = (): Ui => this.ui;

  set(change: Partial<Ui>): void {
    this.ui = { ...this.ui, ...change };
    for (const f of this.watchers) f();
  }

  /** Changes the state that persists when the page is closed. */
  keep(change: Partial<Kept>): void {
    const kept = { ...this.ui.kept, ...change };
    this.set({ kept });
    this.save();
  }

  /** Saves scroll positions without rendering. */
  keepScroll(scroll: number | null, place: Place | null): void {
    const { kept } = this.ui;
    if (kept.scroll === scroll && kept.place?.entryId === place?.entryId && kept.place?.top === place?.top) return;
    kept.scroll = scroll;
    kept.place = place;
    this.save();
  }

  save(): void {
    const { kept } = this.ui;
    kept.at = Math.max(Date.now(), kept.at + 1);
    this.around.save(kept);
    if (this.ui.init) this.around.post({ kind: 'keep', kept: { ...kept } }); // until then, the extension's state is newer
  }

  /** Moves the focus to the composer. */
  backToComposer = (): void => this.set({ focus: this.ui.focus + 1 });

  /** Remembers whether a fold is open. */
  fold(key: string, open: boolean): void {
    const { [key]: _, ...others } = this.ui.kept.folds;
    this.keep({ folds: { ...others, [key]: open } });
  }

  /** Says something to a screen reader. */
  speak(text: string): void {
    // The same text twice would be no change, and not announced.
    this.set({ spoken: text !== '' && text === this.ui.spoken ? text + '\u00a0' : text });
  }

  notice(tone: Notice['tone'], text: string, actions: readonly Action[] = [], cause: Cause = 'turn'): void {
    this.store.dispatch({ type: 'notice', tone, text, actions, cause });
  }

  /** Says why the engine cannot do something. */
  refuse(sentence: string): void {
    this.notice('info', sentence);
  }

  /** Runs a command and shows a notice if it fails. */
  async try(command: string, args: JsonObject = {}): Promise<unknown> {
    try {
      return await this.store.call(command, args);
    } catch (e) {
      this.failed(e);
      return undefined;
    }
  }

  /** Shows a notice about a failure, with what the user can do next. */
  failed(e: unknown): void {
    if (e instanceof Failure && e.kind === 'cancelled') return;
    if (e instanceof Error && e.message === this.store.state.view.crash?.message) return; // it is shown
    const text = e instanceof Error ? e.message : String(e);
    if (!(e instanceof Failure)) return this.notice('error', text, [showLog()]);
    const actions = waysAfter(e);
    const ofEngine = actions.some(({ command }) => command === 'xcsh.login' || command === 'xcsh.setEngine');
    const usual = usualWays(e);
    // The extension offers the others in a notification.
    this.notice('error', usual.text ?? text, ofEngine ? actions : usual.actions, ofEngine ? 'engine' : usual.cause);
  }
}
