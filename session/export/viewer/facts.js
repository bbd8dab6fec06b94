// What is said of the session above the conversation: facts, notices, instructions.

/** factsOf returns [name, value] pairs about the entries of a path; all are those of every path. */
function factsOf(about, path, all) {
  const header = obj(about.header);
  const here = totals(path);
  const costs = [here, totals(all)].map((t) => (t.cost > 0 ? dollars(t.cost) : ""));
  const thinking = path.findLast((r) => r.type === "thinking_level_change")?.set || str(about.thinkingLevel);
  return [
    ["Started", instant(header.timestamp).full || preview(str(header.timestamp), 40)],
    ["Folder", str(header.cwd)],
    ["Model", joined(" · ", [Array.from(here.models).slice(-3).join(", ") || str(about.model), thinking && "thinking " + thinking])],
    ["Messages", joined(" · ", [count(here.user, "user", "user"), count(here.assistant, "assistant", "assistant"), count(here.calls, "tool call", "tool calls")])],
    ["Tokens", tokenText(here)],
    ["Cost", costs[0] === costs[1] ? costs[0] : (costs[0] || dollars(0)) + " (" + costs[1] + " with other branches)"],
    ["Session", str(header.id)],
    ["File", str(about.fileName)],
  ].map(([name, v]) => [name, preview(v, 300)]);
}

/** showFacts shows what is known. While the page is read, what is not known yet keeps its place. */
function showFacts(facts, reading) {
  byId("facts").replaceChildren(...facts.filter(([name, v]) => v || reading && /^(?:Messages|Tokens|Cost)$/.test(name)).map(([name, v]) =>
    h("div", null, h("dt", null, name), h("dd", { dir: "auto" }, reading && /^(?:Messages|Tokens|Cost)$/.test(name) ? "…" : v))));
}

/** noticesOf says what was left out of this page, and by whom. ending is {} in a page that was cut off. */
function noticesOf(about, ending, records) {
  const out = [];
  const redacted = Object.entries(obj(ending.redacted)).filter(([, n]) => num(n) > 0);
  if (redacted.length) out.push("Secrets were replaced: " + redacted.map(([name, n]) => clean(name) + " ×" + n).join(", ") + ".");
  else if (about.redacting) out.push("Looked for secrets; none of the known kinds was found.");
  const unreadable = records.filter((r) => r.type === "damaged" || r.type === "").length;
  const damaged = num(about.damaged);
  if (damaged) out.push(count(damaged, "damaged line", "damaged lines") + " of the file could not be read and " + (damaged === 1 ? "is" : "are") + " not on this page.");
  if (unreadable) out.push(count(unreadable, "entry", "entries") + " on this page cannot be shown as more than raw text.");
  if (typeof ending.entries !== "number") out.push("This page is not whole: its end is missing, behind " + (count(records.length, "entry", "entries") || "no entry") + ".");
  else if (ending.entries !== records.length) out.push("This page is not whole: it holds " + grouped(records.length) + " of " + grouped(ending.entries) + " entries.");
  return out;
}

/** showAbout shows the instructions of a live session. */
function showAbout(about) {
  const parts = [];
  if (str(about.systemPrompt)) parts.push(folded("about", "about:system", ["System prompt ", note(count(lineCount(about.systemPrompt), "line", "lines"))], false, () => codeBlockElement(about.systemPrompt, "")));
  const tools = list(about.tools).map(obj);
  if (tools.length) parts.push(folded("about", "about:tools", ["Tools ", note(grouped(tools.length))], false, () => h("div", null, tools.map(toolElement))));
  byId("about").replaceChildren(...parts);
}

function toolElement(tool, i) {
  return h("section", { class: "tool" }, h("h3", null, clean(str(tool.name))),
    h("div", { class: "text", dir: "auto" }, build(parseMarkdown(clean(str(tool.description))))),
    tool.parameters ? folded("fold", "about:tool:" + i, ["Parameters"], false, () => codeBlockElement(indented(tool.parameters), "json")) : null);
}
