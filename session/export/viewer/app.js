// The page: reads the session out of its data blocks, draws it and answers the keyboard.

const byId = (id) => document.getElementById(id);
const main = byId("conversation");

function readJSON(id) {
  try {
    return obj(JSON.parse(byId(id).textContent));
  } catch {
    return {};
  }
}

const about = readJSON("session-data");
const ending = readJSON("session-end");

const memory = { // what the browser may or may not remember for a file
  get(key) {
    try {
      return localStorage.getItem("session-page-" + key);
    } catch {
      return null;
    }
  },
  set(key, v) {
    try {
      localStorage.setItem("session-page-" + key, v);
    } catch { /* then it is forgotten */ }
  },
};

const chunks = Array.from(document.querySelectorAll("script.entries"));
const lines = new Lines((i) => chunks[i].textContent);
const pause = () => new Promise((done) => setTimeout(done));

async function readRecords() {
  const records = [];
  let last = performance.now();
  for (let i = 0; i < chunks.length; i++) {
    for (const r of recordsOf(lines.text(i), i, records.length)) records.push(r);
    if (performance.now() - last < 40) continue;
    byId("status").textContent = "Reading… " + Math.round((100 * (i + 1)) / chunks.length) + " %";
    await pause();
    last = performance.now();
  }
  return records;
}

const state = { leaf: -1, at: -1, filter: "default", query: "", matches: null, open: new Map(), all: { thinking: null, output: null } };
let tree, conversation, sidebar;

const view = {
  anchor: (ordinal) => tree.anchor(ordinal),
  open(key, group, otherwise) {
    if (state.open.has(key)) return state.open.get(key);
    const all = state.all[group === "call" ? "output" : group];
    return all ?? otherwise;
  },
  // branches are the ways on from an entry that are not on the path shown.
  branches(record) {
    const others = (record.children ?? []).filter((c) => !conversation.place.has(c));
    if (!others.length) return null;
    return others.slice(0, 4).map((c) => h("button", { type: "button", class: "branch", title: tree.records[c].text, onclick: () => goTo(c, true) },
      "↳ " + (preview(tree.records[c].text, 24) || "other branch")));
  },
  copyText(record) {
    const e = lines.entry(record);
    return itemOf(e).blocks.map((b) => b.text ?? (b.kind === "call" ? "[" + b.name + "] " + indented(Object.fromEntries(b.args)) : "")).filter(Boolean).join("\n\n") || lines.raw(record);
  },
};

function showBranch(leaf) {
  state.leaf = leaf;
  const path = leaf < 0 ? [] : tree.pathTo(leaf);
  conversation.show(path);
  showFacts(path);
  showRows();
}

function showRows() {
  const keep = filters[state.filter];
  const { matches } = state;
  const active = new Set(conversation.path);
  const rows = tree.rows((r) => (matches ? matches.has(r.ordinal) : keep(r)), active);
  sidebar.show(rows, active);
  byId("status").textContent = grouped(rows.length) + " of " + count(tree.records.length, "entry", "entries") + (matches ? " match" : "");
}

/** goTo shows an entry, on another branch if it is there, and puts it into the address of the page. */
function goTo(ordinal, focus) {
  if (ordinal < 0) return;
  if (!conversation.place.has(ordinal)) showBranch(tree.newestBelow(ordinal));
  state.at = ordinal;
  conversation.reveal(ordinal, focus);
  sidebar.follow(ordinal);
  setAddress(ordinal);
}

function setAddress(ordinal) {
  const hash = "#" + encodeURIComponent(tree.anchor(ordinal));
  if (location.hash === hash) return;
  try {
    history.replaceState(null, "", hash);
  } catch { /* a frame without an address of its own */ }
}

function fromAddress() {
  let name = location.hash.slice(1);
  try {
    name = decodeURIComponent(name);
  } catch { /* as it is */ }
  if (name === "top" || name === "conversation") return false;
  const found = name ? tree.find(name) : -1;
  if (found >= 0 && found !== state.at) goTo(found, false);
  return found >= 0;
}

function showFacts(path) {
  const header = obj(about.header);
  const onPath = totals(path.map((i) => tree.records[i]));
  const all = totals(tree.records);
  const cost = dollars(onPath.cost) + (dollars(all.cost) !== dollars(onPath.cost) ? " (" + dollars(all.cost) + " with other branches)" : "");
  const facts = [
    ["Session", str(header.id)], ["Folder", str(header.cwd)], ["Started", instant(header.timestamp).full || preview(str(header.timestamp), 40)],
    ["Model", Array.from(onPath.models).slice(-3).join(", ") || str(about.model)], ["Thinking", path.map((i) => tree.records[i]).findLast((r) => r.type === "thinking_level_change")?.set || str(about.thinkingLevel)],
    ["Messages", joined(" · ", [count(onPath.user, "user", "user"), count(onPath.assistant, "assistant", "assistant"), count(onPath.calls, "tool call", "tool calls")])],
    ["Tokens", tokenText(onPath)], ["Cost", all.cost > 0 ? cost : ""], ["File", str(about.fileName)],
  ];
  byId("facts").replaceChildren(...facts.filter(([, v]) => v).map(([name, v]) => h("div", null, h("dt", null, name), h("dd", { dir: "auto" }, clean(v)))));
}

// showNotices says what was left out of this page, and by whom.
function showNotices() {
  const notices = [];
  const redacted = Object.entries(obj(ending.redacted)).filter(([, n]) => num(n) > 0);
  if (redacted.length) notices.push("Secrets were replaced: " + redacted.map(([name, n]) => clean(name) + " ×" + n).join(", ") + ".");
  else if (about.redacting) notices.push("Looked for secrets; none of the known kinds was found.");
  const unreadable = tree.records.filter((r) => r.type === "damaged" || r.type === "").length;
  const damaged = num(about.damaged);
  if (damaged) notices.push(count(damaged, "damaged line", "damaged lines") + " of the file could not be read and " + (damaged === 1 ? "is" : "are") + " not on this page.");
  if (unreadable) notices.push(count(unreadable, "entry", "entries") + " on this page cannot be shown as more than raw text.");
  if (num(ending.entries) !== tree.records.length) notices.push("This page is not whole: it holds " + grouped(tree.records.length) + " of " + grouped(num(ending.entries)) + " entries.");
  byId("notices").replaceChildren(...notices.map((n) => h("p", null, n)));
}

function showAbout() {
  const parts = [];
  if (str(about.systemPrompt)) parts.push(folded("about", "about:system", ["System prompt ", note(count(lineCount(about.systemPrompt), "line", "lines"))], false, () => codeBlockElement(about.systemPrompt, "")));
  const tools = list(about.tools).map(obj);
  if (tools.length) parts.push(folded("about", "about:tools", ["Tools ", note(String(tools.length))], false, () => h("div", null, tools.map((t) =>
    h("section", { class: "tool" }, h("h3", null, clean(str(t.name))), h("div", { class: "text", dir: "auto" }, build(parseMarkdown(clean(str(t.description))))),
      t.parameters ? folded("fold", "about:" + str(t.name), ["Parameters"], false, () => codeBlockElement(indented(t.parameters), "json")) : null)))));
  byId("about").replaceChildren(...parts);
}

// search finds entries that hold every word typed. Lines are looked through as they are, which is quick;
// those that match are read to see whether the words stand in a text.
let searching = 0;

async function search(query) {
  const mine = ++searching;
  state.query = query;
  const tokens = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!tokens.length) {
    state.matches = null;
    return showRows();
  }
  const found = new Set();
  const inLine = tokens.map((t) => new RegExp(JSON.stringify(t).slice(1, -1).replace(/</g, "\\u003c").replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "i"));
  let last = performance.now();
  for (const r of tree.records) {
    const raw = lines.raw(r);
    const label = r.label.toLowerCase();
    if (tokens.every((t, i) => inLine[i].test(raw) || label.includes(t))) {
      const text = textsOf(parseEntry(raw)).toLowerCase() + "\n" + label;
      if (tokens.every((t) => text.includes(t))) found.add(r.ordinal);
    }
    if (performance.now() - last < 30) continue;
    byId("status").textContent = "Searching… " + grouped(found.size) + " so far";
    await pause();
    if (mine !== searching) return;
    last = performance.now();
  }
  state.matches = found;
  showRows();
}

function setFilter(name) {
  state.filter = name;
  for (const b of document.querySelectorAll("#filters button")) b.setAttribute("aria-pressed", String(b.dataset.filter === name));
  showRows();
  sidebar.follow(state.at);
}

const themes = ["auto", "light", "dark"];

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = "Theme: " + name;
}

function nextTheme() {
  const name = themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % themes.length];
  memory.set("theme", name);
  setTheme(name);
}

/** toggleAll folds or unfolds everything of a kind, now and when it is drawn later. */
function toggleAll(group) {
  const open = !(state.all[group] ?? false);
  state.all[group] = open;
  const kinds = group === "output" ? ["output", "call"] : ["thinking"];
  const anchorEl = conversation.element(state.at);
  const top = anchorEl?.getBoundingClientRect().top;
  state.open.clear();
  for (const kind of kinds) for (const el of document.querySelectorAll("details." + kind)) el.open = open;
  if (anchorEl) window.scrollBy(0, anchorEl.getBoundingClientRect().top - top);
  byId("toggle-" + group).setAttribute("aria-pressed", String(open));
}

function step(by, keep = () => true) {
  const { path, place } = conversation;
  let i = place.get(conversation.topmost()) ?? 0;
  if (place.has(state.at) && isNear(state.at)) i = place.get(state.at);
  else i -= by > 0 ? by : 0;
  for (i += by; i >= 0 && i < path.length; i += by) if (keep(tree.records[path[i]])) return goTo(path[i], true);
}

function isNear(ordinal) {
  const box = conversation.element(ordinal).getBoundingClientRect();
  return box.bottom > 0 && box.top < innerHeight;
}

function stepMatch(by) {
  const rows = sidebar.list;
  if (rows.length) goTo(rows[(Math.max(sidebar.cursor, by > 0 ? -1 : 0) + by + rows.length) % rows.length].ordinal, true);
}

const keys = {
  j: () => step(1), k: () => step(-1),
  J: () => step(1, (r) => r.prompt), K: () => step(-1, (r) => r.prompt),
  n: () => stepMatch(1), N: () => stepMatch(-1),
  g: () => goTo(conversation.path[0] ?? -1, true), G: () => goTo(conversation.path.at(-1) ?? -1, true),
  t: () => toggleAll("thinking"), o: () => toggleAll("output"),
  d: nextTheme, b: () => toggleSidebar(), "?": () => byId("help").showModal(),
  "/": () => {
    toggleSidebar(true);
    byId("search").focus();
    byId("search").select();
  },
};

function toggleSidebar(show = document.body.classList.contains("no-sidebar")) {
  document.body.classList.toggle("no-sidebar", !show);
  byId("toggle-sidebar").setAttribute("aria-expanded", String(show));
}

function onKey(ev) {
  if (ev.ctrlKey || ev.metaKey || ev.altKey || document.querySelector("dialog[open]")) return;
  if (ev.key === "Escape") return leaveSearch(ev);
  if (ev.target.closest("input, textarea, select")) return;
  if (!Object.hasOwn(keys, ev.key)) return;
  ev.preventDefault();
  keys[ev.key]();
}

function leaveSearch() {
  const input = byId("search");
  if (input.value) {
    input.value = "";
    search("");
    sidebar.follow(state.at);
  } else {
    document.activeElement?.blur();
  }
}

function listen() {
  let typed = 0;
  byId("search").addEventListener("input", (ev) => {
    clearTimeout(typed);
    typed = setTimeout(() => search(ev.target.value), 150);
  });
  byId("search").addEventListener("keydown", (ev) => {
    if (ev.key !== "Enter" && ev.key !== "ArrowDown") return;
    ev.preventDefault();
    byId("tree").focus();
    sidebar.move(0);
    if (ev.key === "Enter" && sidebar.list.length) sidebar.choose(0);
  });
  for (const b of document.querySelectorAll("#filters button")) b.addEventListener("click", () => setFilter(b.dataset.filter));
  byId("theme").addEventListener("click", nextTheme);
  byId("toggle-thinking").addEventListener("click", () => toggleAll("thinking"));
  byId("toggle-output").addEventListener("click", () => toggleAll("output"));
  byId("toggle-sidebar").addEventListener("click", () => toggleSidebar());
  byId("show-help").addEventListener("click", () => byId("help").showModal());
  byId("close-help").addEventListener("click", () => byId("help").close());
  document.addEventListener("keydown", onKey);
  document.addEventListener("toggle", (ev) => {
    const { key } = ev.target.dataset ?? {};
    if (key) state.open.set(key, ev.target.open);
  }, true);
  addEventListener("hashchange", fromAddress);
  addEventListener("beforeprint", () => conversation.beforePrint());
  addEventListener("afterprint", () => conversation.afterPrint());
  followScroll();
}

// followScroll keeps the sidebar at what is being read, unless that is what is being used.
function followScroll() {
  let waiting = false;
  addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    setTimeout(() => {
      waiting = false;
      if (byId("sidebar").matches(":hover, :focus-within")) return;
      const at = conversation.topmost();
      if (at >= 0 && !(state.at >= 0 && isNear(state.at))) {
        state.at = at;
        sidebar.follow(at);
      }
    }, 120);
  }, { passive: true });
}

async function start() {
  setTheme(memory.get("theme") ?? document.documentElement.dataset.theme);
  tree = new Tree(await readRecords());
  conversation = new Conversation(main, lines, tree, view);
  sidebar = new Sidebar({ box: byId("tree"), rows: byId("rows") }, tree, (ordinal) => {
    goTo(ordinal, false);
    if (matchMedia("(max-width: 50rem)").matches) toggleSidebar(false);
  });
  showAbout();
  const leaf = about.leafId === "" ? -1 : tree.byId.get(str(about.leafId)) ?? tree.records.length - 1;
  showBranch(leaf);
  showNotices();
  listen();
  if (matchMedia("(max-width: 50rem)").matches) toggleSidebar(false);
  if (!fromAddress() && conversation.path.length) {
    state.at = conversation.path[0];
    sidebar.follow(state.at);
  }
  document.documentElement.dataset.ready = "yes";
}

start();
