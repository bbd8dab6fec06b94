// Proves: E-10
// An editor that opted in with ui.hooks is asked before a session is left.
import assert from "node:assert/strict";
import { ErrorCodes, ResponseError } from "vscode-languageserver-protocol/node";
import { filesBelow, flow } from "./world.mjs";

const id = "0190000000000001";

flow("a change that the editor cancels does not happen", async (world) => {
  const path = world.session(id, ["one"]);
  const editor = await world.editor({ options: { ui: { hooks: true } } });
  const before = (await editor.run("xcsh.state")).sessionId;
  editor.on("xcsh/beforeSwitch", () => ({ cancel: true }));
  editor.on("xcsh/beforeFork", () => ({ cancel: true }));
  const files = filesBelow(world.agentDir);
  assert.equal((await editor.run("xcsh.new")).created, false);
  const { switched, cancelledBy } = await editor.run("xcsh.resume", { target: id });
  assert.equal(switched, false);
  assert.ok(cancelledBy);
  assert.equal((await editor.run("xcsh.fork", { source: id })).forked, false);
  assert.equal((await editor.run("xcsh.state")).sessionId, before);
  const { params } = await editor.wasAsked("xcsh/beforeSwitch", (p) => p.reason === "resume");
  assert.deepEqual([params.cwd, params.targetSessionFile], [world.folder, path]);
  assert.deepEqual(filesBelow(world.agentDir), files);

  for (const answer of [{}, { cancel: false }, null]) {
    editor.on("xcsh/beforeSwitch", () => answer);
    assert.equal((await editor.run("xcsh.resume", { target: id })).switched, true, JSON.stringify(answer));
    assert.equal((await editor.run("xcsh.new")).created, true);
  }
  await editor.leave();
});

flow("an editor that does not know the questions cancels nothing", async (world) => {
  world.session(id, ["one"]);
  const editor = await world.editor({ options: { ui: { hooks: true } } });
  editor.on("xcsh/beforeSwitch", () => { throw new ResponseError(ErrorCodes.MethodNotFound, "what?"); });
  assert.equal((await editor.run("xcsh.resume", { target: id })).switched, true);
  await editor.leave();
  // nor is one asked that did not opt in
  const plain = await world.editor();
  assert.equal((await plain.run("xcsh.resume", { target: id })).switched, true);
  assert.deepEqual(plain.asked, []);
  await plain.leave();
});

flow("permission is asked for with a diff, and an answer that is none is a no", async (world) => {
  world.file("a.txt", "one\n");
  const editor = await world.editor({ options: { model: "offline/demo", ui: { hooks: true } } });
  for (const [decision, changed] of [["deny", false], ["perhaps", false], [undefined, false], ["once", true]]) {
    editor.on("xcsh/approve", () => ({ decision }));
    await editor.run("xcsh.prompt", { text: "edit a.txt: one => two" });
    const { params } = await editor.wasAsked("xcsh/approve");
    assert.equal(params.tool, "edit");
    assert.match(params.diff, /-one\n\+two/);
    const { isError } = await editor.event("tool_execution_end");
    assert.equal(!isError, changed, `${decision}`);
  }
  assert.deepEqual(editor.questions, []);
  await editor.leave();
});
