// Search finds entries and shows where in them the words stand.

const escaped = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/**
 * Search finds entries that hold every word typed. Lines are looked through as they are, which is quick; those
 * that match are read to see whether the words stand in a text.
 */
class Search {
  constructor(lines, tree) {
    [this.lines, this.tree] = [lines, tree];
    this.words = [];
    this.matches = null; // a set of ordinals while something is searched
    this.turn = 0;
  }

  /** run searches. It returns false when another search began before it was through. */
  async run(query, progress) {
    const mine = ++this.turn;
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      [this.words, this.matches] = [words, null];
      return true;
    }
    const inLine = words.map((w) => new RegExp(escaped(JSON.stringify(w).slice(1, -1).replace(/</g, "\\u003c")), "i"));
    const found = new Set();
    let last = performance.now();
    for (const r of this.tree.records) {
      if (this.holds(r, words, inLine)) found.add(r.ordinal);
      if (performance.now() - last < 30) continue;
      progress(found.size);
      await pause();
      if (mine !== this.turn) return false;
      last = performance.now();
    }
    [this.words, this.matches] = [words, found];
    return true;
  }

  holds(r, words, inLine) {
    const raw = this.lines.raw(r);
    const label = r.label.toLowerCase();
    if (!words.every((w, i) => inLine[i].test(raw) || label.includes(w))) return false;
    const text = textsOf(parseEntry(raw)).toLowerCase() + "\n" + label;
    return words.every((w) => text.includes(w));
  }
}

const mostHits = { ranges: 3000, characters: 3_000_000 }; // that are marked at a time

/** Hits marks words where they are drawn. It changes no element: the browser paints over them, or some do not. */
class Hits {
  constructor(...roots) {
    this.roots = roots;
    this.pattern = null;
    this.waiting = false;
  }

  look(words) {
    this.pattern = words.length ? new RegExp(words.map(escaped).join("|"), "giu") : null;
    this.later();
  }

  /** later marks what was drawn meanwhile. */
  later() {
    if (this.waiting || !CSS.highlights) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      CSS.highlights.delete("hit");
      if (this.pattern) CSS.highlights.set("hit", new Highlight(...this.roots.flatMap((root) => this.ranges(root))));
    });
  }

  ranges(root) {
    const out = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let left = mostHits.characters; left > 0 && out.length < mostHits.ranges && walker.nextNode();) {
      const { data } = walker.currentNode;
      left -= data.length;
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

  /** show unfolds what holds a word in an element and scrolls to the first. */
  show(el) {
    if (!this.pattern) return;
    this.unfold(el);
    const range = this.ranges(el).find((r) => r.getClientRects().length);
    if (!range) return;
    const box = range.startContainer.parentElement.closest("pre, .diff");
    if (box) box.scrollTop += range.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    const { top, bottom } = range.getBoundingClientRect();
    if (top < 60 || bottom > innerHeight) scrollBy(0, top - innerHeight / 3);
  }

  unfold(el) {
    for (const fold of el.querySelectorAll("details:not([open])")) {
      fold.fill();
      this.pattern.lastIndex = 0;
      if (this.pattern.test(fold.textContent)) fold.open = true;
    }
  }
}
