// Proves, O-012, O-047, O-068
// Sessions in an editor that announces nothing: everything goes by commands, questions and files.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { refused } from "./client.mjs";
import { entriesOf, entryId, filesBelow, flow, idOf, read } from "./world.mjs";

const first = "0190000000000001";

flow("initialize offers all there is to an editor that announces nothing", async (world) => {
  const editor = world.start();
  const { capabilities, serverInfo } = await editor.initialize({ folders: [world.folder] });
  assert.equal(serverInfo.name, "xcsh-ls");
  assert.equal(capabilities.positionEncoding, "utf-16");
  assert.equal(capabilities.workspace.textDocumentContent, undefined, "only for who announces it");
  const { commands, wireVersion } = capabilities.experimental.xcsh;
  assert.equal(wireVersion, 1);
  assert.deepEqual(commands.map((c) => c.name), capabilities.executeCommandProvider.commands);
  for (const { name, title, args, result } of commands) {
    assert.ok(title && args.type === "object", name);
    if (name === "xcsh.commandsList") {
      assert.ok(result.type.includes("array") && result.items.type === "object", name);
    } else {
      assert.equal(result.type, "object", name);
    }
  }
  await editor.leave();
  assert.deepEqual(Object.keys(filesBelow(world.root)), [], "nothing was made");
});

flow("the sessions of every program are listed and none is touched", async (world) => {
  const one = world.session(first, ["one", "Größe"], { minutes: 30 });
  const pi = world.recorded("pi", "as-tools", { minutes: 20 });
  const omp = world.recorded("omp", "linear", { minutes: 10 });
  const before = filesBelow(world.home);
  const editor = await world.editor();

  const { sessions, problems } = await editor.run("xcsh.list");
  assert.deepEqual(sessions.map((s) => [s.path, s.origin]), [[omp, "omp"], [pi, "pi"], [one, "xcsh"]]);
  assert.deepEqual(problems, []);
  assert.equal(sessions[0].name, "My own title");
  assert.equal(sessions[2].messageCount, 4);
  const page = await editor.run("xcsh.list", { limit: 2 });
  const rest = await editor.run("xcsh.list", { limit: 2, cursor: page.nextCursor });
  assert.deepEqual([...page.sessions, ...rest.sessions].map((s) => s.id), sessions.map((s) => s.id));
  // A letter that no path has: paths are searched too.
  assert.deepEqual((await editor.run("xcsh.list", { query: "answer größe" })).sessions.map((s) => s.id), [first]);

  for (const { id, path, messageCount } of sessions) {
    const { text, empty } = await editor.run("xcsh.dump", { source: id });
    assert.ok(!empty && text.length > 0, path);
    assert.equal((await editor.run("xcsh.entries", { source: path })).header.id, id);
    const { messages } = await editor.run("xcsh.stats", { source: id });
    assert.equal(Object.values(messages).reduce((a, b) => a + b), messageCount, path);
  }
  await editor.leave();
  const { home } = world;
  const after = filesBelow(home);
  for (const [path, text] of Object.entries(before)) assert.equal(after[path], text, path);
  assert.deepEqual(Object.keys(after).filter((p) => p.endsWith(".jsonl")), Object.keys(before));
});

flow("resume offers six sessions at a time", async (world) => {
  for (let n = 1; n <= 8; n++) world.session(`019000000000000${n}`, [`talk ${n}`], { minutes: 100 - n });
  const editor = await world.editor();
  editor.choose("More…", "talk 1");
  const { switched, session, summary, repairs } = await editor.run("xcsh.resume");
  assert.equal(switched, true);
  assert.equal(session.sessionId, first);
  assert.deepEqual(repairs, []);
  assert.match(summary.text, /talk 1/);
  const [page, rest] = editor.questions.map((q) => q.titles.map((t) => t.split(" · ")[0]));
  assert.deepEqual(page, ["talk 8", "talk 7", "talk 6", "talk 5", "talk 4", "talk 3", "More…"]);
  assert.deepEqual(rest, ["talk 2", "talk 1"]);
  assert.equal((await editor.heard("xcsh/sessionChanged", (p) => p.reason === "resume")).sessionId, first);

  // The title that stands for the page asked for is no session, and a closed question is none either.
  for (const answers of [[null], ["More…", null]]) {
    editor.choose(...answers);
    await refused(editor.run("xcsh.resume"), "cancelled", "No session selected", -32800);
  }
  assert.equal((await editor.run("xcsh.state")).sessionId, first);
  await editor.leave();
});

flow("resume in a folder without sessions", async (world) => {
  const editor = await world.editor();
  await refused(editor.run("xcsh.resume"), "notFound", "No sessions found");
  await refused(editor.run("xcsh.resume", { target: "gone" }), "notFound", 'Session "gone" not found.');
  await editor.leave();
});

flow("dump, stats and tree of the live session", async (world) => {
  const path = world.session(first, ["one", "two"]);
  const editor = await world.editor();
  assert.deepEqual(await editor.run("xcsh.dump"), { text: "No messages to dump yet.", empty: true });
  await editor.run("xcsh.resume", { target: "0190" });
  const { text } = await editor.run("xcsh.dump");
  for (const said of ["one", "Answer to one", "two", "Answer to two"]) assert.ok(text.includes(said), said);
  const stats = await editor.run("xcsh.stats");
  assert.deepEqual(stats.messages, { user: 2, assistant: 2 });
  assert.equal(stats.usage.totalTokens, 30);
  const { leafId, nodes } = await editor.run("xcsh.tree");
  const lines = entriesOf(path).slice(1);
  assert.equal(leafId, lines.at(-1).id);
  assert.deepEqual(nodes.map((n) => [n.id, n.parentId, n.role]), lines.map((l) => [l.id, l.parentId, l.message.role]));
  await editor.leave();
});

flow("export shows the page in a browser, text in the editor, and paths to who cannot show", async (world) => {
  world.session(first, ["one <two>"]);
  const page = join(world.folder, "a.html");
  const plain = await world.editor();
  const { path, bytes } = await plain.run("xcsh.export", { source: first, path: "a.html", open: true });
  assert.equal(path, page);
  assert.equal(Buffer.byteLength(read(page)), bytes);
  assert.match(read(page), /^<!doctype html>/i);
  assert.deepEqual(plain.messages, [page]);
  await refused(plain.run("xcsh.export", { source: first, path: "a.html" }), "fileExists");
  await plain.leave();

  const showing = await world.editor({ capabilities: { window: { showDocument: { support: true } } } });
  await showing.run("xcsh.export", { source: first, path: "a.html", overwrite: true, open: true });
  await showing.run("xcsh.export", { source: first, path: "a.md", open: true });
  assert.deepEqual(showing.shown.map((d) => [fileURLToPath(d.uri), d.external]), [[page, true], [join(world.folder, "a.md"), false]]);
  assert.deepEqual(showing.messages, []);
  assert.match(read(join(world.folder, "a.md")), /Answer to one &lt;two>/);
  await showing.leave();
});

flow("a page opens by default in an editor that can show it, and nowhere else", async (world) => {
  world.session(first, ["one"]);
  const capabilities = { window: { showDocument: { support: true } } };
  const showing = await world.editor({ capabilities });
  const shown = async (editor, args) => {
    const before = editor.shown.length;
    const { opened } = await editor.run("xcsh.export", { source: first, overwrite: true, ...args });
    const pages = editor.shown.slice(before).map((d) => [fileURLToPath(d.uri), d.external, d.takeFocus]);
    assert.equal(opened ?? false, pages.length > 0);
    return pages;
  };
  const page = join(world.folder, "a.html");
  assert.deepEqual(await shown(showing, { path: "a.html" }), [[page, true, undefined]], "the focus is the editor's to decide");
  assert.deepEqual(await shown(showing, { path: "a.html", open: false }), []);
  // Markup in a conversation must not reach a browser, and no program must start.
  for (const args of [{ path: "a.md" }, { path: "a.html", format: "jsonl" }, { path: "a.desktop", format: "html" }]) {
    assert.deepEqual(await shown(showing, args), [], JSON.stringify(args));
  }
  assert.deepEqual(showing.messages, []);
  await showing.leave();

  const quiet = await world.editor({ capabilities, options: { export: { open: false } } });
  assert.deepEqual(await shown(quiet, { path: "a.html" }), []);
  assert.deepEqual(await shown(quiet, { path: "a.html", open: true }), [[page, true, undefined]]);
  await quiet.leave();

  const plain = await world.editor();
  assert.deepEqual(await shown(plain, { path: "a.html" }), []);
  assert.deepEqual(plain.messages, []);
  await plain.leave();
});

flow("an export and a dump contain no secrets unless the user asks for them", async (world) => {
  const key = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
  world.session(first, [`my token is ${key}`]);
  const editor = await world.editor();
  for (const path of ["a.html", "a.md", "a.jsonl", "a.json"]) {
    const { redacted } = await editor.run("xcsh.export", { source: first, path });
    assert.equal(read(join(world.folder, path)).includes(key), false, path);
    assert.equal(editor.messages.at(-1), `${redacted.github} secrets were replaced (github ${redacted.github}).`);
    await editor.run("xcsh.export", { source: first, path, overwrite: true, redact: false });
    assert.ok(read(join(world.folder, path)).includes(key), path);
  }
  const dumped = await editor.run("xcsh.dump", { source: first });
  assert.equal(dumped.text.includes(key), false);
  assert.ok(dumped.redacted.github > 0);
  assert.ok((await editor.run("xcsh.dump", { source: first, redact: false })).text.includes(key));
  await editor.leave();
});

flow("continue takes up the newest session, else begins one", async (world) => {
  const editor = await world.editor();
  const nothing = await editor.run("xcsh.continue");
  assert.equal(nothing.session.messageCount, 0);
  world.session(first, ["one"], { minutes: 50 });
  const newest = world.session("0190000000000002", ["two"], { minutes: 40 });
  const { session } = await editor.run("xcsh.continue");
  assert.equal(session.file, newest);
  const fresh = await editor.run("xcsh.new", { title: "A try" });
  assert.equal(fresh.created, true);
  assert.equal(fresh.session.title, "A try");
  assert.equal(existsSync(fresh.session.file), false, "a session that says nothing has no file");
  await editor.leave();
});

flow("fork copies the whole session, or what led to an entry, and leaves the original", async (world) => {
  const path = world.session(first, ["one", "two"]);
  const before = read(path);
  const editor = await world.editor();
  await editor.run("xcsh.resume", { target: first });
  const whole = await editor.run("xcsh.fork");
  assert.equal(whole.forked, true);
  assert.notEqual(whole.session.sessionId, first);
  assert.deepEqual(entriesOf(whole.session.file).slice(1), entriesOf(path).slice(1));
  const part = await editor.run("xcsh.fork", { source: first, entryId: entryId(3), position: "before" });
  assert.equal(part.editorText, "two");
  assert.deepEqual(entriesOf(part.session.file).slice(1), entriesOf(path).slice(1, 3));
  assert.equal((await editor.run("xcsh.state")).sessionId, part.session.sessionId);
  await editor.leave();
  assert.equal(read(path), before);
});

flow("label and rename add to a file what they say", async (world) => {
  const path = world.session(first, ["one"]);
  const before = read(path);
  const editor = await world.editor();
  await editor.run("xcsh.resume", { target: first });
  await editor.run("xcsh.label", { entryId: entryId(1), label: "start" });
  assert.ok(read(path).startsWith(before), "what was there is there");
  assert.deepEqual(entriesOf(path).at(-1).label, "start");
  assert.equal((await editor.run("xcsh.tree")).nodes[0].label, "start");
  assert.deepEqual(await editor.run("xcsh.rename", { title: "A name" }), { title: "A name" });
  assert.equal((await editor.run("xcsh.list")).sessions[0].name, "A name");
  assert.equal((await editor.run("xcsh.resume", { target: "A name" })).session.sessionId, first);
  await refused(editor.run("xcsh.label", { entryId: "99999999", label: "x" }), "notFound");
  await editor.leave();
});

flow("branch goes back before a prompt and gives it back", async (world) => {
  const path = world.session(first, ["one", "two"]);
  const before = read(path);
  const editor = await world.editor();
  await editor.run("xcsh.resume", { target: first });
  const { editorText, session } = await editor.run("xcsh.branch", { entryId: entryId(3) });
  assert.equal(editorText, "two");
  assert.equal(session.messageCount, 2);
  const changed = await editor.heard("xcsh/sessionChanged", (p) => p.reason === "tree" || p.reason === "branch");
  assert.equal(changed.sessionId, first);
  await editor.leave();
  assert.ok(read(path).startsWith(before));
});

flow("delete asks, and undelete takes the very file back", async (world) => {
  const path = world.session(first, ["one"]);
  const before = read(path);
  const editor = await world.editor();
  for (const answer of [null, "Cancel"]) {
    editor.choose(answer);
    await refused(editor.run("xcsh.delete", { source: first }), "cancelled", undefined, -32800);
    assert.equal(read(path), before);
  }
  editor.choose("Delete");
  const { trashed } = await editor.run("xcsh.delete", { source: first });
  assert.match(editor.questions.at(-1).message, /^Delete .*one/);
  assert.equal(existsSync(path), false);
  assert.deepEqual((await editor.run("xcsh.list")).sessions, []);
  assert.deepEqual(await editor.run("xcsh.undelete", { trashed }), { path });
  assert.equal(read(path), before);
  assert.equal((await editor.run("xcsh.list")).sessions[0].id, idOf(path));
  await editor.leave();
});

flow("a session of another project is copied only when the person wants it", async (world) => {
  const other = world.directory("home/other");
  const path = world.session(first, ["one"], { folder: other });
  const before = read(path);
  const editor = await world.editor();
  editor.choose("one", "Cancel");
  await refused(editor.run("xcsh.resume", { scope: "all" }), "otherProject");
  editor.choose("one", "Fork");
  const { forkedFrom, session } = await editor.run("xcsh.resume", { scope: "all" });
  assert.equal(forkedFrom, path);
  assert.equal(entriesOf(session.file)[0].cwd, world.folder);
  await editor.leave();
  assert.equal(read(path), before);
});

flow("arguments that cannot be meant are refused with their name", async (world) => {
  const editor = await world.editor();
  assert.equal((await refused(editor.run("xcsh.list", { limit: "many" }), "invalidArgument", undefined, -32602)).data.field, "limit");
  assert.equal((await refused(editor.run("xcsh.list", { limits: 1 }), "invalidArgument")).data.field, "limits");
  await assert.rejects(editor.run("xcsh.nothing"), { code: -32602 });
  await editor.leave();
});

flow("a session in memory writes nothing and says so", async (world) => {
  const editor = await world.editor({ options: { persist: false } });
  assert.equal((await editor.run("xcsh.state")).file, null);
  await refused(editor.run("xcsh.export"), "notPersistent", "Cannot export in-memory session to HTML");
  await refused(editor.run("xcsh.fork"), "notPersistent", "Fork failed (session not persisted or cancelled)");
  await editor.leave();
  assert.deepEqual(Object.keys(filesBelow(world.root)), []);
});
