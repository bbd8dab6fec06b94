// Answers of the server's own commands. They are shown in the conversation, but belong to no session.

import type { Item } from './model';

export interface LocalNote {
  key: string;
  sessionId: string; // the live session when it arrived
  command: string; // without the slash
  text: string; // Markdown
  after: string; // the key of the newest message when it arrived; "" if there was none
}

const maxNotes = 20;

/** Returns the notes with another one. The oldest ones are dropped. */
export const withNote = (notes: readonly LocalNote[], note: LocalNote): readonly LocalNote[] => [
  ...notes.slice(1 - maxNotes),
  note,
];

const none: readonly LocalNote[] = [];

/** Returns the notes below messages, in the order of their arrival. The list is the same one if there are none. */
export function notesBelow(notes: readonly LocalNote[], items: readonly Item[]): readonly LocalNote[] {
  if (notes.length === 0) return none;
  const keys = new Set(items.map(({ key }) => key));
  const found = notes.filter(({ after }) => keys.has(after));
  return found.length > 0 ? found : none;
}

/** Returns the notes that arrived before the first message. */
export function notesAbove(notes: readonly LocalNote[]): readonly LocalNote[] {
  const found = notes.filter(({ after }) => after === '');
  return found.length > 0 ? found : none;
}
