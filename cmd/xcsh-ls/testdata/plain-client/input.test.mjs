// Proves: E-01
// Commands run without arguments, as from a palette: choices come as questions, and texts are
// written into a file that the editor opens.
import assert from "node:assert/strict";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { refused } from "./client.mjs";
import { entriesOf, entryId, filesBelow, flow, read } from "./world.mjs";

const id = "0190000000000001";
const options = { model: "offline/demo" };
const showing = { window: { showDocument: { support: true } } };
const line = /^<!-- .*Write above this line and save\..* -->$/m;

/** asked is the file in which the person is to write, open in the editor. */
async function asked(editor) {
  const { params } = await editor.wasAsked("window/showDocument");
  assert.deepEqual([params.external, params.takeFocus], [false, true]);
  const path = fileURLToPath(params.uri);
  assert.ok(path.endsWith(".md"), path);
  assert.match(read(path), line);
  assert.equal(statSync(path).mode & 0o077, 0, "nobody else reads it");
  return editor.open(path, { languageId: "markdown" });
}

/** write puts text above the line, in place of what is there. */
function write(editor, doc, text) {
  const start = { line: 0, character: 0 };
  editor.edit(doc, { start, end: doc.rangeOf(line.exec(doc.text)[0]).start }, `${text}\n`);
}

/** answered runs a command, writes text when asked and saves; it returns the result and what was in the file. */
async function answered(editor, command, text, args) {
  const running = editor.run(command, args);
  running.catch(() => {}); // looked at by the caller
  const doc = await asked(editor);
  const before = doc.text;
  write(editor, doc, text);
  editor.save(doc);
  const result = await running.finally(() => editor.close(doc));
  assert.equal(existsSync(fileURLToPath(doc.uri)), false, "the file is gone");
  return { result, before };
}

const promptsOf = (file) => entriesOf(file).filter((l) => l.message?.role === "user").map((l) => l.message.content[0].text);

flow("a prompt is written in a document and sent when it is saved", async (world) => {
  const editor = await world.editor({ options, capabilities: showing });
  const { result } = await answered(editor, "xcsh.prompt", "\nWhat is\n\n# here?  😀\n\n");
  assert.equal(result.stopReason, "stop");
  const { file } = await editor.run("xcsh.state");
  assert.deepEqual(promptsOf(file), ["What is\n\n# here?  😀"]);
  assert.deepEqual(editor.questions, []);
  await editor.leave();
});

flow("whoever saves nothing or closes the document wants nothing", async (world) => {
  const editor = await world.editor({ options, capabilities: showing });
  await refused(answered(editor, "xcsh.prompt", " \n\t"), "cancelled", "No message entered", -32800);
  const closed = editor.run("xcsh.prompt");
  closed.catch(() => {});
  editor.close(await asked(editor));
  await refused(closed, "cancelled", "No message entered");
  const removed = editor.run("xcsh.prompt");
  removed.catch(() => {});
  rmSync(fileURLToPath((await asked(editor)).uri));
  await refused(removed, "cancelled", "No message entered");
  assert.equal((await editor.run("xcsh.state")).messageCount, 0);
  await editor.leave();
});

flow("an editor that tells nothing of the document is heard by way of the disk", async (world) => {
  const editor = await world.editor({ options, capabilities: showing });
  const running = editor.run("xcsh.prompt");
  const path = fileURLToPath((await editor.wasAsked("window/showDocument")).params.uri);
  writeFileSync(path, `hello\n${read(path)}`);
  assert.equal((await running).stopReason, "stop");
  assert.equal(existsSync(path), false);
  await editor.leave();
});

flow("an editor that shows no documents is told where to write, and asked when that is done", async (world) => {
  const editor = await world.editor({ options });
  let path;
  editor.choose((question) => {
    path = /\S+\.md/.exec(question.message)[0];
    writeFileSync(path, `hello\n${read(path)}`);
    return question.actions.find((a) => a.title === "Continue");
  });
  assert.equal((await editor.run("xcsh.prompt")).stopReason, "stop");
  assert.equal(existsSync(path), false);
  assert.deepEqual(promptsOf((await editor.run("xcsh.state")).file), ["hello"]);
  for (const no of [null, "Cancel"]) {
    editor.choose(no);
    await assert.rejects(editor.run("xcsh.prompt"), (e) => ["cancelled", "argumentNeeded"].includes(e.data.kind));
  }
  await editor.leave();
});

flow("what is being written is no document of the model, and can be cancelled", async (world) => {
  const editor = await world.editor({ options, capabilities: { window: { ...showing.window, workDoneProgress: true } } });
  const cancel = editor.canceller();
  const running = editor.run("xcsh.prompt", undefined, { cancel });
  running.catch(() => {});
  const doc = await asked(editor);
  write(editor, doc, "never sent");
  const { title } = (await editor.heard("$/progress", (p) => p.value.kind === "begin")).value;
  assert.match(title, /Waiting for .*\.md to be saved/);
  cancel.cancel();
  await refused(running, "cancelled", undefined, -32800);
  assert.equal(existsSync(fileURLToPath(doc.uri)), false);
  await editor.leave();
  assert.deepEqual(Object.keys(filesBelow(world.root)).filter((p) => p.endsWith(".md")), []);
});

flow("rename begins with the title there is", async (world) => {
  const path = world.session(id, ["one"], { title: "Old title" });
  const editor = await world.editor({ options, capabilities: showing });
  await editor.run("xcsh.resume", { target: id });
  const { result, before } = await answered(editor, "xcsh.rename", "New title");
  assert.deepEqual(result, { title: "New title" });
  assert.ok(before.startsWith("Old title\n"), before);
  assert.equal((await editor.run("xcsh.list")).sessions[0].name, "New title");
  await refused(answered(editor, "xcsh.rename", ""), "cancelled");
  assert.equal((await editor.run("xcsh.state")).title, "New title");
  assert.ok(existsSync(path));
  await editor.leave();
});

flow("a command of the shell is written too", async (world) => {
  const editor = await world.editor({ options, capabilities: showing });
  const { result } = await answered(editor, "xcsh.bash", "echo one\necho two");
  assert.equal(result.output, "one\ntwo\n");
  await editor.leave();
});

flow("an entry is chosen among the prompts, and its label written", async (world) => {
  const path = world.session(id, ["one", "two"]);
  const editor = await world.editor({ options, capabilities: showing });
  await editor.run("xcsh.resume", { target: id });
  editor.choose("one");
  await answered(editor, "xcsh.label", "start");
  assert.deepEqual(entriesOf(path).filter((l) => l.type === "label").map((l) => [l.targetId, l.label]), [[entryId(1), "start"]]);
  editor.choose("two");
  const { editorText } = await editor.run("xcsh.branch");
  assert.equal(editorText, "two");
  const [label, branch] = editor.questions;
  assert.deepEqual(label.titles.map((t) => t.split(" · ")[0]), ["two", "one"]);
  assert.deepEqual(branch.titles.map((t) => t.split(" · ")[0]), ["two", "one [start]"]);
  for (const command of ["xcsh.label", "xcsh.branch"]) {
    editor.choose(null);
    await refused(editor.run(command), "cancelled", "No entry selected");
  }
  await editor.leave();
});

flow("models, levels, approval modes and sessions are chosen", async (world) => {
  const path = world.session(id, ["one"]);
  const editor = await world.editor({ options });
  editor.choose("auto-edit");
  await editor.run("xcsh.setApproval");
  const thinking = editor.run("xcsh.setThinking");
  editor.choose("off");
  assert.equal((await thinking).thinkingLevel, "off");
  editor.choose(/^offline\/demo$/);
  assert.equal((await editor.run("xcsh.setModel")).model.id, "demo");
  editor.choose("one", "Delete");
  const { trashed } = await editor.run("xcsh.delete");
  assert.ok(!existsSync(path) && existsSync(trashed));
  editor.choose("one");
  assert.deepEqual(await editor.run("xcsh.undelete"), { path });
  await refused(editor.run("xcsh.undelete"), "notFound", "The trash is empty.");
  for (const command of ["xcsh.setApproval", "xcsh.setThinking", "xcsh.setModel", "xcsh.delete"]) {
    editor.choose(null);
    await refused(editor.run(command), "cancelled");
  }
  await editor.leave();
});

flow("a session moves to a workspace folder that is chosen", async (world) => {
  const other = world.directory("home/other");
  const path = world.session(id, ["one"]);
  const editor = await world.editor({ options, folders: [world.folder, other], capabilities: showing });
  await editor.run("xcsh.resume", { cwd: world.folder, target: id });
  editor.choose(other);
  const { session } = await editor.run("xcsh.move", { cwd: world.folder });
  assert.equal(session.cwd, other);
  assert.equal(existsSync(path), false);
  assert.equal(entriesOf(session.file)[0].cwd, other);
  await editor.leave();
});

flow("an editor with pickers of its own is not asked", async (world) => {
  world.session(id, ["one"]);
  const editor = await world.editor({ options: { ...options, ui: { pick: true } }, capabilities: showing });
  await editor.run("xcsh.resume", { target: id });
  for (const command of ["xcsh.resume", "xcsh.prompt", "xcsh.rename", "xcsh.branch", "xcsh.label", "xcsh.setModel", "xcsh.setThinking", "xcsh.bash", "xcsh.delete"]) {
    const { data } = await refused(editor.run(command), "argumentNeeded");
    assert.ok(data.input && data.field, command);
  }
  assert.deepEqual(editor.asked, []);
  await editor.leave();
});
