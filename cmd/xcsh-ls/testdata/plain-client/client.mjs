// An editor without a plugin for xcsh-ls: it knows the Language Server Protocol and nothing
// else. It answers what the server asks by a script and remembers everything it is told.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CancellationTokenSource, ErrorCodes, ResponseError, StreamMessageReader, StreamMessageWriter, createProtocolConnection } from "vscode-languageserver-protocol/node";
import { Document } from "./document.mjs";

/** patience is how long a message may take that has to come, in milliseconds. */
const patience = 20_000;

/** announced says which requests of the server need a capability, and which. */
const announced = {
  "window/showDocument": (c) => c.window?.showDocument?.support,
  "window/workDoneProgress/create": (c) => c.window?.workDoneProgress,
  "workspace/applyEdit": (c) => c.workspace?.applyEdit,
  "workspace/configuration": (c) => c.workspace?.configuration,
  "workspace/textDocumentContent/refresh": (c) => c.workspace?.textDocumentContent,
  "window/showMessageRequest": () => true,
};

const uriOf = (path) => (path.includes("://") ? path : pathToFileURL(path).href);

/** refused checks how a request fails: by the kind in its data and by the sentence for the person. */
export async function refused(answer, kind, message, code) {
  const error = await answer.then((result) => assert.fail(`answered ${JSON.stringify(result)}, not ${kind}`), (e) => e);
  assert.ok(error instanceof ResponseError, `${error}`);
  assert.equal(error.data?.kind, kind, error.message);
  if (message instanceof RegExp) assert.match(error.message, message);
  else if (message !== undefined) assert.equal(error.message, message);
  if (code !== undefined) assert.equal(error.code, code);
  return error;
}

/** An Editor is one connection to one server process. */
export class Editor {
  documents = new Map(); // open ones, by URI
  told = []; // notifications of the server: {method, params, taken}
  asked = []; // requests of the server: the same, with cancelled: whether it was taken back
  faults = []; // what a server must not do
  stderr = "";

  #script = []; // answers to the next questions; see choose
  #handlers = new Map(); // see on
  #waiting = new Set();
  #seq = new Map(); // of the last notification, by session

  /** A server is started with flags and env; nothing is said to it before initialize. */
  constructor(server, { flags = [], env, cwd, capabilities = {} }) {
    this.capabilities = capabilities;
    this.process = spawn(server, flags, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    // Its end includes that of its log, which nobody that it started may hold open.
    this.exited = once(this.process, "close").then(([code, signal]) => ({ code, signal }));
    this.process.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
    this.process.stdin.on("error", () => {}); // a server may be gone before it has read everything
    const fault = (message) => this.faults.push(message);
    const logger = { error: fault, warn: fault, info() {}, log() {} };
    const out = new StreamMessageReader(this.process.stdout);
    this.connection = createProtocolConnection(out, new StreamMessageWriter(this.process.stdin), logger);
    this.connection.onNotification((method, params) => this.#tell(method, params));
    this.connection.onRequest((method, params, token) => this.#answer(method, params, token));
    this.connection.onUnhandledProgress((progress) => this.#tell("$/progress", progress));
    this.connection.onClose(() => this.#closed());
    this.connection.listen();
  }

  /** initialize begins the conversation about folders, and returns what the server can do. */
  async initialize({ folders, options, processId = process.pid, encodings }) {
    const general = encodings ? { general: { ...this.capabilities.general, positionEncodings: encodings } } : {};
    const result = await this.connection.sendRequest("initialize", {
      processId,
      rootUri: null,
      capabilities: { ...this.capabilities, ...general },
      initializationOptions: options,
      workspaceFolders: folders.map((path) => ({ uri: uriOf(path), name: path })),
    });
    this.encoding = result.capabilities.positionEncoding ?? "utf-16";
    this.server = result;
    this.notify("initialized", {});
    return result;
  }

  // What the editor sends.

  /** run runs a command of the server, as a key or a menu entry of any editor does. */
  run(command, args, { workDoneToken, cancel } = {}) {
    const params = { command, arguments: args === undefined ? undefined : [args], workDoneToken };
    return this.request("workspace/executeCommand", params, cancel?.token);
  }

  /** runRef runs a command as it stands in a lens or an action. */
  runRef({ command, arguments: args }) {
    return this.request("workspace/executeCommand", { command, arguments: args });
  }

  request(method, params, token) {
    return token ? this.connection.sendRequest(method, params, token) : this.connection.sendRequest(method, params);
  }

  /** notify waits for nothing: whether a server that is gone heard it is told by what follows. */
  notify(method, params) {
    this.connection.sendNotification(method, params).catch(() => {});
  }

  canceller() {
    return new CancellationTokenSource();
  }

  /** about asks something about a document: the method's own parameters come on top. */
  about(path, method, params) {
    return this.request(method, { textDocument: { uri: uriOf(path) }, ...params });
  }

  // Documents.

  open(path, { text = readFileSync(path, "utf8"), languageId = "plaintext" } = {}) {
    const doc = new Document(uriOf(path), languageId, text, this.encoding);
    this.documents.set(doc.uri, doc);
    this.notify("textDocument/didOpen", { textDocument: { uri: doc.uri, languageId, version: doc.version, text } });
    return doc;
  }

  /** edit types newText over the range. */
  edit(doc, range, newText) {
    doc.apply([{ range, newText }]);
    this.#changed(doc, [{ range, text: newText }]);
  }

  /** save writes the buffer to its file and says so. */
  save(doc) {
    writeFileSync(fileURLToPath(doc.uri), doc.text);
    this.notify("textDocument/didSave", { textDocument: { uri: doc.uri } });
  }

  close(doc) {
    this.documents.delete(doc.uri);
    this.notify("textDocument/didClose", { textDocument: { uri: doc.uri } });
  }

  #changed(doc, contentChanges) {
    this.notify("textDocument/didChange", { textDocument: { uri: doc.uri, version: doc.version }, contentChanges });
  }

  // What the server sends.

  /**
   * choose says how the next questions are answered, in their order: a string or a pattern
   * chooses the button whose title begins with or matches it, null closes the question, and a
   * function is the answer, of the parameters and of the token that takes the question back.
   */
  choose(...answers) {
    this.#script.push(...answers);
  }

  /** on replaces the answer to a request: handler gets the parameters and the cancellation token. */
  on(method, handler) {
    this.#handlers.set(method, handler);
  }

  /** heard is the next notification of a method, sent or still to come, that nobody waited for yet. */
  heard(method, matches = () => true) {
    return this.#next(this.told, method, matches);
  }

  /** wasAsked is the same for a request of the server. */
  wasAsked(method, matches = () => true) {
    return this.#next(this.asked, method, matches);
  }

  /** event is the next event of a type in a session. */
  async event(type, matches = () => true) {
    return (await this.heard("xcsh/event", ({ event }) => event.type === type && matches(event))).event;
  }

  /** messages are the texts that were shown to the person without a question. */
  get messages() {
    return this.told.filter((n) => n.method === "window/showMessage").map((n) => n.params.message);
  }

  /** questions are what the person was asked, with the titles of the buttons. */
  get questions() {
    return this.asked.filter((r) => r.method === "window/showMessageRequest")
      .map(({ params }) => ({ message: params.message, titles: params.actions.map((a) => a.title) }));
  }

  /** shown are the documents that the server wanted to be shown. */
  get shown() {
    return this.asked.filter((r) => r.method === "window/showDocument").map((r) => r.params);
  }

  #tell(method, params) {
    if (params?.seq !== undefined) this.#count(method, params);
    this.told.push({ method, params, taken: false });
    this.#settle();
  }

  /** #count checks that no notification of a session is missing. */
  #count(method, { sessionId, seq }) {
    const last = this.#seq.get(sessionId) ?? 0;
    if (seq !== last + 1) this.faults.push(`${method} of ${sessionId} has seq ${seq} after ${last}`);
    this.#seq.set(sessionId, seq);
  }

  async #answer(method, params, token) {
    const request = { method, params, taken: false, cancelled: false };
    token.onCancellationRequested(() => {
      request.cancelled = true;
      this.#settle();
    });
    this.asked.push(request);
    this.#settle();
    const handler = this.#handlers.get(method) ?? this.#handler(method);
    return handler(params, token);
  }

  #handler(method) {
    if (announced[method] !== undefined && !announced[method](this.capabilities)) {
      this.faults.push(`${method} was not announced`);
    }
    switch (method) {
      case "window/showMessageRequest": return (params, token) => this.#question(params, token);
      case "window/showDocument": return () => ({ success: true });
      case "workspace/applyEdit": return ({ edit }) => this.#applyEdit(edit);
      case "workspace/configuration": return ({ items }) => items.map(() => null);
      case "window/workDoneProgress/create":
      case "workspace/textDocumentContent/refresh": return () => null;
      case "client/registerCapability": return ({ registrations }) => this.#register(registrations);
    }
    if (!method.startsWith("xcsh/")) this.faults.push(`${method} is not known`);
    throw new ResponseError(ErrorCodes.MethodNotFound, `${method} is not known`);
  }

  #register(registrations) {
    for (const { method } of registrations) {
      const [area, name] = method.split("/");
      if (!this.capabilities[area]?.[name]?.dynamicRegistration) this.faults.push(`registering ${method} was not announced`);
    }
    return null;
  }

  #question(params, token) {
    if (this.#script.length === 0) {
      this.faults.push(`nobody answers ${JSON.stringify(params.message)}`);
      return null;
    }
    const answer = this.#script.shift();
    if (typeof answer === "function") return answer(params, token);
    if (answer === null) return null;
    const fits = ({ title }) => (typeof answer === "string" ? title.startsWith(answer) : answer.test(title));
    const action = params.actions.find(fits);
    if (action === undefined) this.faults.push(`${JSON.stringify(params.message)} has no answer ${answer}`);
    return action ?? null;
  }

  /** #applyEdit makes an edit of the server in open documents, or says why it does not. */
  #applyEdit(edit) {
    const can = this.capabilities.workspace?.workspaceEdit ?? {};
    if (edit.documentChanges && !can.documentChanges) this.faults.push("documentChanges were not announced");
    if (edit.changeAnnotations && !can.changeAnnotationSupport) this.faults.push("changeAnnotations were not announced");
    const changes = edit.documentChanges ?? Object.entries(edit.changes).map(([uri, edits]) => ({ textDocument: { uri }, edits }));
    for (const { textDocument: { uri, version } } of changes) {
      const doc = this.documents.get(uri);
      if (doc === undefined) return { applied: false, failureReason: `${uri} is not open` };
      if (version != null && version !== doc.version) return { applied: false, failureReason: `${uri} is at version ${doc.version}` };
    }
    for (const { textDocument: { uri }, edits } of changes) {
      const doc = this.documents.get(uri);
      doc.apply(edits);
      this.#changed(doc, [{ text: doc.text }]);
    }
    return { applied: true };
  }

  /** #next waits for a message that is in list or comes to be, and takes it out of the running. */
  async #next(list, method, matches) {
    const message = await this.#until(method, () => list.find((m) => !m.taken && m.method === method && matches(m.params)));
    message.taken = true;
    return list === this.asked ? message : message.params;
  }

  /** takenBack waits until the server no longer wants the answer to a request. */
  takenBack(request) {
    return this.#until(`taking back ${request.method}`, () => request.cancelled);
  }

  /** #until waits until find finds something, which is tried after every message. */
  #until(what, find) {
    return new Promise((resolve, reject) => {
      const found = find();
      if (found) return resolve(found);
      const wait = { find, resolve, reject: (why) => reject(new Error(`${why} without ${what}; there were ${this.#summary()}; ${this.stderr}`)) };
      const timer = setTimeout(() => this.#end(wait, () => wait.reject(`${patience} ms went by`)), patience);
      wait.stop = () => clearTimeout(timer);
      this.#waiting.add(wait);
    });
  }

  #settle() {
    for (const wait of this.#waiting) {
      const found = wait.find();
      if (found) this.#end(wait, () => wait.resolve(found));
    }
  }

  #closed() {
    this.#settle();
    for (const wait of this.#waiting) this.#end(wait, () => wait.reject("the server ended"));
  }

  #end(wait, how) {
    wait.stop();
    this.#waiting.delete(wait);
    how();
  }

  #summary() {
    return [...this.told, ...this.asked].map(({ method, params }) => params?.event?.type ?? method).join(", ");
  }

  // The end.

  /** leave ends the conversation as it should be, and checks what has to hold at its end. */
  async leave() {
    assert.equal(await this.request("shutdown"), null);
    this.notify("exit");
    assert.deepEqual(await this.exited, { code: 0, signal: null }, this.stderr);
    this.check();
    assert.equal(this.stderr, "", "a conversation without trouble leaves no log");
  }

  /** check is what a server keeps to whatever happens. */
  check() {
    assert.deepEqual(this.faults, []);
    const values = this.told.filter((n) => n.method === "$/progress").map((n) => [n.params.token, n.params.value.kind]);
    const open = new Set();
    for (const [token, kind] of values) {
      assert.equal(open.has(token), kind !== "begin", `${kind} of progress ${token}`);
      if (kind === "begin") open.add(token);
      if (kind === "end") open.delete(token);
    }
    assert.deepEqual([...open], [], "a progress that began has ended");
    assert.equal(this.#script.length, 0, "every answer was needed");
  }

  /** kill ends the process if it still runs. */
  async kill() {
    this.connection.dispose();
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    this.process.kill("SIGKILL");
    await once(this.process, "exit");
  }
}
