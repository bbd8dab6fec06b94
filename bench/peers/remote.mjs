// Serves pi's own SessionManager over standard input and output, one JSON value per line: a request
// names an operation, the answer has a result or an error.
//
//   node remote.mjs PACKAGE
//
// PACKAGE is the directory to which pi was unpacked. bench/differential is the client.
import * as path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const answers = process.stdout.write.bind(process.stdout);
// The program's own output must not get between the answers.
process.stdout.write = process.stderr.write.bind(process.stderr);

const bundle = path.join(process.argv[2], "dist", "bundle", "index.js");
const { SessionManager } = await import(pathToFileURL(bundle).href);

const open = []; // the managers; a request names one by its index

// Returns the tree as lines of depth, id and label, parents before children. The walk is not
// recursive, because a conversation is one long chain.
function flatten(roots) {
  const lines = [];
  const stack = roots.map((node) => [0, node]).reverse();
  while (stack.length > 0) {
    const [depth, node] = stack.pop();
    lines.push(`${depth} ${node.entry.id} ${node.label ?? ""}`);
    for (const child of [...node.children].reverse()) stack.push([depth + 1, child]);
  }
  return lines;
}

const requests = {
  // Creates a manager with one of the class's static functions: create, open, forkFrom.
  make({ method, args }) {
    open.push(SessionManager[method](...args));
    return open.length - 1;
  },
  call({ on, method, args }) {
    return open[on][method](...args);
  },
  // Returns all of pi's data about the session of a file, as a newly started program sees it.
  // leaves are additional entries to build a context for.
  look({ file, leaves, tree }) {
    const m = SessionManager.open(file);
    const contextAt = (id) => {
      if (id === null) m.resetLeaf();
      else m.branch(id);
      return m.buildSessionContext();
    };
    return {
      header: m.getHeader(),
      entries: m.getEntries(),
      leaf: m.getLeafId(),
      name: m.getSessionName() ?? "",
      context: m.buildSessionContext(),
      tree: tree ? flatten(m.getTree()) : null,
      contexts: leaves.map(contextAt),
    };
  },
  async list({ dir }) {
    return SessionManager.listAll(dir);
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = { result: (await requests[request.do](request)) ?? null };
  } catch (e) {
    answer = { error: String(e?.message ?? e) };
  }
  answers(`${JSON.stringify(answer)}\n`);
}
