// What is on a person's machine: a home with the agent's directory, and a folder to work in.
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Machine, flowsIn, read, server } from "../machine.mjs";
import { Client } from "./client.mjs";

export { read };

/** A World is a machine with clients of the agent. */
export class World extends Machine {
  constructor() {
    super("acp");
  }

  /** client starts an agent and initializes the connection to it. */
  async client({ flags = ["--model", "offline/demo"], capabilities = {} } = {}) {
    const client = this.runs(new Client(server, { flags: ["acp", ...flags], env: this.env, cwd: this.root, capabilities }));
    await client.initialize();
    return client;
  }

  /** run runs another command of the program in the folder, and returns what it prints. */
  run(...args) {
    return execFileSync(server, args, { cwd: this.folder, env: this.env, encoding: "utf8" });
  }

  /** pipe is run with a line on standard input. Node.js would give it a socket, which is no pipe. */
  pipe(line, ...args) {
    return execFileSync("sh", ["-c", 'echo "$0" | "$@"', line, server, ...args], { cwd: this.folder, env: this.env, encoding: "utf8", stdio: "pipe" });
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
}

/** flow is a test in a world of its own. */
export const flow = flowsIn(World);
