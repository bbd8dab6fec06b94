// Finds the place of a block of code in a file: an answer shows a whole file, or some of its functions, or a few lines
// between two others. The user reviews the result; where the place is not certain, there is none.

/** A part of a text that the user has selected, by offsets. */
export interface Selected {
  readonly start: number;
  readonly end: number;
}

/** Beyond this size, a block is not compared with the file. In lines. */
const maxLines = 20_000;

/** A comment that stands for code: `// ... existing code ...`. */
const leftOut = /^\s*(?:\/\/|#|--|;|%|\/\*|<!--|\{\/\*)?\s*(?:\.{3}|…)/;

/** The beginning of a declaration, with its name. */
const declaration =
  /^\s*(?:(?:export|default|async|public|private|protected|internal|static|final|abstract|override|virtual|inline|pub(?:\([a-z]+\))?|unsafe|extern|declare|readonly|local|open|data|sealed)\s+)*(?:def|class|func(?:tion\*?)?|fn|fun|sub|interface|type|struct|enum|trait|impl|module|namespace|object|const|let|var|val|macro_rules!)\s+(?:\([^)]{0,200}\)\s*)?([\p{L}_$][\p{L}\p{N}_$.:]*)/u;

/** The beginning of a line in which its declaration is searched. */
const beginning = 300;
const nameOf = (line: string): string | undefined => declaration.exec(line.slice(0, beginning))?.[1];

const comment = /^\s*(?:\/\/|#|--|\/?\*|;|@)/;
const closing = /^\s*(?:[})\]]|end\b|fi\b|done\b|esac\b)/;

const indentOf = (line: string): string => /^[ \t]*/.exec(line)![0];
const isBlank = (line: string): boolean => line.trim() === '';

/** Returns the text with a block of code in its place; undefined if the place is unknown. */
export function placed(text: string, code: string, selected?: Selected): string | undefined {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const block = trimmed(code.replace(/\r\n/g, '\n').split('\n'));
  if (selected && selected.end > selected.start) {
    return overSelection(text, block, selected, eol);
  }
  if (isBlank(text)) {
    return block.join(eol) + eol;
  }
  const lines = text.split(/\r?\n/);
  if (block.some((line) => leftOut.test(line.slice(0, beginning))) || lines.length + block.length > maxLines) {
    return undefined;
  }
  const whole = isWhole(lines, block) ? [...block, ''] : undefined;
  return (whole ?? inPlaceOfDeclarations(lines, block) ?? between(lines, block))?.join(eol);
}

function overSelection(text: string, block: readonly string[], { start, end }: Selected, eol: string): string {
  const selected = text.slice(start, end);
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const indent = isBlank(text.slice(lineStart, start)) ? indentOf(text.slice(lineStart)) : '';
  const first = selected.startsWith(indent) ? indent : '';
  const shifted = moved(block, indent).join(eol);
  const ending = /(?:\r?\n)+$/.exec(selected)?.[0] ?? '';
  return text.slice(0, start) + first + shifted.slice(indent.length) + ending + text.slice(end);
}

/** Returns lines with another indentation of the first one. */
function moved(lines: readonly string[], indent: string): string[] {
  const now = indentOf(lines.find((line) => !isBlank(line)) ?? '');
  return lines.map((line) => {
    if (isBlank(line)) return '';
    return line.startsWith(now) ? indent + line.slice(now.length) : line;
  });
}

/**
 * Reports whether a block is the whole file: it has all of the file's outermost declarations, and most of its lines or,
 * with the same first line, half of them.
 */
function isWhole(lines: readonly string[], block: readonly string[]): boolean {
  const filled = lines.filter((line) => !isBlank(line));
  const own = block.filter((line) => !isBlank(line));
  const names = new Set(partsOf(own).parts.map(({ name }) => name));
  const isOuter = (line: string): boolean => indentOf(line) === '' && nameOf(line) !== undefined;
  if (filled.some((line) => isOuter(line) && !names.has(nameOf(line)!))) {
    return false;
  }
  const rest = new Map<string, number>();
  for (const line of filled) rest.set(line, (rest.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of own) {
    const left = rest.get(line) ?? 0;
    if (left > 0) common++;
    rest.set(line, left - 1);
  }
  return common * 4 >= filled.length * (filled[0] === own[0] ? 2 : 3);
}

/** A declaration of a block, with the comments above it. */
interface Part {
  name: string;
  lines: string[];
}

/** Splits a block at its outermost declarations. */
function partsOf(block: readonly string[]): { before: string[]; parts: Part[] } {
  const outer = least(block.filter((line) => !isBlank(line)).map((line) => indentOf(line).length));
  const starts: { at: number; name: string }[] = [];
  block.forEach((line, i) => {
    const name = nameOf(line);
    if (name === undefined || indentOf(line).length !== outer) return;
    let at = i;
    while (at > 0 && comment.test(block[at - 1]!)) at--;
    starts.push({ at, name });
  });
  const parts = starts.map(({ at, name }, i) => ({ name, lines: block.slice(at, starts[i + 1]?.at ?? block.length) }));
  return { before: block.slice(0, starts[0]?.at ?? block.length), parts };
}

/** Returns the line after the declaration that begins at a line: its body is indented, and a line can close it. */
function endOf(lines: readonly string[], start: number): number {
  const depth = indentOf(lines[start]!).length;
  let end = start + 1;
  for (let n = start + 1; n < lines.length; n++) {
    const line = lines[n]!;
    if (isBlank(line)) continue;
    const indent = indentOf(line).length;
    if (indent > depth || (indent === depth && /^\s*\{/.test(line))) end = n + 1;
    else return indent === depth && closing.test(line) ? n + 1 : end;
  }
  return end;
}

/** Replaces each declaration of a block, which must be in the file once. New ones follow the one before them. */
function inPlaceOfDeclarations(lines: readonly string[], block: readonly string[]): string[] | undefined {
  const { before, parts } = partsOf(block);
  const known = new Set(lines.map((line) => line.trim()));
  if (parts.length === 0 || before.some((line) => !isBlank(line) && !known.has(line.trim()))) {
    return undefined;
  }
  let out = [...lines];
  let after = -1;
  for (const { name, lines: code } of parts) {
    const own = trimmed(code);
    const found = out.flatMap((line, i) => (nameOf(line) === name ? [i] : []));
    if (found.length > 1 || (found.length === 0 && after < 0)) {
      return undefined;
    }
    const at = found[0];
    if (at === undefined) {
      out = [...out.slice(0, after), '', ...moved(own, indentOf(out[after - 1]!)), ...out.slice(after)];
      after += own.length + 1;
      continue;
    }
    let start = at;
    if (comment.test(own[0]!)) while (start > 0 && comment.test(out[start - 1]!)) start--;
    const end = endOf(out, at);
    out = [...out.slice(0, start), ...moved(own, indentOf(out[at]!)), ...out.slice(end)];
    after = start + own.length;
  }
  return out;
}

/** Returns the least of many numbers, which can be too many for the arguments of Math.min. */
const least = (numbers: readonly number[]): number => numbers.reduce((a, b) => Math.min(a, b), Infinity);

/** Returns lines without blank ones at both ends. */
function trimmed(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => !isBlank(line));
  const last = lines.findLastIndex((line) => !isBlank(line));
  return first < 0 ? [''] : lines.slice(first, last + 1);
}

/** Replaces the lines from the first to the last one of a block, both of which must be in the file once. */
function between(lines: readonly string[], block: readonly string[]): string[] | undefined {
  const [first, last] = [block[0]!.trim(), block.at(-1)!.trim()];
  const places = (wanted: string): number[] => lines.flatMap((line, i) => (line.trim() === wanted ? [i] : []));
  const [starts, ends] = [places(first), places(last)];
  const [start, end] = [starts[0], ends[0]];
  if (starts.length !== 1 || ends.length !== 1 || start === undefined || end === undefined || end <= start) {
    return undefined;
  }
  if (![first, last].every((line) => /[\p{L}\p{N}]/u.test(line))) {
    return undefined;
  }
  return [...lines.slice(0, start), ...moved(block, indentOf(lines[start]!)), ...lines.slice(end + 1)];
}
