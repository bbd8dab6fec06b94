// The store of a team, in an editor that knows nothing but the Language Server Protocol.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { refused } from "./client.mjs";
import { Member, Store, missing } from "./store.mjs";
import { read } from "./world.mjs";

let store;
before(async () => { if (!missing) store = await Store.start(); }, { timeout: 120_000 });
after(() => store?.stop());

const options = { model: "offline/demo" };

/** shared is the first session in the list of the team, which a store that is slow completes later. It has messages when its first append, which takes the lease, is over. */
async function shared(editor) {
  const until = Date.now() + 20_000;
  for (;;) {
    const { sessions } = await editor.run("xcsh.list", { scope: "team" });
    const found = sessions.find((s) => s.team?.remote && s.messageCount > 0);
    if (found) return found;
    assert.ok(Date.now() < until, "no session of the team is listed");
    await editor.run("xcsh.team.status");
  }
}

test("a session is shared after a plan, and a colleague lists, forks and continues it", { skip: missing, timeout: 120_000 }, async (t) => {
  const [ann, kim] = ["ann", "kim"].map((role) => new Member(store, role));
  t.after(() => Promise.all([ann.remove(), kim.remove()]));
  const editor = await ann.editor({ options });
  await editor.run("xcsh.prompt", { text: "an older question" });

  // Share: a plan, which sends nothing, and then the user's yes to this very plan.
  const plan = await editor.run("xcsh.team.share", { scope: "new" });
  assert.equal(plan.readers, 2);
  assert.equal(plan.older, 1);
  assert.equal(plan.shared, undefined);
  await refused(editor.run("xcsh.team.share", { scope: "new", planToken: "another" }), "stale");
  const colleague = await kim.editor({ options });
  assert.deepEqual((await colleague.run("xcsh.list", { scope: "team" })).sessions, []);
  assert.deepEqual(await editor.run("xcsh.team.share", { scope: "new", planToken: plan.planToken }), { shared: "new" });
  await editor.run("xcsh.new");
  await editor.run("xcsh.prompt", { text: "a question for the team" });

  // The colleague sees it. While the owner has it open, it is busy.
  const row = await shared(colleague);
  assert.equal(row.team.owner, "Ann");
  const target = row.team.sid;
  const busy = await refused(colleague.run("xcsh.team.take", { source: target }), "busy");
  assert.equal(busy.data.owner, "Ann");
  assert.ok(busy.data.leftMs > 0);
  colleague.choose(null);
  await refused(colleague.run("xcsh.resume", { target }), "cancelled");
  assert.match(colleague.questions[0].message, /^Ann writes in this session/);
  assert.deepEqual(colleague.questions[0].titles.filter((title) => /^(Read|Fork)/.test(title)).length, 2);

  // A fork of the colleague.
  const fork = await colleague.run("xcsh.resume", { target, onBusy: "fork" });
  assert.ok(fork.pulled.bytes > 0);
  await colleague.run("xcsh.prompt", { text: "a question of Kim" });
  const forked = read(fork.session.file);
  assert.ok(forked.includes("a question for the team") && forked.includes("a question of Kim"));

  // The owner has ended, and the colleague continues the session itself.
  await editor.leave();
  const own = await colleague.run("xcsh.resume", { target });
  assert.ok(own.switched);
  assert.notEqual(own.session.file, fork.session.file);
  await colleague.run("xcsh.prompt", { text: "Kim goes on" });
  assert.ok(!read(own.session.file).includes("a question of Kim"));
  await colleague.leave();
});

test("without a store its commands are refused", { timeout: 60_000 }, async (t) => {
  const alone = new Member({ url: () => "" }, "nobody");
  t.after(() => alone.remove());
  const editor = await alone.editor({ options });
  assert.equal((await editor.run("xcsh.team.status")).state, "off");
  await refused(editor.run("xcsh.team.share", { scope: "new" }), "refused");
  await refused(editor.run("xcsh.list", { scope: "team" }), "refused");
  await editor.leave();
});
