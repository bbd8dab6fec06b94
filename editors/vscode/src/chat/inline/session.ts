import { createHash } from 'node:crypto';
import * as path from 'node:path';
import * as vscode from 'vscode';

import type { Host, LocalFolder } from '../../host';
import type { ApproveAnswer, ApproveParams, SessionEvent } from '../../wire.gen';
import type { Approvals, Reviewer } from '../approvals';
import { attachmentOf } from '../files';
import { instruction } from '../instruction';
import type { Decision } from '../messages';
import { warningsOf } from '../warnings';
import { DocumentEdits, openDocument, replace } from './edits';
import { Proposal, type Verdict } from './proposal';
import { endOf, InlineRequest, type Ask, type ChangeAsk, type Effect, type End, type Made } from './request';
import { heading, viewOf, type Ref } from './texts';
import { Thread } from './thread';
import type { Turns } from './turns';

/** The tools whose calls are reviewed as changes. */
const changing = new Set(['edit', 'write']);

/** The services of a request in the text. */
export interface Services {
  readonly host: Host;
  readonly approvals: Approvals;
  readonly turns: Turns;
  /** Called when anything that is shown changed. */
  changed(): void;
}

/**
 * One request in the text: its thread, its turn, and the decisions about its changes. While the turn is
 * running, the thread asks for its approvals; if the file is hidden, the desk takes over.
 */
export class InlineSession implements Reviewer, vscode.Disposable {
  readonly request = new InlineRequest();
  readonly #thread: Thread<InlineSession>;
  readonly #handOvers = new Map<string, () => void>();
  readonly #subscriptions: vscode.Disposable[];
  #edits: DocumentEdits | undefined;
  #stop: vscode.CancellationTokenSource | undefined;
  /** The folder's current turn is that of this request. */
  #isOurs = false;
  #args: Record<string, unknown> = {};
  #closed = false;

  constructor(
    private readonly services: Services,
    private readonly folder: LocalFolder,
    thread: vscode.CommentThread,
  ) {
    this.#thread = new Thread<InlineSession>(thread, this);
    const { uri } = thread;
    this.#subscriptions = [
      vscode.window.onDidChangeVisibleTextEditors(() => this.#handOverUnseen()),
      vscode.workspace.onDidCloseTextDocument((d) => d.uri.toString() === uri.toString() && this.#documentClosed()),
      services.approvals.onSettled((cwd, id, decision) => cwd === this.cwd && this.#settled(id, decision)),
    ];
  }

  get uri(): vscode.Uri {
    return this.#thread.uri;
  }

  get cwd(): string {
    return this.folder.cwd;
  }

  /** The text of the file, as the editor has it. */
  get text(): string | undefined {
    return openDocument(this.uri)?.getText();
  }

  is(thread: unknown): boolean {
    return this.#thread.is(thread);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  // --- the turn ---------------------------------------------------------------------

  /** Sends the user's words and follows the turn to its end. It does not reject. */
  async send(wish: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(this.uri);
    if (!this.request.send(wish)) {
      return;
    }
    const stop = (this.#stop = new vscode.CancellationTokenSource());
    const edits = this.#replaceEdits(document);
    const ending = [
      this.services.approvals.review(this),
      this.services.host.onNotification('xcsh/event', ({ cwd, event }) => cwd === this.cwd && this.#follow(event)),
    ];
    this.#draw();
    let end: End;
    try {
      const { message, stopReason } = await this.services.turns.run({
        cwd: this.cwd,
        token: stop.token,
        queued: () => this.#waits(true),
        sent: () => this.#waits(false),
        send: () => this.services.host.request('xcsh.prompt', this.#promptArgs(document), stop.token),
      });
      end = stopReason === 'aborted' ? { stopped: true } : { answer: textOf(message) };
    } catch (error) {
      end = endOf(error);
    } finally {
      this.#isOurs = false;
      for (const over of ending) {
        if (typeof over === 'function') over();
        else over.dispose();
      }
      this.#handOverAll();
      stop.dispose();
      this.#stop = undefined;
    }
    this.request.setMade(edits.made);
    this.request.finish(end);
    this.#draw();
  }

  #promptArgs(document: vscode.TextDocument): { cwd: string; text: string } {
    const range = document.validateRange(this.#thread.range);
    const name = path.relative(this.cwd, this.uri.fsPath);
    const attached = attachmentOf(this.uri, this.folder, range).range ?? null;
    const args = {
      cwd: this.cwd,
      text: this.request.wish,
      literal: true,
      instruction: instruction(name, range.start.line + 1, range.end.line + 1),
      attachments: [{ uri: this.uri.toString(), range: attached }],
    };
    this.#args = args;
    return args;
  }

  #replaceEdits(document: vscode.TextDocument): DocumentEdits {
    this.#edits?.dispose();
    this.#edits = new DocumentEdits(this.services.host, document, () => this.#documentChanged());
    return this.#edits;
  }

  #waits(queued: boolean): void {
    if (queued) {
      this.#isOurs = false;
      this.#handOverAll(); // the approvals of another turn
      this.request.queue();
    } else {
      this.request.resume();
    }
    this.#draw();
  }

  #follow(event: SessionEvent): void {
    if (event.type === 'agent_start' && this.request.phase === 'running') {
      this.#isOurs = true;
    } else if (event.type === 'tool_execution_end') {
      this.#edits?.callEnded();
    }
    if (this.#isOurs && this.request.follow(event)) {
      this.#draw();
    }
  }

  stop(): void {
    this.#stop?.cancel();
  }

  // --- approvals --------------------------------------------------------------------

  claims(): boolean {
    return this.#isOurs && this.request.phase === 'running';
  }

  review(params: ApproveParams): Promise<ApproveAnswer | undefined> {
    return new Promise((resolve) => {
      this.#handOvers.set(params.id, () => resolve(undefined));
      this.request.ask(this.#askOf(params));
      this.#draw();
      if (!this.#isSeen()) {
        this.#handOver(params.id);
      }
    });
  }

  #askOf(params: ApproveParams): Ask {
    const { id, tool, diff = '', paths } = params;
    const warnings = warningsOf(params);
    const { text } = this;
    if (changing.has(tool) && paths?.length === 1 && paths[0] === this.uri.fsPath && text !== undefined) {
      const proposal = new Proposal(diff, text);
      if (proposal.hunks.length > 0) {
        return { kind: 'change', id, proposal, isRevisable: Boolean(params.base) && !params.hosted, warnings };
      }
    }
    return { kind: 'call', id, title: params.title ?? tool, diff, warnings };
  }

  /** Reports whether the user can see the thread. */
  #isSeen(): boolean {
    const visible = vscode.workspace.getConfiguration('comments').get<boolean>('visible', true);
    const uri = this.uri.toString();
    const isOpen = vscode.window.visibleTextEditors.some((e) => e.document.uri.toString() === uri);
    return visible && isOpen && this.#thread.isExpanded;
  }

  #handOverUnseen(): void {
    if (this.#handOvers.size > 0 && !this.#isSeen()) {
      this.#handOverAll();
    }
  }

  /** Lets the desk ask too. The thread can still answer. */
  #handOver(id: string): void {
    this.#handOvers.get(id)?.();
    this.#handOvers.delete(id);
  }

  #handOverAll(): void {
    [...this.#handOvers.keys()].forEach((id) => this.#handOver(id));
  }

  #settled(id: string, decision: Decision): void {
    this.#handOvers.delete(id);
    const isChange = this.request.changes.some((ask) => ask.id === id);
    if (isChange && decision !== 'deny') {
      this.#edits?.skip(); // the user approved it
    }
    this.request.settled(id);
    this.#draw();
  }

  /** Answers the approval of a command, or of a change of another file. */
  answerCall(id: string, decision: Decision): void {
    this.services.approvals.decide(this.cwd, id, decision);
  }

  // --- decisions --------------------------------------------------------------------

  /** Keeps or undoes the change that a button is about. */
  async decide(ref: Ref, verdict: Verdict): Promise<void> {
    if (ref.kind === 'hunk') {
      await this.#perform(this.request.decideHunk(ref.ask, ref.index, verdict, this.text ?? ''));
    } else if (ref.kind === 'made') {
      await this.#decideMade([ref.made], this.request.decideMade(ref.made.hunk, verdict));
    }
    this.#draw();
  }

  /** Keeps or undoes everything that is undecided. */
  async decideAll(verdict: Verdict): Promise<void> {
    const effects = this.request.decideAll(verdict, this.text ?? '');
    if (this.request.phase === 'review') {
      // Changes that the user edited since are kept.
      const untouched = effects.map((e) => (e.kind === 'revert' ? { ...e, made: e.made.filter(isUntouched) } : e));
      const touched = this.request.made.filter((made) => !isUntouched(made)).length;
      await this.#decideMade(this.request.made, untouched);
      if (verdict === 'undo' && touched > 0) {
        const name = path.basename(this.uri.fsPath);
        void vscode.window.showWarningMessage(
          vscode.l10n.t('Some parts of the change to {0} were edited later and have been kept.', name),
        );
      }
    } else {
      await this.#perform(effects);
    }
    this.#draw();
  }

  async #decideMade(decided: readonly Made[], effects: readonly Effect[]): Promise<void> {
    decided.forEach(({ hunk }) => this.#edits?.applied.keep(hunk)); // first: the undo is an edit too
    await this.#perform(effects);
    this.request.setMade(this.#edits?.made ?? []);
  }

  async #perform(effects: readonly Effect[]): Promise<void> {
    for (const effect of effects) {
      if (effect.kind === 'answer') {
        await this.#answer(effect.ask);
      } else {
        await this.#replace(effect.made.map(({ hunk: h }) => ({ offset: h.start, length: h.length, text: h.old })));
      }
    }
  }

  async #answer({ id, proposal, isRevisable }: ChangeAsk): Promise<void> {
    const { approvals } = this.services;
    const text = this.text ?? '';
    const outcome = proposal.outcome(text);
    if (outcome?.kind !== 'revise') {
      approvals.decide(this.cwd, id, outcome?.kind === 'allow' ? 'once' : 'deny');
    } else if (isRevisable) {
      await this.#revise(id, text, outcome.text);
    } else if (await this.#replace(outcome.hunks)) {
      approvals.decide(this.cwd, id, 'deny', outcome.reason);
    }
  }

  /** Allows a call with another text of the file than the proposed one. The server refuses it if the file changed. */
  async #revise(id: string, text: string, content: string): Promise<void> {
    const base = createHash('sha256').update(text).digest('hex');
    this.#edits?.skip(); // the user approved it
    try {
      await this.services.host.request('xcsh.approve', { cwd: this.cwd, id, decision: 'once', content, base });
    } catch (error) {
      this.#edits?.callEnded();
      await this.services.host.showError(error);
    }
  }

  async #replace(parts: readonly { offset: number; length: number; text: string }[]): Promise<boolean> {
    const document = openDocument(this.uri);
    const done = document !== undefined && (await replace(document, parts));
    if (!done) {
      const name = path.basename(this.uri.fsPath);
      void vscode.window.showWarningMessage(vscode.l10n.t("Couldn't change {0}.", name));
    }
    return done;
  }

  /** Shows the error of the turn with the ways to continue. */
  async showOptions(): Promise<void> {
    await this.services.host.showError(this.request.end.error, { command: 'xcsh.prompt', args: this.#args });
  }

  // --- the file ---------------------------------------------------------------------

  #documentChanged(): void {
    const { text } = this;
    if (text !== undefined) {
      this.request.update(text);
    }
    if (this.request.phase === 'review' && this.#edits) {
      this.request.setMade(this.#edits.made);
    }
    this.#draw();
  }

  /** The changes of a closed file can't be undone here any more. */
  #documentClosed(): void {
    this.#handOverAll();
    if (this.request.phase === 'review') {
      this.close();
    }
  }

  #draw(): void {
    if (this.#closed) {
      return;
    }
    if (this.request.phase === 'done') {
      return this.close();
    }
    const { start, end } = this.#thread.range;
    this.#thread.show(viewOf(this.request, heading(start.line, end.line)));
    this.services.changed();
  }

  /** Removes the thread. A running turn continues, and the desk asks about its approvals. */
  close(): void {
    if (this.#closed) {
      return;
    }
    this.#closed = true;
    this.request.close();
    this.#isOurs = false;
    this.#handOverAll();
    this.#edits?.dispose();
    vscode.Disposable.from(this.#thread, ...this.#subscriptions).dispose();
    this.services.changed();
  }

  dispose(): void {
    this.close();
  }
}

const isUntouched = (made: Made): boolean => !made.hunk.touched;

function textOf(message: unknown): string {
  const content = (message as { content?: unknown } | undefined)?.content;
  if (!Array.isArray(content)) {
    return '';
  }
  return content
    .map((b: { type?: unknown; text?: unknown }) => (b.type === 'text' && typeof b.text === 'string' ? b.text : ''))
    .join('\n')
    .trim();
}
