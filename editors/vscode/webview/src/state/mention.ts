// The @file that is being written in front of the cursor.

export interface Mention {
  from: number; // of the @
  query: string;
}

/** The mention that ends at the cursor, undefined when there is none. */
export function mentionAt(text: string, cursor: number): Mention | undefined {
  const before = text.slice(0, cursor);
  const m = /(?:^|[\s(])@([^\s@]{0,200})$/.exec(before);
  return m ? { from: cursor - m[1]!.length - 1, query: m[1]! } : undefined;
}

/** The text with the mention replaced, and where the cursor is then. */
export function complete(text: string, cursor: number, m: Mention, name: string): { text: string; cursor: number } {
  const head = text.slice(0, m.from) + '@' + name + ' ';
  return { text: head + text.slice(cursor).replace(/^ /, ''), cursor: head.length };
}
