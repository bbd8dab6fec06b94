// Does one operation with another program's own code and prints how long it took
// inside the process, as JSON:
//
//   node drive.mjs pi [-check] OPERATION STORE SCRATCH ARGUMENT...
//   bun drive.mjs omp [-check] OPERATION STORE SCRATCH ARGUMENT...
//
// The counterpart for xcsh-ls is bench/drive; the answers have the same form.
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

const args = process.argv.slice(2);
const peer = args.shift();
const check = args[0] === "-check" && args.shift() !== undefined;
const [operation, store, scratch, ...rest] = args;

// Both programs read PI_CODING_AGENT_DIR, and both can write below it: the sessions are linked
// there, and everything else is discarded.
const agent = path.join(scratch, peer, "agent");
fs.mkdirSync(agent, { recursive: true });
if (!fs.existsSync(path.join(agent, "sessions"))) {
  const roots = [".pi", ".omp", ".xcsh"].map((dir) => path.join(store, dir, "agent", "sessions"));
  fs.symlinkSync(roots.find((dir) => fs.existsSync(dir)) ?? roots[0], path.join(agent, "sessions"));
}
process.env.PI_CODING_AGENT_DIR = agent;
process.env.HOME = scratch;

const modules = path.join(import.meta.dirname, "node_modules");
const load = (...parts) => import(pathToFileURL(path.join(modules, ...parts)).href);

const peers = {
  async pi() {
    const { SessionManager } = await load("@earendil-works/pi-coding-agent", "dist", "bundle", "index.js");
    return {
      open: (file) => SessionManager.open(file),
      list: () => SessionManager.listAll(),
      // The program's behavior for --session: this directory first, then all.
      async resolve(prefix) {
        const local = (await SessionManager.list("/nowhere")).find((s) => s.id.startsWith(prefix));
        return local ?? (await SessionManager.listAll()).find((s) => s.id.startsWith(prefix));
      },
      fork: (file, cwd) => SessionManager.forkFrom(file, cwd, path.join(scratch, "fork")),
      flush: () => {},
    };
  },
  async omp() {
    const { SessionManager } = await load("@oh-my-pi/pi-coding-agent", "src", "session", "session-manager.ts");
    const { resolveResumableSession } = await load("@oh-my-pi/pi-coding-agent", "src", "session", "session-listing.ts");
    // Loaded only on demand, because it loads the templates of the page.
    const { exportFromFile } = operation === "export" ? await load("@oh-my-pi/pi-coding-agent", "src", "export", "html", "index.ts") : {};
    return {
      export: (file, page) => exportFromFile(file, { outputPath: page }),
      open: (file) => SessionManager.open(file),
      list: () => SessionManager.listAll(),
      resolve: async (prefix) => (await resolveResumableSession(prefix, "/nowhere"))?.session,
      async fork(file, cwd) {
        const m = await SessionManager.forkFrom(file, cwd, path.join(scratch, "fork"));
        await m.flush();
        return m;
      },
      flush: (m) => m.flush(),
    };
  },
};

const digest = (lines) => ({
  count: lines.length,
  digest: createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 16),
});
// A summary's time is a string in omp and a number in pi.
const time = (t) => (typeof t === "string" ? Date.parse(t) : t);
const ofContext = (c) => digest(c.messages.map((m) => `${m.role} ${time(m.timestamp)}`));
const contextOf = async (m) => ofContext((await m).buildSessionContext());

const operations = {
  async open(p, file) {
    const c = (await p.open(file)).buildSessionContext();
    return () => ofContext(c);
  },
  async list(p) {
    const sessions = await p.list();
    return () => digest(sessions.map((s) => `${s.id} ${s.messageCount}`).sort());
  },
  async search(p, word) {
    const found = (await p.list()).filter((s) => s.allMessagesText.includes(word));
    return () => digest(found.map((s) => s.id).sort());
  },
  async resolve(p, prefix) {
    const s = await p.resolve(prefix);
    return () => digest([path.basename(s.path)]);
  },
  async append(p, file, n) {
    const m = await p.open(file);
    const text = "an entry ".repeat(16);
    for (let i = 0; i < Number(n); i++) {
      m.appendMessage({ role: "user", content: [{ type: "text", text }], timestamp: 1700000000000 });
    }
    await p.flush(m);
    return () => contextOf(p.open(file));
  },
  async fork(p, file, cwd) {
    const m = await p.fork(file, cwd);
    return () => contextOf(p.open(m.getSessionFile()));
  },
  // Only for omp: pi exports from its command line.
  async export(p, file, page) {
    await p.export(file, page);
    return () => ({ size: fs.statSync(page).size });
  },
};

const p = await peers[peer]();
const start = performance.now();
const answer = await operations[operation](p, ...rest);
const result = { ms: performance.now() - start };
if (check) result.answer = await answer();
fs.writeSync(1, `${JSON.stringify(result)}\n`);
process.exit(0);
