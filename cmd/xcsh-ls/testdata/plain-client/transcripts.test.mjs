// Proves: E-09
// A conversation as Markdown: a document of the server's where an editor has such, else a file.
import assert from "node:assert/strict";
import { appendFileSync, existsSync, statSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { refused } from "./client.mjs";
import { entryId, filesBelow, flow, read } from "./world.mjs";

const id = "0190000000000001";
const options = { model: "offline/demo" };
const showing = { window: { showDocument: { support: true } } };
const virtual = { ...showing, workspace: { textDocumentContent: {} } };

const contentOf = (editor, uri) => editor.request("workspace/textDocumentContent", { uri }).then((r) => r.text);

flow("an editor with documents of servers is shown one and told when the session grows", async (world) => {
  const path = world.session(id, ["one"]);
  const editor = await world.editor({ options, capabilities: virtual });
  assert.deepEqual(editor.server.capabilities.workspace.textDocumentContent.schemes, ["xcsh", "xcsh-change", "xcsh-team"]);
  await editor.run("xcsh.resume", { target: id });
  const { path: none } = await editor.run("xcsh.transcript");
  assert.equal(none, undefined);
  const [{ uri }] = editor.shown;
  assert.equal(uri, `${pathToFileURL(path).href.replace(/^file/, "xcsh")}.md`);
  assert.match(await contentOf(editor, uri), /Answer to one/);

  await editor.run("xcsh.prompt", { text: "and more" });
  assert.equal((await editor.wasAsked("workspace/textDocumentContent/refresh")).params.uri, uri);
  const text = await contentOf(editor, uri);
  assert.match(text, /and more[^]*offline demo/);
  assert.match(await contentOf(editor, uri.replace("xcsh://", "xcsh:")), /and more/, "without the empty host");

  // Another program adds to the session, on a branch of its own.
  editor.choose("Stay");
  const line = { type: "message", id: "77777777", parentId: entryId(2), timestamp: "2026-01-01T00:01:00.000Z", message: { role: "user", content: "from elsewhere" } };
  appendFileSync(path, `${JSON.stringify(line)}\n`);
  await editor.wasAsked("workspace/textDocumentContent/refresh", (p) => p.uri === uri);
  const { params } = await editor.wasAsked("window/showMessageRequest");
  assert.match(params.message, /^Another program continued on another branch\./);
  await editor.leave();
});

flow("an editor that shows files gets one that cannot be edited by mistake", async (world) => {
  world.session(id, ["one"]);
  for (const [capabilities, shown] of [[showing, true], [{}, false]]) {
    const editor = await world.editor({ options, capabilities });
    const { path } = await editor.run("xcsh.transcript", { source: id });
    assert.match(read(path), /Answer to one/);
    assert.equal(statSync(path).mode & 0o222, 0);
    assert.ok(path.startsWith(world.agentDir));
    assert.deepEqual(editor.shown.map((d) => fileURLToPath(d.uri)), shown ? [path] : []);
    assert.deepEqual(editor.messages, shown ? [] : [path]);
    assert.equal((await editor.run("xcsh.transcript", { source: id })).path, path, "and again");
    await editor.leave();
  }
});

flow("an editor that announces documents of servers but fails to show one gets the file", async (world) => {
  world.session(id, ["one"]);
  const editor = await world.editor({ options, capabilities: virtual });
  editor.on("window/showDocument", ({ uri }) => ({ success: uri.startsWith("file:") }));
  const { path } = await editor.run("xcsh.transcript", { source: id });
  assert.ok(existsSync(path));
  assert.deepEqual(editor.shown.map((d) => new URL(d.uri).protocol), ["xcsh:", "file:"]);
  await editor.leave();
});

flow("only sessions have transcripts", async (world) => {
  world.session(id, ["one"]);
  const secret = world.file("../secret.jsonl", "a secret\n");
  world.file("notes.jsonl", "no session\n");
  const editor = await world.editor({ capabilities: virtual });
  const before = filesBelow(world.root);
  for (const uri of [`xcsh://${secret}.md`, "xcsh:///etc/passwd.md", `xcsh://${world.folder}/../secret.jsonl.md`, "xcsh:", "file:///etc/passwd", `xcsh://host${secret}.md`]) {
    await refused(contentOf(editor, uri), "notFound");
  }
  await assert.rejects(contentOf(editor, `xcsh://${world.folder}/notes.jsonl.md`));
  await assert.rejects(contentOf(editor, 7), { code: -32602 });
  await editor.leave();
  assert.deepEqual(filesBelow(world.root), before);
});

flow("a session in memory has no transcript", async (world) => {
  const editor = await world.editor({ options: { persist: false }, capabilities: virtual });
  await refused(editor.run("xcsh.transcript"), "notPersistent");
  await editor.leave();
});
