// The tree beside the conversation. All rows have the same height, so that only the visible ones need elements.

const rowHeight = 26;

class Sidebar {
  constructor(parts, tree, onSelect) {
    Object.assign(this, parts); // box: the scrolling element; rows: its content, as high as all rows; onDraw: called after drawing
    [this.tree, this.onSelect] = [tree, onSelect];
    this.list = [];
    this.cursor = -1;
    this.active = new Set();
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.box.addEventListener("keydown", (ev) => this.key(ev));
    this.rows.addEventListener("click", (ev) => {
      const row = ev.target.closest("[data-row]");
      if (row) this.select(Number(row.dataset.row));
    });
  }

  /** show displays rows. The entries in active, the current path, are highlighted. */
  show(list, active) {
    const at = this.list[this.cursor]?.ordinal;
    [this.list, this.active] = [list, active];
    this.rows.classList.toggle("branched", list.some((row) => !active.has(row.ordinal)));
    this.cursor = this.list.findIndex((row) => row.ordinal === at);
    this.rows.style.height = list.length * rowHeight + "px";
    this.drawn = null;
    this.draw();
  }

  /** follow moves the cursor to an entry, or to its nearest listed ancestor. */
  follow(ordinal) {
    let best = this.list.findIndex((row) => row.ordinal === ordinal);
    for (let i = ordinal; best < 0 && i >= 0; i = this.tree.records[i].parent) best = this.list.findIndex((row) => row.ordinal === i);
    this.move(best);
  }

  move(cursor) {
    if (cursor < 0 || cursor >= this.list.length) return;
    this.cursor = cursor;
    const top = cursor * rowHeight;
    const { scrollTop, clientHeight } = this.box;
    if (top < scrollTop + rowHeight || top > scrollTop + clientHeight - 2 * rowHeight) this.box.scrollTop = top - clientHeight / 3;
    this.drawn = null;
    this.draw();
  }

  select(i) {
    this.move(i);
    this.onSelect(this.list[i].ordinal);
  }

  key(ev) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / rowHeight) - 1);
    const to = { ArrowDown: this.cursor + 1, ArrowUp: this.cursor - 1, PageDown: this.cursor + page, PageUp: this.cursor - page, Home: 0, End: this.list.length - 1 }[ev.key];
    if (to !== undefined) this.move(Math.max(0, Math.min(this.list.length - 1, to)));
    else if (ev.key === "Enter" && this.cursor >= 0) this.select(this.cursor);
    else return;
    ev.preventDefault();
    ev.stopPropagation();
  }

  draw() {
    const from = Math.max(0, Math.floor(this.box.scrollTop / rowHeight) - 10);
    const to = Math.min(this.list.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / rowHeight) + 10);
    const now = from + ":" + to;
    if (this.drawn === now) return;
    this.drawn = now;
    const rows = [];
    for (let i = from; i < to; i++) rows.push(this.row(i));
    this.rows.replaceChildren(...rows);
    this.onDraw();
    const current = this.cursor >= from && this.cursor < to ? "row-" + this.cursor : null;
    if (current) this.box.setAttribute("aria-activedescendant", current);
    else this.box.removeAttribute("aria-activedescendant");
  }

  row(i) {
    const { ordinal, depth, branch, last } = this.list[i];
    const r = this.tree.records[ordinal];
    const cls = joined(" ", ["row", kindOfRecord(r), r.bad && "bad", this.active.has(ordinal) && "active", i === this.cursor && "cursor"]);
    const el = h("div", {
      class: cls, id: "row-" + i, "data-row": i, role: "treeitem", "aria-level": depth + 1, "aria-setsize": this.list.length, "aria-posinset": i + 1,
      "aria-selected": String(i === this.cursor), title: r.text,
    }, branch ? h("span", { class: "twig", "aria-hidden": "true" }, last ? "└" : "├") : null,
      h("span", { class: "who" }, rowName(r)), h("span", { class: "words", dir: "auto" }, r.text), r.label ? h("span", { class: "label" }, preview(r.label, 40)) : null);
    el.style.top = i * rowHeight + "px";
    el.style.paddingInlineStart = margin(depth) + "px";
    return el;
  }
}

function kindOfRecord(r) {
  if (r.prompt) return "user";
  if (r.role === "assistant") return "assistant";
  if (/^(?:toolResult|bashExecution|pythonExecution)$/.test(r.role)) return "tool";
  return r.type === "compaction" || r.type === "branch_summary" ? "summary" : "other";
}

const rowNames = { user: "User", assistant: "AI", tool: "tool", summary: "sum", other: "·" };
const rowName = (r) => rowNames[kindOfRecord(r)];

// margin indents deep rows less, to leave room for their text.
const margin = (depth) => 8 + 14 * Math.min(depth, 4) + 4 * Math.max(0, Math.min(depth, 16) - 4);
