// Proves: E-06
// The light bulb of an editor: what it offers for a selection and a diagnostic, and what the
// command behind it then does.
import assert from "node:assert/strict";
import { entriesOf, flow, read } from "./world.mjs";

const options = { model: "offline/demo" };
const literals = { textDocument: { codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix", "refactor"] } } } } };
const source = "package a\n\nfunc 😀f() { return 1 }\n";

const promptsOf = (file) => entriesOf(file).filter((l) => l.message?.role === "user").map((l) => l.message.content[0].text);

flow("a selection can be asked about, in an editor with actions and in one with commands only", async (world) => {
  const path = world.file("a.go", source);
  for (const capabilities of [literals, {}]) {
    const editor = await world.editor({ options, capabilities });
    const doc = editor.open(path, { languageId: "go" });
    const context = { diagnostics: [] };
    const [offer, ...none] = await editor.about(path, "textDocument/codeAction", { range: doc.rangeOf("func 😀f() { return 1 }"), context });
    assert.deepEqual(none, []);
    const command = capabilities === literals ? offer.command : offer;
    assert.equal(offer.title, "Ask xcsh: explain this");
    assert.equal(offer.kind, capabilities === literals ? "refactor" : undefined);
    assert.equal((await editor.runRef(command)).stopReason, "stop");
    const [prompt] = promptsOf((await editor.run("xcsh.state")).file);
    assert.match(prompt, /^<file path="[^"]*a\.go" lines="3-3">/);
    assert.ok(prompt.includes("func 😀f() { return 1 }") && !prompt.includes("package a"), prompt);

    const nothing = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
    assert.deepEqual(await editor.about(path, "textDocument/codeAction", { range: nothing, context }), []);
    await editor.leave();
  }
});

flow("a diagnostic can be fixed, with the text on the screen", async (world) => {
  const path = world.file("a.go", source);
  const editor = await world.editor({ options, capabilities: literals });
  const doc = editor.open(path, { languageId: "go" });
  editor.edit(doc, doc.rangeOf("return 1"), "return 2");
  const diagnostics = [
    { range: doc.rangeOf("return 2"), severity: 1, source: "compiler", message: "too many return values" },
    { range: doc.rangeOf("package"), severity: 2, message: "the package has no comment" },
  ];
  const ask = (only) => editor.about(path, "textDocument/codeAction", { range: doc.rangeOf("return 2"), context: { diagnostics, only } });
  assert.deepEqual((await ask(["refactor"])).map((a) => a.title), ["Ask xcsh: explain this"]);
  assert.deepEqual(await ask(["source"]), []);
  const [fix, other] = await ask(["quickfix"]);
  assert.deepEqual([fix.title, fix.kind], ["Fix with xcsh: too many return values", "quickfix"]);
  assert.deepEqual(fix.diagnostics, [diagnostics[0]]);
  assert.equal(other.title, "Fix with xcsh: the package has no comment");
  await editor.runRef(fix.command);
  const [prompt] = promptsOf((await editor.run("xcsh.state")).file);
  for (const part of ["return 2", "too many return values", "(reported by compiler)"]) assert.ok(prompt.includes(part), prompt);
  assert.equal(read(path), source);
  await editor.leave();
});

flow("an action that is chosen while a turn runs waits for it", async (world) => {
  const path = world.file("a.txt", "one\n");
  const editor = await world.editor({ options, capabilities: literals });
  const doc = editor.open(path);
  const [offer] = await editor.about(path, "textDocument/codeAction", { range: doc.rangeOf("one"), context: { diagnostics: [] } });
  let deny;
  editor.choose(() => new Promise((resolve) => (deny = () => resolve({ title: "Deny" }))));
  const prompt = editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
  await editor.wasAsked("window/showMessageRequest");
  assert.equal((await editor.runRef(offer.command)).queued, true);
  deny();
  await prompt;
  assert.match(promptsOf((await editor.run("xcsh.state")).file)[1], /Explain the attached lines/);
  await editor.leave();
});

flow("nothing is offered outside the workspace folders", async (world) => {
  world.directory("home/other");
  const path = world.file("../other/a.txt", "one\n");
  const editor = await world.editor({ options, capabilities: literals });
  const doc = editor.open(path);
  assert.deepEqual(await editor.about(path, "textDocument/codeAction", { range: doc.rangeOf("one"), context: { diagnostics: [] } }), []);
  const untitled = editor.open("untitled://x/1", { text: "one\n" });
  assert.deepEqual(await editor.about(untitled.uri, "textDocument/codeAction", { range: untitled.rangeOf("one"), context: { diagnostics: [] } }), []);
  await editor.leave();
});
