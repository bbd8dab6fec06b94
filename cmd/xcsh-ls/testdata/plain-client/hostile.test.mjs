// Proves: E-03
// Answers that no editor should give, and the ones that never come.
import assert from "node:assert/strict";
import { ErrorCodes, ResponseError } from "vscode-languageserver-protocol/node";
import { refused } from "./client.mjs";
import { flow, read } from "./world.mjs";

const id = "0190000000000001";
const never = () => new Promise(() => {});
const fails = (code) => () => { throw new ResponseError(code, "no"); };

/** senseless are answers to a question that choose nothing. */
const senseless = {
  "a title that was not offered": () => ({ title: "Format the disk" }),
  "an error": fails(ErrorCodes.InternalError),
  "no object": () => "Allow",
  "a list": () => [{ title: "Allow" }],
  "a number for a title": () => ({ title: 1 }),
  "an empty object": () => ({}),
  "false": () => false,
};

for (const [name, answer] of Object.entries(senseless)) {
  flow(`a question answered with ${name} is one that was closed`, (world) => chosenNothing(world, answer, ["cancelled", undefined, -32800]));
}

flow("an editor that knows no questions is told what to say instead", (world) =>
  chosenNothing(world, fails(ErrorCodes.MethodNotFound), ["invalidArgument", /confirm/]));

/** chosenNothing checks that without a choice nothing is resumed, deleted or edited. */
async function chosenNothing(world, answer, deleteFails) {
  const path = world.session(id, ["one"]);
  const text = world.file("a.txt", "one\n");
  const before = read(path);
  const editor = await world.editor({ options: { model: "offline/demo" } });
  editor.choose(answer, answer, answer);
  await refused(editor.run("xcsh.resume"), "cancelled", "No session selected", -32800);
  await refused(editor.run("xcsh.delete", { source: id }), ...deleteFails);
  const { stopReason } = await editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
  assert.equal(stopReason, "stop");
  assert.equal((await editor.event("tool_execution_end")).isError, true, "what is not a yes is a no");
  assert.equal(read(text), "one\n");
  assert.equal(read(path), before);
  await ends(editor);
}

/** ends leaves an editor whose answers may have been worth a line in the log. */
async function ends(editor) {
  await editor.request("shutdown");
  editor.notify("exit");
  assert.deepEqual(await editor.exited, { code: 0, signal: null });
  editor.check();
}

flow("a question that is never answered holds up nothing else and can be cancelled", async (world) => {
  world.session(id, ["one"]);
  const editor = await world.editor();
  const cancel = editor.canceller();
  editor.choose(never);
  const resume = editor.run("xcsh.resume", undefined, { cancel });
  const question = await editor.wasAsked("window/showMessageRequest");
  assert.equal((await editor.run("xcsh.list")).sessions.length, 1);
  assert.equal((await editor.run("xcsh.dump", { source: id })).empty, false);
  cancel.cancel();
  await refused(resume, "cancelled", undefined, -32800);
  await editor.takenBack(question);
  assert.equal((await editor.run("xcsh.resume", { target: id })).switched, true);
  await editor.leave();
});

flow("shutdown does not wait for the answer to a question", async (world) => {
  world.session(id, ["one"]);
  const editor = await world.editor();
  editor.choose(never);
  const resume = editor.run("xcsh.resume");
  await editor.wasAsked("window/showMessageRequest");
  const shutdown = editor.request("shutdown");
  await refused(resume, "cancelled");
  assert.equal(await shutdown, null);
  editor.notify("exit");
  assert.deepEqual(await editor.exited, { code: 0, signal: null });
});

flow("an answer that comes after it was given up does no harm", async (world) => {
  world.session(id, ["one"]);
  const editor = await world.editor();
  const cancel = editor.canceller();
  let late;
  editor.choose(() => new Promise((resolve) => (late = resolve)));
  const resume = editor.run("xcsh.resume", undefined, { cancel });
  const question = await editor.wasAsked("window/showMessageRequest");
  const before = (await editor.run("xcsh.state")).sessionId;
  cancel.cancel();
  await refused(resume, "cancelled");
  await editor.takenBack(question);
  late(question.params.actions[0]);
  assert.equal((await editor.run("xcsh.state")).sessionId, before);
  await editor.leave();
});

flow("an editor that refuses progress and documents gets its answers all the same", async (world) => {
  world.session(id, ["one"]);
  const capabilities = { window: { workDoneProgress: true, showDocument: { support: true } } };
  for (const answer of [fails(ErrorCodes.InternalError), () => null, () => ({ success: "yes" }), () => ({ success: false }), () => 7]) {
    const editor = await world.editor({ capabilities, options: { model: "offline/demo" } });
    editor.on("window/showDocument", answer);
    editor.on("window/workDoneProgress/create", answer);
    const { path } = await editor.run("xcsh.export", { source: id, open: true, overwrite: true });
    assert.deepEqual(editor.messages, [path]);
    assert.equal((await editor.run("xcsh.prompt", { text: "hello" })).stopReason, "stop");
    await ends(editor);
  }
});

flow("what is sent wrongly is refused or ignored, and the connection stays", async (world) => {
  const editor = await world.editor();
  for (const params of [undefined, {}, { command: 7 }, { command: "xcsh.state", arguments: "x" }, { command: "xcsh.state", arguments: [[7]] },
    { command: "xcsh.state", arguments: [{}, {}] }]) {
    await assert.rejects(editor.request("workspace/executeCommand", params), { code: -32602 }, JSON.stringify(params));
  }
  await assert.rejects(editor.request("xcsh/nothing", {}), { code: -32601 });
  for (const [method, params] of [
    ["textDocument/didOpen", {}], ["textDocument/didChange", { textDocument: { uri: "file:///x", version: 1 }, contentChanges: [{ text: "a" }] }],
    ["textDocument/didClose", null], ["workspace/didChangeWorkspaceFolders", { event: null }], ["window/workDoneProgress/cancel", { token: {} }],
    ["$/cancelRequest", { id: 12345 }], ["$/nothing", {}], ["nothing/at/all", []],
  ]) {
    editor.notify(method, params);
    assert.equal((await editor.run("xcsh.state")).cwd, world.folder, method);
  }
  await ends(editor);
});
