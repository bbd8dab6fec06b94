// A client made of the protocol's own SDK. It answers what the agent asks by a script, remembers
// everything it is told, and checks every line of the agent against the protocol's schema.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough, Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { Checker } from "./schema.mjs";

/** patience is how long a message may take that has to come, in milliseconds. */
const patience = 20_000;

/** refused checks how a request fails. */
export async function refused(answer, code, message) {
  const error = await answer.then((result) => assert.fail(`answered ${JSON.stringify(result)}`), (e) => e);
  assert.equal(error.code, code, `${error}`);
  assert.match(error.message, message);
  return error;
}

/** A Client is one connection to one agent process. */
export class Client {
  updates = []; // {sessionId, update}, as the SDK understood them
  questions = []; // permission requests
  buffers = new Map(); // texts of files that are not saved, by path
  written = []; // paths of the files that the agent wrote here
  stderr = "";

  #script = []; // answers to the next questions
  #waiting = new Set();
  #checker = new Checker();

  constructor(program, { flags, env, cwd, capabilities }) {
    this.capabilities = capabilities;
    this.process = spawn(program, flags, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    this.exited = once(this.process, "close").then(([code, signal]) => ({ code, signal }));
    this.process.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
    this.process.stdin.on("error", () => {});
    const toAgent = new PassThrough();
    toAgent.on("data", (bytes) => this.#checker.sent(bytes)).pipe(this.process.stdin);
    const fromAgent = new PassThrough();
    this.process.stdout.on("data", (bytes) => this.#checker.received(bytes)).pipe(fromAgent);
    this.connection = this.#app().connect(acp.ndJsonStream(Writable.toWeb(toAgent), Readable.toWeb(fromAgent)));
    this.agent = this.connection.agent;
  }

  #app() {
    const { client } = acp.methods;
    return acp.client({ name: "test" })
      .onNotification(client.session.update, ({ params }) => this.#told(params))
      .onRequest(client.session.requestPermission, ({ params }) => this.#asked(params))
      .onRequest(client.fs.readTextFile, ({ params }) => this.#read(params))
      .onRequest(client.fs.writeTextFile, ({ params }) => {
        this.written.push(params.path);
        this.buffers.set(params.path, params.content);
        return {};
      });
  }

  async initialize() {
    this.server = await this.request("initialize", {
      protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: this.capabilities, clientInfo: { name: "test", version: "1.0.0" },
    });
    return this.server;
  }

  request(method, params) {
    return this.agent.request(method, params);
  }

  /** open begins a session and returns the answer. */
  open(cwd) {
    return this.request("session/new", { cwd, mcpServers: [] });
  }

  /** prompt says a text, or blocks. */
  prompt(sessionId, said) {
    return this.request("session/prompt", { sessionId, prompt: typeof said === "string" ? [{ type: "text", text: said }] : said });
  }

  cancel(sessionId) {
    return this.agent.notify("session/cancel", { sessionId });
  }

  /** raw sends a line as it is. */
  raw(line) {
    this.process.stdin.write(`${line}\n`);
  }

  /** choose says how the next questions are answered: by the kind of an option, or a function. */
  choose(...answers) {
    this.#script.push(...answers);
  }

  async #asked(params) {
    this.questions.push(params);
    this.#settle();
    const answer = this.#script.shift() ?? assert.fail(`nobody answers ${params.toolCall.title}`);
    if (typeof answer === "function") return answer(params);
    const option = params.options.find((o) => o.kind === answer) ?? assert.fail(`there is no ${answer}`);
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }

  #read({ path }) {
    if (!this.buffers.has(path)) throw acp.RequestError.resourceNotFound(path);
    return { content: this.buffers.get(path) };
  }

  #told(params) {
    this.updates.push(params);
    this.#settle();
  }

  /** of are the updates of a kind in a session, in their order. */
  of(sessionId, kind) {
    return this.updates.filter((u) => u.sessionId === sessionId && u.update.sessionUpdate === kind).map((u) => u.update);
  }

  /** text is what the chunks of a kind say. */
  text(sessionId, kind = "agent_message_chunk") {
    return this.of(sessionId, kind).map((u) => u.content.text ?? "").join("");
  }

  /** calls are the tool calls of a session as they stand: each with everything that was told of it. */
  calls(sessionId) {
    const calls = new Map();
    for (const { sessionId: id, update } of this.updates) {
      if (id !== sessionId || !("toolCallId" in update)) continue;
      const known = calls.get(update.toolCallId);
      assert.equal(update.sessionUpdate, known ? "tool_call_update" : "tool_call", "a call is told of before what becomes of it");
      const news = Object.fromEntries(Object.entries(update).filter(([, value]) => value != null));
      calls.set(update.toolCallId, { ...known, ...news });
    }
    return [...calls.values()];
  }

  /** heard waits for an update. */
  heard(sessionId, kind, fits = () => true) {
    return this.until(kind, () => this.of(sessionId, kind).find(fits));
  }

  /** until waits until find finds something, which is tried whenever something came. */
  until(what, find) {
    return new Promise((done, fail) => {
      const found = find();
      if (found) return done(found);
      const wait = () => {
        const found = find();
        if (!found) return;
        this.#waiting.delete(wait);
        clearTimeout(timer);
        done(found);
      };
      const timer = setTimeout(() => fail(new Error(`${what} did not come; ${JSON.stringify(this.updates)} ${this.stderr}`)), patience);
      this.#waiting.add(wait);
    });
  }

  #settle() {
    for (const wait of this.#waiting) wait();
  }

  /** leave ends the conversation as clients do, and checks what has to hold at its end. */
  async leave() {
    this.process.stdin.end();
    assert.deepEqual(await this.exited, { code: 0, signal: null }, this.stderr);
    this.#checker.end();
    assert.equal(this.#script.length, 0, "every answer was needed");
    assert.equal(this.stderr, "", "a conversation without trouble leaves no log");
  }

  async kill() {
    this.connection.close();
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }
}
