// Creates elements from items and nodes. Only this file and its function h create elements: by name, with text as
// text. Nothing is parsed as HTML; the page's policy (Trusted Types) forbids that too.

/** h creates an element. A child is an element, a string, or null. */
function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [name, v] of Object.entries(props ?? {})) {
    if (v === undefined || v === null || v === false) continue;
    if (name === "class") el.className = v;
    else if (name.startsWith("on")) el.addEventListener(name.slice(2), v);
    else el.setAttribute(name, v === true ? "" : v);
  }
  for (const c of children.flat()) if (c !== null && c !== undefined && c !== false && c !== "") el.append(c);
  return el;
}

const plainTags = new Set(["p", "h3", "h4", "h5", "h6", "hr", "blockquote", "ul", "ol", "li", "thead", "tbody", "tr", "th", "td", "br", "code", "em", "strong", "s", "span", "pre"]);

/** build creates the elements of Markdown nodes. */
function build(nodes) {
  const out = document.createDocumentFragment();
  for (const node of nodes) out.append(typeof node === "string" ? node : buildNode(node));
  return out;
}

function buildNode([tag, attrs, ...children]) {
  switch (tag) {
    case "code-block": return codeBlockElement(children[0], attrs.lang);
    case "check": return h("span", { class: attrs.done ? "check done" : "check", role: "img", "aria-label": attrs.done ? "done" : "to do" }, attrs.done ? "☑" : "☐", " ");
    case "table": return h("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, h("table", null, build(children)));
    case "a": return anchor(attrs.href, build(children));
  }
  if (!plainTags.has(tag)) return document.createTextNode("");
  const el = h(tag, { class: attrs?.align && attrs.align !== "left" ? attrs.align : undefined });
  if (tag === "ol" && attrs.start !== 1) el.start = attrs.start;
  el.append(build(children));
  return el;
}

function anchor(href, content) {
  const target = safeLink(href);
  return target ? h("a", { href: target, title: target, target: "_blank", rel: "noopener noreferrer nofollow" }, content) : h("span", null, content);
}

const copyIcon = "Copy";

function copyButton(text, label = "Copy") {
  return h("button", { type: "button", class: "copy", "aria-label": label, onclick: (ev) => copy(ev.currentTarget, text()) }, copyIcon);
}

async function copy(button, text) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // some browsers have no clipboard API for pages opened from files
    const area = h("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  button.textContent = done ? "Copied" : "Copy failed";
  setTimeout(() => (button.textContent = copyIcon), 1200);
}

// CSS classes and the highlight.js scopes that they color. Other scopes have no color.
const colours = {
  "hl-c": "comment quote meta doctag",
  "hl-s": "string regexp char template-variable",
  "hl-n": "number symbol bullet",
  "hl-k": "keyword literal tag name selector-tag section",
  "hl-f": "title type built_in selector-class selector-id",
  "hl-a": "attr attribute variable property",
  "hl-ins": "addition",
  "hl-del": "deletion",
};
const colourOf = new Map(Object.entries(colours).flatMap(([cls, scopes]) => scopes.split(" ").map((scope) => [scope, cls])));

function coloured(code, lang) {
  const out = document.createDocumentFragment();
  for (const [scope, text] of highlight(code, lang.toLowerCase())) {
    const cls = colourOf.get(scope.split(".")[0]);
    out.append(cls ? h("span", { class: cls }, text) : text);
  }
  return out;
}

const shownAtOnce = { characters: 200_000, rows: 2000, blocks: 200, parts: 1000 }; // limits for one text, diff, entry or Markdown text

/** moreButton replaces content that is slow to draw, until the user asks for it. */
function moreButton(amount, make) {
  const el = h("button", { type: "button", class: "rest", onclick: () => el.replaceWith(make()) }, "Show " + amount);
  return el;
}

/** limited returns the elements that make creates from a list: the first most, and a button for the others. */
function limited(all, most, noun, make) {
  const out = document.createDocumentFragment();
  out.append(...all.slice(0, most).map(make));
  if (all.length > most) out.append(moreButton(grouped(all.length - most) + " more " + noun, () => limited(all.slice(most), all.length, noun, make)));
  return out;
}

function codeBlockElement(code, lang, shell = false) {
  const text = clean(code);
  const most = shownAtOnce.characters;
  const named = lang && !shell;
  return h("div", { class: joined(" ", ["code", shell && "shell", named && "named"]), dir: "ltr" },
    h("div", { class: "bar" }, named ? h("span", { class: "lang" }, preview(lang, 30)) : null, copyButton(() => text, "Copy text")),
    h("pre", { tabindex: "0" }, h("code", null, coloured(text.slice(0, most), lang)),
      text.length > most ? moreButton(byteSize(text.length - most) + " more", () => document.createTextNode(text.slice(most))) : null));
}

function diffElement(rows) {
  const names = { "+": "ins", "-": "del", "…": "gap", " ": "same" };
  const row = ([op, text]) => h("div", { class: names[op] }, h("span", { class: "op", "aria-hidden": "true" }, op === "…" ? "⋯" : op), h("span", { class: "text" }, clean(text) || " "));
  return h("div", { class: "diff", dir: "ltr", tabindex: "0", role: "region", "aria-label": "Diff" }, limited(rows, shownAtOnce.rows, "lines", row));
}

/** folded returns a details element whose content is created when it is first opened. */
function folded(cls, key, summaryParts, open, make) {
  const el = h("details", { class: cls, "data-key": key });
  el.append(h("summary", null, summaryParts));
  const fill = () => {
    if (el.open) el.fill();
  };
  el.addEventListener("toggle", fill);
  el.fill = () => {
    if (el.childElementCount === 1) el.append(make());
  };
  el.open = open;
  fill();
  return el;
}

const note = (text) => (text ? h("span", { class: "note" }, clean(text)) : null);

// glimpse is a note that is visible only while its details element is closed.
const glimpse = (text) => (text ? h("span", { class: "note glimpse" }, clean(text)) : null);

function markdownElement(text) {
  return h("div", { class: "text", dir: "auto" }, limited(parseMarkdown(clean(text)), shownAtOnce.parts, "paragraphs", (node) => build([node])));
}

const makers = {
  markdown: (b) => markdownElement(b.text),
  hint: (b) => h("p", { class: "note" }, clean(b.text)),
  error: (b) => h("pre", { class: "error" }, clean(b.text)),
  code: (b) => codeBlockElement(b.text, b.lang ?? "", b.shell),
  image: (b) => b.source ? imageElement(b) : h("p", { class: "placeholder" }, clean(b.text)),
  thinking: (b, key, view) => folded("thinking", key, ["Thinking ", glimpse(b.note)], view.open(key, "thinking", false),
    () => markdownElement(b.text)),
  output: (b, key, view) => b.short ? codeBlockElement(b.text, "") : folded("output", key, [h("span", { class: "count" }, b.title), " ", glimpse(b.note)], view.open(key, "output", false),
    () => codeBlockElement(b.text, "")),
  fold: (b, key, view) => folded("fold", key, [clean(b.title), " ", note(b.note)], view.open(key, "", false),
    () => codeBlockElement(b.text, b.lang ?? "")),
  "fold-diff": (b, key, view) => folded("fold", key, [b.title], view.open(key, "", false), () => diffElement(b.rows)),
  diff: (b) => h("div", null, b.path ? h("p", { class: "path" }, clean(b.path)) : null, diffElement(b.rows)),
  call: callElement,
};

function callElement(b, key, view) {
  const size = b.parts.reduce((n, p) => n + (p.rows?.length ?? lineCount(p.text)), 0);
  const open = view.open(key, "call", b.parts.length > 0 && size <= 40);
  const path = b.path ? h("span", { class: "path" }, preview(b.path, 200)) : null;
  const head = [h("b", null, clean(b.name)), " ", path, " ", b.about ? note(b.about) : glimpse(b.hint)];
  return folded("call", key, head, open, () => h("div", null,
    b.parts.map((p) => makers[p.kind](p)),
    b.args.length ? h("dl", { class: "arguments" }, limited(b.args, shownAtOnce.blocks, "arguments", ([name, v]) =>
      h("div", { class: v.length > 80 || v.includes("\n") ? "multi" : "" }, h("dt", null, clean(name)),
        h("dd", null, v.length > shownAtOnce.characters ? codeBlockElement(v, "") : h("pre", null, clean(v)))))) : null,
    b.args.length + b.parts.length === 0 && !b.path ? h("p", { class: "note" }, "no arguments") : null));
}

function imageElement({ source, size }) {
  const [width, height] = size?.every((n) => n > 0 && n < 20_000) ? size : [];
  const img = h("img", { alt: "Image in the conversation", loading: "lazy", decoding: "async", width, height });
  img.src = source;
  return h("button", { type: "button", class: "picture", "aria-label": "Enlarge image", onclick: () => showImage(source) }, img);
}

function showImage(source) {
  const img = h("img", { alt: "Image in the conversation" });
  img.src = source;
  const box = h("dialog", { class: "picture", "aria-label": "Image", tabindex: "-1", onclick: () => box.close(), onclose: () => box.remove() }, img);
  document.body.append(box);
  box.showModal();
}

/** itemElement returns the element of one entry. view decides which blocks are open and names the anchors. */
function itemElement(item, record, view) {
  const anchorName = view.anchor(record.ordinal);
  const { time } = item;
  return h("article", { class: "item " + item.kind, id: anchorName, tabindex: "-1", "data-ordinal": record.ordinal },
    h("header", null,
      h("h2", { dir: "auto" }, clean(item.title)),
      item.flags.map((f) => h("span", { class: f.bad ? "flag bad" : "flag" }, clean(f.text))),
      item.kind === "tool" ? note(record.about) : null,
      record.label ? h("span", { class: "label", title: "Label: " + record.label }, record.label) : null,
      h("button", { type: "button", class: "copy", "aria-label": "Copy entry as text", onclick: (ev) => copy(ev.currentTarget, view.copyText(record)) }, copyIcon),
      h("a", { class: "anchor", href: "#" + encodeURIComponent(anchorName), title: "Link to this entry" + (record.id ? ": " + preview(record.id, 70) : ""), "aria-label": "Link to this entry" }, "#"),
      h("span", { class: "meta" }, item.meta.map((m) => h("span", { title: m.full ? clean(m.full) : undefined }, clean(m.text)))),
      time.machine ? h("time", { datetime: time.machine, title: time.full }, (view.newDay(record) ? time.day + " " : "") + time.text) : h("span", { class: "time" }, time.text)),
    limited(Array.from(item.blocks.entries()), shownAtOnce.blocks, "blocks", ([i, b]) => makers[b.kind](b, record.ordinal + ":" + i, view)),
    view.branches(record));
}
