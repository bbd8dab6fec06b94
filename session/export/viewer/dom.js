// From items and nodes to elements. This is the only place that makes elements: by name, with text as text.
// Nothing is ever parsed as HTML, which the page's policy (trusted types) forbids as well.

/** h makes an element. A child is an element, a text, or nothing. */
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

const plainTags = new Set(["p", "h3", "h4", "h5", "h6", "hr", "blockquote", "ul", "ol", "li", "thead", "tbody", "tr", "th", "td", "br", "code", "em", "strong", "del", "span", "pre"]);

/** build makes the elements of markdown nodes. */
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
  const el = h(tag, { class: attrs?.class ?? (attrs?.align && attrs.align !== "left" ? attrs.align : undefined) });
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
  } catch { // no clipboard here: some browsers have none for files
    const area = h("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
  }
  button.textContent = done ? "Copied" : "Not copied";
  setTimeout(() => (button.textContent = copyIcon), 1200);
}

function coloured(code, lang) {
  const out = document.createDocumentFragment();
  for (const [kind, text] of highlight(code, lang)) out.append(kind ? h("span", { class: "hl-" + kind }, text) : text);
  return out;
}

function codeBlockElement(code, lang, shell = false) {
  const text = clean(code);
  return h("div", { class: shell ? "code shell" : "code" },
    h("div", { class: "bar" }, lang && !shell ? h("span", { class: "lang" }, preview(lang, 30)) : null, copyButton(() => code, "Copy this code")),
    h("pre", { tabindex: "0" }, h("code", null, coloured(text, lang))));
}

function diffElement(rows) {
  const names = { "+": "ins", "-": "del", "…": "gap", " ": "same" };
  return h("div", { class: "diff", tabindex: "0", role: "region", "aria-label": "Difference" },
    rows.map(([op, text]) => h("div", { class: names[op] }, h("span", { class: "op", "aria-hidden": "true" }, op === "…" ? "⋯" : op), h("span", { class: "text" }, clean(text) || " "))));
}

/** folded is a details element whose content is made when it is first opened. */
function folded(cls, key, summaryParts, open, make) {
  const el = h("details", { class: cls, "data-key": key });
  el.append(h("summary", null, summaryParts));
  const fill = () => {
    if (el.open && el.childElementCount === 1) el.append(make());
  };
  el.addEventListener("toggle", fill);
  el.open = open;
  fill();
  return el;
}

const note = (text) => (text ? h("span", { class: "note" }, clean(text)) : null);

const makers = {
  markdown: (b) => h("div", { class: "text", dir: "auto" }, build(parseMarkdown(clean(b.text)))),
  hint: (b) => h("p", { class: "note" }, clean(b.text)),
  error: (b) => h("pre", { class: "error" }, clean(b.text)),
  code: (b) => codeBlockElement(b.text, b.lang ?? "", b.shell),
  image: (b) => b.source ? pictureElement(b.source) : h("p", { class: "placeholder" }, clean(b.text)),
  thinking: (b, key, view) => folded("thinking", key, ["Thinking ", note(b.note)], view.open(key, "thinking", false),
    () => h("div", { class: "text", dir: "auto" }, build(parseMarkdown(clean(b.text))))),
  output: (b, key, view) => folded("output", key, [h("span", { class: "count" }, b.title), " ", note(b.note)], view.open(key, "output", b.open),
    () => h("div", { class: "code" }, h("div", { class: "bar" }, copyButton(() => b.text, "Copy this output")), h("pre", { tabindex: "0" }, clean(b.text)))),
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
  const head = [h("b", null, clean(b.name)), " ", path, " ", note(b.about || (open ? "" : b.hint))];
  return folded("call", key, head, open, () => h("div", null,
    b.parts.map((p) => makers[p.kind](p)),
    b.args.length ? h("dl", { class: "arguments" }, b.args.map(([name, v]) =>
      h("div", { class: v.length > 80 || v.includes("\n") ? "multi" : "" }, h("dt", null, clean(name)), h("dd", null, h("pre", null, clean(v)))))) : null,
    b.args.length + b.parts.length === 0 && !b.path ? h("p", { class: "note" }, "no arguments") : null));
}

function pictureElement(source) {
  const img = h("img", { alt: "Image in the conversation", loading: "lazy", decoding: "async" });
  img.src = source;
  return h("button", { type: "button", class: "picture", "aria-label": "Enlarge the image", onclick: () => showPicture(source) }, img);
}

function showPicture(source) {
  const img = h("img", { alt: "Image in the conversation" });
  img.src = source;
  const box = h("dialog", { class: "picture", "aria-label": "Image", onclick: () => box.close(), onclose: () => box.remove() }, img);
  document.body.append(box);
  box.showModal();
}

/** itemElement is one entry of the conversation. view says what is open and what a link to it is. */
function itemElement(item, record, view) {
  const anchorName = view.anchor(record.ordinal);
  const { time } = item;
  return h("article", { class: "item " + item.kind, id: anchorName, tabindex: "-1", "data-ordinal": record.ordinal },
    h("header", null,
      h("h2", { dir: "auto" }, clean(item.title)),
      item.flags.map((f) => h("span", { class: f.bad ? "flag bad" : "flag" }, clean(f.text))),
      record.label ? h("span", { class: "label", title: "Label" }, record.label) : null,
      view.branches(record),
      h("button", { type: "button", class: "copy", "aria-label": "Copy this entry as text", onclick: (ev) => copy(ev.currentTarget, view.copyText(record)) }, copyIcon),
      h("a", { class: "anchor", href: "#" + encodeURIComponent(anchorName), title: "Link to this entry" + (record.id ? ": " + preview(record.id, 70) : ""), "aria-label": "Link to this entry" }, "#"),
      h("span", { class: "meta" }, item.meta.map((m) => h("span", { title: m.full ? clean(m.full) : undefined }, clean(m.text)))),
      time.machine ? h("time", { datetime: time.machine, title: time.full }, time.day + " " + time.text) : h("span", { class: "time" }, time.text)),
    item.blocks.map((b, i) => makers[b.kind](b, record.ordinal + ":" + i, view)));
}
