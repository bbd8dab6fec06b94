// Tests the parts of the viewer that need no DOM, in Node.js: node --test session/export/viewer/tests/
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const parts = ["rendering.gen", "text", "markdown", "diff", "index", "items", "facts"];
const source = parts.map((name) => readFileSync(new URL(`../${name}.js`, import.meta.url), "utf8")).join("\n");
const names = ["clean", "preview", "lineCount", "grouped", "instant", "parseMarkdown", "safeLink", "highlight", "languageOf", "diffLines", "diffText", "editsOf",
  "Lines", "Tree", "recordsOf", "filters", "totals", "textsOf", "itemOf", "imageOf", "imageSize", "blockText",
  "dollars", "indented", "nesting", "scalar", "argumentHint", "factsOf", "noticesOf"];
const v = vm.runInThisContext(`(() => { "use strict"; ${source}\nreturn { ${names.join(", ")} }; })()`);

/** html formats nodes as HTML for comparison. */
function html(nodes) {
  return nodes.map((n) => {
    if (typeof n === "string") return n;
    const [tag, attrs, ...children] = n;
    const shown = Object.entries(attrs ?? {}).map(([k, val]) => ` ${k}=${val}`).join("");
    return children.length ? `<${tag}${shown}>${html(children)}</${tag}>` : `<${tag}${shown}>`;
  }).join("");
}
const md = (text) => html(v.parseMarkdown(text));

test("markdown", () => {
  for (const [text, want] of [
    ["", ""],
    ["a\nb\n\nc", "<p>a\nb</p><p>c</p>"],
    ["# A\n## B ##\n####### no", "<h3>A</h3><h4>B</h4><p>####### no</p>"],
    ["A\n===", "<h3>A</h3>"],
    ["*a* **b** ***c*** _d_ __e__ ~~f~~ snake_case_name 2*3*4", "<p><em>a</em> <strong>b</strong> <em><strong>c</strong></em> <em>d</em> <strong>e</strong> <s>f</s> snake_case_name 2<em>3</em>4</p>"],
    ["a * b * c, ** d **, \\*e\\*", "<p>a * b * c, ** d **, *e*</p>"],
    ["**bold with `code` and *em***", "<p><strong>bold with <code>code</code> and <em>em</em></strong></p>"],
    ["`` a`b `` `unclosed", "<p><code>a`b</code> `unclosed</p>"],
    ["```go\nfunc *a*()\n\n~~~\n```\nafter", "<code-block lang=go>func *a*()\n\n~~~</code-block><p>after</p>"],
    ["````\n```\nin\n```\n````", "<code-block lang=>```\nin\n```</code-block>"],
    ["```\nnever closed", "<code-block lang=>never closed</code-block>"],
    ["- a\n- b\n  - c\n  - d\n\nend", "<ul><li>a</li><li>b<ul><li>c</li><li>d</li></ul></li></ul><p>end</p>"],
    ["3. a\n4. b", "<ol start=3><li>a</li><li>b</li></ol>"],
    ["1. a\n   ```sh\n   ls\n   ```\n2. b", "<ol start=1><li>a<code-block lang=sh>ls</code-block></li><li>b</li></ol>"],
    ["- a\n\n- b", "<ul><li><p>a</p></li><li><p>b</p></li></ul>"],
    ["- [ ] todo\n- [x] done", "<ul><li><check done=false>todo</li><li><check done=true>done</li></ul>"],
    ["> a\n> > b\nlazy", "<blockquote><p>a</p><blockquote><p>b\nlazy</p></blockquote></blockquote>"],
    ["---\n***", "<hr><hr>"],
    ["| a | b |\n|:-:|--:|\n| 1 | x \\| y |\n| 2 |", "<table><thead><tr><th align=center>a</th><th align=right>b</th></tr></thead><tbody><tr><td align=center>1</td><td align=right>x | y</td></tr><tr><td align=center>2</td><td align=right></tr></tbody></table>"],
    ["a | b\nno table", "<p>a | b\nno table</p>"],
    ["see https://a.example/x_(y), and <https://b.example>.", "<p>see <a href=https://a.example/x_(y)>https://a.example/x_(y)</a>, and <a href=https://b.example>https://b.example</a>.</p>"],
    ["[t *e*](https://a.example \"title\") ![pic](https://a.example/p.png)", "<p><a href=https://a.example>t <em>e</em></a> <a href=https://a.example/p.png>pic</a></p>"],
    ["[https://good.example](https://evil.example) [www.a.example](https://b.example) [https://c.example](https://c.example)", "<p><a href=https://evil.example>https://good.example (https://evil.example)</a> <a href=https://b.example>www.a.example (https://b.example)</a> <a href=https://c.example>https://c.example</a></p>"],
    ["# a#b # ##\n## c\\#\n# #", "<h3>a#b #</h3><h4>c#</h4><h3>"],
    ["[x](javascript:alert(1)) [y](src/a.go#L3) [z](mailto:a@b.example)", "<p><span>x (<code>javascript:alert(1)</code>)</span> <span>y (<code>src/a.go#L3</code>)</span> <a href=mailto:a@b.example>z</a></p>"],
    ["<b>not html</b> &amp;", "<p><b>not html</b> &</p>"],
    ["hard  \nbreak\\\nhere", "<p>hard<br>break<br>here</p>"],
    ["[![alt](https://a.example/p.png)](https://b.example)", "<p><a href=https://b.example>alt</a></p>"],
    ["<javascript:alert(1)> <data:text/html,x> //a.example file:///etc/passwd", "<p><javascript:alert(1)> <data:text/html,x> //a.example file:///etc/passwd</p>"],
    ["https://аpple.example <https://xn--pple-43d.example>", "<p><a href=https://xn--pple-43d.example>https://аpple.example</a> <a href=https://xn--pple-43d.example>https://xn--pple-43d.example</a></p>"],
    ["[a][r] [b][r]\n\n[r]: src/a.go 'title'", "<p><span>a (<code>src/a.go</code>)</span> <span>b (<code>src/a.go</code>)</span></p>"],
  ]) assert.equal(md(text), want, text);
  assert.deepEqual(v.parseMarkdown("<b>x</b>"), [["p", null, "<b>x</b>"]], "HTML is text");
});

test("links that may be followed", () => {
  for (const ok of ["https://a", "HTTP://a/b?c#d", "mailto:a@b"]) assert.equal(v.safeLink(ok), ok);
  for (const bad of ["javascript:alert(1)", "java\nscript:x", " https://a", "https://a b", "https://a\"b", "data:text/html,x", "//a", "/a", "file:///a", "https:a", "vbscript:x", "https://a\\b", "\u0001javascript:x", ""]) {
    assert.equal(v.safeLink(bad), "", JSON.stringify(bad));
  }
});

test("markdown takes about linear time", () => {
  for (const piece of ["*", "_a", "**a ", "`", "[", "[a](", "![", "<", "<https://", "> ", "- ", "  - ", "|a", "a|\n-|", "```\n", "\\", "https://a", "~~", "*a_b`c[", "1. \n", "# ", "[[]("]) {
    const text = piece.repeat(Math.ceil(200_000 / piece.length));
    for (const input of [text, text + "\n\n" + text.slice(0, 50_000), text.slice(0, 19_000)]) {
      const start = performance.now();
      v.parseMarkdown(input);
      assert.ok(performance.now() - start < 3000, `${JSON.stringify(piece)} takes ${Math.round(performance.now() - start)} ms`);
    }
  }
});

test("a text that exceeds a limit is shown as it is", () => {
  for (const text of ["> ".repeat(30) + "deep", "- ".repeat(15) + "deep", "x".repeat(300_001)]) assert.deepEqual(v.parseMarkdown(text), [["pre", null, text]]);
  const long = "*a* ".repeat(5001).trim();
  assert.deepEqual(v.parseMarkdown(long + "\n\n*b*"), [["p", null, long], ["p", null, ["em", null, "b"]]], "one long paragraph leaves the others alone");
  const depth = (nodes) => Math.max(0, ...nodes.map((n) => (Array.isArray(n) ? 1 + depth(n.slice(2)) : 0)));
  assert.ok(depth(v.parseMarkdown("*a **b ".repeat(2000) + " c** d*".repeat(2000))) <= 64);
});

test("long addresses of references are not repeated", () => {
  const nodes = v.parseMarkdown("[a] ".repeat(4000) + "\n\n[a]: https://a.example/" + "x".repeat(200_000));
  assert.ok(html(nodes).length < 2_000_000);
  assert.ok(!html(nodes).includes("href"));
});

// A regular expression with catastrophic backtracking takes minutes for these.
test("long lines are fast", () => {
  const run = (s, n) => s.repeat(Math.ceil(n / s.length)).slice(0, n);
  const quick = (name, f) => {
    const start = performance.now();
    f();
    assert.ok(performance.now() - start < 3000, `${name} takes ${Math.round(performance.now() - start)} ms`);
  };
  const pieces = [" ", "\t", "`", "~", "#", "-", "=", "|", "| ", ":-", ":-|", "\\", "\"", "'", "(", ")", "[", "]", "*", "_", "> ", "1.", ".", "/", "/*", "${", "\u001b[", "\u202e", "\ud800", "&", "<!--", "a@", "😀"];
  for (const piece of pieces) {
    const around = (n, ...pairs) => pairs.forEach(([before, after]) =>
      quick(JSON.stringify([before, piece, after, n]), () => v.parseMarkdown(v.clean(before + run(piece, n) + after))));
    around(120_000, ["", ""], ["a", "x"], ["```", "`"], ["# a", "x"], ["a|b\n-", "x"], ["a\n=", "x"], ["- ", "x"]);
    around(19_000, ["a", "x"], ["[a](", ")"], ["https://a", "x"], ["`` ", " ``"], ["<https://", ">"]); // read for links and emphasis
    const line = run(piece, 1_000_000);
    quick("texts of " + JSON.stringify(piece), () => {
      v.clean(line);
      v.preview(line, 120);
      v.instant(line);
      v.diffText(line);
      v.diffLines(line, "a" + line);
      v.itemOf({ type: "message", message: { role: "toolResult", content: line, details: { diff: line } } });
    });
    for (const lang of ["go", "js", "rust", "py", "sh", "sql", "json", "css", "diff"]) {
      quick(lang + " of " + JSON.stringify(piece), () => v.highlight(line.slice(0, 99_000), lang));
    }
  }
});

test("highlighting changes no text", () => {
  const code = "// c\nfunc f(a string) int { return 0x1F + len(\"x\\\"y\") /* b */ }\n# d\n'unclosed\n`tick\n\"\"\"py\"\"\" <b> $HOME -- sql";
  for (const lang of ["go", "js", "python", "sh", "sql", "json", "yaml", "rust", "css", "diff", "unknown", "__proto__", "constructor"]) {
    assert.equal(v.highlight(code, lang).map(([, text]) => text).join(""), code, lang);
  }
  assert.deepEqual(v.highlight("return x", "go"), [["keyword", "return"], ["", " x"]]);
  assert.deepEqual(v.highlight("{\"a\": \"b\"}", "json").filter(([scope]) => scope), [["attr", "\"a\""], ["string", "\"b\""]]);
  assert.equal(v.languageOf("a/b.TSX"), "typescript");
  assert.equal(v.languageOf("a/constructor"), "");
});

test("differences", () => {
  const same = (rows, keep) => rows.filter(([op]) => op === " " || op === keep).map(([, text]) => text);
  const a = ["1", "2", "3", "4", "5", "6", "x", "7"];
  const b = ["1", "2", "3", "4", "5", "y", "6", "7"];
  const rows = v.diffLines(a.join("\n"), b.join("\n"));
  assert.deepEqual(rows[0], ["…", "2 lines unchanged"]);
  assert.deepEqual(same(rows, "-"), a.slice(2));
  assert.deepEqual(same(rows, "+"), b.slice(2));
  assert.deepEqual(v.diffLines("", "a\n"), [["+", "a"]]);
  assert.deepEqual(v.diffLines("a\n", ""), [["-", "a"]]);
  const many = "x\n".repeat(3000);
  assert.deepEqual(v.diffLines("a\n" + many + "b", "c\n" + many + "d").filter(([op]) => op !== " "), [["-", "a"], ["+", "c"], ["…", "2,994 lines unchanged"], ["-", "b"], ["+", "d"]]);
  assert.deepEqual(v.diffLines("a", "a\nb"), [[" ", "a"], ["+", "b"]], "a missing final line break is no difference");
  assert.deepEqual(v.diffLines("a\nb\nc\nd\ne\nf", "x\nb\nc\nd\ne\nf").at(-1), ["…", "2 lines unchanged"]);
  const numbered = (from) => Array.from({ length: 2000 }, (_, i) => from + i).join("\n");
  assert.equal(v.diffLines(numbered(0), numbered(5000)).length, 4000, "very different texts are shown as removed and added");
  assert.deepEqual(v.diffText("+ 1 a\n-2\n  c"), [["+", " 1 a"], ["-", "2"], [" ", "  c"]]);
});

test("edits under all argument names", () => {
  const one = (args) => v.editsOf(args).map(({ before, after }) => [before, after]);
  for (const args of [
    { oldText: "a", newText: "b" }, { old_string: "a", new_string: "b" }, { edits: [{ oldText: "a", newText: "b" }] }, { edits: { old_text: "a", new_text: "b" } },
    { edits: "[{\"oldText\":\"a\",\"newText\":\"b\"}]" }, { edits: [null, 7, { old: "a", new: "b" }] },
  ]) assert.deepEqual(one(args), [["a", "b"]], JSON.stringify(args));
  for (const args of [{}, { edits: "oldText" }, { oldText: "a" }, { oldText: 1, newText: "b" }]) assert.deepEqual(one(args), []);
});

test("values nested too deeply", () => {
  const deep = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  assert.equal(v.nesting({ a: [{ b: 1 }], c: 2 }), 3);
  assert.equal(v.indented({ a: [1] }), '{"a":[1]}');
  assert.equal(v.indented(deep), "(nested too deeply to display)");
  assert.equal(v.scalar(deep), "(nested too deeply to display)");
  const wide = v.indented(JSON.parse("[".repeat(1000) + "]".repeat(1000)));
  assert.equal(wide.length, 2000, "no margins for a thousand levels");
  for (const e of [{ type: "message", message: { role: "assistant", content: [{ type: "toolCall", arguments: { deep } }] } }, { type: "service_tier_change", serviceTier: deep }, { type: "custom", data: deep }, { type: "message", message: { role: "user", content: deep } }]) {
    assert.ok(v.itemOf(e).title);
    v.textsOf(e);
  }
});

test("sums of money", () => {
  assert.deepEqual([0.0213, 1, 12.345, 1165.114, 1234567.8].map(v.dollars), ["$0.0213", "$1.00", "$12.35", "$1,165.11", "$1,234,567.80"]);
});

test("facts and notices", () => {
  const records = treeOf(["a", null], ["b", "a", { message: { role: "assistant", content: [], provider: "p", model: "m", usage: { output: 5, cost: { total: 0.5 } } } }]).records;
  const facts = Object.fromEntries(v.factsOf({ header: { cwd: "/x\u202e", id: "i".repeat(1000) }, thinkingLevel: "high" }, records.slice(0, 1), records));
  assert.equal(facts.Cost, "$0.0000 ($0.5000 including other branches)");
  assert.equal(facts.Model, "thinking: high");
  assert.equal(facts.Folder, "/x");
  assert.equal(facts.Session.length, 300);
  assert.equal(Object.fromEntries(v.factsOf({}, records, records)).Cost, "$0.5000");
  assert.deepEqual(v.noticesOf({}, { entries: 2 }, records), []);
  assert.deepEqual(v.noticesOf({}, { entries: 3 }, records), ["This page is incomplete: it contains 2 of 3 entries."]);
  assert.deepEqual(v.noticesOf({}, {}, []), ["This page is incomplete: it ends after 0 entries."]);
  assert.deepEqual(v.noticesOf({ redacting: true, damaged: 1 }, { entries: 2 }, records), ["No secrets of the known kinds were found.", "1 damaged line of the session file couldn't be read and isn't on this page."]);
});

test("texts", () => {
  assert.equal(v.clean("nul\0 esc\u001b[2J \u001b[1;31mred\u001b[0m\r\nlone\ud800. rlo\u202e\u2066. c1\u009b. del\u007f tab\tend 😀"), "nul␀ esc␛[2J red\nlone\ufffd. rlo. c1\ufffd. del␡ tab\tend 😀");
  assert.equal(v.preview("  a \n b  " + "😀".repeat(50), 8), "a b 😀😀😀…");
  assert.deepEqual(["", "a", "a\n", "a\nb", "\n"].map(v.lineCount), [0, 1, 1, 2, 1]);
  assert.deepEqual([0, 999, 1234567].map(v.grouped), ["0", "999", "1,234,567"]);
  assert.equal(v.instant("2026-03-04T09:00:00+02:00").full, "2026-03-04 07:00:00 UTC");
  assert.deepEqual(v.instant("soon"), { text: "soon", full: "", machine: "" });
  assert.equal(v.instant(7).text, "");
});

/** treeOf builds a tree from [id, parent, more] rows. */
function treeOf(...rows) {
  const text = rows.map(([id, parentId, more]) => JSON.stringify({ type: "message", id, parentId, message: { role: "user", content: id }, ...more })).join("\n");
  return new v.Tree(v.recordsOf(text, 0, 0));
}
const shown = (tree, filter, ...active) => tree.rows(v.filters[filter], new Set(active)).map((r) => " ".repeat(r.depth) + tree.records[r.ordinal].id);

test("the tree", () => {
  const tree = treeOf(["a", null], ["b", "a"], ["c", "b"], ["d", "a"], ["e", "d"], ["l", "e", { type: "label", targetId: "b", label: "x" }]);
  assert.deepEqual(shown(tree, "default", 0, 1, 2), ["a", " b", " c", " d", " e"]);
  assert.deepEqual(shown(tree, "default", 0, 3, 4), ["a", " d", " e", " b", " c"], "the active branch comes first");
  assert.deepEqual(shown(tree, "labelled"), ["b"]);
  assert.deepEqual(shown(tree, "all", 0, 3, 4, 5), ["a", " d", " e", " l", " b", " c"]);
  assert.deepEqual(tree.pathTo(4), [0, 3, 4]);
  assert.equal(tree.newestBelow(0), 5);
  assert.equal(tree.newestBelow(1), 2);
  assert.equal(tree.find(tree.anchor(3)), 3);
  assert.equal(tree.find("entry-.99"), -1);
});

test("labels: the last one counts, an empty one clears", () => {
  const label = (text) => ({ type: "label", targetId: "a", label: text });
  assert.equal(treeOf(["a", null], ["1", "a", label("x")], ["2", "1", label("y")]).records[0].label, "y");
  assert.equal(treeOf(["a", null], ["1", "a", label("x")], ["2", "1", label(undefined)]).records[0].label, "");
});

test("odd trees", () => {
  const twice = treeOf(["a", null], ["b", "a"], ["b", "a"], ["c", "b"]);
  assert.deepEqual(twice.pathTo(3), [0, 2, 3], "if entries have the same id, the last one counts");
  assert.equal(twice.anchor(1), "entry-.1");
  const circle = treeOf(["a", "c"], ["b", "a"], ["c", "b"], ["s", "s"], ["o", "gone"]);
  assert.equal(circle.rows(() => true, new Set()).length, 5);
  assert.deepEqual(circle.pathTo(2), [0, 1, 2]);
  const deep = treeOf(...Array.from({ length: 50_000 }, (_, i) => ["n" + i, i ? "n" + (i - 1) : null]));
  assert.equal(deep.rows(() => true, new Set()).length, 50_000);
  const wide = treeOf(["r", null], ...Array.from({ length: 20_000 }, (_, i) => ["n" + i, "r"]));
  assert.equal(wide.rows(() => true, new Set()).length, 20_001);
});

test("records locate their lines", () => {
  const text = "\n{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"name\":\"read\",\"arguments\":{\"path\":\"x.go\"}}],\"usage\":{\"input\":3,\"cost\":{\"total\":0.5}}}}\n{torn\nnull\n";
  const records = v.recordsOf(text, 0, 0);
  const lines = new v.Lines(() => text);
  assert.deepEqual(records.map((r) => lines.entry(r).type), ["message", "damaged", "damaged"]);
  assert.equal(records[0].text, "read x.go");
  const sum = v.totals(records);
  assert.deepEqual([sum.calls, sum.input, sum.cost], [1, 3, 0.5]);
});

test("results repeat the arguments of the call", () => {
  const lines = [
    { type: "message", message: { role: "assistant", content: [{ type: "toolCall", id: "1", name: "grep", arguments: { path: "src", pattern: "todo" } }, { type: "toolCall", id: "2", name: "bash", arguments: { command: "ls" } }] } },
    { type: "message", message: { role: "toolResult", toolCallId: "2", toolName: "bash", isError: true, content: "no" } },
    { type: "message", message: { role: "toolResult", toolCallId: "1", toolName: "grep", content: "found" } },
    { type: "message", message: { role: "toolResult", toolCallId: "1", toolName: "grep", content: "again" } },
  ].map((e) => JSON.stringify(e));
  const calls = new Map();
  const records = [...v.recordsOf(lines.slice(0, 2).join("\n"), 0, 0, calls), ...v.recordsOf(lines.slice(2).join("\n"), 1, 2, calls)];
  assert.deepEqual(records.slice(1).map((r) => [r.text, r.bad]), [["bash ls", true], ["grep todo", false], ["again", false]], "also in another block of the page");
  assert.equal(calls.size, 0);
  const [call] = v.itemOf(JSON.parse(lines[0])).blocks;
  assert.deepEqual([call.path, call.hint], ["src", "todo"]);
  assert.equal(v.blockText(call), "[grep] src\npattern: todo");
});

test("searchable text", () => {
  const text = v.textsOf({ type: "message", id: "idx", message: { content: [{ type: "text", text: "Hello" }, { type: "image", mimeType: "image/png", data: "AAAA" }, { arguments: { path: "p.go" } }] } });
  for (const has of ["Hello", "p.go"]) assert.ok(text.includes(has));
  for (const lacks of ["AAAA", "idx", "image/png"]) assert.ok(!text.includes(lacks));
});

test("images", () => {
  const png = Buffer.from("\x89PNG\r\n\x1a\n0123456789", "latin1").toString("base64");
  const of = (mimeType, data) => v.imageOf({ mimeType, data }).source ?? "";
  assert.equal(of("image/png", png), "data:image/png;base64," + png);
  for (const [mime, data] of [["image/png", btoa("<svg onload=alert(1)></svg>")], ["image/svg+xml", btoa("<svg></svg>")], ["text/html", png], ["IMAGE/PNG", png], ["image/png;x", png],
    ["image/png", png + "\" onerror=\"alert(1)"], ["image/png", "blob:sha256:00ff"], ["image/png", "https://e.invalid/x.png"], ["image/png", ""], ["toString", png], [7, png], ["image/jpeg", png]]) {
    assert.equal(of(mime, data), "", mime + " " + data);
  }
});

test("image sizes", () => {
  const base64 = (...bytes) => Buffer.from(bytes).toString("base64");
  const size = (type, ...bytes) => v.imageSize("image/" + type, base64(...bytes));
  assert.deepEqual(size("png", ...Array(16).fill(0), 0, 0, 2, 128, 0, 0, 1, 4), [640, 260]);
  assert.deepEqual(size("gif", ...Buffer.from("GIF89a"), 44, 1, 200, 0), [300, 200]);
  assert.deepEqual(size("jpeg", 0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc2, 0, 17, 8, 0, 100, 0, 50, 3), [50, 100]);
  for (const bytes of [[], [0xff, 0xd8], [0xff, 0xd8, 0xff, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0], [0xff, 0xd8, 0xff, 0xe0, 255, 255, 0, 0, 0, 0, 0]]) assert.equal(size("jpeg", ...bytes), null);
  assert.equal(size("webp", 1, 2, 3), null);
  assert.equal(v.imageSize("image/png", "A"), null);
});

test("every shape of entry has an item", () => {
  const odd = [null, 7, true, "", "x", [], {}, [null, [], { type: 7 }, { type: "toolCall", arguments: [1, "a"] }, { type: "image" }, { type: "thinking" }, { type: "text" }, { type: "text", text: 7 }]];
  const types = "message custom_message compaction branch_summary model_change thinking_level_change service_tier_change mode_change context_change label session_info title_change custom session_init mcp_tool_selection ttsr_injection unknown constructor".split(" ");
  const roles = "user developer system assistant toolResult bashExecution pythonExecution custom hookMessage branchSummary compactionSummary fileMention unknown constructor".split(" ");
  for (const x of odd) {
    for (const type of types) check({ type, id: x, timestamp: x, message: x, summary: x, data: x, content: x, label: x, details: x, model: x });
    for (const role of roles) check({ type: "message", message: { role, content: x, files: x, usage: x, exitCode: x, command: x, output: x, details: x, toolName: x, errorMessage: x } });
  }
  function check(e) {
    v.recordsOf(JSON.stringify(e), 0, 0);
    const it = v.itemOf(e);
    assert.ok(it.title, JSON.stringify(e));
    for (const b of it.blocks) assert.equal(typeof (b.text ?? ""), "string", JSON.stringify(e));
  }
});
