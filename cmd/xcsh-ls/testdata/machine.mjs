// What every client's tests have: a machine of their own, with a home, a folder to work in and
// the server's program.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";

if (!process.env.XCSH_LS) throw new Error("XCSH_LS must name the server's program.");
export const server = resolve(process.env.XCSH_LS);

/** flowsIn returns what makes a test in a world of its own. */
export const flowsIn = (World) => (name, run) => test(name, { timeout: 60_000 }, async (t) => {
  const world = new World();
  t.after(() => world.remove());
  await run(world, t);
});

/** A Machine is removed with everything that runs on it. */
export class Machine {
  #running = [];

  constructor(name) {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), `xcsh-ls-${name}-`)));
    this.home = this.directory("home");
    this.folder = this.directory("home/proj");
  }

  /** directory makes a directory below the root. */
  directory(path) {
    const made = join(this.root, path);
    mkdirSync(made, { recursive: true });
    return made;
  }

  /** file writes a file of the folder and returns its path. */
  file(name, text) {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  /** env is what the server knows of its surroundings: nothing of the machine that tests it. */
  get env() {
    return { PATH: process.env.PATH, HOME: this.home, USERPROFILE: this.home, TMPDIR: this.directory("tmp"), XCSH_LS_NO_DETECT: "1" };
  }

  /** runs takes a client in, to end it with the machine. */
  runs(client) {
    this.#running.push(client);
    return client;
  }

  async remove() {
    await Promise.all(this.#running.map((client) => client.kill()));
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const read = (path) => readFileSync(path, "utf8");
