// What is on a person's machine: a home with the agent's directory, and a folder to work in.
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { Client } from "./client.mjs";

if (!process.env.XCSH_LS) throw new Error("XCSH_LS must name the server's program.");
const server = resolve(process.env.XCSH_LS);

/** flow is a test in a world of its own. */
export function flow(name, run) {
  test(name, { timeout: 60_000 }, async (t) => {
    const world = new World();
    t.after(() => world.remove());
    await run(world, t);
  });
}

/** A World is removed with everything that runs in it. */
export class World {
  #clients = [];

  constructor() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "xcsh-ls-acp-")));
    this.home = this.directory("home");
    this.folder = this.directory("home/proj");
  }

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

  get env() {
    return { PATH: process.env.PATH, HOME: this.home, USERPROFILE: this.home, TMPDIR: this.directory("tmp"), XCSH_LS_NO_DETECT: "1" };
  }

  /** client starts an agent and initializes the connection to it. */
  async client({ flags = ["--model", "offline/demo"], capabilities = {} } = {}) {
    const client = new Client(server, { flags: ["acp", ...flags], env: this.env, cwd: this.root, capabilities });
    this.#clients.push(client);
    await client.initialize();
    return client;
  }

  /** run runs another command of the program in the folder, and returns what it prints. */
  run(...args) {
    return execFileSync(server, args, { cwd: this.folder, env: this.env, encoding: "utf8" });
  }

  /** sessionFiles are the files of the folder's sessions. */
  sessionFiles() {
    const directory = join(this.home, ".xcsh/agent/sessions", `--${this.folder.slice(1).replaceAll("/", "-")}--`);
    try {
      return readdirSync(directory).filter((name) => name.endsWith(".jsonl")).map((name) => join(directory, name));
    } catch (error) {
      if (error.code === "ENOENT") return [];
      throw error;
    }
  }

  async remove() {
    await Promise.all(this.#clients.map((client) => client.kill()));
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const read = (path) => readFileSync(path, "utf8");
