// What is on a person's machine: a home with the agents' directories, a folder to work in, and
// session files that programs left there.
import { readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Machine, flowsIn, read, server } from "../machine.mjs";
import { Editor } from "./client.mjs";

export { read };

const recorded = fileURLToPath(new URL("../../../../testdata/sessions/", import.meta.url));
/** recordedIn is the folder that the recorded sessions were made in. */
const recordedIn = "/home/dev/proj";

/** A World is a machine with editors. */
export class World extends Machine {
  constructor() {
    super("plain");
    this.agentDir = join(this.home, ".xcsh/agent");
  }

  /** start starts a server and says nothing to it yet. */
  start({ capabilities, flags } = {}) {
    return this.runs(new Editor(server, { flags, capabilities, env: this.env, cwd: this.folder }));
  }

  /** editor is an editor with the folder open. */
  async editor({ capabilities, flags, folders = [this.folder], ...how } = {}) {
    const editor = this.start({ capabilities, flags });
    await editor.initialize({ folders, ...how });
    return editor;
  }

  /** sessionsOf is the directory of a folder's sessions, as the program names it. */
  sessionsOf(program, folder = this.folder) {
    const name = program === "omp" ? `-${folder.slice(this.home.length + 1).replaceAll("/", "-")}` : `--${folder.slice(1).replaceAll("/", "-")}--`;
    return this.directory(join(`home/.${program}/agent/sessions`, name));
  }

  /** session writes a session of xcsh: prompts, each with its answer, minutes ago. */
  session(id, prompts, { folder = this.folder, minutes = 60, title } = {}) {
    const time = (n) => new Date(Date.UTC(2026, 0, 1, 0, 0, n)).toISOString();
    const lines = [{ type: "session", version: 3, id, timestamp: time(0), cwd: folder, title }];
    for (const text of prompts) {
      const n = lines.length;
      const last = lines[n - 1].message ? lines[n - 1].id : null;
      lines.push({ type: "message", id: entryId(n), parentId: last, timestamp: time(n), message: { role: "user", content: text, timestamp: n } });
      lines.push({ type: "message", id: entryId(n + 1), parentId: entryId(n), timestamp: time(n + 1), message: answer(`Answer to ${text}`, n + 1) });
    }
    const path = join(this.sessionsOf("xcsh", folder), `2026-01-01T00-00-00-000Z_${id}.jsonl`);
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    return aged(path, minutes);
  }

  /** recorded copies a session that pi or omp wrote into its directory, as one of the folder. */
  recorded(program, name, { minutes = 60 } = {}) {
    const text = readFileSync(join(recorded, program, `${name}.jsonl`), "utf8").replaceAll(recordedIn, this.folder);
    const id = /"type":"session".*?"id":"([^"]+)"/.exec(text)[1];
    const path = join(this.sessionsOf(program), `2026-11-20T10-00-00-000Z_${id}.jsonl`);
    writeFileSync(path, text);
    return aged(path, minutes);
  }
}

/** flow is a test in a world of its own. */
export const flow = flowsIn(World);

/** entryId is the id of the n-th line of a session that was written here. */
export const entryId = (n) => n.toString(16).padStart(8, "0");

/** aged makes a file one that was written minutes ago. */
function aged(path, minutes) {
  const when = Date.now() / 1000 - minutes * 60;
  utimesSync(path, when, when);
  return path;
}

function answer(text, timestamp) {
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } };
  return { role: "assistant", content: [{ type: "text", text }], api: "scripted", provider: "offline", model: "demo", usage, stopReason: "stop", timestamp };
}

/** entriesOf are the lines of a session file. */
export const entriesOf = (path) => read(path).trimEnd().split("\n").map((line) => JSON.parse(line));

/**
 * filesBelow are the contents of all files below a directory, by path, but for the prompt
 * history's database: a server makes it when there is time.
 */
export function filesBelow(directory) {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile() && !e.name.startsWith("history.db"));
  return Object.fromEntries(files.map((e) => join(e.parentPath ?? e.path, e.name)).sort().map((path) => [path, read(path)]));
}

/** idOf is the session's id that a session file is named for. */
export const idOf = (path) => basename(path, ".jsonl").split("_").at(-1);
