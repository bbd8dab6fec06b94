// Proves: E-07
// A session file opened in an editor, as any other file.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { entriesOf, entryId, filesBelow, flow, read } from "./world.mjs";

const id = "0190000000000001";
const nested = { textDocument: { documentSymbol: { hierarchicalDocumentSymbolSupport: true }, hover: { contentFormat: ["markdown"] } } };

flow("symbols are the turns, nested where the editor can show that", async (world) => {
  const path = world.session(id, ["one", "two"]);
  const plain = await world.editor();
  const flat = await plain.about(path, "textDocument/documentSymbol");
  assert.ok(flat.every((s) => s.location.uri === pathToFileURL(path).href));
  const starts = flat.map((s) => s.location.range.start.line);
  for (const line of [0, 1, 3]) assert.ok(starts.includes(line), `a symbol begins in line ${line}`);
  await plain.leave();

  const editor = await world.editor({ capabilities: nested });
  const [header, one, two] = await editor.about(path, "textDocument/documentSymbol");
  assert.equal(header.range.start.line, 0);
  assert.match(one.name, /one/);
  assert.match(two.name, /two/);
  assert.deepEqual([one.range.start.line, two.range.start.line], [1, 3]);
  for (const turn of [one, two]) assert.ok(turn.children.length > 0);
  const folds = await editor.about(path, "textDocument/foldingRange");
  assert.deepEqual(folds.map((f) => [f.startLine, f.endLine]), [[1, 2], [3, 4]]);
  await editor.leave();
});

flow("hover shows what was said, in the form that the editor reads", async (world) => {
  const path = world.recorded("pi", "as-tools");
  const line = entriesOf(path).findIndex((l) => l.message?.role === "user");
  const text = entriesOf(path)[line].message.content;
  const said = typeof text === "string" ? text : text[0].text;
  for (const [capabilities, kind] of [[nested, "markdown"], [{}, "plaintext"]]) {
    const editor = await world.editor({ capabilities });
    const { contents, range } = await editor.about(path, "textDocument/hover", { position: { line, character: 3 } });
    assert.equal(contents.kind, kind);
    assert.ok(contents.value.includes(said), contents.value);
    assert.equal(range.start.line, line);
    assert.equal(await editor.about(path, "textDocument/hover", { position: { line: 9999, character: 0 } }), null);
    await editor.leave();
  }
});

for (const encoding of ["utf-8", "utf-16", "utf-32"]) {
  flow(`links stand exactly where the text does, in ${encoding}`, async (world) => {
    const parent = world.session("0190000000000000", ["before"]);
    const file = world.file("a.go", "package a\n");
    const call = { type: "toolCall", id: "c", name: "read", arguments: { path: "a.go" } };
    const lines = [
      { type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: world.folder, title: "😀 ä 𝒳", parentSession: "0190000000000000" },
      { type: "message", id: "aaaaaaaa", parentId: null, timestamp: "2026-01-01T00:00:01.000Z",
        message: { role: "assistant", content: [{ type: "text", text: "𝒴 I look" }, call], model: "demo" } },
    ];
    const path = world.session(id, []);
    writeFileSync(path, lines.map((l) => `${JSON.stringify(l)}\n`).join(""));
    const editor = await world.editor({ encodings: [encoding] });
    const doc = editor.open(path, { languageId: "json" });
    const links = await editor.about(path, "textDocument/documentLink");
    const shown = links.map((l) => [doc.text.slice(doc.offsetAt(l.range.start), doc.offsetAt(l.range.end)), fileURLToPath(l.target)]);
    assert.deepEqual(shown, [["0190000000000000", parent], ["a.go", file]]);
    await editor.leave();
  });
}

flow("the commands of the lenses do what they say", async (world) => {
  const path = world.session(id, ["one", "two"]);
  const before = read(path);
  const editor = await world.editor();
  editor.open(path, { languageId: "json" });
  const lenses = await editor.about(path, "textDocument/codeLens");
  const lens = (title, line) => lenses.find((l) => l.command.title === title && l.range.start.line === line).command;

  assert.equal((await editor.runRef(lens("Resume", 0))).session.file, path);
  const exported = await editor.runRef(lens("Export", 0));
  assert.equal(exported.path, join(world.folder, `xcsh-session-${basename(path, ".jsonl")}.html`));
  assert.ok(existsSync(exported.path));
  const transcript = await editor.runRef(lens("Transcript", 0));
  assert.match(read(transcript.path), /Answer to two/);
  assert.deepEqual(editor.messages, [exported.path, transcript.path]);
  const fork = await editor.runRef(lens("Fork from here", 2));
  assert.deepEqual(entriesOf(fork.session.file).slice(1).map((l) => l.id), [entryId(1), entryId(2)]);
  assert.deepEqual(lenses.filter((l) => l.command.title === "Fork from here").map((l) => l.range.start.line), [1, 2, 3, 4]);
  await editor.leave();
  assert.equal(read(path), before);
});

flow("damage is underlined, follows what is typed, and goes with the document", async (world) => {
  const path = world.recorded("omp", "malformed-lines");
  const before = read(path);
  const editor = await world.editor();
  const doc = editor.open(path, { languageId: "json" });
  const found = await editor.heard("textDocument/publishDiagnostics");
  assert.equal(found.uri, doc.uri);
  assert.equal(found.version, 1);
  const lines = doc.text.split("\n");
  const broken = found.diagnostics.filter((d) => d.code === "malformedLine");
  assert.ok(broken.length > 0);
  for (const { range, severity, source } of broken) {
    assert.throws(() => JSON.parse(lines[range.start.line]), SyntaxError, lines[range.start.line]);
    assert.deepEqual([severity, source], [1, "xcsh-ls"]);
  }
  // The person takes the broken lines out, from below.
  for (const { range } of broken.toReversed()) {
    editor.edit(doc, { start: { line: range.start.line, character: 0 }, end: { line: range.start.line + 1, character: 0 } }, "");
  }
  const left = await editor.heard("textDocument/publishDiagnostics");
  assert.equal(left.version, doc.version);
  assert.deepEqual(left.diagnostics.filter((d) => d.code === "malformedLine"), []);
  // and breaks another one
  editor.edit(doc, { start: { line: 1, character: 0 }, end: { line: 1, character: 1 } }, "");
  const symbols = editor.about(path, "textDocument/documentSymbol");
  const again = await editor.heard("textDocument/publishDiagnostics", (p) => p.version === doc.version);
  assert.deepEqual(again.diagnostics.filter((d) => d.code === "malformedLine").map((d) => d.range.start.line), [1]);
  assert.ok((await symbols).length > 0, "the rest is shown");
  editor.close(doc);
  const closed = await editor.heard("textDocument/publishDiagnostics");
  assert.deepEqual(closed.diagnostics, []);
  await editor.leave();
  assert.equal(read(path), before);
});

flow("other documents are none of the server's", async (world) => {
  const plain = world.file("a.jsonl", '{"type":"note"}\n{\n');
  const outside = world.file("../b.jsonl", read(world.session(id, ["one"])));
  const editor = await world.editor({ capabilities: nested });
  const before = filesBelow(world.root);
  editor.open(plain, { languageId: "json" });
  for (const path of [plain, outside, join(world.folder, "gone.jsonl"), "untitled://x/1.jsonl"]) {
    for (const method of ["documentSymbol", "foldingRange", "documentLink", "codeLens"]) {
      assert.equal(await editor.about(path, `textDocument/${method}`), null, `${method} of ${path}`);
    }
    assert.equal(await editor.about(path, "textDocument/hover", { position: { line: 0, character: 0 } }), null);
  }
  assert.equal(editor.told.some((n) => n.method === "textDocument/publishDiagnostics"), false);
  await editor.leave();
  assert.deepEqual(filesBelow(world.root), before);
});
