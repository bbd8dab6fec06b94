// Proves: ACP-03
// A conversation from the first word on: prompts, tool calls, permission, cancelling, modes and
// options.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { refused } from "./client.mjs";
import { slowModel } from "./service.mjs";
import { flow, read } from "./world.mjs";

flow("what the agent says of itself", async (world) => {
  const client = await world.client();
  const { protocolVersion, agentCapabilities, agentInfo, authMethods } = client.server;
  assert.equal(protocolVersion, 1);
  assert.equal(agentInfo.name, "xcsh-ls");
  assert.deepEqual(authMethods.map((m) => [m.id, m.type]), [["stored-key", undefined]]);
  assert.deepEqual(await client.request("authenticate", { methodId: "stored-key" }), {}); // the demo needs no key
  assert.equal(agentCapabilities.loadSession, true);
  assert.equal(agentCapabilities.promptCapabilities.embeddedContext, true);
  for (const name of ["list", "delete", "resume", "close"]) assert.ok(agentCapabilities.sessionCapabilities[name], name);
  await refused(client.request("session/fly", {}), -32601, /not supported/);
  await refused(client.prompt("none", "hello"), -32002, /is not open/);
  await client.leave();
});

flow("a prompt with a tool call that the person allows", async (world) => {
  const path = world.file("a.txt", "one\ntwo\n");
  const client = await world.client();
  const { sessionId, modes, configOptions } = await client.open(world.folder);
  assert.equal(modes.currentModeId, "ask");
  assert.deepEqual(configOptions.map((o) => [o.id, o.category]), [["mode", "mode"], ["model", "model"], ["approvals", undefined]]);
  const { availableCommands } = await client.heard(sessionId, "available_commands_update");
  assert.ok(availableCommands.some((c) => c.name === "export"));

  client.choose("allow_once");
  assert.deepEqual(await client.prompt(sessionId, "edit a.txt: two => TWO"), { stopReason: "end_turn" });
  assert.equal(read(path), "one\nTWO\n");
  assert.match(client.text(sessionId), /It asks to edit a\.txt/);
  const [call, ...others] = client.calls(sessionId);
  assert.deepEqual(others, []);
  assert.equal(call.kind, "edit");
  assert.equal(call.status, "completed");
  assert.deepEqual(call.locations.map((l) => [l.path, l.line]), [[path, 2]]);
  const diff = call.content.find((c) => c.type === "diff");
  assert.deepEqual([diff.path, diff.oldText, diff.newText], [path, "one\ntwo\n", "one\nTWO\n"]);
  const [question] = client.questions;
  assert.equal(question.toolCall.toolCallId, call.toolCallId);
  assert.equal(question.toolCall.content[0].newText, "one\nTWO\n");
  assert.ok((await client.heard(sessionId, "usage_update")).size > 0);
  await client.leave();
});

flow("a tool call that the person denies", async (world) => {
  const path = world.file("a.txt", "one\n");
  const client = await world.client();
  const { sessionId } = await client.open(world.folder);
  client.choose("reject_once");
  assert.deepEqual(await client.prompt(sessionId, "edit a.txt: one => two"), { stopReason: "end_turn" });
  assert.equal(read(path), "one\n");
  assert.equal(client.calls(sessionId)[0].status, "failed");
  assert.match(client.text(sessionId), /denied this/);
  await client.leave();
});

flow("what is allowed for the session is not asked again", async (world) => {
  const path = world.file("a.txt", "one\n");
  const client = await world.client();
  const { sessionId } = await client.open(world.folder);
  client.choose("allow_always");
  await client.prompt(sessionId, "edit a.txt: one => two");
  await client.prompt(sessionId, "edit a.txt: two => three");
  assert.equal(read(path), "three\n");
  assert.equal(client.questions.length, 1);
  await client.leave();
});

flow("a turn is cancelled while the person is asked", async (world) => {
  const path = world.file("a.txt", "one\n");
  const client = await world.client();
  const { sessionId } = await client.open(world.folder);
  let answer;
  client.choose(() => new Promise((done) => (answer = () => done({ outcome: { outcome: "cancelled" } }))));
  const turn = client.prompt(sessionId, "edit a.txt: one => two");
  await client.until("the question", () => client.questions.length > 0);
  await client.cancel(sessionId);
  answer();
  assert.deepEqual(await turn, { stopReason: "cancelled" });
  assert.equal(read(path), "one\n");
  assert.equal(client.calls(sessionId)[0].status, "failed");
  assert.deepEqual(await client.prompt(sessionId, "what is here?"), { stopReason: "end_turn" });
  await client.leave();
});

flow("an answer is shown as it comes, and cancelled in the middle", async (world, t) => {
  const model = await slowModel(world, t);
  const client = await world.client({ flags: ["--model", model.name] });
  const { sessionId } = await client.open(world.folder);
  const turn = client.prompt(sessionId, "talk");
  await client.heard(sessionId, "agent_message_chunk");
  assert.equal(client.text(sessionId), "The beginning. ");
  await refused(client.prompt(sessionId, "more"), -32603, /already processing a prompt/);
  await client.cancel(sessionId);
  assert.deepEqual(await turn, { stopReason: "cancelled" });
  assert.equal(await model.left, true, "the service is not left talking");
  model.go();
  assert.deepEqual(await client.prompt(sessionId, "again"), { stopReason: "end_turn" });
  assert.equal(client.text(sessionId), "The beginning. The beginning. The end.");
  await client.leave();
});

flow("modes and options", async (world) => {
  const path = world.file("a.txt", "one\n");
  const client = await world.client();
  const { sessionId } = await client.open(world.folder);
  await client.request("session/set_mode", { sessionId, modeId: "read-only" });
  await client.heard(sessionId, "current_mode_update", (u) => u.currentModeId === "read-only");
  await client.prompt(sessionId, "edit a.txt: one => two");
  assert.equal(read(path), "one\n");
  const { configOptions } = await client.request("session/set_config_option", { sessionId, configId: "mode", value: "auto-edit" });
  assert.equal(configOptions.find((o) => o.id === "mode").currentValue, "auto-edit");
  await client.prompt(sessionId, "edit a.txt: one => two");
  assert.equal(read(path), "two\n");
  assert.deepEqual(client.questions, []);
  await refused(client.request("session/set_mode", { sessionId, modeId: "free" }), -32602, /not an approval mode/);
  await refused(client.request("session/set_config_option", { sessionId, configId: "model", value: "none" }), -32602, /not a model/);
  await client.leave();
});

flow("a prompt without a model, and one without a key", async (world) => {
  const client = await world.client({ flags: [] });
  const { sessionId, configOptions } = await client.open(world.folder);
  assert.equal(configOptions.find((o) => o.id === "model").currentValue, "none");
  await refused(client.prompt(sessionId, "hello"), -32000, /^No model can be used yet\. Run 'xcsh-ls login'/);
  await client.request("session/set_config_option", { sessionId, configId: "model", value: "offline/demo" });
  assert.deepEqual(await client.prompt(sessionId, "hello"), { stopReason: "end_turn" });
  await client.leave();
  const other = await world.client({ flags: ["--model", "anthropic/claude-sonnet-4-5"] });
  const session = await other.open(world.folder);
  await refused(other.prompt(session.sessionId, "hello"), -32000, /^Anthropic needs an API key\. Run 'xcsh-ls login anthropic'/);
  await refused(other.request("authenticate", { methodId: "stored-key" }), -32000, /^Anthropic needs an API key\./);
  await other.leave();
});

// Clients that follow the protocol append the arguments of the method to the configured ones; those that follow the
// registry's documentation replace them. Both log in, and the same process can then authenticate.
flow("a login in a terminal", async (world) => {
  const configured = ["acp", "--model", "anthropic/claude-sonnet-4-5"];
  const capabilities = { auth: { terminal: true } };
  for (const login of [(args) => [...configured, ...args], (args) => args]) {
    const client = await world.client({ flags: configured.slice(1), capabilities });
    await client.open(world.folder);
    const [terminal, stored] = client.server.authMethods;
    assert.equal(terminal.type, "terminal");
    await refused(client.request("authenticate", { methodId: stored.id }), -32000, /needs an API key/);
    world.pipe("the-key", ...login(terminal.args), "anthropic"); // a terminal would ask for both
    assert.deepEqual(await client.request("authenticate", { methodId: stored.id }), {});
    await client.leave();
    world.pipe("", "login", "--remove", "anthropic");
  }
});

flow("commands that are typed", async (world) => {
  const client = await world.client();
  const { sessionId } = await client.open(world.folder);
  await client.prompt(sessionId, "hello");
  await client.prompt(sessionId, "/export talk.md");
  assert.match(client.text(sessionId), /Exported to: .*talk\.md/);
  assert.match(read(`${world.folder}/talk.md`), /hello/);
  await client.prompt(sessionId, "/rename A good name");
  await client.heard(sessionId, "session_info_update", (u) => u.title === "A good name");
  await client.leave();
});

flow("a conversation is shared by the person's own script", async (world) => {
  const directory = world.directory("home/.xcsh/agent");
  writeFileSync(join(directory, "share.mjs"), 'export default () => ({ url: "https://example.org/talk", message: "Kept for a week." });\n');
  const client = await world.client();
  const { sessionId } = await client.open(world.folder);
  await client.prompt(sessionId, "hello");
  await client.prompt(sessionId, "/share");
  assert.match(client.text(sessionId), /https:\/\/example\.org\/talk\n\nKept for a week\./);
  await client.leave();
});

flow("lines that are no messages cost no connection", async (world) => {
  const client = await world.client({ flags: ["--model", "offline/demo", "--log-level", "error"] });
  const { sessionId } = await client.open(world.folder);
  for (const line of ["nonsense", "[]", "{}", '{"method":"_unknown/thing","params":{}}', '{"method":"session/cancel","params":[]}', "\xff"]) client.raw(line);
  assert.deepEqual(await client.prompt(sessionId, "hello"), { stopReason: "end_turn" });
  await client.leave();
});
