import * as vscode from 'vscode';

import type { Note, Ref, View } from './texts';

/** The name of the comment controller, which conditions in package.json use. */
export const controllerId = 'xcshLs.inline';

/** A comment, and what its buttons are about. */
export interface NoteComment<Owner> extends vscode.Comment {
  readonly owner: Owner;
  readonly ref: Ref | undefined;
}

/** Creates the controller of the threads in which requests are written and answered. */
export function createController(): vscode.CommentController {
  const controller = vscode.comments.createCommentController(controllerId, 'xcsh');
  controller.options = {
    prompt: vscode.l10n.t('Describe another change'),
    placeHolder: vscode.l10n.t('Describe the change. You review it before it is applied.'),
  };
  return controller;
}

/** The thread of one request in the text. */
export class Thread<Owner> implements vscode.Disposable {
  readonly #thread: vscode.CommentThread;
  #shown = '';

  constructor(
    thread: vscode.CommentThread,
    private readonly owner: Owner,
  ) {
    this.#thread = thread;
    this.#thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
  }

  get uri(): vscode.Uri {
    return this.#thread.uri;
  }

  /** Reports whether a command is about this thread. */
  is(thread: unknown): boolean {
    return thread === this.#thread;
  }

  get range(): vscode.Range {
    return this.#thread.range;
  }

  /** False if the user collapsed it. */
  get isExpanded(): boolean {
    return this.#thread.collapsibleState === vscode.CommentThreadCollapsibleState.Expanded;
  }

  /** Shows the state of the request. Comments are replaced only if they differ, because the editor draws them again. */
  show(view: View): void {
    this.#thread.label = view.label;
    this.#thread.contextValue = view.context;
    this.#thread.canReply = view.canReply;
    const shown = JSON.stringify(view.notes.map((n) => [n.author, n.label, n.body.value, n.context]));
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#thread.comments = view.notes.map((note) => this.#comment(note));
    }
  }

  #comment(note: Note): NoteComment<Owner> {
    return {
      author: { name: note.author },
      body: note.body,
      mode: vscode.CommentMode.Preview,
      ...(note.label === undefined ? {} : { label: note.label }),
      ...(note.context === undefined ? {} : { contextValue: note.context }),
      owner: this.owner,
      ref: note.ref,
    };
  }

  dispose(): void {
    this.#thread.dispose();
  }
}
