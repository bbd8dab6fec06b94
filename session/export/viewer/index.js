// The session as a tree with a small record per entry. The entries themselves stay in the page as text and are parsed
// again when needed, so that a session of a hundred megabytes is in memory only once.

/** Lines reads entries from the page. Each chunk contains whole lines; chunks(i) returns its text. */
class Lines {
  constructor(chunks) {
    this.chunks = chunks;
    this.cached = [-1, ""]; // the last chunk, because neighbours are usually read together
  }

  text(i) {
    if (this.cached[0] !== i) this.cached = [i, this.chunks(i)];
    return this.cached[1];
  }

  raw(r) {
    return this.text(r.chunk).slice(r.start, r.end);
  }

  /** entry returns the entry of a record; for an invalid line, an entry of type "damaged". */
  entry(r) {
    return parseEntry(this.raw(r));
  }
}

function parseEntry(raw) {
  try {
    const v = JSON.parse(raw);
    return v !== null && typeof v === "object" && !Array.isArray(v) ? v : { type: "damaged", raw };
  } catch {
    return { type: "damaged", raw };
  }
}

/**
 * recordsOf returns the records of one chunk, numbered from ordinal on. calls has the arguments of tool calls without a
 * result, by call id; it is shared between chunks.
 */
function recordsOf(text, chunk, ordinal, calls = new Map()) {
  const out = [];
  for (let start = 0; start < text.length;) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    if (end > start) out.push(recordOf(parseEntry(text.slice(start, end)), { ordinal: ordinal + out.length, chunk, start, end }, calls));
    start = end + 1;
  }
  return out;
}

function recordOf(e, place, calls) {
  const m = e.type === "message" ? obj(e.message) : {};
  const r = {
    ...place, id: str(e.id), parentId: str(e.parentId), type: str(e.type), role: str(m.role),
    text: preview(headline(e, m) || str(e.customType) || str(e.type) || "unreadable", 120).replace(/^#{1,6} |\*\*/g, ""), prompt: m.role === "user" && !m.synthetic,
    calls: 0, silent: false, usage: null, label: "", parent: -1, children: null, target: "", set: "", day: instant(e.timestamp).day ?? "",
    about: "", bad: m.isError === true,
  };
  if (r.type === "label") [r.target, r.set] = [str(e.targetId), str(e.label)];
  if (r.type === "thinking_level_change") r.set = str(e.thinkingLevel);
  if (r.role === "toolResult") {
    const id = str(m.toolCallId);
    r.about = calls.get(id) ?? "";
    calls.delete(id);
    if (r.about) r.text = joined(" ", [preview(str(m.toolName), 40), r.about]);
  }
  if (r.role === "assistant") {
    const content = list(m.content).map(obj);
    for (const b of content) if (b.type === "toolCall" && str(b.id)) calls.set(b.id, argumentHint(b.arguments));
    r.calls = content.filter((b) => b.type === "toolCall").length;
    r.silent = r.calls > 0 && !content.some((b) => b.type === "text" && str(b.text).trim()) && !/^(?:error|aborted)$/.test(str(m.stopReason));
    r.usage = usageOf(m.usage);
    r.model = preview(joined("/", [str(m.provider), str(m.model)]), 80);
  }
  return r;
}

function usageOf(usage) {
  const u = obj(usage);
  return { input: num(u.input), output: num(u.output), cacheRead: num(u.cacheRead), cacheWrite: num(u.cacheWrite), cost: num(obj(u.cost).total) };
}

/** headline returns the most descriptive text of an entry. */
function headline(e, m) {
  const from = e.type === "message" ? m : e;
  for (const key of ["summary", "command", "code"]) if (str(from[key])) return from[key];
  const content = typeof from.content === "string" ? [{ type: "text", text: from.content }] : list(from.content).map(obj);
  const text = content.find((b) => b.type === "text" && str(b.text).trim());
  if (text) return text.text.trimStart();
  const call = content.find((b) => b.type === "toolCall");
  if (call) return joined(" ", [str(call.name), argumentHint(call.arguments)]);
  if (content.some((b) => b.type === "image")) return "[image]";
  return str(from.errorMessage) || str(obj(list(from.files)[0]).path) || settingText(e);
}

const paths = ["path", "file_path"];

/** argumentHint returns the most descriptive argument: a command, pattern or path, else the first string. */
function argumentHint(args) {
  for (const key of ["command", "pattern", ...paths]) if (str(obj(args)[key])) return preview(args[key], 100);
  for (const [key, v] of Object.entries(obj(args))) if (key !== "_i" && typeof v === "string" && v) return preview(v, 100);
  return "";
}

/** Tree links records by their ids. If entries have the same id, the last one counts. */
class Tree {
  constructor(records) {
    this.records = records;
    this.byId = new Map();
    for (const r of records) if (r.id) this.byId.set(r.id, r.ordinal);
    this.roots = [];
    for (const r of records) {
      const parent = r.parentId ? this.byId.get(r.parentId) : undefined;
      r.parent = parent === undefined || parent === r.ordinal ? -1 : parent;
      if (r.parent < 0) this.roots.push(r.ordinal);
      else (records[r.parent].children ??= []).push(r.ordinal);
      const target = r.type === "label" ? this.byId.get(r.target) : undefined;
      if (target !== undefined) records[target].label = clean(r.set);
    }
    this.breakCycles();
  }

  // breakCycles makes the first entry of each parent cycle a root, because no root leads to it.
  breakCycles() {
    const seen = new Uint8Array(this.records.length);
    const visit = (root) => {
      for (const stack = [root]; stack.length;) {
        const i = stack.pop();
        if (seen[i]) continue;
        seen[i] = 1;
        for (const c of this.records[i].children ?? []) stack.push(c);
      }
    };
    this.roots.forEach(visit);
    for (const r of this.records) {
      if (seen[r.ordinal]) continue;
      this.roots.push(r.ordinal);
      const above = this.records[r.parent];
      above.children = above.children.filter((c) => c !== r.ordinal);
      r.parent = -1;
      visit(r.ordinal);
    }
  }

  /** pathTo returns the ordinals from the root to an entry. */
  pathTo(leaf) {
    const path = [];
    for (let i = leaf; i >= 0; i = this.records[i].parent) path.push(i);
    return path.reverse();
  }

  /** newestBelow returns the newest leaf of the branch that an entry is on. */
  newestBelow(i) {
    let newest = -1;
    for (const stack = [i]; stack.length;) {
      const at = stack.pop();
      const children = this.records[at].children;
      if (!children?.length) newest = Math.max(newest, at);
      else stack.push(...children);
    }
    return newest;
  }

  /** anchor returns the name of an entry in the page's address; find is its inverse. */
  anchor(i) {
    const { id } = this.records[i];
    return this.byId.get(id) === i && id.length <= 64 ? "entry-" + id : "entry-." + i;
  }

  find(anchor) {
    const name = anchor.startsWith("entry-") ? anchor.slice("entry-".length) : anchor;
    const found = this.byId.get(name);
    if (found !== undefined) return found;
    const ordinal = /^\.\d+$/.test(name) ? Number(name.slice(1)) : -1;
    return ordinal < this.records.length ? ordinal : -1;
  }

  /**
   * rows returns the rows of the sidebar: the entries that keep accepts, indented at each fork, with the branch in
   * active first.
   */
  rows(keep, active) {
    const { below, tops } = this.visible(keep);
    const first = (list) => list.length < 2 ? list : [...list].sort((a, b) => active.has(b) - active.has(a) || a - b);
    const out = [];
    const stack = [];
    const push = (list, depth) => {
      const split = list.length > 1;
      const ordered = first(list);
      for (let k = ordered.length - 1; k >= 0; k--) {
        stack.push({ ordinal: ordered[k], depth: depth + (split ? 1 : 0), branch: split, last: k === ordered.length - 1 });
      }
    };
    push(tops, -1);
    if (tops.length === 1) stack[0].depth = 0;
    while (stack.length) {
      const row = stack.pop();
      out.push(row);
      push(below.get(row.ordinal) ?? [], row.depth);
    }
    return out;
  }

  // visible assigns each entry that keep accepts to its nearest accepted ancestor.
  visible(keep) {
    const below = new Map();
    const tops = [];
    const stack = [...this.roots].reverse().map((i) => [i, -1]);
    while (stack.length) {
      const [i, above] = stack.pop();
      const r = this.records[i];
      const kept = keep(r);
      if (kept && above < 0) tops.push(i);
      else if (kept) below.has(above) ? below.get(above).push(i) : below.set(above, [i]);
      const children = r.children ?? [];
      for (let k = children.length - 1; k >= 0; k--) stack.push([children[k], kept ? i : above]);
    }
    return { below, tops };
  }
}

const settings = new Set(["label", "custom", "model_change", "thinking_level_change", "service_tier_change", "mode_change",
  "context_change", "session_info", "title_change", "ttsr_injection", "session_init", "mcp_tool_selection", "credential_pin"]);

/** filters are the sidebar's filters. The default one hides answers that only call tools, because the results are listed. */
const filters = {
  default: (r) => !settings.has(r.type) && !(r.silent && r.children?.length),
  "no-tools": (r) => filters.default(r) && r.role !== "toolResult" && r.role !== "bashExecution" && r.role !== "pythonExecution" && !r.silent,
  user: (r) => r.prompt,
  labelled: (r) => r.label !== "",
  all: () => true,
};

/** totals returns the sums over records. */
function totals(records) {
  const t = { user: 0, assistant: 0, calls: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, models: new Set() };
  for (const r of records) {
    if (r.prompt) t.user++;
    if (r.role !== "assistant") continue;
    t.assistant++;
    t.calls += r.calls;
    for (const key of Object.keys(r.usage)) t[key] += r.usage[key];
    if (r.model) t.models.add(r.model);
  }
  return t;
}

/** textsOf returns the searchable text of an entry. */
function textsOf(e) {
  const out = [];
  const skip = new Set(["id", "parentId", "type", "timestamp", "thinkingSignature", "textSignature", "signature", "mimeType", "usage", "api", "stopReason"]);
  const stack = [e];
  while (stack.length) {
    const v = stack.pop();
    if (typeof v === "string") out.push(v);
    else if (v !== null && typeof v === "object") {
      const image = typeof v.mimeType === "string";
      for (const key of Object.keys(v)) if (!skip.has(key) && !(image && key === "data")) stack.push(v[key]);
    }
  }
  return out.join("\n");
}
