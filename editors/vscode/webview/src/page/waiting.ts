// A prompt that waits until a model can answer, and the ways to one.

import { waysOf } from '../../../src/chat/ways';
import { canAnswer } from '../engine';
import { t } from '../l10n';
import { attached } from '../state/attachments';
import { joined } from '../state/draft';
import type { Outgoing } from '../state/draft';
import type { Failure } from '../state/store';
import { pendingOf } from '../state/wire';
import type { PageState } from './state';
import type { Picture } from './ui';

/** A prompt that waited longer is not sent by itself: the user does not expect it any more. In milliseconds. */
const maxWait = 10 * 60_000;

export class Waiting {
  /** deliver sends a prompt. */
  constructor(
    private readonly page: PageState,
    private readonly deliver: (outgoing: Outgoing, pictures: readonly Picture[], editing: string) => void,
  ) {}

  /** Keeps a prompt that no model can answer, and opens the ways to one. A prompt that waits already comes before it. */
  add(e: Failure, outgoing: Outgoing, pictures: readonly Picture[], editing: string): void {
    const { sessionId } = this.page.store.state.sync;
    const { waiting } = this.page.ui.kept;
    const before = waiting?.sessionId === sessionId ? waiting : null;
    this.page.keep({
      sent: null,
      waiting: {
        text: joined(before?.text ?? '', outgoing.text),
        attachments: attached(before?.attachments ?? [], outgoing.attachments),
        editing: before?.editing || editing,
        sessionId,
        since: Date.now(),
      },
    });
    this.page.set({ waysHidden: '', waitingPictures: [...(before ? this.page.ui.waitingPictures : []), ...pictures] });
    const { reason, provider } = e.data;
    this.page.store.dispatch({ type: 'ready', sessionId, ready: { ok: false, reason, provider, message: e.message } });
    this.page.speak(t('{0} Your message is sent as soon as a model is ready.', e.message));
    void this.readWays();
  }

  /** Sends the waiting prompt once a model can answer. In another session it would surprise, so it returns to the composer. */
  send(): void {
    const { waiting } = this.page.ui.kept;
    const { view, sync } = this.page.store.state;
    if (!waiting || !sync.live || !view.session || pendingOf(view.session).length > 0) return;
    if (waiting.sessionId !== sync.sessionId || Date.now() - waiting.since > maxWait) return this.edit();
    if (view.running || this.page.ui.sending || !canAnswer(view)) return;
    const pictures = this.page.ui.waitingPictures;
    this.page.keep({ waiting: null });
    this.page.set({ waitingPictures: [] });
    this.deliver(waiting, pictures, waiting.editing);
  }

  /** Returns the waiting prompt to the composer, before the text there. */
  edit(): void {
    const { waiting, text, attachments, editing } = this.page.ui.kept;
    if (!waiting) return;
    this.page.keep({
      waiting: null,
      text: joined(waiting.text, text),
      attachments: attached(waiting.attachments, attachments),
      editing: waiting.sessionId === this.page.store.state.sync.sessionId ? waiting.editing : editing,
    });
    this.page.set({
      pictures: [...this.page.ui.waitingPictures, ...this.page.ui.pictures],
      waitingPictures: [],
      focus: this.page.ui.focus + 1,
    });
  }

  /** Discards the waiting prompt. */
  cancel(): void {
    this.page.keep({ waiting: null });
    this.page.set({ waitingPictures: [], focus: this.page.ui.focus + 1 });
  }

  /** Closes the ways to an answer, until a prompt is refused again. */
  hideWays(): void {
    this.page.set({ waysHidden: this.page.store.state.sync.sessionId, focus: this.page.ui.focus + 1 });
  }

  /** Reads the ways to an answer. What is found late does not close what is shown. */
  async readWays(): Promise<void> {
    const { init } = this.page.ui;
    if (!init?.commands.includes('xcsh.providers')) return;
    const call = (command: string) => this.page.store.call(command).catch(() => undefined);
    const [providers, engines] = await Promise.all([call('xcsh.providers'), call('xcsh.engines')]);
    if (init !== this.page.ui.init || providers === undefined) return;
    this.page.set({ ways: waysOf(providers, engines, this.page.store.state.view.ready.provider) });
  }
}
