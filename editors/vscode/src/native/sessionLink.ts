/** The part of a line that names a session. */
export interface SessionLink {
  readonly start: number; // in UTF-16 units
  readonly length: number;
  readonly target: string;
  /** Whether the context identifies it as a session; otherwise any number of that form matches. */
  readonly certain: boolean;
}

/** The line in which terminal programs describe how to continue a session. */
const call = /\b(?:xcsh|omp|pi)\s+(?:--resume|--session|-r)[ =]("[^"]+"|'[^']+'|[^\s"'`]+)/g;

/** The ids of all programs: UUIDs, and 16 hexadecimal digits. */
const id = /(?<![\w.-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{16})(?![\w-])/g;

const maxLine = 2000; // characters; text beyond them is not searched for links

/** Returns the sessions that a terminal line names. Any program can have written the line. */
export function sessionLinks(line: string): SessionLink[] {
  const text = line.slice(0, maxLine);
  const links: SessionLink[] = [];
  for (const match of text.matchAll(call)) {
    const said = match[1]!;
    const quoted = /^["']/.test(said);
    const target = quoted ? said.slice(1, -1) : said.replace(/[.,;:)\]]+$/, ''); // punctuation of the sentence
    const isFile = target.endsWith('.jsonl') && !/[\\/]{2}/.test(target);
    if (isFile || /^\w[\w.-]{3,199}$/.test(target)) {
      const length = match[0].length - (quoted ? 0 : said.length - target.length);
      links.push({ start: match.index, length, target, certain: true });
    }
  }
  for (const match of text.matchAll(id)) {
    const inCall = links.some((link) => link.start <= match.index && match.index < link.start + link.length);
    if (!inCall) {
      links.push({ start: match.index, length: match[0].length, target: match[0], certain: false });
    }
  }
  return links;
}
