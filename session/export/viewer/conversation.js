// The conversation: the entries of one path in groups. A group is drawn when it comes near the window and
// emptied when it is far away again, so that a page of any length stays fast.

const groupSize = 20; // entries
const estimatedHeight = 110; // pixels of an entry that is not drawn yet
const keptGroups = 14; // drawn groups if there are more than wholePage entries
const wholePage = 300; // up to this number of entries everything stays drawn, so that the browser's own search works
const printable = 3000; // up to this number of entries printing draws everything

class Conversation {
  constructor(root, lines, tree, view) {
    [this.root, this.lines, this.tree, this.view] = [root, lines, tree, view];
    this.path = [];
    this.place = new Map(); // ordinal → index in path
    this.groups = [];
    this.watch = new IntersectionObserver((seen) => this.seen(seen), { rootMargin: "1600px 0px" });
  }

  /** show draws a path. */
  show(path) {
    this.watch.disconnect();
    this.path = path;
    this.place = new Map(path.map((ordinal, i) => [ordinal, i]));
    this.groups = [];
    for (let i = 0; i < path.length; i += groupSize) {
      const el = h("div", { class: "group" });
      const group = { el, from: i, to: Math.min(i + groupSize, path.length), filled: false, height: 0 };
      el.style.minHeight = (group.to - group.from) * estimatedHeight + "px";
      el.group = group;
      this.groups.push(group);
    }
    this.root.replaceChildren(...this.groups.map((g) => g.el));
    if (!path.length) this.root.append(h("p", { class: "quiet" }, "This conversation has no entries."));
    const whole = path.length <= wholePage;
    for (const g of whole ? this.groups : this.groups.slice(0, 1)) this.fill(g);
    if (!whole) this.groups.forEach((g) => this.watch.observe(g.el));
  }

  seen(changes) {
    for (const { target, isIntersecting } of changes) {
      target.group.near = isIntersecting;
      if (isIntersecting) this.fill(target.group);
    }
    const filled = this.groups.filter((g) => g.filled);
    if (filled.length <= keptGroups || this.printing) return;
    for (const g of filled) if (!g.near && !g.el.contains(document.activeElement)) this.empty(g);
  }

  fill(group) {
    if (group.filled) return;
    group.filled = true;
    const items = [];
    for (let i = group.from; i < group.to; i++) {
      const record = this.tree.records[this.path[i]];
      items.push(itemElement(itemOf(this.lines.entry(record)), record, this.view));
    }
    group.el.replaceChildren(...items);
    group.el.style.minHeight = "";
    this.view.drawn(group.el);
  }

  empty(group) {
    group.filled = false;
    group.el.style.minHeight = group.el.offsetHeight + "px";
    group.el.replaceChildren();
  }

  element(ordinal) {
    const at = this.place.get(ordinal);
    if (at === undefined) return null;
    const group = this.groups[Math.floor(at / groupSize)];
    this.fill(group);
    return group.el.children[at - group.from];
  }

  /**
   * reveal scrolls to an entry. It draws the neighbouring groups first, because drawing them later would move the
   * entry. It calls settled when scrolling is done.
   */
  reveal(ordinal, focus, settled = () => {}) {
    const el = this.element(ordinal);
    if (!el) return;
    const g = Math.floor(this.place.get(ordinal) / groupSize);
    for (const near of [g - 1, g + 1]) if (this.groups[near]) this.fill(this.groups[near]);
    el.scrollIntoView({ block: "start" });
    requestAnimationFrame(() => {
      el.scrollIntoView({ block: "start" });
      settled(el);
    });
    if (focus) el.focus({ preventScroll: true });
    this.mark(ordinal);
  }

  mark(ordinal) {
    this.root.querySelector(".item.current")?.classList.remove("current");
    this.element(ordinal)?.classList.add("current");
  }

  /** topmost returns the ordinal of the first entry in the window, -1 if none is drawn there. */
  topmost() {
    for (const g of this.groups) {
      if (!g.filled || g.el.getBoundingClientRect().bottom < 80) continue;
      for (const el of g.el.children) if (el.getBoundingClientRect().bottom > 90) return Number(el.dataset.ordinal);
    }
    return -1;
  }

  /** beforePrint draws everything, or returns false if the conversation is too long. */
  beforePrint() {
    this.printing = true;
    if (this.path.length > printable) return false;
    this.groups.forEach((g) => this.fill(g));
    return true;
  }

  afterPrint() {
    this.printing = false;
  }
}
