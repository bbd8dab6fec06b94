// The prompts of the user: the draft in the composer, sending, queueing, stopping, and texts that come back.

import { reasonOf } from '../../../src/chat/ways';
import type { JsonObject } from '../../../src/chat/messages';
import { refusalOf } from '../engine';
import { t } from '../l10n';
import { attached, draftOf } from '../state/attachments';
import { joined } from '../state/draft';
import type { Outgoing } from '../state/draft';
import { withNote } from '../state/localNotes';
import { isPrompt, promptOf } from '../state/prompt';
import type { Said } from '../state/prompt';
import { Failure } from '../state/store';
import { userMessageOf } from '../state/userMessage';
import { shownItems } from '../state/window';
import { messagesOf, obj, pageEndOf, str, texts } from '../state/wire';
import type { SnapshotMessage } from '../state/wire';
import type { PageState } from './state';
import type { Picture } from './ui';
import { Waiting } from './waiting';

/** Pages of messages in which the newest prompt is searched. */
const maxPromptPages = 20;

export class Prompts {
  readonly waiting: Waiting;
  private noteCount = 0;
  private taken = ''; // the key of the last texts that were put into the composer
  private asking: string | null = null; // the prompt whose command runs
  private putBack = ''; // the composer's text after unanswered messages were put there
  private deferred: 'steer' | 'followUp' | undefined; // how to send the prompt once the state of the session is known

  constructor(private readonly page: PageState) {
    this.waiting = new Waiting(
      page,
      (outgoing, pictures, editing) => void this.deliver(outgoing, pictures, editing, 'steer'),
    );
  }

  /** Resets the state of an earlier session. */
  began(): void {
    this.taken = '';
  }

  /** Sends the composer's text: to the running turn, queued after it, or as a new prompt. */
  async say(how: 'steer' | 'followUp' = 'steer'): Promise<void> {
    const { kept, pictures } = this.page.ui;
    const { view, sync } = this.page.store.state;
    const text = kept.text.trim();
    const open = this.page.ui.sending && !view.running;
    if (open || (!sync.live && sync.server !== 'stopped')) {
      this.deferred = how;
      return;
    }
    this.deferred = undefined;
    if ((text === '' && pictures.length === 0 && kept.attachments.length === 0) || sync.server === 'stopped') return;
    if (text.startsWith('!') && pictures.length + kept.attachments.length === 0 && kept.editing === '')
      return this.shell(text);
    const noImages = pictures.length > 0 ? refusalOf(view.engine, 'images') : '';
    if (noImages) return this.page.refuse(noImages);
    this.page.keep({ text: '', attachments: [], editing: '' });
    this.page.set({ pictures: [], toEnd: this.page.ui.toEnd + 1 });
    await this.deliver({ text, attachments: kept.attachments }, pictures, kept.editing, how);
  }

  /** Sends a prompt. If it is refused, it waits for a model or returns to the composer. */
  private async deliver(
    outgoing: Outgoing,
    pictures: readonly Picture[],
    editing: string,
    how: 'steer' | 'followUp',
  ): Promise<void> {
    const { view } = this.page.store.state;
    const { text, attachments } = outgoing;
    const args: JsonObject = { text };
    if (pictures.length) args.images = pictures.map(({ data, mimeType }) => ({ data, mimeType }));
    if (attachments.length) args.attachments = attachments.map(({ uri, range }) => (range ? { uri, range } : { uri }));
    if (view.running) args.streamingBehavior = refusalOf(view.engine, 'steer') ? 'followUp' : how;
    this.page.keep({ sent: outgoing, scroll: null });
    this.page.set({ sending: !view.running });
    if (!view.running) this.asking = text;
    const began = view.lastPrompt;
    try {
      if (editing !== '') await this.page.store.call('xcsh.branch', { entryId: editing });
      const result = obj(await this.page.store.call('xcsh.prompt', args));
      this.page.keep({ sent: null });
      this.noteAnswer(str(result.command), str(result.answer));
    } catch (e) {
      const accepted = this.page.store.state.view.lastPrompt !== began;
      if (e instanceof Failure && reasonOf(e) && !accepted) this.waiting.add(e, outgoing, pictures, editing);
      else this.refused(e, outgoing, pictures, editing, accepted);
    } finally {
      if (!view.running) this.asking = null;
      this.page.set({ sending: false });
      this.sendDeferred();
    }
  }

  /** Shows the answer of one of the server's own commands. */
  private noteAnswer(command: string, text: string): void {
    if (command === '' || text.trim() === '') return;
    const { view, sync } = this.page.store.state;
    const after = view.items.at(-1)?.key ?? '';
    const key = `note${++this.noteCount}`;
    this.page.set({
      notes: withNote(this.page.ui.notes, { key, sessionId: sync.sessionId, command, text, after }),
      toEnd: this.page.ui.toEnd + 1,
    });
    this.page.speak(text);
  }

  /** Removes an answer of one of the server's own commands from the conversation. */
  dismissNote(key: string): void {
    this.page.set({ notes: this.page.ui.notes.filter((note) => note.key !== key) });
  }

  /** Sends the deferred prompt once the session and its running state are known. */
  sendDeferred(): void {
    const { deferred } = this;
    const { view, sync } = this.page.store.state;
    if (sync.failed !== '' || sync.server === 'stopped')
      this.deferred = undefined; // it could be sent much later, which the user would not expect
    else if (deferred !== undefined && sync.live && (view.running || !this.page.ui.sending)) void this.say(deferred);
  }

  private refused(
    e: unknown,
    outgoing: Outgoing,
    pictures: readonly Picture[],
    editing: string,
    accepted: boolean,
  ): void {
    if (e instanceof Failure && e.kind === 'cancelled') return this.page.keep({ sent: null });
    if (this.page.store.state.sync.server !== 'running') return; // it is restored with the next server
    const { text } = this.page.ui.kept;
    if (!accepted && (text.trim() === '' || text === this.putBack)) {
      const both = joined(outgoing.text, text);
      this.page.keep({ text: both, attachments: outgoing.attachments, editing, sent: null });
      this.page.set({ pictures });
    } else {
      this.page.keep({ sent: null });
    }
    // The conversation shows these errors: in place of the answer, or at its end.
    const shown = e instanceof Failure && (e.kind === 'provider' || e.kind === 'limit');
    if (!(accepted && shown)) this.page.failed(e);
  }

  private async shell(text: string): Promise<void> {
    const hidden = text.startsWith('!!');
    const command = text.slice(hidden ? 2 : 1).trim();
    if (command === '') return;
    this.page.keep({ text: '', scroll: null });
    this.page.set({ toEnd: this.page.ui.toEnd + 1 });
    await this.page.try('xcsh.bash', hidden ? { command, excludeFromContext: true } : { command });
  }

  /** Stops the running operation. Queued messages go back to the composer. */
  async stop(): Promise<void> {
    const result = obj(await this.page.try('xcsh.abort'));
    this.giveBackTexts(texts(result.unanswered));
    this.page.backToComposer();
  }

  /** Puts messages that were not sent before the composer's text, with their files. */
  private giveBackTexts(messages: readonly string[]): void {
    if (messages.length === 0) return;
    const drafts = messages.map((text) => draftOf(text));
    const { text, attachments } = this.page.ui.kept;
    this.page.keep({
      text: joined(...drafts.map((d) => d.text), text),
      attachments: attached(
        drafts.flatMap((d) => d.attachments),
        attachments,
      ),
    });
  }

  /** Changes a queued message, or removes it if there are no words. Words of one that was sent come to the composer. */
  async editQueued(queue: 'steer' | 'followUp', index: number, text: string, words: string): Promise<void> {
    try {
      await this.page.store.call('xcsh.editQueued', { queue, index, text, ...(words.trim() ? { words } : {}) });
      this.page.speak(words.trim() ? t('Queued message changed') : t('Queued message removed'));
    } catch (e) {
      if (!(e instanceof Failure) || e.kind !== 'stale') return this.page.failed(e);
      this.tooLate(words);
    }
  }

  /** Keeps the words of a queued message that was sent while the user was changing it. */
  tooLate(words: string): void {
    this.page.notice('info', t('The message was already sent.'));
    if (words.trim()) this.giveBackTexts([words]);
  }

  /** Puts an earlier prompt into the composer; the session does not change until it is sent. */
  edit(entryId: string): void {
    const item = shownItems(this.page.store.state.view).find((i) => i.entryId === entryId);
    if (item) this.editMessage(item);
  }

  private editMessage(said: Said & { entryId: string }): void {
    if (this.page.store.state.view.running) return;
    this.page.keep({ ...draftOf(said.message.content, promptOf(said).text), editing: said.entryId });
    this.page.backToComposer();
  }

  cancelEdit(): void {
    this.page.keep({ text: '', attachments: [], editing: '' });
    this.page.backToComposer();
  }

  /** Sends the last prompt again, replacing a failed answer. */
  async retry(): Promise<void> {
    const prompt = await this.lastPrompt();
    if (!prompt?.entryId) return;
    const draft = this.page.ui.kept;
    this.editMessage(prompt);
    // An engine that cannot go back gets the prompt again.
    if (refusalOf(this.page.store.state.view.engine, 'branch')) this.page.keep({ editing: '' });
    await this.say();
    if (draft.text && !this.page.ui.kept.text) this.page.keep({ text: draft.text, attachments: draft.attachments });
  }

  /** Restores a prompt that never reached the session, unless the user is writing another one. */
  async giveBack(): Promise<void> {
    const { sent } = this.page.ui.kept;
    const said = await this.lastPrompt();
    if (sent !== this.page.ui.kept.sent) return;
    const { text } = this.page.ui.kept;
    const arrived = sent !== null && said !== undefined && promptOf(said).text.trim() === sent.text.trim();
    if (sent && !arrived && text.trim() === '')
      this.page.keep({ text: sent.text, attachments: sent.attachments, sent: null });
    else this.page.keep({ sent: null });
  }

  /** Returns the newest prompt of the conversation, which can be before the loaded messages. */
  private async lastPrompt(): Promise<(SnapshotMessage & Said) | undefined> {
    const wanted = ({ message }: SnapshotMessage) => isPrompt(message);
    const loaded = this.page.store.state.view.items.findLast(wanted);
    if (loaded) return loaded;
    const edge = this.page.store.state.view.older;
    let args: JsonObject | undefined = edge ? { before: edge.entryId, history: true } : undefined;
    for (let i = 0; args && i < maxPromptPages; i++) {
      const page: JsonObject = obj(await this.page.store.call('xcsh.messages', args).catch(() => undefined));
      const found = messagesOf(page.messages)?.findLast(wanted);
      if (found) return found;
      const older = pageEndOf(page.older);
      args = older ? { cursor: older.cursor, history: true } : undefined;
    }
    return undefined;
  }

  /** Puts a proposed prompt into an empty composer, and messages that a failed run did not answer before its text. */
  takeTexts(): void {
    const { prefill, unanswered } = this.page.store.state.view;
    const { kept } = this.page.ui;
    if (unanswered && isNewer(unanswered.key, this.taken)) {
      this.taken = unanswered.key;
      // The prompt itself comes back with its attachments, when its command fails.
      const isSent = (text: string) => userMessageOf(text).text.trim() === this.asking;
      const back = unanswered.texts.filter((text) => text.trim() !== '' && !isSent(text));
      if (back.length === 0) return;
      this.giveBackTexts(back);
      this.putBack = this.page.ui.kept.text;
    } else if (prefill && isNewer(prefill.key, this.taken)) {
      this.taken = prefill.key;
      if (kept.text.trim() !== '' || kept.attachments.length + this.page.ui.pictures.length > 0) return;
      this.page.keep({ text: prefill.texts.join('\n') });
      this.page.speak(t('An extension proposes a prompt.'));
    }
  }

  /** Puts the prompt of a rewind into the composer, unless the user is writing another one. */
  takeBack(text: string): void {
    if (text !== '' && this.page.ui.kept.text.trim() === '') this.page.keep({ ...draftOf(text), editing: '' });
    if (text !== '') this.page.backToComposer();
  }
}

/** Keys end with a number that grows. */
const isNewer = (key: string, than: string) => than === '' || Number(key.slice(1)) > Number(than.slice(1));
