// The page: reads the session from its data blocks, displays it and handles the keyboard.

const main = byId("conversation");
const about = readJSON("session-data");

const storage = { // localStorage, which browsers may deny to pages opened from files
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
    } catch { /* not saved */ }
  },
};

const state = { at: -1, filter: "default", open: new Map(), all: { thinking: null, output: null } };
let tree, conversation, sidebar, search;
const hits = new Hits(main, byId("rows"));

const view = {
  anchor: (ordinal) => tree.anchor(ordinal),
  open(key, group, otherwise) {
    if (state.open.has(key)) return state.open.get(key);
    const all = state.all[group === "call" ? "output" : group];
    return all ?? otherwise;
  },
  drawn: () => hits.schedule(),
  /** newDay reports whether an entry's day differs from that of the entry above it. */
  newDay(record) {
    const above = conversation.path[conversation.place.get(record.ordinal) - 1];
    return above === undefined || tree.records[above].day !== record.day;
  },
  /** branches lists the children of an entry that are not on the displayed path. */
  branches(record) {
    const others = (record.children ?? []).filter((c) => !conversation.place.has(c));
    if (!others.length) return null;
    return h("nav", { class: "branches", "aria-label": "Other branches" }, h("span", { class: "note" }, others.length === 1 ? "Another branch:" : "Other branches:"),
      others.slice(0, 4).map((c) => h("button", { type: "button", class: "branch", title: tree.records[c].text, onclick: () => goTo(c, true) },
        "↳ " + (preview(tree.records[c].text, 60) || "unnamed"))),
      others.length > 4 ? note(grouped(others.length - 4) + " more in the tree") : null);
  },
  copyText(record) {
    const e = lines.entry(record);
    return clean(itemOf(e).blocks.map(blockText).filter(Boolean).join("\n\n") || lines.raw(record));
  },
};

function showBranch(leaf) {
  const path = leaf < 0 ? [] : tree.pathTo(leaf);
  conversation.show(path);
  showFacts(factsOf(about, path.map((i) => tree.records[i]), tree.records), false);
  showRows();
}

function showRows() {
  const { matches } = search;
  // With the default filter, a search covers all entries.
  const keep = matches && state.filter === "default" ? filters.all : filters[state.filter];
  const active = new Set(conversation.path);
  const rows = tree.rows((r) => keep(r) && (!matches || matches.has(r.ordinal)), active);
  sidebar.show(rows, active);
  byId("status").textContent = grouped(rows.length) + " of " + count(tree.records.length, "entry", "entries") + (matches ? " match" : "");
}

/** goTo shows an entry, switching to its branch if necessary, and updates the address of the page. */
function goTo(ordinal, focus) {
  if (ordinal < 0) return;
  if (!conversation.place.has(ordinal)) showBranch(tree.newestBelow(ordinal));
  state.at = ordinal;
  conversation.reveal(ordinal, focus, (el) => hits.show(el));
  sidebar.follow(ordinal);
  setAddress(ordinal);
}

function setAddress(ordinal) {
  const hash = "#" + encodeURIComponent(tree.anchor(ordinal));
  if (location.hash === hash) return;
  try {
    history.replaceState(null, "", hash);
  } catch { /* a frame whose address can't be changed */ }
}

function fromAddress() {
  let name = location.hash.slice(1);
  try {
    name = decodeURIComponent(name);
  } catch { /* not encoded */ }
  if (name === "top" || name === "conversation") return false;
  const found = name ? tree.find(name) : -1;
  if (found >= 0 && found !== state.at) goTo(found, false);
  return found >= 0;
}

async function runSearch(query) {
  const done = await search.run(query, (n) => (byId("status").textContent = "Searching… " + grouped(n) + " found"));
  if (!done) return false;
  hits.setWords(search.words);
  showRows();
  return true;
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
  storage.set("theme", name);
  setTheme(name);
}

/** toggleAll expands or collapses all blocks of a kind, including those drawn later. */
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

const narrow = matchMedia("(max-width: 50rem)"); // where the sidebar covers the conversation

function onKey(ev) {
  if (ev.ctrlKey || ev.metaKey || ev.altKey || document.querySelector("dialog[open]")) return;
  if (ev.key === "Escape") return leaveSearch();
  if (ev.target.closest("input, textarea, select")) return;
  if (!Object.hasOwn(keys, ev.key)) return;
  ev.preventDefault();
  keys[ev.key]();
}

function leaveSearch() {
  const input = byId("search");
  if (input.value) {
    input.value = "";
    runSearch("").then(() => sidebar.follow(state.at));
  } else {
    if (narrow.matches) toggleSidebar(false);
    document.activeElement?.blur();
  }
}

function listenToSearch() {
  let typed = 0;
  const input = byId("search");
  input.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(() => runSearch(input.value), 150);
  });
  input.addEventListener("keydown", async (ev) => {
    if (ev.key !== "Enter" && ev.key !== "ArrowDown") return;
    ev.preventDefault();
    clearTimeout(typed); // search for the current input at once
    if (!(await runSearch(input.value)) || !sidebar.list.length) return;
    byId("tree").focus();
    if (ev.key === "Enter") sidebar.select(0);
    else sidebar.move(0);
  });
}

function listen() {
  listenToSearch();
  for (const b of document.querySelectorAll("#filters button")) b.addEventListener("click", () => setFilter(b.dataset.filter));
  byId("toggle-thinking").addEventListener("click", () => toggleAll("thinking"));
  byId("toggle-output").addEventListener("click", () => toggleAll("output"));
  byId("toggle-sidebar").addEventListener("click", () => toggleSidebar());
  byId("show-help").addEventListener("click", () => byId("help").showModal());
  byId("close-help").addEventListener("click", () => byId("help").close());
  document.addEventListener("keydown", onKey);
  document.querySelector(".page").addEventListener("click", (ev) => {
    if (narrow.matches && !ev.target.closest(".bar")) toggleSidebar(false);
  });
  addEventListener("hashchange", fromAddress);
  addEventListener("beforeprint", () => (byId("print-note").hidden = conversation.beforePrint()));
  addEventListener("afterprint", () => conversation.afterPrint());
  followScroll();
}

// followScroll keeps the sidebar's cursor at the topmost visible entry, unless the sidebar is in use.
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

// listenEarly adds the listeners for controls that work while the page is loading.
function listenEarly() {
  byId("theme").addEventListener("click", nextTheme);
  byId("save").addEventListener("click", () => saveFile(about));
  document.addEventListener("toggle", (ev) => {
    const { key } = ev.target.dataset ?? {};
    if (key) state.open.set(key, ev.target.open);
    hits.schedule();
  }, true);
}

/** showBeginning shows the first entries while the others are loading, unless the page will start elsewhere. */
function showBeginning() {
  if (location.hash.length > 1 || about.leafId === "") return main.replaceChildren(h("p", { class: "quiet" }, "Loading…"));
  const records = recordsOf(lines.text(0), 0, 0); // copies: readRecords changes its records as it reads on
  const end = records.findIndex((r, i) => i > 0 && r.parentId !== records[i - 1].id);
  tree = new Tree(records.slice(0, Math.min(end < 0 ? records.length : end, groupSize)));
  conversation = new Conversation(main, lines, tree, view);
  conversation.show(tree.records.map((r) => r.ordinal));
}

function showProgress(records) {
  if (!main.childElementCount && isLoading()) {
    showFacts(factsOf(about, [], []), true);
    showBeginning();
  }
  byId("status").textContent = "Loading… " + count(records.length, "entry", "entries");
}

async function start() {
  const theme = storage.get("theme");
  setTheme(themes.includes(theme) ? theme : document.documentElement.dataset.theme);
  if (narrow.matches) toggleSidebar(false);
  listenEarly();
  showAbout(about);
  tree = new Tree(await readRecords(showProgress));
  search = new Search(lines, tree);
  conversation = new Conversation(main, lines, tree, view);
  sidebar = new Sidebar({ box: byId("tree"), rows: byId("rows"), onDraw: () => hits.schedule() }, tree, (ordinal) => {
    goTo(ordinal, false);
    if (narrow.matches) toggleSidebar(false);
  });
  const leaf = about.leafId === "" ? -1 : tree.byId.get(str(about.leafId)) ?? tree.records.length - 1;
  showBranch(leaf);
  byId("notices").replaceChildren(...noticesOf(about, readJSON("session-end"), tree.records).map((n) => h("p", null, n)));
  listen();
  if (!fromAddress() && conversation.path.length) {
    state.at = conversation.path[0];
    sidebar.follow(state.at);
  }
  document.documentElement.dataset.ready = "yes";
}

start();
