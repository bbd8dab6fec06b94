// Proves: ACP-02
// Sessions that go on: in another process, beside each other, and in the program's other commands.
import assert from "node:assert/strict";
import { refused } from "./client.mjs";
import { flow, read } from "./world.mjs";

flow("a session is loaded in another process, and shown before the answer", async (world) => {
  world.file("a.txt", "one\n");
  const client = await world.client();
  const { sessionId } = await client.open(world.folder);
  client.choose("allow_once");
  await client.prompt(sessionId, "edit a.txt: one => two");
  const said = client.text(sessionId);
  const calls = client.calls(sessionId);
  await client.leave();

  const again = await world.client();
  const answer = await again.request("session/load", { sessionId, cwd: world.folder, mcpServers: [] });
  assert.equal(again.text(sessionId, "user_message_chunk"), "edit a.txt: one => two");
  assert.equal(again.text(sessionId), said);
  const replayed = again.calls(sessionId);
  const shown = ({ kind, status, title, rawInput }) => ({ kind, status, title, rawInput });
  assert.deepEqual(replayed.map(shown), calls.map(shown));
  assert.equal(replayed[0].content[0].newText, "two\n");
  assert.equal(answer.modes.currentModeId, "ask");
  await again.prompt(sessionId, "read a.txt");
  await again.leave();
  assert.equal(world.sessionFiles().length, 1);
  assert.match(world.run("dump"), /edit a\.txt[^]*read a\.txt/, "the other commands know it");
  assert.match(world.run("doctor", world.sessionFiles()[0]), /./);
});

flow("a session that another command began goes on here", async (world) => {
  world.run("run", "--model", "offline/demo", "hello from a shell");
  const client = await world.client();
  const { sessions } = await client.request("session/list", { cwd: world.folder });
  assert.equal(sessions.length, 1);
  const [{ sessionId, cwd, title, updatedAt }] = sessions;
  assert.equal(cwd, world.folder);
  assert.equal(title, "hello from a shell");
  assert.ok(Date.parse(updatedAt) > 0);
  await client.request("session/resume", { sessionId, cwd: world.folder, mcpServers: [] });
  assert.equal(client.text(sessionId), "", "resuming shows nothing again");
  await client.prompt(sessionId, "hello from an editor");
  await client.leave();
  assert.match(world.run("dump"), /hello from a shell[^]*hello from an editor/);
});

flow("two sessions in one folder, closed, deleted and forked", async (world) => {
  const client = await world.client();
  const { sessionId: first } = await client.open(world.folder);
  const { sessionId: second } = await client.open(world.folder);
  await Promise.all([client.prompt(first, "the first"), client.prompt(second, "the second")]);
  const list = async () => (await client.request("session/list", {})).sessions.map((s) => s.sessionId).sort();
  assert.deepEqual(await list(), [first, second].sort());
  const { sessionId: fork } = await client.request("session/fork", { sessionId: first, cwd: world.folder, mcpServers: [] });
  await client.prompt(fork, "the fork");
  await client.request("session/close", { sessionId: first });
  await refused(client.prompt(first, "more"), -32002, /is not open/);
  await client.request("session/delete", { sessionId: second });
  await client.request("session/delete", { sessionId: second });
  assert.deepEqual(await list(), [first, fork].sort());
  await refused(client.request("session/load", { sessionId: second, cwd: world.folder, mcpServers: [] }), -32002, /not found/);
  await refused(client.request("session/load", { sessionId: first, cwd: world.home, mcpServers: [] }), -32602, /in another project/);
  await client.leave();
});

flow("a session that another process has open", async (world) => {
  const first = await world.client();
  const { sessionId } = await first.open(world.folder);
  await first.prompt(sessionId, "from the first");
  const second = await world.client();
  await second.request("session/load", { sessionId, cwd: world.folder, mcpServers: [] });
  assert.equal(second.text(sessionId, "user_message_chunk"), "from the first");
  const error = await refused(second.prompt(sessionId, "from the second"), -32603, /./);
  assert.equal(error.data.kind, "busy");
  await first.request("session/close", { sessionId });
  assert.deepEqual(await second.prompt(sessionId, "from the second"), { stopReason: "end_turn" });
  await first.leave();
  await second.leave();
  assert.match(world.run("dump"), /from the first[^]*from the second/);
});

flow("the client's files, with what is not saved in them", async (world) => {
  const path = world.file("a.txt", "saved\n");
  const client = await world.client({ capabilities: { fs: { readTextFile: true, writeTextFile: true } } });
  client.buffers.set(path, "unsaved\n");
  const { sessionId } = await client.open(world.folder);
  client.choose("allow_once");
  await client.prompt(sessionId, "edit a.txt: unsaved => edited");
  assert.equal(client.buffers.get(path), "edited\n");
  assert.equal(read(path), "saved\n");
  assert.deepEqual(client.written, [path]);
  const diff = client.calls(sessionId)[0].content.find((c) => c.type === "diff");
  assert.equal(diff.oldText, "unsaved\n");
  await client.prompt(sessionId, [{ type: "text", text: "what is in " }, { type: "resource_link", name: "a", uri: `file://${path}` }]);
  await client.prompt(sessionId, "/dump");
  assert.match(client.text(sessionId), /edited/);
  await client.leave();
});
