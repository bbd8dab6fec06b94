// The page: the messages that it receives, and the actions of the user that are not about a prompt.

import { actionCommands, windowCommands } from '../../../src/chat/messages';
import type { Attachment, Decision, FoundReference, Init, ReadingAction, ToPage } from '../../../src/chat/messages';
import { ChangesModel } from '../changes';
import { refusalOf } from '../engine';
import { Files } from '../files';
import { Finder } from '../find';
import { setTexts, t } from '../l10n';
import { attached } from '../state/attachments';
import { noBranches, readBranches } from '../state/branches';
import type { Branches } from '../state/branches';
import { keptOf, nothingKept } from '../state/draft';
import type { Action, Question } from '../state/engine';
import type { Notice } from '../state/model';
import { isPrompt } from '../state/prompt';
import { withReferences } from '../state/references';
import { commandsOf } from '../state/slash';
import type { SlashCommand } from '../state/slash';
import { Failure } from '../state/store';
import { edgeOf, itemWith, messageCount, shownItems } from '../state/window';
import { list, obj, pendingOf, str, texts } from '../state/wire';
import type { BranchChoice } from '../state/wire';
import { Places } from './places';
import { Prompts } from './prompts';
import { PageState } from './state';
import type { Surroundings } from './state';

/** The number of recent sessions that are shown. */
const maxRecent = 5;

const maxPictures = 10;
const maxPictureBytes = 8 << 20;

export class Page extends PageState {
  readonly finder: Finder;
  readonly changes: ChangesModel;
  readonly prompts = new Prompts(this);
  readonly places = new Places(this);
  readonly files = new Files((paths) => this.store.request((id) => ({ kind: 'findMentioned', id, paths })));
  answering = false; // the user answered a request, and the focus moves on
  private rewound = ''; // the key of the notice about the last rewind
  private changesOf = ''; // the version of the changes that were requested
  private branches: Branches = noBranches;
  private treeOf = ''; // session and leaf of the last loaded tree
  private titled: string | null = null; // the title that the extension knows
  private pictureCount = 0;

  constructor(around: Surroundings) {
    super(around);
    this.finder = new Finder(
      this.store,
      (hit) => this.places.showHit(hit),
      (text) => this.speak(text),
    );
    this.changes = new ChangesModel(this.store, {
      available: () => this.hasChanges(),
      running: () => this.store.state.view.running,
      notice: (tone, text, actions) => this.rewindNotice(tone, text, actions),
      failed: (e) => this.failed(e),
      compose: (text) => this.prompts.takeBack(text),
      speak: (text) => this.speak(text),
    });
    this.store.listener = {
      init: (m) => this.began(m),
      message: (m) => this.received(m),
      reloading: () => this.places.reloading(),
    };
    this.store.subscribe(() => this.followed());
  }

  private began(init: Init): void {
    setTexts(init.texts); // before anything is rendered
    // Both stores may be stale: the newer one wins. Either may be of another place, such as a session that was only read.
    const place = placeOf(init);
    const kept = [keptOf(init.kept), this.ui.kept]
      .filter(({ cwd }) => cwd === place || cwd === '')
      .reduce((a, b) => (b.at > a.at ? b : a), nothingKept);
    const sameFolder = this.ui.init === null || this.ui.init.cwd === init.cwd;
    this.treeOf = '';
    this.prompts.began();
    this.titled = null;
    this.places.began();
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
        return void this.prompts.waiting.readWays();
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
        this.places.want({ entryId: m.entryId, words: m.words });
        return this.followed();
      case 'compose':
        this.keep({ text: m.text });
        if (m.send) void this.prompts.say();
        return this.backToComposer();
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

  /** Follows the session: loads the tree when the conversation is idle at another entry. */
  private followed(): void {
    this.prompts.sendDeferred();
    this.prompts.takeTexts();
    this.prompts.waiting.send();
    const { view, sync } = this.store.state;
    if (!sync.live || !view.session) return;
    this.places.followed();
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
    if (this.ui.kept.sent && !this.ui.sending) void this.prompts.giveBack();
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

  /** Opens the confirmation of a rewind to an entry that the user selected in a list. */
  private async rewindTo(entryId: string): Promise<void> {
    await this.store.jump(entryId).catch(() => undefined);
    const item = itemWith(shownItems(this.store.state.view), entryId);
    this.changes.rewindTo(entryId, item && !isPrompt(item.message) ? 'to' : 'before');
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

  /** Continues, forks or leaves a session that is shown without being resumed. */
  read(action: ReadingAction): void {
    this.store.send({ kind: 'reading', action });
  }

  /** Loads more messages at an end of the drawn ones; announced if the user requested it. */
  async load(to: 'older' | 'newer', requested = false): Promise<void> {
    const count = () => messageCount(shownItems(this.store.state.view));
    const [edge, before] = [edgeOf(this.store.state.view, to), count()];
    await this.store.load(to);
    if (!requested || edge === edgeOf(this.store.state.view, to) || this.store.state.view.loadError) return;
    const n = count() - before;
    if (n > 0) this.speak(n === 1 ? t('1 message loaded') : t('{0} messages loaded', n));
  }

  /** Stops a command that runs in the background. */
  async stopBackground(id: string): Promise<void> {
    await this.try('xcsh.stopBackground', { id });
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
    if (command === 'page.say') void this.prompts.say();
    if (command === 'page.redo') void this.changes.redo(str(args['id']));
    const ofWindow = windowCommands.find((name) => `window.${name}` === command);
    if (ofWindow) this.store.send({ kind: 'window', command: ofWindow });
  }

  /** Lists the commands of the engine. The engine is started if necessary. It rejects with a Failure. */
  async readCommands(): Promise<SlashCommand[]> {
    return commandsOf(await this.store.call('xcsh.commands'));
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
}

/** Identifies the content of a page: a folder's live session, or a session that is only read. */
const placeOf = (init: Init): string => (init.reading ? `session:${init.reading.path}` : (init.cwd ?? ''));
