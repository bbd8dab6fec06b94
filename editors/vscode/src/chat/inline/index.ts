import * as vscode from 'vscode';

import { innermost } from '../../folders';
import type { Host } from '../../host';
import type { Approvals } from '../approvals';
import type { ApprovalDiffs } from '../approvalDiffs';
import type { ChatPanel } from '../panel';
import { LightBulb, type Preset } from './lightBulb';
import { Marks, spotsOf, type Spot } from './marks';
import { isEndOfWork } from './progress';
import type { Verdict } from './proposal';
import { InlineSession, type Services } from './session';
import { Composer } from './composer';
import { createController, type NoteComment } from './thread';
import { Turns } from './turns';

/** The context keys that offer the commands in the palette. */
const reviewingKey = 'xcshLs.inlineReviewing';
const runningKey = 'xcshLs.inlineRunning';

/**
 * Asks the model to change the selection. Everything happens in a thread of comments below it: the request,
 * the progress, and the review of each change.
 */
export class InlineChat implements vscode.Disposable {
  readonly #services: Services;
  readonly #controller = createController();
  readonly #composer = new Composer(this.#controller);
  readonly #marks: Marks;
  readonly #subscriptions: vscode.Disposable[];
  #sessions: InlineSession[] = [];

  constructor(
    private readonly host: Host,
    private readonly approvals: Approvals,
    private readonly panel: ChatPanel,
    private readonly diffs: ApprovalDiffs,
  ) {
    const turns = new Turns((cwd, ended) =>
      vscode.Disposable.from(
        host.onNotification('xcsh/event', (e) => e.cwd === cwd && isEndOfWork(e.event) && ended()),
        host.onNotification('xcsh/sessionChanged', (e) => e.cwd === cwd && ended()),
        host.onDidChangeStatus(ended),
      ),
    );
    this.#services = { host, approvals, turns, changed: () => this.#changed() };
    this.#marks = new Marks(() => this.#sessions.flatMap(spotsOf));
    this.#subscriptions = [
      this.#controller,
      this.#marks,
      ...this.#commands(),
      vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, new LightBulb(host), {
        providedCodeActionKinds: LightBulb.kinds,
      }),
    ];
  }

  #commands(): vscode.Disposable[] {
    const register = (name: string, run: (argument: unknown) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`xcshLs.inlineChat${name && '.'}${name}`, run);
    return [
      register('', (preset) => this.#start((preset ?? {}) as Preset)),
      register('send', (reply) =>
        this.#send((reply as vscode.CommentReply).thread, (reply as vscode.CommentReply).text),
      ),
      register('stop', (thread) => this.#of(thread)?.stop()),
      register('close', (thread) => this.#of(thread)?.close()),
      register('options', (thread) => this.#of(thread)?.showOptions()),
      register('chat', (thread) => this.#continueInChat(this.#of(thread))),
      register('diff', (thread) => this.#openDiff(this.#of(thread))),
      register('keep', (subject) => this.#decide(subject, 'keep')),
      register('undo', (subject) => this.#decide(subject, 'undo')),
      register('keepAll', (thread) => this.#of(thread)?.decideAll('keep')),
      register('undoAll', (thread) => this.#of(thread)?.decideAll('undo')),
      register('allow', (comment) => this.#answerCall(comment, true)),
      register('deny', (comment) => this.#answerCall(comment, false)),
    ];
  }

  async #start(preset: Preset): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const document = preset.uri ? await vscode.workspace.openTextDocument(preset.uri) : editor?.document;
    if (document?.uri.scheme !== 'file') {
      void vscode.window.showInformationMessage(
        vscode.l10n.t('Open a file in a workspace folder to change it with xcsh.'),
      );
      return;
    }
    if (!innermost(this.host.folders, document.uri.fsPath)) {
      void vscode.window.showInformationMessage(vscode.l10n.t('This file is not in a folder of this workspace.'));
      return;
    }
    const range = wholeLines(document, preset.range ?? (editor?.document === document ? editor.selection : undefined));
    const wish = preset.wish ?? (threadsAreHidden() ? await askInBox(range) : undefined);
    if (wish !== undefined) {
      await this.#send(this.#controller.createCommentThread(document.uri, range, []), wish);
    } else if (!threadsAreHidden()) {
      const shown = editor?.document === document ? editor : await vscode.window.showTextDocument(document);
      await this.#composer.open(shown, range);
    }
  }

  /** Sends the words of a new or existing thread. */
  async #send(thread: vscode.CommentThread, text: string): Promise<void> {
    const folder = innermost(this.host.folders, thread.uri.fsPath);
    let session = this.#sessions.find((s) => s.is(thread));
    if (!session && folder) {
      session = new InlineSession(this.#services, folder, thread);
      this.#sessions.push(session);
    }
    await session?.send(text);
  }

  /** Returns the request of a thread; without one, the request in the active editor, or else the newest. */
  #of(thread: unknown): InlineSession | undefined {
    const own = this.#sessions.find((s) => s.is(thread));
    if (own) {
      return own;
    }
    const active = vscode.window.activeTextEditor?.document.uri.toString();
    const working = this.#sessions.filter((s) => s.request.phase !== 'composing');
    return working.find((s) => s.uri.toString() === active) ?? working.at(-1);
  }

  async #decide(subject: unknown, verdict: Verdict): Promise<void> {
    if (isSpot(subject)) {
      return subject.session.decide(subject.ref, verdict);
    }
    const { owner, ref } = (subject ?? {}) as Partial<NoteComment<InlineSession>>;
    if (owner && ref) {
      return owner.decide(ref, verdict);
    }
    const nearest = this.#nearest();
    await nearest?.session.decide(nearest.ref, verdict);
  }

  /** The undecided place that is nearest to the cursor. */
  #nearest(): Spot | undefined {
    const editor = vscode.window.activeTextEditor;
    const line = editor?.selection.active.line ?? 0;
    const distance = (spot: Spot): number => Math.abs(spot.line - line);
    return this.#sessions
      .flatMap(spotsOf)
      .filter((spot) => spot.session.uri.toString() === editor?.document.uri.toString())
      .sort((a, b) => distance(a) - distance(b))[0];
  }

  #answerCall(comment: unknown, allowed: boolean): void {
    const { owner, ref } = (comment ?? {}) as Partial<NoteComment<InlineSession>>;
    if (owner && ref?.kind === 'call') {
      owner.answerCall(ref.ask, allowed ? 'once' : 'deny');
    }
  }

  async #continueInChat(session: InlineSession | undefined): Promise<void> {
    session?.close();
    await this.panel.focus(session?.cwd);
  }

  async #openDiff(session: InlineSession | undefined): Promise<void> {
    const ask = session?.request.asks.find((a) => a.kind === 'change' || a.diff !== '');
    const params = session && ask && this.approvals.find(session.cwd, ask.id);
    if (params) {
      await this.diffs.open(params);
    }
  }

  #changed(): void {
    this.#sessions = this.#sessions.filter((s) => !s.isClosed);
    const phases = this.#sessions.map((s) => s.request.phase);
    const reviewing = this.#sessions.some((s) => spotsOf(s).length > 0);
    void vscode.commands.executeCommand('setContext', reviewingKey, reviewing);
    const running = phases.includes('running') || phases.includes('queued');
    void vscode.commands.executeCommand('setContext', runningKey, running);
    this.#marks.update();
  }

  dispose(): void {
    [...this.#sessions].forEach((s) => s.dispose());
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}

const isSpot = (subject: unknown): subject is Spot =>
  typeof subject === 'object' && subject !== null && 'session' in subject && subject.session instanceof InlineSession;

/** The user can hide all threads of comments. */
const threadsAreHidden = (): boolean => !vscode.workspace.getConfiguration('comments').get<boolean>('visible', true);

const askInBox = (range: vscode.Range): Thenable<string | undefined> =>
  vscode.window.showInputBox({
    title: vscode.l10n.t('Change lines {0} to {1}', range.start.line + 1, range.end.line + 1),
    prompt: vscode.l10n.t('You review the change before it is applied.'),
    placeHolder: vscode.l10n.t('Describe the change'),
    ignoreFocusOut: true,
  });

/** Returns the lines that a selection touches; without a selection, the line of the cursor. */
function wholeLines(document: vscode.TextDocument, selection: vscode.Range | undefined): vscode.Range {
  const start = selection?.start.line ?? 0;
  const endsBefore = selection && !selection.isEmpty && selection.end.character === 0 && selection.end.line > start;
  const end = selection ? selection.end.line - (endsBefore ? 1 : 0) : Math.max(0, document.lineCount - 1);
  return new vscode.Range(start, 0, end, document.lineAt(Math.min(end, document.lineCount - 1)).range.end.character);
}
