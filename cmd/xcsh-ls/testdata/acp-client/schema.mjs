// Whether what an agent writes is what the protocol's own schema says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import Ajv from "ajv/dist/2020.js";

/** load reads one of the schemas of the SDK. */
function load(name) {
  return JSON.parse(readFileSync(fileURLToPath(import.meta.resolve(`@agentclientprotocol/sdk/schema/v1/${name}`)), "utf8"));
}

const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(load("schema.json"), "stable");
ajv.addSchema(load("schema.unstable.json"), "unstable");

/** Methods that only the unstable schema knows. */
const unstable = new Set(["session/fork"]);

/** names finds the type of a method's parameters or result: Request, Response or Notification. */
const names = new Map();
for (const [version, schema] of [["unstable", load("schema.unstable.json")], ["stable", load("schema.json")]]) {
  for (const [name, type] of Object.entries(schema.$defs)) {
    if (!type["x-method"]) continue;
    const part = /(Request|Response|Notification)$/.exec(name)?.[1];
    names.set(`${type["x-method"]} ${part}`, `${version}#/$defs/${name}`);
  }
}

/** A Checker follows both directions of a connection and fails where the agent breaks the schema. */
export class Checker {
  #rest = { sent: "", received: "" };
  #asked = new Map(); // methods of the client's requests, by id
  #faults = [];
  #checked = 0;

  sent(bytes) {
    for (const message of this.#messages("sent", bytes)) {
      if (message?.method && message.id !== undefined) this.#asked.set(message.id, message.method);
    }
  }

  received(bytes) {
    for (const message of this.#messages("received", bytes)) {
      if (message === undefined) this.#faults.push("a line of the agent is not JSON");
      else this.#check(message);
    }
  }

  #messages(direction, bytes) {
    const lines = (this.#rest[direction] + bytes.toString("latin1")).split("\n");
    this.#rest[direction] = lines.pop();
    return lines.filter(Boolean).map((line) => {
      try {
        return JSON.parse(Buffer.from(line, "latin1").toString("utf8"));
      } catch {
        return undefined;
      }
    });
  }

  #check(message) {
    if (message.jsonrpc !== "2.0") this.#faults.push(`no version in ${JSON.stringify(message)}`);
    if (message.method) {
      const part = message.id === undefined ? "Notification" : "Request";
      this.#valid(`${message.method} ${part}`, message.params);
    } else if (message.error) {
      this.#validAs("stable#/$defs/Error", message.error);
    } else {
      this.#valid(`${this.#asked.get(message.id)} Response`, message.result);
    }
  }

  #valid(name, value) {
    const type = names.get(name);
    if (!type) this.#faults.push(`the schema has no ${name}`);
    else if (type.startsWith("unstable") && !unstable.has(name.split(" ")[0])) this.#faults.push(`${name} is not stable`);
    else this.#validAs(type, value);
  }

  #validAs(type, value) {
    this.#checked++;
    const validate = ajv.getSchema(type);
    if (!validate(value)) this.#faults.push(`${type}: ${JSON.stringify(value)}: ${ajv.errorsText(validate.errors)}`);
  }

  /** end checks that nothing was wrong. */
  end() {
    assert.deepEqual(this.#faults, []);
    assert.equal(this.#rest.received, "", "the agent ends its last line");
    assert.ok(this.#checked > 0, "something was checked");
  }
}
