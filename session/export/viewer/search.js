// Search finds entries and highlights the matching words.

const escaped = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Search finds entries that contain every word of a query. It tests the raw lines first, which is fast, and parses
 * only those that match, to test the texts in them.
 */
class Search {
  constructor(lines, tree) {
    [this.lines, this.tree] = [lines, tree];
    this.words = [];
    this.matches = null; // ordinals, or null without a query
    this.turn = 0;
  }

  /** run searches for a query. It returns false if another search began in the meantime. */
  async run(query, progress) {
    const turn = ++this.turn;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      [this.words, this.matches] = [words, null];
      return true;
    }
    const inLine = words.map((w) => new RegExp(escaped(JSON.stringify(w).slice(1, -1).replace(/</g, "\\u003c")), "i"));
    const found = new Set();
    let last = performance.now();
    for (const r of this.tree.records) {
      if (this.contains(r, words, inLine)) found.add(r.ordinal);
      if (performance.now() - last < 30) continue;
      progress(found.size);
      await pause();
      if (turn !== this.turn) return false;
      last = performance.now();
    }
    [this.words, this.matches] = [words, found];
    return true;
  }

  contains(r, words, inLine) {
    const raw = this.lines.raw(r);
    const label = r.label.toLowerCase();
    if (!words.every((w, i) => inLine[i].test(raw) || label.includes(w))) return false;
    const text = textsOf(parseEntry(raw)).toLowerCase() + "\n" + label;
    return words.every((w) => text.includes(w));
  }
}

const mostHits = { ranges: 3000, characters: 3_000_000 }; // highlighted at a time, searched for them

/** Hits highlights words with the CSS Custom Highlight API, which changes no elements. Some browsers don't have it. */
class Hits {
  constructor(...roots) {
    this.roots = roots;
    this.pattern = null;
    this.scheduled = false;
  }

  setWords(words) {
    this.pattern = words.length ? new RegExp(words.map(escaped).join("|"), "giu") : null;
    this.schedule();
  }

  /** schedule highlights the current content in the next frame. */
  schedule() {
    if (this.scheduled || !CSS.highlights) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      CSS.highlights.delete("hit");
      if (this.pattern) CSS.highlights.set("hit", new Highlight(...this.roots.flatMap((root) => this.ranges(root))));
    });
  }

  ranges(root) {
    const out = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let remaining = mostHits.characters; remaining > 0 && out.length < mostHits.ranges && walker.nextNode();) {
      const { data } = walker.currentNode;
      remaining -= data.length;
      this.pattern.lastIndex = 0;
      for (let m; out.length < mostHits.ranges && (m = this.pattern.exec(data));) {
        const range = new Range();
        range.setStart(walker.currentNode, m.index);
        range.setEnd(walker.currentNode, m.index + m[0].length);
        out.push(range);
      }
    }
    return out;
  }

  /** show opens the blocks of an element that contain a match and scrolls to the first match. */
  show(el) {
    if (!this.pattern) return;
    this.openMatches(el);
    const range = this.ranges(el).find((r) => r.getClientRects().length);
    if (!range) return;
    const box = range.startContainer.parentElement.closest("pre, .diff");
    if (box) box.scrollTop += range.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    const { top, bottom } = range.getBoundingClientRect();
    if (top < 60 || bottom > innerHeight) scrollBy(0, top - innerHeight / 3);
  }

  openMatches(el) {
    for (const fold of el.querySelectorAll("details:not([open])")) {
      fold.fill();
      this.pattern.lastIndex = 0;
      if (this.pattern.test(fold.textContent)) fold.open = true;
    }
  }
}
