// A text as an editor holds it, with positions in the encoding that was agreed on.

/** widths are what one character counts in each position encoding. */
const widths = {
  "utf-8": (char) => Buffer.byteLength(char),
  "utf-16": (char) => char.length,
  "utf-32": () => 1,
};

/** A Document is an open file. Its lines end with \n; its text need not be what is on disk. */
export class Document {
  constructor(uri, languageId, text, encoding) {
    Object.assign(this, { uri, languageId, text, encoding, version: 1 });
  }

  /** offsetAt is the index into text of a position; one behind the end of its line is that end. */
  offsetAt({ line, character }) {
    let at = 0;
    for (let i = 0; i < line; i++) {
      const end = this.text.indexOf("\n", at);
      if (end < 0) return this.text.length;
      at = end + 1;
    }
    let counted = 0;
    for (const char of this.text.slice(at).split("\n", 1)[0]) {
      if (counted >= character) break;
      counted += widths[this.encoding](char);
      at += char.length;
    }
    return at;
  }

  positionAt(offset) {
    const lines = this.text.slice(0, offset).split("\n");
    const character = [...lines.at(-1)].reduce((sum, char) => sum + widths[this.encoding](char), 0);
    return { line: lines.length - 1, character };
  }

  /** rangeOf is where part stands in the text, for the first time. */
  rangeOf(part) {
    const from = this.text.indexOf(part);
    if (from < 0) throw new Error(`${this.uri} has no ${JSON.stringify(part)}`);
    return { start: this.positionAt(from), end: this.positionAt(from + part.length) };
  }

  /** apply makes edits whose ranges are all about the text as it is now, and is one version on. */
  apply(edits) {
    const placed = edits.map(({ range, newText }) => [this.offsetAt(range.start), this.offsetAt(range.end), newText]);
    for (const [from, to, newText] of placed.sort((a, b) => b[0] - a[0])) {
      this.text = this.text.slice(0, from) + newText + this.text.slice(to);
    }
    this.version++;
  }
}
