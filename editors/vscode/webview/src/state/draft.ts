// The state that survives hiding and reloading the page: only data that the server does not have.

import type { Attachment } from '../../../src/chat/messages';
import { list, num, obj, str } from './wire';

/** A prompt that was sent but is not in the session yet; it is kept in case the server exits. */
export interface Outgoing {
  text: string;
  attachments: Attachment[];
}

/** A prompt that waits until a model can answer in its session. */
export interface Waiting extends Outgoing {
  editing: string; // the message that it replaces; "" is none
  sessionId: string;
  since: number; // milliseconds since 1970
}

/** A message, and its distance from the top of the view in pixels. */
export interface Place {
  entryId: string;
  top: number;
}

export interface Kept {
  at: number; // when it was saved, in milliseconds since 1970; 0 is never
  cwd: string;
  text: string;
  attachments: Attachment[];
  editing: string; // the message that is being edited; "" is none
  sent: Outgoing | null;
  waiting: Waiting | null;
  folds: Record<string, boolean>;
  scroll: number | null; // distance from the end of the drawn messages in pixels; null follows the end
  place: Place | null; // the first message in view; null if it is in no entry
}

/** Returns texts as one, with an empty line between them. Blank ones are left out. */
export const joined = (...parts: readonly string[]): string => parts.filter((part) => part.trim() !== '').join('\n\n');

export const nothingKept: Kept = {
  at: 0,
  cwd: '',
  text: '',
  attachments: [],
  editing: '',
  sent: null,
  waiting: null,
  folds: {},
  scroll: null,
  place: null,
};

const maxFolds = 500;

/** Reads the state that an older page saved, without trusting its shape. */
export function keptOf(v: unknown): Kept {
  const o = obj(v);
  const sent = obj(o.sent);
  const place = obj(o.place);
  const folds = Object.entries(obj(o.folds)).filter((e): e is [string, boolean] => typeof e[1] === 'boolean');
  return {
    at: num(o.at),
    cwd: str(o.cwd),
    text: str(o.text),
    attachments: attachmentsOf(o.attachments),
    editing: str(o.editing),
    sent: typeof sent.text === 'string' ? { text: sent.text, attachments: attachmentsOf(sent.attachments) } : null,
    waiting: waitingOf(o.waiting),
    folds: Object.fromEntries(folds.slice(-maxFolds)),
    scroll: typeof o.scroll === 'number' ? num(o.scroll) : null,
    place: typeof place.entryId === 'string' ? { entryId: place.entryId, top: num(place.top) } : null,
  };
}

function waitingOf(v: unknown): Waiting | null {
  const { text, attachments, editing, sessionId, since } = obj(v);
  if (typeof text !== 'string' || typeof sessionId !== 'string') return null;
  return { text, attachments: attachmentsOf(attachments), editing: str(editing), sessionId, since: num(since) };
}

function attachmentsOf(v: unknown): Attachment[] {
  return list(v)
    .map(obj)
    .filter((a) => typeof a.uri === 'string' && typeof a.name === 'string') as unknown as Attachment[];
}
