// The turns of the conversation that may have changed files.

import { isPrompt } from './prompt';
import { isAnswer } from './items';
import type { Item } from './model';
import { blocks, str } from './wire';

/** Tools that change no file. A turn that calls only these has no card. */
const readers: ReadonlySet<string> = new Set([
  'read',
  'grep',
  'glob',
  'find',
  'ls',
  'list',
  'search',
  'todo',
  'todo_write',
  'ask',
  'fetch',
  'web_fetch',
  'web_search',
  'exit_plan_mode',
]);

/** A turn: its prompt, and the prompt of the next turn, "" if it is the newest one. */
export interface Turn {
  promptId: string;
  next: string;
}

const calls = (item: Item): boolean =>
  isAnswer(item.message) &&
  blocks(item.message.content).some((b) => b.type === 'toolCall' && !readers.has(str(b.name)));

/**
 * Returns the turn that ends with an item, or null if none ends there, its prompt is not loaded, or it changed no files.
 * The end of the list is an end if there is nothing newer.
 */
export function turnEndingAt(items: readonly Item[], key: string, complete: boolean): Turn | null {
  const at = items.findIndex((item) => item.key === key);
  const after = items[at + 1];
  if (at < 0 || (after ? !isPrompt(after.message) : !complete)) return null;
  let works = false;
  for (let i = at; i >= 0; i--) {
    const item = items[i]!;
    if (isPrompt(item.message))
      return works && item.entryId ? { promptId: item.entryId, next: after?.entryId ?? '' } : null;
    works ||= calls(item);
  }
  return null;
}

/** Reports whether a turn ends between two items. */
export const endsTurn = (item: Item, next: Item | undefined): boolean =>
  !isPrompt(item.message) && (next === undefined || isPrompt(next.message));
