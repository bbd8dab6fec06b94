// Proves: E-05
// A turn with the model, as an editor without a plugin takes part in it: progress, edits of open
// documents, questions about permission, and the ways to stop.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { refused } from "./client.mjs";
import { entriesOf, flow, read } from "./world.mjs";

const options = { model: "offline/demo" };
const editing = { workspace: { applyEdit: true, workspaceEdit: { documentChanges: true } } };

/** resultOf is the tool result that the session recorded last. */
const resultOf = (file) => entriesOf(file).map((l) => l.message).filter((m) => m?.role === "toolResult").at(-1);

flow("a prompt reads a file and shows its progress", async (world) => {
  world.file("a.txt", "one\ntwo\n");
  const editor = await world.editor({ options });
  const answer = await editor.run("xcsh.prompt", { text: "what is in a.txt?" }, { workDoneToken: "mine" });
  assert.equal(answer.stopReason, "stop");
  assert.match(answer.message.content[0].text, /read returned 2 lines/);
  const progress = editor.told.filter((n) => n.method === "$/progress").map((n) => n.params);
  assert.ok(progress.every((p) => p.token === "mine"));
  assert.equal(progress[0].value.kind, "begin");
  assert.equal(progress[0].value.cancellable, true);
  assert.equal(progress.at(-1).value.kind, "end");
  assert.equal((await editor.event("tool_execution_start")).toolName, "read");
  assert.equal((await editor.event("tool_execution_end")).result.content[0].text, "one\ntwo\n");
  const { file } = await editor.run("xcsh.state");
  assert.deepEqual(entriesOf(file).map((l) => l.message?.role).filter(Boolean), ["user", "assistant", "toolResult", "assistant"]);
  await editor.leave();
});

flow("an editor that lets the server begin progress is shown one, and no other is", async (world) => {
  const plain = await world.editor({ options });
  await plain.run("xcsh.prompt", { text: "hello" });
  assert.equal(plain.told.some((n) => n.method === "$/progress"), false);
  await plain.leave();
  const editor = await world.editor({ options, capabilities: { window: { workDoneProgress: true } } });
  await editor.run("xcsh.prompt", { text: "hello" });
  const { token } = (await editor.wasAsked("window/workDoneProgress/create")).params;
  assert.equal((await editor.heard("$/progress")).token, token);
  await editor.leave();
});

flow("the model reads what is on the screen, and its edit goes there and not to disk", async (world) => {
  const path = world.file("a.txt", "one\ntwo\n");
  const editor = await world.editor({ options, capabilities: editing });
  const doc = editor.open(path);
  editor.edit(doc, doc.rangeOf("one"), "unsaved");
  editor.choose("Allow");
  await editor.run("xcsh.prompt", { text: "edit a.txt: unsaved => edited" });
  assert.match(editor.questions[0].message, /edit/i);
  const { edit } = (await editor.wasAsked("workspace/applyEdit")).params;
  assert.equal(edit.documentChanges[0].textDocument.version, 2);
  assert.equal(doc.text, "edited\ntwo\n");
  assert.equal(doc.version, 3);
  assert.equal(read(path), "one\ntwo\n");

  await editor.run("xcsh.prompt", { text: "read a.txt" });
  const { file } = await editor.run("xcsh.state");
  assert.equal(resultOf(file).content[0].text, "edited\ntwo\n");
  editor.save(doc);
  assert.equal(read(path), "edited\ntwo\n");

  // Closed, it is the disk's again.
  editor.close(doc);
  editor.choose("Allow");
  await editor.run("xcsh.prompt", { text: "edit a.txt: two => 2" });
  assert.equal(read(path), "edited\n2\n");
  await editor.leave();
});

flow("an editor without document versions gets the edit in the older form", async (world) => {
  const path = world.file("a.txt", "one\n");
  const editor = await world.editor({ options: { ...options, approval: "auto-edit" }, capabilities: { workspace: { applyEdit: true } } });
  const doc = editor.open(path);
  await editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
  assert.deepEqual(Object.keys((await editor.wasAsked("workspace/applyEdit")).params.edit), ["changes"]);
  assert.equal(doc.text, "two\n");
  assert.deepEqual(editor.questions, []);
  await editor.leave();
});

flow("an edit that the editor cannot or will not make is told to the model", async (world) => {
  const path = world.file("a.txt", "one\n");
  const approval = "auto-edit";
  const unable = await world.editor({ options: { ...options, approval } });
  unable.open(path);
  await unable.run("xcsh.prompt", { text: "edit a.txt: one => two" });
  assert.match(resultOf((await unable.run("xcsh.state")).file).content[0].text, /does not support changing it/);
  await unable.leave();

  const editor = await world.editor({ options: { ...options, approval }, capabilities: editing });
  const doc = editor.open(path);
  for (const answer of [{ applied: false, failureReason: "It is locked." }, null, { applied: "yes" }]) {
    editor.on("workspace/applyEdit", () => answer);
    await editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
    const { isError, content } = resultOf((await editor.run("xcsh.state")).file);
    assert.equal(isError, true, JSON.stringify(answer));
    if (answer?.failureReason) assert.match(content[0].text, /It is locked\./);
  }
  assert.equal(doc.text, "one\n");
  assert.equal(read(path), "one\n");
  await editor.leave();
});

flow("what the person types meanwhile is never edited away", async (world) => {
  const path = world.file("a.txt", "one\ntwo\n");
  const editor = await world.editor({ options, capabilities: editing });
  const doc = editor.open(path);
  const failure = async () => {
    const { isError, content } = resultOf((await editor.run("xcsh.state")).file);
    assert.equal(isError, true);
    return content[0].text;
  };
  // while the permission is asked for
  editor.choose(() => {
    editor.edit(doc, doc.rangeOf("one"), "mine");
    return { title: "Allow" };
  });
  await editor.run("xcsh.prompt", { text: "edit a.txt: one => theirs" });
  assert.match(await failure(), /^Could not find the text/);
  // while the edit is under way, in an editor that says so and in one that only seems to make it
  for (const answer of [{ applied: false, failureReason: "another version" }, { applied: true }]) {
    editor.choose("Allow");
    editor.on("workspace/applyEdit", () => {
      editor.edit(doc, doc.rangeOf("two"), "two!");
      return answer;
    });
    await editor.run("xcsh.prompt", { text: "edit a.txt: mine => theirs" });
    assert.match(await failure(), /^\S+a\.txt was changed /);
  }
  assert.equal(doc.text, "mine\ntwo!!\n");
  assert.equal(read(path), "one\ntwo\n");
  await editor.leave();
});

flow("an edit that is denied changes nothing; one that is allowed for the session is asked about once", async (world) => {
  const path = world.file("a.txt", "one\n");
  const editor = await world.editor({ options });
  for (const no of ["Deny", null]) {
    editor.choose(no);
    await editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
    assert.match(resultOf((await editor.run("xcsh.state")).file).content[0].text, /denied this/);
    assert.equal(read(path), "one\n");
  }
  editor.choose("Allow for this session");
  await editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
  await editor.run("xcsh.prompt", { text: "edit a.txt: two => three" });
  assert.equal(read(path), "three\n");
  assert.equal(editor.questions.length, 3);
  await editor.leave();
});

/** stopped has a prompt wait for permission, stops it by how, and checks what is left. */
async function stopped(world, how, capabilities) {
  const path = world.file("a.txt", "one\n");
  const editor = await world.editor({ options, capabilities });
  const cancel = editor.canceller();
  editor.choose((_, token) => new Promise((resolve) => token.onCancellationRequested(() => resolve(null))));
  const prompt = editor.run("xcsh.prompt", { text: "edit a.txt: one => two" }, { workDoneToken: "turn", cancel });
  prompt.catch(() => {}); // looked at below
  const question = await editor.wasAsked("window/showMessageRequest");
  await how(editor, cancel);
  const outcome = await prompt.catch((error) => error);
  await editor.takenBack(question);
  const end = await editor.event("agent_end");
  assert.equal(end.stopReason, "aborted");
  assert.equal(read(path), "one\n");

  // The session goes on, and its file has what was said.
  const state = await editor.run("xcsh.state");
  assert.equal(state.isStreaming, false);
  assert.equal(entriesOf(state.file).find((l) => l.message?.role === "user").message.content[0].text, "edit a.txt: one => two");
  await editor.run("xcsh.prompt", { text: "hello" });
  await editor.leave();
  return outcome;
}

flow("$/cancelRequest stops a turn that waits for the person", async (world) => {
  const error = await stopped(world, (_, cancel) => cancel.cancel());
  assert.equal(error.code, -32800);
  assert.equal(error.data.kind, "cancelled");
});

flow("the cancel button of the progress stops a turn", async (world) => {
  const error = await stopped(world, (editor) => editor.notify("window/workDoneProgress/cancel", { token: "turn" }));
  assert.equal(error.data.kind, "cancelled");
});

flow("xcsh.abort stops a turn, which then answers what became of it", async (world) => {
  const result = await stopped(world, async (editor) => assert.equal((await editor.run("xcsh.abort")).aborted, true));
  assert.equal(result.stopReason, "aborted");
});

flow("xcsh.bash shows what it prints and can be stopped", async (world) => {
  const editor = await world.editor({ options });
  const done = await editor.run("xcsh.bash", { command: "echo hello; exit 3" });
  assert.equal(done.exitCode, 3);
  assert.match(done.output, /hello/);
  const cancel = editor.canceller();
  const endless = editor.run("xcsh.bash", { command: "echo started; exec sleep 1000" }, { cancel });
  await editor.event("bash_execution_update", (e) => e.text.includes("started"));
  cancel.cancel();
  const { cancelled, output, exitCode } = await endless;
  assert.deepEqual([cancelled, output, exitCode], [true, "started\n", undefined], "what it printed is recorded");
  await editor.leave();
});

flow("what is said while a turn runs waits for it or is refused", async (world) => {
  world.file("a.txt", "one\n");
  const editor = await world.editor({ options });
  let allow;
  editor.choose(() => new Promise((resolve) => (allow = () => resolve({ title: "Allow" }))));
  const prompt = editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
  await editor.wasAsked("window/showMessageRequest");
  await refused(editor.run("xcsh.prompt", { text: "more" }), "busy");
  await refused(editor.run("xcsh.fork"), "busy");
  assert.equal((await editor.run("xcsh.prompt", { text: "later", streamingBehavior: "followUp" })).queued, true);
  assert.equal((await editor.run("xcsh.steer", { text: "soon" })).queued, 2);
  allow();
  assert.equal((await prompt).stopReason, "stop");
  const { file } = await editor.run("xcsh.state");
  const said = entriesOf(file).filter((l) => l.message?.role === "user").map((l) => l.message.content[0].text);
  assert.deepEqual(said, ["edit a.txt: one => two", "soon", "later"]);
  await refused(editor.run("xcsh.steer", { text: "late" }), "stale");
  await editor.leave();
});

flow("whoever resumes another session while a turn runs stops it, and nothing of it goes elsewhere", async (world) => {
  const path = world.session("0190000000000001", ["before"]);
  const text = world.file("a.txt", "one\n");
  const before = read(path);
  const editor = await world.editor({ options });
  editor.choose(() => new Promise(() => {}));
  const prompt = editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
  const question = await editor.wasAsked("window/showMessageRequest");
  const { file } = await editor.run("xcsh.state");
  assert.equal((await editor.run("xcsh.resume", { target: "0190", onRunning: "stop" })).switched, true);
  await editor.takenBack(question);
  assert.equal((await prompt).stopReason, "aborted");
  assert.equal(entriesOf(file).find((l) => l.message?.role === "user").message.content[0].text, "edit a.txt: one => two");
  assert.equal(read(text), "one\n");
  await editor.leave();
  assert.equal(read(path), before);
});

flow("a prompt without a model says what to do, and with an unknown one too", async (world) => {
  const editor = await world.editor();
  await refused(editor.run("xcsh.prompt", { text: "hello" }), "provider", /^Choose a model to start\.$/);
  await refused(editor.run("xcsh.setModel", { model: "nowhere/none" }), "notFound");
  assert.equal((await editor.run("xcsh.setModel", { model: "offline/demo" })).model.id, "demo");
  assert.equal((await editor.run("xcsh.prompt", { text: "hello" })).stopReason, "stop");
  const { file } = await editor.run("xcsh.state");
  assert.ok(existsSync(file));
  await editor.leave();
});

flow("two editors in one session: who speaks has it until the editor ends, and nothing is lost", async (world) => {
  const path = world.session("0190000000000001", ["one"]);
  const before = read(path);
  const a = await world.editor({ options });
  const b = await world.editor({ options });
  for (const editor of [a, b]) assert.equal((await editor.run("xcsh.resume", { target: "0190" })).switched, true);
  await b.run("xcsh.prompt", { text: "from b" });
  const error = await refused(a.run("xcsh.prompt", { text: "from a" }), "busy", /is open in/);
  assert.equal(error.data.pid, b.process.pid);
  await refused(a.run("xcsh.delete", { source: "0190", confirm: true }), "busy");
  await b.leave();
  await a.run("xcsh.prompt", { text: "from a again" });
  await a.leave();
  assert.ok(read(path).startsWith(before));
  const lines = entriesOf(path);
  assert.deepEqual(lines.slice(1).map((l) => l.parentId), [null, ...lines.slice(1, -1).map((l) => l.id)], "one conversation");
  const said = lines.filter((l) => l.message?.role === "user").map((l) => l.message.content[0].text ?? l.message.content);
  assert.deepEqual(said, ["one", "from b", "from a again"]);
});
