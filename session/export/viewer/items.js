// Items are entries prepared for display: a title, small print and blocks. Kinds are constants of this file, never
// values from the session. dom.js cleans every text.

/** itemOf returns {kind, title, flags, meta, blocks} of an entry. */
function itemOf(e) {
  const it = { kind: "note", title: "", time: instant(e.timestamp), flags: [], meta: [], blocks: [] };
  const type = str(e.type);
  if (type === "message") message(it, obj(e.message));
  else if (type === "custom_message") custom(it, e);
  else if (type === "compaction") summary(it, "Compaction", e);
  else if (type === "branch_summary") summary(it, "Branch summary", e);
  else if (type === "damaged") {
    it.title = "Unreadable line";
    it.blocks.push({ kind: "fold", title: "Raw content", text: e.raw });
  } else setting(it, e, type);
  it.title = preview(it.title, 160);
  return it;
}

const settingTexts = {
  model_change: (e) => "Model → " + (str(e.model) || joined("/", [str(e.provider), str(e.modelId)]) || "none"),
  thinking_level_change: (e) => "Thinking → " + (str(e.thinkingLevel) || "off"),
  service_tier_change: (e) => "Service tier → " + (scalar(e.serviceTier) || "none"),
  mode_change: (e) => "Mode → " + (str(e.mode) || "none"),
  context_change: (e) => "Context → " + (joined(" / ", [str(e.contextName), str(e.tenant), str(e.namespace)]) || "none"),
  label: (e) => (str(e.label) ? "Label “" + e.label + "” set" : "Label removed"),
  session_info: (e) => "Title → " + (str(e.name) || "none"),
  title_change: (e) => "Title → " + (str(e.title) || "none"),
  custom: (e) => "Extension state: " + (str(e.customType) || "unnamed"),
  session_init: () => "Sub-agent started",
  mcp_tool_selection: () => "MCP tools selected",
  ttsr_injection: () => "Rules injected",
};

function settingText(e) {
  const type = str(e.type);
  return Object.hasOwn(settingTexts, type) ? settingTexts[type](e) : "";
}

function setting(it, e, type) {
  it.title = settingText(e);
  if (!it.title) {
    it.title = "Entry of type " + (preview(type, 60) || "unknown");
    details(it, "Raw entry", e);
  }
  for (const [name, v] of [["Details", e.data], ["Task", e.task], ["System prompt", e.systemPrompt], ["Tools", e.tools ?? e.selectedToolNames], ["Rules", e.injectedRules]]) {
    details(it, name, v);
  }
}

function details(it, title, v) {
  if (v !== undefined && v !== null && v !== "") it.blocks.push({ kind: "fold", title, text: indented(v), lang: typeof v === "string" ? "" : "json" });
}

const roles = {
  user: (it, m) => textMessage(it, "user", "User", m),
  developer: (it, m) => textMessage(it, "developer", "Developer", m),
  system: (it, m) => textMessage(it, "developer", "System", m),
  assistant, toolResult,
  bashExecution: (it, m) => execution(it, "Shell", m.command, "sh", m),
  pythonExecution: (it, m) => execution(it, "Python", m.code, "py", m),
  custom, hookMessage: custom, fileMention,
  branchSummary: (it, m) => summary(it, "Branch summary", m),
  compactionSummary: (it, m) => summary(it, "Compaction", m),
};

function message(it, m) {
  const role = str(m.role);
  if (Object.hasOwn(roles, role)) return roles[role](it, m);
  it.kind = "custom";
  it.title = "Message with role " + (preview(role, 40) || "unknown");
  content(it, m.content);
}

function textMessage(it, kind, title, m) {
  [it.kind, it.title] = [kind, title];
  if (m.synthetic) it.flags.push({ text: "synthetic" });
  content(it, m.content);
}

const blocksOf = (v) => (typeof v === "string" ? [{ type: "text", text: v }] : list(v).map(obj));

function content(it, v) {
  for (const b of blocksOf(v)) {
    if (b.type === "text") markdownBlock(it, b.text);
    else otherBlock(it, b);
  }
}

function markdownBlock(it, text) {
  if (str(text).trim()) it.blocks.push({ kind: "markdown", text });
}

function otherBlock(it, b) {
  if (b.type === "image") it.blocks.push({ kind: "image", ...imageOf(b) });
  else it.blocks.push({ kind: "hint", text: "unsupported block type: " + (preview(str(b.type), 40) || "unknown") });
}

function assistant(it, m) {
  [it.kind, it.title] = ["assistant", "Assistant"];
  const u = usageOf(m.usage);
  const model = joined("/", [str(m.provider), str(m.model)]);
  if (model) it.meta.push({ text: preview(model, 80) });
  if (u.output > 0) it.meta.push({ text: grouped(u.output) + " out", full: tokenText(u) });
  if (u.cost > 0) it.meta.push({ text: dollars(u.cost) });
  const stop = str(m.stopReason);
  if (stop === "error" || stop === "aborted") it.flags.push({ text: stop, bad: true });
  if (stop === "length") it.flags.push({ text: "truncated at the token limit", bad: true });
  for (const b of list(m.content).map(obj)) assistantBlock(it, b);
  if (typeof m.content === "string") markdownBlock(it, m.content);
  if (str(m.errorMessage)) it.blocks.push({ kind: "error", text: m.errorMessage });
}

function assistantBlock(it, b) {
  switch (b.type) {
    case "text": return markdownBlock(it, b.text);
    case "thinking":
      if (str(b.thinking)) it.blocks.push({ kind: "thinking", title: "Thinking", note: preview(b.thinking, 90), text: b.thinking });
      return;
    case "redactedThinking": return it.blocks.push({ kind: "hint", text: "thinking withheld by the provider" });
    case "toolCall": return it.blocks.push(callOf(b));
    default: return otherBlock(it, b);
  }
}

function callOf(b) {
  const args = obj(b.arguments);
  const rest = { ...args };
  delete rest._i;
  const call = { kind: "call", name: preview(str(b.name), 60) || "unnamed tool", about: preview(str(b.intent) || str(args._i), 120), parts: [] };
  const path = str(args.path) || str(args.file_path);
  const edits = editsOf(args);
  if (path) call.path = path;
  for (const edit of edits) call.parts.push({ kind: "diff", path: edit.path !== path ? edit.path : "", rows: diffLines(edit.before, edit.after) });
  const drop = (...names) => names.forEach((n) => delete rest[n]);
  if (edits.length) drop("edits", "oldText", "newText", "old_text", "new_text", "old_string", "new_string", "old", "new", "search", "replace");
  for (const [name, lang] of [["command", "sh"], ["code", "py"], ["content", languageOf(path)], ["diff", "diff"], ["patch", "diff"]]) {
    if (typeof args[name] !== "string" || !args[name]) continue;
    call.parts.push(name === "diff" || name === "patch" ? { kind: "diff", path: "", rows: diffText(args[name]) } : { kind: "code", text: args[name], lang, shell: name === "command" });
    drop(name);
  }
  if (path) drop(...paths);
  call.args = (Array.isArray(b.arguments) ? b.arguments.map((v, i) => [String(i), v]) : Object.entries(rest)).map(([key, v]) => [key, indented(v)]);
  call.hint = argumentHint(path ? rest : args);
  return call;
}

function toolResult(it, m) {
  [it.kind, it.title] = ["tool", str(m.toolName) || "Tool result"];
  if (m.isError) it.flags.push({ text: "error", bad: true });
  if (m.isWarning) it.flags.push({ text: "warning", bad: true });
  if (m.prunedAt) it.flags.push({ text: "pruned from the context" });
  for (const b of blocksOf(m.content)) {
    if (b.type === "text") output(it, str(b.text));
    else otherBlock(it, b);
  }
  if (!it.blocks.length) output(it, "");
  const diff = str(obj(m.details).diff);
  if (diff) it.blocks.push({ kind: "fold-diff", title: "Diff", rows: diffText(diff) });
}

function execution(it, title, source, lang, m) {
  [it.kind, it.title] = ["exec", title];
  if (m.cancelled) it.flags.push({ text: "cancelled", bad: true });
  else if (num(m.exitCode) !== 0) it.flags.push({ text: "exit code " + num(m.exitCode), bad: true });
  if (m.truncated) it.flags.push({ text: "output truncated" });
  if (m.excludeFromContext) it.flags.push({ text: "not in the context" });
  it.blocks.push({ kind: "code", text: str(source), lang, shell: lang === "sh" });
  output(it, str(m.output));
}

/** blockText returns the text of a block, for copying. */
function blockText(b) {
  if (b.kind === "call") return joined("\n", ["[" + b.name + "] " + joined(" ", [b.path, b.about]), ...b.parts.map(blockText), ...b.args.map(([name, v]) => name + ": " + v)]);
  if (b.rows) return b.rows.map(([op, text]) => op + text).join("\n");
  return str(b.text);
}

/** output adds the output of a program. A short one is not collapsible. */
function output(it, text) {
  const n = lineCount(text);
  const short = n <= 6 && text.length < 800;
  it.blocks.push(n ? { kind: "output", title: count(n, "line", "lines"), note: preview(text, 110), text, short } : { kind: "hint", text: "no output" });
}

function custom(it, m) {
  [it.kind, it.title] = ["custom", str(m.customType) || "Extension message"];
  if (m.display === false) it.flags.push({ text: "hidden" });
  content(it, m.content);
  details(it, "Details", m.details);
}

function summary(it, title, m) {
  [it.kind, it.title] = ["summary", title];
  if (num(m.tokensBefore) > 0) it.meta.push({ text: grouped(m.tokensBefore) + " tokens before" });
  if (str(m.fromId)) it.meta.push({ text: "from " + preview(m.fromId, 40) });
  markdownBlock(it, m.summary);
  details(it, "Details", m.details);
}

function fileMention(it, m) {
  [it.kind, it.title] = ["file", "Files"];
  for (const f of list(m.files).map(obj)) {
    const text = str(f.content);
    const note = joined(" · ", [count(lineCount(text), "line", "lines"), str(f.skippedReason) && "skipped: " + preview(f.skippedReason, 40)]);
    it.blocks.push({ kind: "fold", title: preview(str(f.path), 200) || "unnamed file", note, text: text || "(no text)", lang: languageOf(str(f.path)) });
    if (f.image) it.blocks.push({ kind: "image", ...imageOf(obj(f.image)) });
  }
}

function tokenText(u) {
  const part = (n, name) => (n > 0 ? grouped(n) + " " + name : "");
  return joined(" · ", [part(u.input, "in"), part(u.output, "out"), part(u.cacheRead, "cache read"), part(u.cacheWrite, "cache write")]);
}

// The first bytes of supported images, in base64. SVG is not supported because it can contain scripts.
const imageTypes = { "image/png": /^iVBORw/, "image/jpeg": /^\/9j/, "image/gif": /^R0lGOD/, "image/webp": /^UklGR.{7}XRUJQ/ };

/** imageOf returns the {source} of an image block, a data: address of a supported type, or a {text} with the reason why it can't be shown. */
function imageOf(b) {
  const type = str(b.mimeType);
  const data = str(b.data);
  if (!data) return { text: "image without data" };
  if (!Object.hasOwn(imageTypes, type)) return { text: "unsupported image type: " + (preview(type, 40) || "unknown") };
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return { text: type + " image, stored outside the session" };
  if (data.length < 16 || !imageTypes[type].test(data)) return { text: "damaged image of type " + type };
  return { source: "data:" + type + ";base64," + data, size: imageSize(type, data) };
}

/**
 * imageSize reads [width, height] in pixels from the beginning of an image, so that the page reserves its space while
 * the browser decodes it. It returns null if it finds no size.
 */
function imageSize(type, data) {
  let bytes;
  try {
    bytes = Uint8Array.from(atob(data.slice(0, 1 << 16)), (c) => c.charCodeAt(0));
  } catch {
    return null; // truncated base64
  }
  const view = new DataView(bytes.buffer);
  if (type === "image/png" && bytes.length >= 24) return [view.getUint32(16), view.getUint32(20)];
  if (type === "image/gif" && bytes.length >= 10) return [view.getUint16(6, true), view.getUint16(8, true)];
  return type === "image/jpeg" ? jpegSize(view) : null;
}

// jpegSize reads the size from the frame header, which follows segments with a length field.
function jpegSize(view) {
  for (let i = 2; i + 9 <= view.byteLength && view.getUint8(i) === 0xff; i += 2 + view.getUint16(i + 2)) {
    const marker = view.getUint8(i + 1);
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return [view.getUint16(i + 7), view.getUint16(i + 5)];
  }
  return null;
}
