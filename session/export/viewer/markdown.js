// Markdown as models write it, read into nodes. A node is a text or [tag, attributes or null, ...children];
// build in dom.js makes elements of those tags and attributes it knows and of nothing else, so that whatever
// stands in a text, HTML included, is shown and never run. Every step moves forward in the text or gives up:
// no input takes more than about linear time. Therefore no pattern here has two repetitions beside each other that
// match the same character, and none that may begin anywhere ends with $.

const maxNesting = 8; // of quotes and lists
const maxMarkdown = 300_000; // characters; a longer text is shown as it is

/** safeLink returns the address of a link that may be followed, "" for any other. */
function safeLink(target) {
  return /^(?:https?:\/\/|mailto:)[^\s\u0000-\u001f\u007f"<>\\]+$/i.test(target) ? target : "";
}

/** parseMarkdown returns the nodes of a text. */
function parseMarkdown(text) {
  if (text.length > maxMarkdown) return [["pre", null, text]];
  return blocks(text.replace(/\r\n?/g, "\n").split("\n"), 0);
}

const fence = /^( {0,3})(`{3,}|~{3,})([^`]*)$/;
const heading = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const quoted = /^ {0,3}> ?/;
const bullet = /^( {0,3})([-*+]|\d{1,9}[.)])([ \t]+)(?=\S)/;
const tableRule = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/;

function blocks(lines, depth) {
  const out = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    if (line.trim() === "") {
      i++;
      continue;
    }
    const found = codeBlock(lines, i) ?? headingBlock(lines, i) ?? ruleBlock(lines, i) ??
      (depth < maxNesting ? quoteBlock(lines, i, depth) ?? listBlock(lines, i, depth) : null) ??
      tableBlock(lines, i) ?? paragraph(lines, i);
    out.push(found[0]);
    i = found[1];
  }
  return out;
}

function codeBlock(lines, i) {
  const open = fence.exec(lines[i]);
  if (!open) return null;
  const [, indent, mark, info] = open;
  const body = [];
  let j = i + 1;
  for (; j < lines.length; j++) {
    const end = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(lines[j]);
    if (end && end[1][0] === mark[0] && end[1].length >= mark.length) break;
    body.push(lines[j].startsWith(indent) ? lines[j].slice(indent.length) : lines[j].trimStart());
  }
  return [["code-block", { lang: info.trim().split(/\s/)[0] }, body.join("\n")], j + 1];
}

function headingBlock(lines, i) {
  const m = heading.exec(lines[i]);
  if (!m) return null;
  const text = withoutMarks((m[2] ?? "").trimEnd());
  return [["h" + Math.min(6, m[1].length + 2), null, ...inline(text)], i + 1]; // below the page's own headings
}

// A heading may end with the marks it began with.
function withoutMarks(text) {
  let end = text.length;
  while (text[end - 1] === "#") end--;
  return end === 0 || /[ \t]/.test(text[end - 1]) ? text.slice(0, end).trimEnd() : text;
}

function ruleBlock(lines, i) {
  return rule.test(lines[i]) ? [["hr", null], i + 1] : null;
}

function quoteBlock(lines, i, depth) {
  if (!quoted.test(lines[i])) return null;
  const body = [];
  let j = i;
  for (; j < lines.length && lines[j].trim() !== ""; j++) {
    if (!quoted.test(lines[j]) && startsBlock(lines[j])) break;
    body.push(lines[j].replace(quoted, ""));
  }
  return [["blockquote", null, ...blocks(body, depth + 1)], j];
}

function listBlock(lines, i, depth) {
  const first = bullet.exec(lines[i]);
  if (!first || rule.test(lines[i])) return null;
  const ordered = /\d/.test(first[2]);
  const items = [];
  let loose = false;
  let j = i;
  while (j < lines.length) {
    const m = bullet.exec(lines[j]);
    if (!m || rule.test(lines[j]) || /\d/.test(m[2]) !== ordered || !ordered && m[2] !== first[2]) break;
    const width = m[1].length + m[2].length + Math.min(m[3].length, 4);
    const body = [lines[j].slice(m[0].length)];
    const [end, gap] = itemEnd(lines, j + 1, width, body);
    loose ||= gap && bullet.test(lines[end] ?? "");
    items.push(body);
    j = end;
  }
  const nodes = items.map((body) => listItem(body, depth, loose));
  return [[ordered ? "ol" : "ul", ordered ? { start: parseInt(first[2], 10) } : null, ...nodes], j];
}

// itemEnd collects the lines of one list item into body. It says where the next thing begins and whether an
// empty line stands before it.
function itemEnd(lines, j, width, body) {
  const margin = " ".repeat(width);
  let gap = false;
  for (; j < lines.length; j++) {
    const line = lines[j];
    if (line.trim() === "") {
      gap = true;
      continue;
    }
    const inside = line.startsWith(margin) || /^(?: {2,}|\t)/.test(line);
    if (!inside && (gap || startsBlock(line))) break;
    if (gap) body.push("");
    gap = false;
    body.push(line.startsWith(margin) ? line.slice(width) : line.replace(/^\t|^ {1,4}/, ""));
  }
  return [j, gap];
}

function listItem(body, depth, loose) {
  const task = /^\[([ xX])\][ \t]+/.exec(body[0]);
  if (task) body[0] = body[0].slice(task[0].length);
  let content = blocks(body, depth + 1);
  if (!loose) content = content.flatMap((n) => (n[0] === "p" ? n.slice(2) : [n]));
  if (task) content.unshift(["check", { done: task[1] !== " " }]);
  return ["li", null, ...content];
}

function tableBlock(lines, i) {
  if (!lines[i].includes("|") || !tableRule.test(lines[i + 1] ?? "")) return null;
  const head = cells(lines[i]);
  const marks = cells(lines[i + 1]);
  if (head.length !== marks.length) return null;
  const align = marks.map((m) => (m.endsWith(":") ? m.startsWith(":") ? "center" : "right" : "left"));
  const row = (tag, texts) => ["tr", null, ...head.map((_, k) => [tag, { align: align[k] }, ...inline(texts[k] ?? "")])];
  const rows = [];
  let j = i + 2;
  for (; j < lines.length && lines[j].includes("|") && lines[j].trim() !== ""; j++) rows.push(row("td", cells(lines[j])));
  return [["table", null, ["thead", null, row("th", head)], ["tbody", null, ...rows]], j];
}

function cells(line) {
  const text = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return text.split(/(?<!\\)\|/).map((c) => c.trim().replace(/\\\|/g, "|"));
}

const startsBlock = (line) => fence.test(line) || heading.test(line) || rule.test(line) || quoted.test(line) || bullet.test(line);

function paragraph(lines, i) {
  const body = [lines[i].trim()];
  let j = i + 1;
  for (; j < lines.length && lines[j].trim() !== "" && !startsBlock(lines[j]); j++) {
    if (/^ {0,3}=+[ \t]*$/.test(lines[j])) return [["h3", null, ...inline(body.join("\n"))], j + 1];
    if (tableRule.test(lines[j + 1] ?? "") && lines[j].includes("|")) break;
    body.push(lines[j].trim());
  }
  return [["p", null, ...inline(body.join("\n"))], j];
}

const bare = /https?:\/\/[^\s<>"'`\u0000-\u001f]+/y;
const special = /[\\`*_~[!<]|https?:\/\//g;
const maxInline = 20_000; // characters of one paragraph that are looked at for markup
const maxLabel = 2_000; // characters between the brackets of a link, or the marks of an emphasis

/** inline reads the markup within a paragraph, whose line breaks the style sheet keeps. */
function inline(text, depth = 0) {
  if (depth > 6 || text.length > maxInline) return [text];
  const out = [];
  let plain = 0;
  special.lastIndex = 0;
  for (let m; (m = special.exec(text));) {
    const found = inlineAt(text, m.index, depth);
    if (!found) {
      special.lastIndex = m.index + (m[0].length > 1 ? m[0].length : runLength(text, m.index));
      continue;
    }
    if (m.index > plain) out.push(text.slice(plain, m.index));
    out.push(found[0]);
    special.lastIndex = plain = found[1];
  }
  if (plain < text.length) out.push(text.slice(plain));
  return out;
}

function runLength(text, i) {
  let j = i + 1;
  while (text[j] === text[i] && "`*_~".includes(text[i])) j++;
  return j - i;
}

function inlineAt(text, i, depth) {
  switch (text[i]) {
    case "\\":
      return text[i + 1] === "\n" ? [["br", null], i + 2]
        : /[!-/:-@[-`{-~]/.test(text[i + 1] ?? "") ? [text[i + 1], i + 2] : null;
    case "`":
      return codeSpan(text, i);
    case "*": case "_": case "~":
      return emphasis(text, i, depth);
    case "[":
      return link(text, i, depth);
    case "!":
      return text[i + 1] === "[" ? link(text, i + 1, depth) : null; // nothing is loaded: an image is a link
    case "<":
      return autolink(text, i);
  }
  return bareLink(text, i);
}

function codeSpan(text, i) {
  const n = runLength(text, i);
  const mark = "`".repeat(n);
  for (let j = text.indexOf(mark, i + n); j >= 0; j = text.indexOf(mark, j)) {
    const run = runLength(text, j);
    if (run === n) {
      let code = text.slice(i + n, j).replace(/\n/g, " ");
      if (code.startsWith(" ") && code.endsWith(" ") && code.trim()) code = code.slice(1, -1);
      return [["code", null, code], j + n];
    }
    j += run;
  }
  return null;
}

const wordish = /[\p{L}\p{N}]/u;

function emphasis(text, i, depth) {
  const c = text[i];
  const run = runLength(text, i);
  const n = c === "~" ? 2 : Math.min(run, 3);
  if (run < n || /\s/.test(text[i + run] ?? " ") || c === "_" && wordish.test(text[i - 1] ?? "")) return null;
  const mark = c.repeat(n);
  const limit = Math.min(text.length, i + maxLabel);
  for (let j = text.indexOf(mark, i + run); j >= 0 && j < limit; j = text.indexOf(mark, j + 1)) {
    if (/\s/.test(text[j - 1]) || text[j - 1] === "\\") continue;
    const end = runLength(text, j);
    if (end < n || n === 1 && end > 1 && end !== 3) {
      j += end - 1;
      continue;
    }
    if (c === "_" && wordish.test(text[j + end] ?? "")) continue;
    const body = inline(text.slice(i + n, j + end - n), depth + 1);
    const node = c === "~" ? ["del", null, ...body] : n === 1 ? ["em", null, ...body]
      : n === 2 ? ["strong", null, ...body] : ["strong", null, ["em", null, ...body]];
    return [node, j + end];
  }
  return null;
}

function link(text, i, depth) {
  const close = closingBracket(text, i);
  if (close < 0 || text[close + 1] !== "(") return null;
  const m = /\([ \t\n]{0,9}(?:<([^<>\n]*)>|([^\s()]*(?:\([^\s()]*\)[^\s()]*)*))(?:[ \t\n]{1,9}(?:"[^"]{0,500}"|'[^']{0,500}'))?[ \t\n]{0,9}\)/y;
  m.lastIndex = close + 1;
  const target = m.exec(text);
  if (!target) return null;
  const label = inline(text.slice(i + 1, close), depth + 2).map(unlinked);
  return [linkNode(target[1] ?? target[2], label), m.lastIndex];
}

function closingBracket(text, i) {
  let open = 0;
  const end = Math.min(text.length, i + maxLabel);
  for (let j = i; j < end; j++) {
    if (text[j] === "\\") j++;
    else if (text[j] === "[") open++;
    else if (text[j] === "]" && --open === 0) return j;
  }
  return -1;
}

// A link within a link is its text.
const unlinked = (n) => (Array.isArray(n) && n[0] === "a" ? ["span", null, ...n.slice(2)] : n);

const textOf = (nodes) => nodes.map((n) => (typeof n === "string" ? n : textOf(n.slice(2)))).join("");

// What may not be followed, a file or script: say, is shown with where it would have led.
function linkNode(target, label) {
  const href = safeLink(target);
  const words = textOf(label).trim();
  const pretends = /^(?:[a-z]+:\/\/|www\.)/i.test(words) && words !== href; // the text is an address, but another one
  if (href) return ["a", { href }, ...(label.length ? label : [href]), ...(pretends ? [" (" + href + ")"] : [])];
  return ["span", { class: "unlinked" }, ...label, ...(target ? [" (", ["code", null, target], ")"] : [])];
}

function autolink(text, i) {
  const m = /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y;
  m.lastIndex = i;
  const found = m.exec(text);
  return found && safeLink(found[1]) ? [["a", { href: found[1] }, found[1]], m.lastIndex] : null;
}

function bareLink(text, i) {
  if (wordish.test(text[i - 1] ?? "")) return null;
  bare.lastIndex = i;
  const found = bare.exec(text);
  if (!found) return null;
  const target = withoutEnd(found[0]);
  return safeLink(target) ? [["a", { href: target }, target], i + target.length] : null;
}

// What stands behind an address belongs to the sentence, and so does a bracket that is not opened in it.
function withoutEnd(address) {
  let end = address.length;
  while (".,:;!?*_~]".includes(address[end - 1])) end--;
  if (!address.includes("(")) while (address[end - 1] === ")") end--;
  return address.slice(0, end);
}
