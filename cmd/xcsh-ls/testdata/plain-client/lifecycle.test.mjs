// Proves: X-157, E-04
// How a server process begins and ends.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { entriesOf, flow, read } from "./world.mjs";

const clean = { code: 0, signal: null };

flow("shutdown and exit end it with 0", async (world) => {
  const editor = await world.editor();
  await editor.run("xcsh.state");
  assert.equal(await editor.request("shutdown"), null);
  await assert.rejects(editor.run("xcsh.state"), { code: -32600 });
  editor.notify("exit");
  assert.deepEqual(await editor.exited, clean);
});

flow("exit without shutdown ends it with 1", async (world) => {
  const editor = await world.editor();
  editor.notify("exit");
  assert.deepEqual(await editor.exited, { code: 1, signal: null });
  const early = world.start();
  early.notify("exit");
  assert.deepEqual(await early.exited, { code: 1, signal: null });
});

flow("nothing is answered before initialize, and initialize once", async (world) => {
  const editor = world.start();
  await assert.rejects(editor.run("xcsh.state"), { code: -32002 });
  await editor.initialize({ folders: [world.folder] });
  await assert.rejects(editor.initialize({ folders: [world.folder] }), { code: -32600 });
  await editor.leave();
});

flow("the end of its input ends it, and what was said is on disk", async (world) => {
  const editor = await world.editor({ options: { model: "offline/demo" } });
  await editor.run("xcsh.prompt", { text: "hello" });
  const { file } = await editor.run("xcsh.state");
  editor.process.stdin.end();
  const { signal } = await editor.exited;
  assert.equal(signal, null);
  assert.equal(entriesOf(file).filter((l) => l.type === "message").length, 4);
});

flow("its input ends in the middle of a turn", async (world) => {
  world.file("a.txt", "one\n");
  const editor = await world.editor({ options: { model: "offline/demo" } });
  editor.choose(() => new Promise(() => {}));
  editor.run("xcsh.prompt", { text: "edit a.txt: one => two" }).catch(() => {});
  await editor.wasAsked("window/showMessageRequest");
  const { sessionId } = await editor.heard("xcsh/sessionChanged");
  editor.process.stdin.end();
  assert.equal((await editor.exited).signal, null);
  const again = await world.editor();
  const { session } = await again.run("xcsh.resume", { target: sessionId });
  const entries = entriesOf(session.file);
  assert.equal(entries.find((l) => l.message?.role === "user").message.content[0].text, "edit a.txt: one => two");
  assert.equal((await again.run("xcsh.doctor")).problems.length, 0);
  await again.leave();
});

flow("the death of the editor's process ends it", async (world) => {
  // A process that lives until its input ends stands for the editor, whose pipes may stay open.
  const parent = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "inherit"] });
  const editor = await world.editor({ processId: parent.pid });
  await editor.run("xcsh.state");
  parent.stdin.end();
  await once(parent, "exit");
  assert.equal((await editor.exited).signal, null);
});

flow("the start-up option opens a session before the first command", async (world) => {
  const path = world.session("0190000000000001", ["one"]);
  const editor = await world.editor({ options: { startup: { mode: "continue" } } });
  assert.equal((await editor.run("xcsh.state")).file, path);
  await editor.leave();
  const flagged = await world.editor({ flags: ["--stdio", "--resume", "gone"] });
  assert.equal((await flagged.run("xcsh.state")).messageCount, 0);
  assert.deepEqual(flagged.messages, ['Session "gone" not found.']);
  await flagged.request("shutdown");
  flagged.notify("exit");
  assert.deepEqual(await flagged.exited, clean);
});

flow("an editor that has settings is asked for them before the first command", async (world) => {
  const editor = await world.editor({
    capabilities: { workspace: { configuration: true, didChangeConfiguration: { dynamicRegistration: true } } },
    options: { model: "nowhere/none" },
  });
  const settings = { model: "offline/demo", approval: "yolo" };
  editor.on("workspace/configuration", ({ items }) => items.map(({ section }) => (section === "xcshLs" ? settings : null)));
  world.file("a.txt", "one\n");
  assert.equal((await editor.run("xcsh.prompt", { text: "edit a.txt: one => two" })).stopReason, "stop");
  assert.equal(read(join(world.folder, "a.txt")), "two\n");
  assert.deepEqual(editor.questions, []);
  const { registrations } = (await editor.wasAsked("client/registerCapability")).params;
  assert.deepEqual(registrations.map((r) => r.method), ["workspace/didChangeConfiguration"]);
  await editor.leave();
});
