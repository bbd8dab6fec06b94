// The @file mention that is being typed before the cursor.

export interface Mention {
  from: number; // offset of the @
  query: string;
}

/** Returns the mention that ends at the cursor, undefined if there is none. */
export function mentionAt(text: string, cursor: number): Mention | undefined {
  const before = text.slice(0, cursor);
  const m = /(?:^|[\s(])@([^\s@]{0,200})$/.exec(before);
  return m ? { from: cursor - m[1]!.length - 1, query: m[1]! } : undefined;
}

/** Returns the text with the mention replaced, and the new cursor position. */
export function complete(text: string, cursor: number, m: Mention, name: string): { text: string; cursor: number } {
  const head = text.slice(0, m.from) + '@' + name + ' ';
  return { text: head + text.slice(cursor).replace(/^ /, ''), cursor: head.length };
}
