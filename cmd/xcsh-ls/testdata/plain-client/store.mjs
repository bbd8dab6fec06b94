// The store of a team: a PostgreSQL server for one test file, with a database, two users and a team.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync, chmodSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { server } from "../machine.mjs";
import { World } from "./world.mjs";

/** unprivileged is the user and group for the server: PostgreSQL refuses to run as root. */
const unprivileged = 65534;

/** programs is the directory of initdb and postgres, undefined without them. */
function programs() {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => b - a).map((version) => join(root, version, "bin")) : [];
  return [...versions, ...(process.env.PATH ?? "").split(delimiter)].find((dir) => existsSync(join(dir, "initdb")));
}

/** missing is why there can be no store here, or false. */
export const missing = programs() || process.env.XCSH_REQUIRE_POSTGRES === "1" ? false : "PostgreSQL is not installed";

/** A Store is started by start, and ends with stop. */
export class Store {
  static async start() {
    const store = new Store();
    store.bin = programs();
    assert.ok(store.bin, "PostgreSQL is not installed");
    store.root = realpathSync(mkdtempSync(join(tmpdir(), "xcsh-ls-store-")));
    store.data = join(store.root, "data");
    mkdirSync(store.data);
    if (process.getuid() === 0) {
      chmodSync(store.root, 0o711);
      chownSync(store.data, unprivileged, unprivileged);
    }
    store.#run("initdb", "--pgdata", store.data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync");
    store.port = await freePort();
    const settings = ["listen_addresses=127.0.0.1", `port=${store.port}`, "unix_socket_directories=", "fsync=off", "shared_buffers=32MB"];
    const [command, ...args] = store.#command("postgres", "-D", store.data, ...settings.flatMap((s) => ["-c", s]));
    store.process = spawn(command, args, { cwd: store.data, stdio: "ignore" });
    await store.#answers();
    store.sql("create role ann login", "create role kim login", "create database team");
    store.says("init");
    store.says("grant", "ann", "--team", "core", "--name", "Ann");
    store.says("grant", "kim", "--team", "core", "--name", "Kim");
    return store;
  }

  #command(name, ...args) {
    const id = ["setpriv", `--reuid=${unprivileged}`, `--regid=${unprivileged}`, "--clear-groups", "--"];
    return [...(process.getuid() === 0 ? id : []), join(this.bin, name), ...args];
  }

  #run(name, ...args) {
    const [command, ...rest] = this.#command(name, ...args);
    const { status, stderr, error } = spawnSync(command, rest, { cwd: this.data, encoding: "utf8" });
    assert.equal(status, 0, `${name}: ${error ?? stderr}`);
  }

  /** #answers returns when the server takes connections. */
  async #answers() {
    const until = Date.now() + 60_000;
    for (;;) {
      const { status } = spawnSync(join(this.bin, "pg_isready"), ["-h", "127.0.0.1", "-p", `${this.port}`], { encoding: "utf8" });
      if (status === 0) return;
      assert.ok(this.process.exitCode === null && Date.now() < until, "the server does not answer");
    }
  }

  /** sql runs statements as the superuser. */
  sql(...statements) {
    this.#run("psql", "-X", "-h", "127.0.0.1", "-p", `${this.port}`, "-U", "postgres", ...statements.flatMap((s) => ["-c", s]));
  }

  /** says runs a command of xcsh-ls for administrators. */
  says(...args) {
    const env = { PATH: process.env.PATH, HOME: this.root, XCSH_TEAM_URL: this.url("postgres") };
    const { status, stderr } = spawnSync(server, ["team", ...args], { env, encoding: "utf8" });
    assert.equal(status, 0, stderr);
  }

  url(role) {
    return `postgres://${role}@127.0.0.1:${this.port}/team?sslmode=disable`;
  }

  async stop() {
    this.process.kill("SIGQUIT");
    if (this.process.exitCode === null) await once(this.process, "exit");
    rmSync(this.root, { recursive: true, force: true });
  }
}

function freePort() {
  return new Promise((resolve) => {
    const listener = createServer().listen(0, "127.0.0.1", () => {
      const { port } = listener.address();
      listener.close(() => resolve(port));
    });
  });
}

/** A Member is a machine of a user of the team, with a clone of the project. */
export class Member extends World {
  constructor(store, role) {
    super();
    this.url = store.url(role);
    for (const dir of ["objects", "refs"]) this.directory(`home/proj/.git/${dir}`);
    writeFileSync(join(this.folder, ".git/HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(this.folder, ".git/config"), '[remote "origin"]\n\turl = https://github.com/acme/web\n');
  }

  get env() {
    return { ...super.env, XCSH_TEAM_URL: this.url, PGPASSFILE: "", PGHOST: "" };
  }
}
