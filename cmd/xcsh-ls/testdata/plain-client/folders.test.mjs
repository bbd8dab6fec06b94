// Proves: E-08
// Several workspace folders, and positions in every encoding.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { refused } from "./client.mjs";
import { flow, read } from "./world.mjs";

const folder = (path) => ({ uri: pathToFileURL(path).href, name: path });

flow("each folder has a session of its own, and a folder that is added or removed takes part at once", async (world) => {
  const other = world.directory("home/o ther#1%");
  world.session("0190000000000001", ["one"]);
  world.session("0190000000000002", ["two"], { folder: other });
  const editor = await world.editor({ folders: [world.folder, other] });
  editor.choose(other, null);
  assert.equal((await editor.run("xcsh.state")).cwd, other);
  await refused(editor.run("xcsh.state"), "invalidArgument", /cwd/);
  assert.deepEqual(editor.questions[0], { message: "Select a folder", titles: [world.folder, other] });
  assert.equal((await editor.run("xcsh.resume", { cwd: world.folder, target: "0190000000000001" })).session.cwd, world.folder);
  const { session } = await editor.run("xcsh.resume", { cwd: folder(other).uri, target: "0190000000000002" });
  assert.equal(session.cwd, other);
  assert.equal((await editor.run("xcsh.state", { cwd: world.folder })).sessionId, "0190000000000001");

  editor.notify("workspace/didChangeWorkspaceFolders", { event: { added: [], removed: [folder(world.folder)] } });
  const left = await editor.heard("xcsh/sessionChanged", (p) => p.reason === "shutdown");
  assert.deepEqual([left.cwd, left.sessionId], [world.folder, "0190000000000001"]);
  assert.equal((await editor.run("xcsh.state")).sessionId, "0190000000000002", "there is one folder to mean");

  const third = world.directory("home/third");
  editor.notify("workspace/didChangeWorkspaceFolders", { event: { added: [folder(third)], removed: [] } });
  assert.equal((await editor.run("xcsh.state", { cwd: third })).cwd, third);
  editor.choose(null);
  await refused(editor.run("xcsh.state"), "invalidArgument", /cwd/);
  await editor.leave();
});

flow("lenses of a session name the folder where there are several", async (world) => {
  const other = world.directory("home/other");
  const path = world.session("0190000000000002", ["two"], { folder: other });
  const editor = await world.editor({ folders: [world.folder, other] });
  const [resume] = await editor.about(path, "textDocument/codeLens");
  assert.equal((await editor.runRef(resume.command)).session.cwd, other);
  assert.equal((await editor.run("xcsh.state", { cwd: other })).file, path);
  await editor.leave();
});

for (const [offered, chosen] of [
  [["utf-8"], "utf-8"], [["utf-16"], "utf-16"], [["utf-32"], "utf-32"], [undefined, "utf-16"], [["nonsense"], "utf-16"],
]) {
  flow(`edits meet the right characters when an editor offers ${offered}`, async (world) => {
    const path = world.file("a.txt", "x");
    const editor = await world.editor({
      encodings: offered,
      options: { model: "offline/demo", approval: "auto-edit" },
      capabilities: { workspace: { applyEdit: true, workspaceEdit: { documentChanges: true } } },
    });
    assert.equal(editor.encoding, chosen);
    const doc = editor.open(path, { text: "ä😀 one 𝒳\n𝒴 two 😀 three" });
    editor.edit(doc, doc.rangeOf("one 𝒳\n𝒴"), "ö𝒵");
    editor.edit(doc, doc.rangeOf("three"), "👩‍👩‍👧 four");
    const want = "ä😀 ö𝒵 two 😀 👩‍👩‍👧 four";
    assert.equal(doc.text, want);

    // What the model reads is what the edits made, and its own edit of the last line, which has
    // no line break, leaves the rest.
    await editor.run("xcsh.prompt", { text: "read a.txt" });
    assert.equal((await editor.event("tool_execution_end")).result.content[0].text.trimEnd(), want);
    await editor.run("xcsh.prompt", { text: "edit a.txt: two 😀 => zwei 𝒳😀" });
    assert.equal(doc.text, want.replace("two 😀", "zwei 𝒳😀"));
    assert.equal(read(path), "x");
    await editor.leave();
  });
}
