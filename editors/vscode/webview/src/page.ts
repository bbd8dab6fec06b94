// The user's actions on the page. Keeps the page's own state, and converts actions to calls.

import { actionCommands, windowCommands } from '../../src/chat/messages';
import type {
  Attachment,
  Decision,
  FoundReference,
  FromPage,
  Init,
  JsonObject,
  ReadingAction,
  ToPage,
} from '../../src/chat/messages';
import { reasonOf, waysOf } from '../../src/chat/ways';
import type { Way } from '../../src/chat/ways';
import { canAnswer, refusalOf } from './engine';
import { ChangesModel } from './changes';
import { showLog, usualWays, waysAfter } from './failures';
import { Files } from './files';
import { Finder } from './find';
import { setTexts, t } from './l10n';
import { attached, draftOf } from './state/attachments';
import { noBranches, readBranches } from './state/branches';
import type { Alternatives, Branches } from './state/branches';
import { keptOf, nothingKept } from './state/draft';
import type { Kept, Outgoing, Place } from './state/draft';
import type { Action, Question } from './state/engine';
import type { Cause, Notice } from './state/model';
import { withNote } from './state/localNotes';
import type { LocalNote } from './state/localNotes';
import { withReferences } from './state/references';
import { commandsOf } from './state/slash';
import type { SlashCommand } from './state/slash';
import { isPrompt, promptOf } from './state/prompt';
import type { Said } from './state/prompt';
import { userMessageOf } from './state/userMessage';
import { Failure, Store } from './state/store';
import { edgeOf, itemWith, messageCount, shownItems } from './state/window';
import { blocks, list, messagesOf, obj, pageEndOf, pendingOf, str, texts } from './state/wire';
import type { BranchChoice, Hit, SnapshotMessage } from './state/wire';

/** An image attached to the next prompt. */
export interface Picture {
  key: string;
  mimeType: string;
  data: string;
}

/** A session that the user can resume with one click. */
export interface RecentSession {
  path: string;
  id: string;
  name: string;
  fullName: string;
  timeAgo: string;
}

/** The number of recent sessions that are shown. */
const maxRecent = 5;

/** The state of the page apart from the session. It is never modified in place. */
export interface Ui {
  init: Init | null;
  kept: Kept;
  pictures: readonly Picture[];
  sending: boolean;
  editorFile: Attachment | null;
  branches: ReadonlyMap<string, Alternatives>;
  recalled: readonly string[]; // earlier prompts of other sessions
  ways: readonly Way[]; // to an answer, while no model is ready
  waysHidden: string; // the session in which the user closed them; "" if none
  waitingPictures: readonly Picture[]; // of the waiting prompt
  recent: readonly RecentSession[]; // the folder's newest sessions, for an empty conversation
  reveal: Reveal | null;
  marked: Marked | null;
  toEnd: number; // incremented to scroll to the newest messages
  notes: readonly LocalNote[]; // in the conversation
  focus: number; // incremented to move the focus to the composer
  spoken: string; // for a screen reader
  skew: number; // added to the page's clock, it is that of the server, in milliseconds
}

/** A message to scroll to, once for each object. `top` is its distance from the top of the view in pixels. */
export interface Reveal {
  entryId: string;
  top?: number;
}

/** A message with words of a search, which are marked until the user searches for something else. */
export interface Marked {
  entryId: string;
  words: readonly string[];
}

/** The page's environment. */
export interface Surroundings {
  post(m: FromPage): void;
  load(): unknown;
  save(kept: Kept): void;
}

/** Pages of messages in which the newest prompt is searched. */
const maxPromptPages = 20;

/** A prompt that waited longer is not sent by itself: the user does not expect it any more. In milliseconds. */
const maxWait = 10 * 60_000;

const maxPictures = 10;
const maxPictureBytes = 8 << 20;

export class Page {
  readonly store: Store;
  readonly finder: Finder;
  readonly changes: ChangesModel;
  readonly files = new Files((paths) => this.store.request((id) => ({ kind: 'findMentioned', id, paths })));
  ui: Ui;
  private readonly watchers = new Set<() => void>();
  private rewound = ''; // the key of the notice about the last rewind
  private changesOf = ''; // the version of the changes that were requested
  private branches: Branches = noBranches;
  private treeOf = ''; // session and leaf of the last loaded tree
  private titled: string | null = null; // the title that the extension knows
  private pictureCount = 0;
  private noteCount = 0;
  private wanted: Marked | null = null; // a message to show once the session is known
  private returned = false; // the reading position of an earlier page was restored
  private taken = ''; // the key of the last texts that were put into the composer
  answering = false; // the user answered a request, and the focus moves on
  private asking: string | null = null; // the prompt whose command runs
  private putBack = ''; // the composer's text after unanswered messages were put there
  private deferred: 'steer' | 'followUp' | undefined; // how to send the prompt once the state of the session is known

  constructor(private readonly around: Surroundings) {
    this.store = new Store((m) => around.post(m));
    this.ui = {
      init: null,
      kept: keptOf(around.load()),
      pictures: [],
      sending: false,
      editorFile: null,
      branches: new Map(),
      recalled: [],
      ways: [],
      waysHidden: '',
      waitingPictures: [],
      recent: [],
      reveal: null,
      marked: null,
      toEnd: 0,
      notes: [],
      focus: 0,
      spoken: '',
      skew: 0,
    };
    this.finder = new Finder(
      this.store,
      (hit) => this.showHit(hit),
      (text) => this.speak(text),
    );
    this.changes = new ChangesModel(this.store, {
      available: () => this.hasChanges(),
      running: () => this.store.state.view.running,
      notice: (tone, text, actions) => this.rewindNotice(tone, text, actions),
      failed: (e) => this.failed(e),
      compose: (text) => this.takeBack(text),
      speak: (text) => this.speak(text),
    });
    this.store.listener = {
      init: (m) => this.began(m),
      message: (m) => this.received(m),
      reloading: () => (this.returned = false),
    };
    this.store.subscribe(() => this.followed());
  }

  subscribe = (f: () => void): (() => void) => {
    this.watchers.add(f);
    return () => this.watchers.delete(f);
  };

  getUi = (): Ui => this.ui;

  private set(change: Partial<Ui>): void {
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

  private save(): void {
    const { kept } = this.ui;
    kept.at = Math.max(Date.now(), kept.at + 1);
    this.around.save(kept);
    if (this.ui.init) this.around.post({ kind: 'keep', kept: { ...kept } }); // until then, the extension's state is newer
  }

  // Messages from the extension.

  private began(init: Init): void {
    setTexts(init.texts); // before anything is rendered
    // Both stores may be stale: the newer one wins. Either may be of another place, such as a session that was only read.
    const place = placeOf(init);
    const kept = [keptOf(init.kept), this.ui.kept]
      .filter(({ cwd }) => cwd === place || cwd === '')
      .reduce((a, b) => (b.at > a.at ? b : a), nothingKept);
    const sameFolder = this.ui.init === null || this.ui.init.cwd === init.cwd;
    this.treeOf = '';
    this.taken = '';
    this.titled = null;
    this.returned = false;
    this.wanted = null;
    this.finder.close();
    this.changes.clear();
    this.changesOf = '';
    this.files.clear();
    this.set({
      init,
      marked: null,
      branches: new Map(),
      ways: [],
      waysHidden: '',
      waitingPictures: sameFolder ? this.ui.waitingPictures : [],
      recent: [],
      notes: [],
      skew: init.now - Date.now(),
      kept: { ...kept, cwd: place },
      pictures: sameFolder ? this.ui.pictures : [],
    });
    this.save();
    if (init.commands.includes('xcsh.history')) void this.readHistory();
  }

  private received(m: ToPage): void {
    switch (m.kind) {
      case 'attach':
        return this.attach(m.attachments);
      case 'refer':
        return m.references.length > 0 ? this.refer(m.references) : undefined;
      case 'editor':
        return this.set({ editorFile: m.file });
      case 'models':
        return void this.readWays();
      case 'focus':
        return this.backToComposer();
      case 'find':
        return this.finder.open();
      case 'rewind':
        return void this.rewindTo(m.entryId);
      case 'reading': {
        const { init } = this.ui;
        if (init?.reading) this.set({ init: { ...init, reading: m.reading, trusted: m.trusted } });
        return;
      }
      case 'reveal':
        this.wanted = { entryId: m.entryId, words: m.words };
        return this.followed();
      case 'compose':
        this.keep({ text: m.text });
        if (m.send) void this.say();
        return this.set({ focus: this.ui.focus + 1 });
      default:
        return;
    }
  }

  private async readHistory(): Promise<void> {
    try {
      const { prompts } = obj(await this.store.call('xcsh.history', { limit: 200 }));
      this.set({
        recalled: list(prompts)
          .map((p) => str(obj(p).prompt))
          .filter(Boolean)
          .toReversed(),
      });
    } catch {
      // recall is then limited to the prompts of this session
    }
  }

  /** Loads the folder's newest sessions, without the current one. */
  async readRecent(): Promise<void> {
    const { init } = this.ui;
    if (!init?.commands.includes('xcsh.recent')) return;
    try {
      const { sessions } = obj(await this.store.call('xcsh.recent', { limit: maxRecent + 1 }));
      if (init !== this.ui.init) return; // the page shows another folder now
      const current = this.store.state.view.session?.sessionId;
      const recent = list(sessions).map((s) => {
        const { path, id, name, fullName, timeAgo } = obj(s);
        return { path: str(path), id: str(id), name: str(name), fullName: str(fullName), timeAgo: str(timeAgo) };
      });
      this.set({ recent: recent.filter((s) => s.path !== '' && s.id !== current).slice(0, maxRecent) });
    } catch {
      // the link below the list still offers all sessions
    }
  }

  /** Reads the ways to an answer. What is found late does not close what is shown. */
  async readWays(): Promise<void> {
    const { init } = this.ui;
    if (!init?.commands.includes('xcsh.providers')) return;
    const call = (command: string) => this.store.call(command).catch(() => undefined);
    const [providers, engines] = await Promise.all([call('xcsh.providers'), call('xcsh.engines')]);
    if (init !== this.ui.init || providers === undefined) return;
    this.set({ ways: waysOf(providers, engines, this.store.state.view.ready.provider) });
  }

  /** Follows the session: loads the tree when the conversation is idle at another entry. */
  private followed(): void {
    this.sendDeferred();
    this.takeTexts();
    this.sendWaiting();
    const { view, sync } = this.store.state;
    if (!sync.live || !view.session) return;
    if (this.wanted) void this.showWanted(this.wanted);
    else this.returnTo(this.ui.kept);
    this.followChanges();
    const title = view.session.title ?? (pendingOf(view.session).includes('title') ? '…' : '');
    if (title !== this.titled) this.store.send({ kind: 'title', text: (this.titled = title) });
    if (this.ui.init?.reading) return; // no branches to switch to, and no prompt to give back
    if (view.running || pendingOf(view.session).length > 0) return; // the tree has to be read first
    const messages = (view.older?.count ?? 0) + messageCount(view.items); // loading earlier ones does not change it
    const at = `${view.session.sessionId} ${view.session.leafId} ${messages}`;
    if (at === this.treeOf) return;
    this.treeOf = at;
    this.files.again();
    if (this.ui.kept.sent && !this.ui.sending) void this.giveBack();
    void this.readTree(at);
  }

  /** Shows the notice about a rewind, in place of the previous one. */
  private rewindNotice(tone: Notice['tone'], text: string, actions: readonly Action[]): void {
    if (this.rewound) this.store.dispatch({ type: 'dismiss', key: this.rewound });
    this.notice(tone, text, actions);
    this.rewound = this.store.state.view.notices.at(-1)?.key ?? '';
  }

  private hasChanges(): boolean {
    const { init } = this.ui;
    return init?.reading === undefined && init?.commands.includes('xcsh.changes') === true;
  }

  /** Reads the changes of files again when they may differ. */
  private followChanges(): void {
    const { view, sync } = this.store.state;
    const at = `${sync.sessionId} ${view.changed}`;
    if (at === this.changesOf || !this.hasChanges()) return;
    if (this.changesOf.split(' ')[0] !== sync.sessionId) this.changes.clear();
    this.changesOf = at;
    this.changes.refresh();
  }

  /** Puts the prompt of a rewind into the composer, unless the user is writing another one. */
  private takeBack(text: string): void {
    if (text !== '' && this.ui.kept.text.trim() === '') this.keep({ ...draftOf(text), editing: '' });
    if (text !== '') this.backToComposer();
  }

  /** Opens the confirmation of a rewind to an entry that the user selected in a list. */
  private async rewindTo(entryId: string): Promise<void> {
    await this.store.jump(entryId).catch(() => undefined);
    const item = itemWith(shownItems(this.store.state.view), entryId);
    this.changes.rewindTo(entryId, item && !isPrompt(item.message) ? 'to' : 'before');
  }

  /** Puts a proposed prompt into an empty composer, and messages that a failed run did not answer before its text. */
  private takeTexts(): void {
    const { prefill, unanswered } = this.store.state.view;
    const { kept } = this.ui;
    if (unanswered && isNewer(unanswered.key, this.taken)) {
      this.taken = unanswered.key;
      // The prompt itself comes back with its attachments, when its command fails.
      const isSent = (text: string) => userMessageOf(text).text.trim() === this.asking;
      const back = unanswered.texts.filter((text) => text.trim() !== '' && !isSent(text));
      if (back.length === 0) return;
      this.giveBackTexts(back);
      this.putBack = this.ui.kept.text;
    } else if (prefill && isNewer(prefill.key, this.taken)) {
      this.taken = prefill.key;
      if (kept.text.trim() !== '' || kept.attachments.length + this.ui.pictures.length > 0) return;
      this.keep({ text: prefill.texts.join('\n') });
      this.speak(t('An extension proposes a prompt.'));
    }
  }

  private async readTree(at: string): Promise<void> {
    try {
      const branches = await readBranches((args) => this.store.call('xcsh.tree', args));
      if (at !== this.treeOf) return;
      this.branches = branches;
      this.set({ branches: branches.alternatives });
    } catch {
      // without the tree the page offers no other branches
    }
  }

  /** Restores a prompt that never reached the session, unless the user is writing another one. */
  private async giveBack(): Promise<void> {
    const { sent } = this.ui.kept;
    const said = await this.lastPrompt();
    if (sent !== this.ui.kept.sent) return;
    const { text } = this.ui.kept;
    const arrived = sent !== null && said !== undefined && promptOf(said).text.trim() === sent.text.trim();
    if (sent && !arrived && text.trim() === '')
      this.keep({ text: sent.text, attachments: sent.attachments, sent: null });
    else this.keep({ sent: null });
  }

  /** Returns the newest prompt of the conversation, which can be before the loaded messages. */
  private async lastPrompt(): Promise<(SnapshotMessage & Said) | undefined> {
    const wanted = ({ message }: SnapshotMessage) => isPrompt(message);
    const loaded = this.store.state.view.items.findLast(wanted);
    if (loaded) return loaded;
    const edge = this.store.state.view.older;
    let args: JsonObject | undefined = edge ? { before: edge.entryId, history: true } : undefined;
    for (let i = 0; args && i < maxPromptPages; i++) {
      const page: JsonObject = obj(await this.store.call('xcsh.messages', args).catch(() => undefined));
      const found = messagesOf(page.messages)?.findLast(wanted);
      if (found) return found;
      const older = pageEndOf(page.older);
      args = older ? { cursor: older.cursor, history: true } : undefined;
    }
    return undefined;
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
      this.set({ marked: wanted });
    } catch (e) {
      if (!(e instanceof Failure)) return;
      const other = e.kind === 'notFound';
      this.notice('info', other ? t('The message that was found is on another branch.') : e.message);
    }
  }

  /** Continues, forks or leaves a session that is shown without being resumed. */
  read(action: ReadingAction): void {
    this.store.send({ kind: 'reading', action });
  }

  /** Draws a message, and scrolls to it. It rejects with a Failure. */
  private async reveal(to: Reveal): Promise<void> {
    const reveal = { ...to };
    this.set({ reveal }); // it waits until the message is drawn
    try {
      await this.store.jump(to.entryId);
    } catch (e) {
      if (this.ui.reveal === reveal) this.set({ reveal: null });
      throw e;
    }
  }

  private async showHit({ entryId }: Pick<Hit, 'entryId'>): Promise<void> {
    await this.reveal({ entryId });
    // The output of a call is folded.
    const item = itemWith(shownItems(this.store.state.view), entryId);
    const call = Object.entries(item?.calls ?? {}).find(([, c]) => c.entryId === entryId)?.[0];
    const at = item && call !== undefined ? blocks(item.message.content).findIndex((b) => b.id === call) : -1;
    if (item && at >= 0) this.fold(`${item.entryId}/${at}`, true);
  }

  // Actions of the user.

  /** Loads more messages at an end of the drawn ones; announced if the user requested it. */
  async load(to: 'older' | 'newer', requested = false): Promise<void> {
    const count = () => messageCount(shownItems(this.store.state.view));
    const [edge, before] = [edgeOf(this.store.state.view, to), count()];
    await this.store.load(to);
    if (!requested || edge === edgeOf(this.store.state.view, to) || this.store.state.view.loadError) return;
    const n = count() - before;
    if (n > 0) this.speak(n === 1 ? t('1 message loaded') : t('{0} messages loaded', n));
  }

  /** Moves the focus to the composer. */
  backToComposer = (): void => this.set({ focus: this.ui.focus + 1 });

  /** Sends the composer's text: to the running turn, queued after it, or as a new prompt. */
  async say(how: 'steer' | 'followUp' = 'steer'): Promise<void> {
    const { kept, pictures } = this.ui;
    const { view, sync } = this.store.state;
    const text = kept.text.trim();
    const open = this.ui.sending && !view.running;
    if (open || (!sync.live && sync.server !== 'stopped')) {
      this.deferred = how;
      return;
    }
    this.deferred = undefined;
    if ((text === '' && pictures.length === 0 && kept.attachments.length === 0) || sync.server === 'stopped') return;
    if (text.startsWith('!') && pictures.length + kept.attachments.length === 0 && kept.editing === '')
      return this.shell(text);
    const noImages = pictures.length > 0 ? refusalOf(view.engine, 'images') : '';
    if (noImages) return this.refuse(noImages);
    this.keep({ text: '', attachments: [], editing: '' });
    this.set({ pictures: [], toEnd: this.ui.toEnd + 1 });
    await this.deliver({ text, attachments: kept.attachments }, pictures, kept.editing, how);
  }

  /** Sends a prompt. If it is refused, it waits for a model or returns to the composer. */
  private async deliver(
    outgoing: Outgoing,
    pictures: readonly Picture[],
    editing: string,
    how: 'steer' | 'followUp',
  ): Promise<void> {
    const { view } = this.store.state;
    const { text, attachments } = outgoing;
    const args: JsonObject = { text };
    if (pictures.length) args.images = pictures.map(({ data, mimeType }) => ({ data, mimeType }));
    if (attachments.length) args.attachments = attachments.map(({ uri, range }) => (range ? { uri, range } : { uri }));
    if (view.running) args.streamingBehavior = refusalOf(view.engine, 'steer') ? 'followUp' : how;
    this.keep({ sent: outgoing, scroll: null });
    this.set({ sending: !view.running });
    if (!view.running) this.asking = text;
    const began = view.lastPrompt;
    try {
      if (editing !== '') await this.store.call('xcsh.branch', { entryId: editing });
      const result = obj(await this.store.call('xcsh.prompt', args));
      this.keep({ sent: null });
      this.noteAnswer(str(result.command), str(result.answer));
    } catch (e) {
      const accepted = this.store.state.view.lastPrompt !== began;
      if (e instanceof Failure && reasonOf(e) && !accepted) this.waits(e, outgoing, pictures, editing);
      else this.refused(e, outgoing, pictures, editing, accepted);
    } finally {
      if (!view.running) this.asking = null;
      this.set({ sending: false });
      this.sendDeferred();
    }
  }

  /** Shows the answer of one of the server's own commands. */
  private noteAnswer(command: string, text: string): void {
    if (command === '' || text.trim() === '') return;
    const { view, sync } = this.store.state;
    const after = view.items.at(-1)?.key ?? '';
    const key = `note${++this.noteCount}`;
    this.set({
      notes: withNote(this.ui.notes, { key, sessionId: sync.sessionId, command, text, after }),
      toEnd: this.ui.toEnd + 1,
    });
    this.speak(text);
  }

  /** Removes an answer of one of the server's own commands from the conversation. */
  dismissNote(key: string): void {
    this.set({ notes: this.ui.notes.filter((note) => note.key !== key) });
  }

  /** Keeps a prompt that no model can answer, and opens the ways to one. A prompt that waits already comes before it. */
  private waits(e: Failure, outgoing: Outgoing, pictures: readonly Picture[], editing: string): void {
    const { sessionId } = this.store.state.sync;
    const { waiting } = this.ui.kept;
    const before = waiting?.sessionId === sessionId ? waiting : null;
    this.keep({
      sent: null,
      waiting: {
        text: [before?.text ?? '', outgoing.text].filter((text) => text.trim() !== '').join('\n\n'),
        attachments: attached(before?.attachments ?? [], outgoing.attachments),
        editing: before?.editing || editing,
        sessionId,
        since: Date.now(),
      },
    });
    this.set({ waysHidden: '', waitingPictures: [...(before ? this.ui.waitingPictures : []), ...pictures] });
    const { reason, provider } = e.data;
    this.store.dispatch({ type: 'ready', sessionId, ready: { ok: false, reason, provider, message: e.message } });
    this.speak(t('{0} Your message is sent as soon as a model is ready.', e.message));
    void this.readWays();
  }

  /** Sends the waiting prompt once a model can answer. In another session it would surprise, so it returns to the composer. */
  private sendWaiting(): void {
    const { waiting } = this.ui.kept;
    const { view, sync } = this.store.state;
    if (!waiting || !sync.live || !view.session || pendingOf(view.session).length > 0) return;
    if (waiting.sessionId !== sync.sessionId || Date.now() - waiting.since > maxWait) return this.editWaiting();
    if (view.running || this.ui.sending || !canAnswer(view)) return;
    const pictures = this.ui.waitingPictures;
    this.keep({ waiting: null });
    this.set({ waitingPictures: [] });
    void this.deliver(waiting, pictures, waiting.editing, 'steer');
  }

  /** Returns the waiting prompt to the composer, before the text there. */
  editWaiting(): void {
    const { waiting, text, attachments, editing } = this.ui.kept;
    if (!waiting) return;
    this.keep({
      waiting: null,
      text: [waiting.text, text].filter((part) => part.trim() !== '').join('\n\n'),
      attachments: attached(waiting.attachments, attachments),
      editing: waiting.sessionId === this.store.state.sync.sessionId ? waiting.editing : editing,
    });
    this.set({
      pictures: [...this.ui.waitingPictures, ...this.ui.pictures],
      waitingPictures: [],
      focus: this.ui.focus + 1,
    });
  }

  /** Discards the waiting prompt. */
  cancelWaiting(): void {
    this.keep({ waiting: null });
    this.set({ waitingPictures: [], focus: this.ui.focus + 1 });
  }

  /** Closes the ways to an answer, until a prompt is refused again. */
  hideWays(): void {
    this.set({ waysHidden: this.store.state.sync.sessionId, focus: this.ui.focus + 1 });
  }

  /** Sends the deferred prompt once the session and its running state are known. */
  private sendDeferred(): void {
    const { deferred } = this;
    const { view, sync } = this.store.state;
    if (sync.failed !== '' || sync.server === 'stopped')
      this.deferred = undefined; // it could be sent much later, which the user would not expect
    else if (deferred !== undefined && sync.live && (view.running || !this.ui.sending)) void this.say(deferred);
  }

  private refused(
    e: unknown,
    outgoing: Outgoing,
    pictures: readonly Picture[],
    editing: string,
    accepted: boolean,
  ): void {
    if (e instanceof Failure && e.kind === 'cancelled') return this.keep({ sent: null });
    if (this.store.state.sync.server !== 'running') return; // it is restored with the next server
    const { text } = this.ui.kept;
    if (!accepted && (text.trim() === '' || text === this.putBack)) {
      const both = [outgoing.text, text].filter((part) => part.trim() !== '').join('\n\n');
      this.keep({ text: both, attachments: outgoing.attachments, editing, sent: null });
      this.set({ pictures });
    } else {
      this.keep({ sent: null });
    }
    // The conversation shows these errors: in place of the answer, or at its end.
    const shown = e instanceof Failure && (e.kind === 'provider' || e.kind === 'limit');
    if (!(accepted && shown)) this.failed(e);
  }

  private async shell(text: string): Promise<void> {
    const hidden = text.startsWith('!!');
    const command = text.slice(hidden ? 2 : 1).trim();
    if (command === '') return;
    this.keep({ text: '', scroll: null });
    this.set({ toEnd: this.ui.toEnd + 1 });
    await this.try('xcsh.bash', hidden ? { command, excludeFromContext: true } : { command });
  }

  /** Stops the running operation. Queued messages go back to the composer. */
  async stop(): Promise<void> {
    const result = obj(await this.try('xcsh.abort'));
    this.giveBackTexts(texts(result.unanswered));
    this.set({ focus: this.ui.focus + 1 });
  }

  /** Puts messages that were not sent before the composer's text, with their files. */
  private giveBackTexts(messages: readonly string[]): void {
    if (messages.length === 0) return;
    const drafts = messages.map((text) => draftOf(text));
    const { text, attachments } = this.ui.kept;
    this.keep({
      text: [...drafts.map((d) => d.text), text].filter((part) => part.trim() !== '').join('\n\n'),
      attachments: attached(
        drafts.flatMap((d) => d.attachments),
        attachments,
      ),
    });
  }

  /** Changes a queued message, or removes it if there are no words. Words of one that was sent come to the composer. */
  async editQueued(queue: 'steer' | 'followUp', index: number, text: string, words: string): Promise<void> {
    try {
      await this.store.call('xcsh.editQueued', { queue, index, text, ...(words.trim() ? { words } : {}) });
      this.speak(words.trim() ? t('Queued message changed') : t('Queued message removed'));
    } catch (e) {
      if (!(e instanceof Failure) || e.kind !== 'stale') return this.failed(e);
      this.tooLate(words);
    }
  }

  /** Keeps the words of a queued message that was sent while the user was changing it. */
  tooLate(words: string): void {
    this.notice('info', t('The message was already sent.'));
    if (words.trim()) this.giveBackTexts([words]);
  }

  /** Stops a command that runs in the background. */
  async stopBackground(id: string): Promise<void> {
    await this.try('xcsh.stopBackground', { id });
  }

  /** Puts an earlier prompt into the composer; the session does not change until it is sent. */
  edit(entryId: string): void {
    const item = shownItems(this.store.state.view).find((i) => i.entryId === entryId);
    if (item) this.editMessage(item);
  }

  private editMessage(said: Said & { entryId: string }): void {
    if (this.store.state.view.running) return;
    this.keep({ ...draftOf(said.message.content, promptOf(said).text), editing: said.entryId });
    this.set({ focus: this.ui.focus + 1 });
  }

  cancelEdit(): void {
    this.keep({ text: '', attachments: [], editing: '' });
    this.set({ focus: this.ui.focus + 1 });
  }

  /** Sends the last prompt again, replacing a failed answer. */
  async retry(): Promise<void> {
    const prompt = await this.lastPrompt();
    if (!prompt?.entryId) return;
    const draft = this.ui.kept;
    this.editMessage(prompt);
    // An engine that cannot go back gets the prompt again.
    if (refusalOf(this.store.state.view.engine, 'branch')) this.keep({ editing: '' });
    await this.say();
    if (draft.text && !this.ui.kept.text) this.keep({ text: draft.text, attachments: draft.attachments });
  }

  /** Switches to another branch that starts at a prompt. */
  async switchBranch(entryId: string, by: -1 | 1): Promise<void> {
    const a = this.ui.branches.get(entryId);
    const to = a?.ids[a.at + by];
    if (!a || !to) return;
    const result = obj(await this.try('xcsh.branch', { entryId: this.branches.ends.get(to) ?? to }));
    const text = str(result.editorText);
    if (text && this.ui.kept.text.trim() === '') this.keep({ text });
    this.speak(t('Branch {0} of {1}', a.at + by + 1, a.ids.length));
  }

  /** Decides about another program's branch. The session's notifications show the result. */
  async chooseBranch(choice: BranchChoice): Promise<void> {
    const { foreign } = this.store.state.view;
    if (!foreign) return;
    const result = obj(await this.try('xcsh.chooseBranch', { choice, branchId: foreign.branchId }));
    if (str(result.cancelledBy)) this.notice('warning', t('Canceled by {0}.', str(result.cancelledBy)));
  }

  /** Answers a question. Its notification removes it, or the failure if it does not wait any more. */
  async answer(
    { id }: Question,
    answer: { value?: string; values?: string[] } | { confirmed: boolean } | { cancelled: true },
  ): Promise<void> {
    try {
      await this.store.call('xcsh.answer', { id, ...answer });
    } catch (e) {
      if (!(e instanceof Failure && (e.kind === 'notFound' || e.kind === 'stale'))) return this.failed(e);
    }
    this.store.dispatch({ type: 'questionGone', id });
  }

  /** Runs the command of a button that the server sent with a failure. */
  act({ command, args }: Action): void {
    const known = actionCommands.find((name) => name === command);
    if (known) this.store.send({ kind: 'act', command: known, args });
    if (command === 'page.say') void this.say();
    if (command === 'page.redo') void this.changes.redo(str(args['id']));
    const ofWindow = windowCommands.find((name) => `window.${name}` === command);
    if (ofWindow) this.store.send({ kind: 'window', command: ofWindow });
  }

  /** Lists the commands of the engine. The engine is started if necessary. It rejects with a Failure. */
  async readCommands(): Promise<SlashCommand[]> {
    return commandsOf(await this.store.call('xcsh.commands'));
  }

  /** Says why the engine cannot do something. */
  refuse(sentence: string): void {
    this.notice('info', sentence);
  }

  /** Answers a request. A reason goes to the model with a denial. */
  decide(prompt: string, decision: Decision, reason = ''): void {
    this.store.send({ kind: 'decide', prompt, decision, ...(reason ? { reason } : {}) });
  }

  attach(added: readonly Attachment[]): void {
    this.keep({ attachments: attached(this.ui.kept.attachments, added) });
  }

  /** Adds references to the end of the text. */
  refer(references: readonly string[]): void {
    this.keep({ text: withReferences(this.ui.kept.text, references) });
    this.backToComposer();
  }

  detach(a: Attachment): void {
    this.keep({ attachments: this.ui.kept.attachments.filter((b) => b !== a) });
  }

  /** Adds an image that was pasted or dropped. */
  addPicture(mimeType: string, data: string): void {
    const refusal = refusalOf(this.store.state.view.engine, 'images');
    if (refusal) return this.refuse(refusal);
    if (this.ui.pictures.length >= maxPictures)
      return this.notice('warning', t('You can attach up to {0} images to a message.', maxPictures));
    if (data.length > (maxPictureBytes * 4) / 3)
      return this.notice('warning', t("Couldn't attach the image: it is larger than {0} MB.", maxPictureBytes >> 20));
    this.set({ pictures: [...this.ui.pictures, { key: 'p' + ++this.pictureCount, mimeType, data }] });
  }

  removePicture(key: string): void {
    this.set({ pictures: this.ui.pictures.filter((p) => p.key !== key) });
  }

  fold(key: string, open: boolean): void {
    const { [key]: _, ...others } = this.ui.kept.folds;
    this.keep({ folds: { ...others, [key]: open } });
  }

  /** Finds files, folders or symbols to refer to. */
  async findReferences(query: string): Promise<FoundReference[]> {
    try {
      return list(await this.store.request((id) => ({ kind: 'findReferences', id, query }))) as FoundReference[];
    } catch {
      return [];
    }
  }

  /** Returns those of the names that are files or folders. */
  async knownPaths(names: string[]): Promise<string[]> {
    try {
      return texts(await this.store.request((id) => ({ kind: 'knownPaths', id, names })));
    } catch {
      return [];
    }
  }

  speak(text: string): void {
    // The same text twice would be no change, and not announced.
    this.set({ spoken: text !== '' && text === this.ui.spoken ? text + '\u00a0' : text });
  }

  notice(tone: Notice['tone'], text: string, actions: readonly Action[] = [], cause: Cause = 'turn'): void {
    this.store.dispatch({ type: 'notice', tone, text, actions, cause });
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

  private failed(e: unknown): void {
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

/** Identifies the content of a page: a folder's live session, or a session that is only read. */
const placeOf = (init: Init): string => (init.reading ? `session:${init.reading.path}` : (init.cwd ?? ''));

/** Keys end with a number that grows. */
const isNewer = (key: string, than: string) => than === '' || Number(key.slice(1)) > Number(than.slice(1));
