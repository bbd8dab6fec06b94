import * as vscode from 'vscode';

import { visible } from '../visible';
import type { Doing } from './progress';
import type { Ask, ChangeAsk, InlineRequest, Made } from './request';

/** A longer change is cut, and the diff editor shows it completely. In lines. */
const maxLines = 200;
const maxAnswer = 2000;

/** What a note's buttons are about. */
export type Ref =
  | { readonly kind: 'hunk'; readonly ask: string; readonly index: number }
  | { readonly kind: 'made'; readonly made: Made }
  | { readonly kind: 'call'; readonly ask: string };

/** A comment of the thread. */
export interface Note {
  readonly author: string;
  readonly label?: string;
  readonly body: vscode.MarkdownString;
  /** Selects the buttons. */
  readonly context?: 'hunk' | 'made' | 'call';
  readonly ref?: Ref;
}

/** The content of the thread. */
export interface View {
  readonly label: string;
  /** Selects the buttons. */
  readonly context: 'running' | 'review' | 'asking' | 'ended' | 'failed';
  readonly canReply: boolean;
  readonly notes: readonly Note[];
}

/** Text of a model or of a file is no markup. */
const plain = (text: string): vscode.MarkdownString => new vscode.MarkdownString().appendText(visible(text));

/** Returns a block of code that its content cannot close. */
export function block(code: string, language: string): string {
  const longest = Math.max(2, ...(code.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `\n${fence}${language}\n${code}\n${fence}\n`;
}

function diffBody(diff: string, warnings: readonly string[] = []): vscode.MarkdownString {
  const lines = visible(diff).split('\n');
  const body = plain(warnings.join('\n'));
  body.value += block(lines.slice(0, maxLines).join('\n'), 'diff');
  if (lines.length > maxLines) {
    body.appendText(vscode.l10n.t('{0} more lines. Open the diff to see all of them.', lines.length - maxLines));
  }
  return body;
}

const lineLabel = (line: number): string => vscode.l10n.t('Line {0}', line + 1);

function changeNotes(ask: ChangeAsk): Note[] {
  const { proposal } = ask;
  return proposal.hunks.map((hunk, index): Note => {
    const verdict = proposal.verdict(index);
    const decided =
      verdict === 'keep'
        ? vscode.l10n.t('kept, applied when all changes are decided')
        : verdict === 'undo'
          ? vscode.l10n.t('undone')
          : '';
    const open = proposal.fits && verdict === undefined;
    return {
      author: lineLabel(hunk.line),
      ...(decided ? { label: decided } : {}),
      body: diffBody(hunk.diff, index === 0 ? ask.warnings : []),
      ...(open ? { context: 'hunk' as const, ref: { kind: 'hunk' as const, ask: ask.id, index } } : {}),
    };
  });
}

function askNotes(ask: Ask): Note[] {
  if (ask.kind === 'change') {
    return changeNotes(ask);
  }
  const text = [ask.title, ...ask.warnings].join('\n');
  return [
    {
      author: 'xcsh',
      label: vscode.l10n.t('needs your approval'),
      body: ask.diff ? diffBody(ask.diff, [text]) : plain(text),
      context: 'call',
      ref: { kind: 'call', ask: ask.id },
    },
  ];
}

function madeNote(made: Made): Note {
  return {
    author: lineLabel(made.line),
    ...(made.hunk.touched ? { label: vscode.l10n.t('edited by you since') } : {}),
    body: diffBody(made.diff),
    context: 'made',
    ref: { kind: 'made', made },
  };
}

function doingText(doing: Doing): string {
  switch (doing.kind) {
    case 'thinking':
      return vscode.l10n.t('Thinking…');
    case 'answering':
      return vscode.l10n.t('Answering…');
    case 'retrying':
      return vscode.l10n.t('Trying again…');
    case 'compacting':
      return vscode.l10n.t('Compacting the conversation…');
    case 'tool':
      return vscode.l10n.t('Running {0}…', visible(doing.name));
  }
}

/** Returns the heading of a request about lines, counted from 0. */
export function heading(first: number, last: number): string {
  return first === last
    ? vscode.l10n.t('Change line {0}', first + 1)
    : vscode.l10n.t('Change lines {0} to {1}', first + 1, last + 1);
}

function reviewText(request: InlineRequest): string {
  const { changes } = request;
  if (changes.some((ask) => !ask.proposal.fits)) {
    return vscode.l10n.t('The file was edited, and this change no longer fits. Undo it, or restore the text.');
  }
  return changes.length > 0
    ? vscode.l10n.t('Review the change before it is applied')
    : vscode.l10n.t('xcsh needs your approval');
}

function endNote(request: InlineRequest): Note {
  const { answer, failure, stopped } = request.end;
  const text = stopped ? vscode.l10n.t('Stopped.') : (failure ?? (answer || vscode.l10n.t('xcsh made no changes.')));
  return { author: 'xcsh', body: plain(text.length > maxAnswer ? text.slice(0, maxAnswer) + '…' : text) };
}

/** Returns what the thread of a request shows; `lines` is the heading after the turn. */
export function viewOf(request: InlineRequest, lines: string): View {
  const said: Note = { author: vscode.l10n.t('You'), body: plain(request.wish) };
  switch (request.phase) {
    case 'queued': {
      const label = vscode.l10n.t('Waiting for the running turn to end…');
      return { label, context: 'running', canReply: false, notes: [said] };
    }
    case 'running': {
      const asks = request.asks.flatMap(askNotes);
      const label = asks.length > 0 ? reviewText(request) : doingText(request.doing);
      const context = request.changes.length > 0 ? 'asking' : 'running';
      return { label, context, canReply: false, notes: [said, ...asks] };
    }
    case 'review': {
      const label = vscode.l10n.t('Changed by xcsh. Keep or undo the changes.');
      const failed = request.end.failure === undefined && !request.end.stopped ? [] : [endNote(request)];
      return { label, context: 'review', canReply: false, notes: [said, ...request.made.map(madeNote), ...failed] };
    }
    case 'composing': // the editor shows the input
    case 'ended':
    case 'done': {
      const context = request.end.error === undefined ? 'ended' : 'failed';
      return { label: lines, context, canReply: true, notes: [said, endNote(request)] };
    }
  }
}
