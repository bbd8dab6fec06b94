// The information above the conversation: facts about the session, notices, the system prompt and the tools.

/** factsOf returns [name, value] pairs about the entries of a path. all has the entries of every path. */
function factsOf(about, path, all) {
  const header = obj(about.header);
  const here = totals(path);
  const costs = [here, totals(all)].map((t) => (t.cost > 0 ? dollars(t.cost) : ""));
  const thinking = path.findLast((r) => r.type === "thinking_level_change")?.set || str(about.thinkingLevel);
  return [
    ["Started", instant(header.timestamp).full || preview(str(header.timestamp), 40)],
    ["Folder", str(header.cwd)],
    ["Model", joined(" · ", [Array.from(here.models).slice(-3).join(", ") || str(about.model), thinking && "thinking: " + thinking])],
    ["Messages", joined(" · ", [count(here.user, "user", "user"), count(here.assistant, "assistant", "assistant"), count(here.calls, "tool call", "tool calls")])],
    ["Tokens", tokenText(here)],
    ["Cost", costs[0] === costs[1] ? costs[0] : (costs[0] || dollars(0)) + " (" + costs[1] + " including other branches)"],
    ["Session", str(header.id)],
    ["File", str(about.fileName)],
  ].map(([name, v]) => [name, preview(v, 300)]);
}

/** showFacts shows the known facts. While the page is loading, unknown facts have a placeholder. */
function showFacts(facts, loading) {
  byId("facts").replaceChildren(...facts.filter(([name, v]) => v || loading && /^(?:Messages|Tokens|Cost)$/.test(name)).map(([name, v]) =>
    h("div", null, h("dt", null, name), h("dd", { dir: "auto" }, loading && /^(?:Messages|Tokens|Cost)$/.test(name) ? "…" : v))));
}

/** noticesOf returns sentences about omitted content. ending is {} if the page is truncated. */
function noticesOf(about, ending, records) {
  const out = [];
  const redacted = Object.entries(obj(ending.redacted)).filter(([, n]) => num(n) > 0);
  if (redacted.length) out.push("Secrets were replaced: " + redacted.map(([name, n]) => clean(name) + " ×" + n).join(", ") + ".");
  else if (about.redacting) out.push("No secrets of the known kinds were found.");
  const unreadable = records.filter((r) => r.type === "damaged" || r.type === "").length;
  const damaged = num(about.damaged);
  if (damaged) out.push(count(damaged, "damaged line", "damaged lines") + " of the session file couldn't be read and " + (damaged === 1 ? "isn't" : "aren't") + " on this page.");
  if (unreadable) out.push(count(unreadable, "entry", "entries") + " on this page can only be shown as raw text.");
  if (typeof ending.entries !== "number") out.push("This page is incomplete: it ends after " + (count(records.length, "entry", "entries") || "0 entries") + ".");
  else if (ending.entries !== records.length) out.push("This page is incomplete: it contains " + grouped(records.length) + " of " + grouped(ending.entries) + " entries.");
  return out;
}

/** showAbout shows the system prompt and the tools of a live session. */
function showAbout(about) {
  const parts = [];
  if (str(about.systemPrompt)) parts.push(folded("about", "about:system", ["System prompt ", note(count(lineCount(about.systemPrompt), "line", "lines"))], false, () => codeBlockElement(about.systemPrompt, "")));
  const tools = list(about.tools).map(obj);
  if (tools.length) parts.push(folded("about", "about:tools", ["Tools ", note(grouped(tools.length))], false, () => h("div", null, tools.map(toolElement))));
  byId("about").replaceChildren(...parts);
}

function toolElement(tool, i) {
  return h("section", { class: "tool" }, h("h3", null, clean(str(tool.name))),
    markdownElement(str(tool.description)),
    tool.parameters ? folded("fold", "about:tool:" + i, ["Parameters"], false, () => codeBlockElement(indented(tool.parameters), "json")) : null);
}
