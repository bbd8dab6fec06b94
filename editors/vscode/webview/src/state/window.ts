// The loaded part of a long conversation. The newest messages are always loaded, so that events apply
// to them. While the user reads far from the end, the page shows another part (`away`) with pages of
// its own; when that reaches the newest messages, the two become one.

import type { PageEnd, SnapshotMessage } from './wire';
import { itemsOf, joinedItems, withoutRunning } from './items';
import type { Away, Edge, Item, Part, View } from './model';

/** The most messages in the page, tool results included. */
export const maxMessages = 1000;
/** The messages of one request. */
export const pageMessages = 100;
// What remains when messages far from view are dropped: fewer than the maximum, so that this is rare.
const keptMessages = 900;
const keptAway = 700;
const maxAway = 800;
const maxTail = maxMessages - maxAway;

/** Consecutive messages from the server, oldest first, and what is beyond them. */
export interface MessagePage {
  messages: readonly SnapshotMessage[];
  older: PageEnd | null;
  newer: PageEnd | null;
}

/** The number of messages in an item: itself, and the results of its calls. */
function weight(item: Item): number {
  let n = 1;
  for (const id in item.calls) if (item.calls[id]!.entryId) n++;
  return n;
}

/** Returns the number of messages in items. */
export function messageCount(items: readonly Item[]): number {
  let n = 0;
  for (const item of items) n += weight(item);
  return n;
}

/** Returns the messages that are drawn. */
export function shownItems(view: View): readonly Item[] {
  return view.away ? view.away.items : view.items;
}

/** Returns the end of the drawn messages in a direction, null if there are no more. */
export function edgeOf(view: View, to: 'older' | 'newer'): Edge | null {
  if (to === 'newer') return view.away ? view.away.newer : null;
  return view.away ? view.away.older : view.older;
}

/** Returns the item with an entry, which can be the result of a call. */
export function itemWith(items: readonly Item[], entryId: string): Item | undefined {
  return items.find((item) => item.entryId === entryId || Object.values(item.calls).some((c) => c.entryId === entryId));
}

/** Returns the edge before the first of the items. */
export function olderEdge(items: readonly Item[], end: PageEnd | null): Edge | null {
  return end && { entryId: items[0]?.entryId ?? '', ...end };
}

/** Returns the id of the newest entry in items. */
function lastEntry(items: readonly Item[]): string {
  const last = items.at(-1);
  const results = Object.values(last?.calls ?? {}).flatMap((c) => c.entryId ?? []);
  return results.at(-1) ?? last?.entryId ?? '';
}

/** Returns the number of messages behind an earlier part. */
function behind(view: View, part: Part): number {
  const total = (view.older?.count ?? 0) + messageCount(view.items);
  return Math.max(0, total - (part.older?.count ?? 0) - messageCount(part.items));
}

/** Returns a part with the edge towards the newest messages behind its last item. */
function asAway(view: View, part: Part, cursor = ''): Away {
  const { items, older } = part;
  return { items, older, newer: { entryId: lastEntry(items), cursor, count: behind(view, part) } };
}

/** Reports whether two neighbors are of one entry: the server's pages by entry contain both or neither. */
const together = (a: Item | undefined, b: Item | undefined) => a !== undefined && a.entryId === b?.entryId;

/** Returns the part without its oldest messages, so that at most `most` remain, but one item. */
function withoutOldest(part: Part, most: number): Part {
  const { items } = part;
  let [at, n] = [items.length, 0];
  while (at > 0 && (n === 0 || n + weight(items[at - 1]!) <= most)) n += weight(items[--at]!);
  // A message that is in no entry yet cannot be the edge.
  while (at > 0 && (!items[at]!.entryId || together(items[at - 1], items[at]))) at--;
  if (at === 0) return part;
  const kept = items.slice(at);
  const count = (part.older?.count ?? 0) + messageCount(items) - messageCount(kept);
  return { items: kept, older: { entryId: kept[0]!.entryId, cursor: '', count } };
}

/** Returns the first items with at most `most` messages, but one item. */
function oldestOf(items: readonly Item[], most: number): readonly Item[] {
  let [at, n] = [0, 0];
  while (at < items.length && (n === 0 || n + weight(items[at]!) <= most)) n += weight(items[at++]!);
  while (at < items.length && together(items[at - 1], items[at])) at++;
  return items.slice(0, at);
}

/** Reports whether a message is in the older half of the items. */
function inOlderHalf(items: readonly Item[], key: string): boolean {
  const at = items.findIndex((item) => item.key === key);
  return at >= 0 && messageCount(items.slice(0, at)) * 2 < messageCount(items);
}

/**
 * Returns the view with at most maxMessages messages. Those far from the message that the user reads
 * are dropped; without such a message, the user is at the end.
 */
export function bounded(view: View, reading: string): View {
  const { away } = view;
  const tail = messageCount(view.items);
  if (!away) {
    if (tail <= maxMessages) return view;
    return inOlderHalf(view.items, reading) ? leftBehind(view) : { ...view, ...withoutOldest(view, keptMessages) };
  }
  const out = tail > maxTail ? { ...view, ...withoutOldest(view, pageMessages) } : view;
  if (messageCount(away.items) <= maxAway) return recounted(out);
  if (inOlderHalf(away.items, reading))
    return { ...out, away: asAway(out, { ...away, items: oldestOf(away.items, keptAway) }) };
  return recounted({ ...out, away: { ...away, ...withoutOldest(away, keptAway) } });
}

/** Splits the view: the user reads the older part, and the newest messages are kept for events. */
function leftBehind(view: View): View {
  const part = { items: oldestOf(view.items, keptAway), older: view.older };
  const out = { ...view, ...withoutOldest(view, pageMessages) };
  return { ...out, away: asAway(out, part) };
}

/** Updates the number of messages behind an earlier part, which new messages change. */
function recounted(view: View): View {
  const { away } = view;
  if (!away) return view;
  const count = behind(view, away);
  return count === away.newer.count ? view : { ...view, away: { ...away, newer: { ...away.newer, count } } };
}

/** Returns the view with a page added at an edge; unchanged if the edge is no longer there. */
export function withPage(view: View, edge: Edge, page: MessagePage): View {
  const { away } = view;
  if (away?.older === edge) return settled({ ...view, away: { ...away, ...withOlder(away, page) } });
  if (away && sameEnd(away.newer, edge)) return settled(continued(view, away, page));
  if (view.older === edge) return settled({ ...view, ...withOlder(view, page) });
  return view;
}

/** Reports whether two edges are at the same message; their counts can differ. */
const sameEnd = (a: Edge, b: Edge) => a.entryId === b.entryId && a.cursor === b.cursor;

/** Identifies a message: two of different roles can be of one entry. */
const identity = (entryId: string, role: string) => `${entryId} ${role}`;

/** Returns the identities of the stored messages in items. */
function identities(items: readonly Item[]): Set<string> {
  const out = new Set<string>();
  for (const item of items) {
    if (item.entryId) out.add(identity(item.entryId, item.message.role));
    for (const c of Object.values(item.calls)) if (c.entryId) out.add(identity(c.entryId, 'toolResult'));
  }
  return out;
}

const identityOf = (m: SnapshotMessage) => identity(m.entryId, m.message.role);

function withOlder(part: Part, page: MessagePage): Part {
  const known = identities(part.items);
  const added = itemsOf(page.messages.filter((m) => !known.has(identityOf(m))));
  const items = joinedItems(added, part.items);
  // Without progress, the page would request the same messages forever.
  return { items, older: added.length > 0 ? olderEdge(items, page.older) : null };
}

/** Returns the view with a page behind the earlier part, which can reach the newest messages. */
function continued(view: View, away: Away, page: MessagePage): View {
  const known = identities(away.items);
  const { before, meets } = upToTail(view, page);
  const added = before.filter((m) => !known.has(identityOf(m)));
  const part = { items: joinedItems(away.items, itemsOf(added)), older: away.older };
  if (meets || page.messages.length === 0) return reunited(view, part);
  const next = asAway(view, part, page.newer?.cursor);
  // Results of parallel calls are in any order, so that the last entry of the page can be another one.
  return { ...view, away: { ...next, newer: { ...next.newer, entryId: page.messages.at(-1)!.entryId } } };
}

/** Returns the messages of a page before the newest messages, to which only events add. */
function upToTail(view: View, page: MessagePage): { before: readonly SnapshotMessage[]; meets: boolean } {
  const newest = identities(view.items);
  const at = page.messages.findIndex((m) => newest.has(identityOf(m)));
  return at < 0 ? { before: page.messages, meets: false } : { before: page.messages.slice(0, at), meets: true };
}

/** Returns the view with an earlier part directly before the newest messages. */
function reunited(view: View, part: Part): View {
  const known = identities(part.items);
  const rest = view.items.filter((item) => !known.has(identity(item.entryId, item.message.role)));
  return { ...view, items: joinedItems(part.items, rest), older: part.older, away: null };
}

/** Returns the view with a page from anywhere in the conversation shown. */
export function jumpedTo(view: View, page: MessagePage): View {
  const { before, meets } = upToTail(view, page);
  const items = itemsOf(before);
  const part = { items, older: olderEdge(items, page.older) };
  if (meets) return settled(items.length > 0 ? reunited(view, part) : atEnd(view));
  return settled({ ...view, away: asAway(view, part, page.newer?.cursor) });
}

/**
 * Calls of earlier messages get no results any more, unless their turn is still running. Results of the
 * last message of an earlier part can be on the next page.
 */
function settled(view: View): View {
  const { away } = view;
  return {
    ...view,
    items: view.running ? view.items : withoutRunning(view.items),
    away: away && { ...away, items: [...withoutRunning(away.items.slice(0, -1)), ...away.items.slice(-1)] },
  };
}

/** Returns the view with the newest messages shown. */
export function atEnd(view: View): View {
  return view.away ? { ...view, away: null, loading: null, loadError: '' } : view;
}

/**
 * Returns the view of a snapshot with the earlier messages that are loaded. They are dropped if the
 * conversation before the snapshot's messages is another one.
 */
export function retained(fresh: View, was: View): View {
  const known = identities(was.items);
  const isNew = (item: Item) => !known.has(identity(item.entryId, item.message.role));
  // Results at the beginning can belong to an answer that is loaded.
  const start = fresh.items.findIndex((item) => item.message.role !== 'toolResult');
  const at = was.items.findIndex((item) => start >= 0 && together(item, fresh.items[start]));
  if (!fresh.older || at < 0 || !fresh.items[start]!.entryId) return fresh;
  const before = was.items.slice(0, at);
  if ((was.older?.count ?? 0) + messageCount(before) !== fresh.older.count + start) return fresh;
  const own = [...fresh.items.slice(0, start).filter(isNew), ...fresh.items.slice(start)];
  const older = at > 0 ? was.older : fresh.older;
  return recounted({ ...fresh, items: joinedItems(before, own), older, away: was.away });
}
