// The state of the page apart from the session.

import type { Attachment, Init } from '../../../src/chat/messages';
import type { Way } from '../../../src/chat/ways';
import type { Alternatives } from '../state/branches';
import type { Kept } from '../state/draft';
import type { LocalNote } from '../state/localNotes';

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

/** Returns the state of a page that knows nothing but what an earlier one kept. */
export const emptyUi = (kept: Kept): Ui => ({
  init: null,
  kept,
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
});
