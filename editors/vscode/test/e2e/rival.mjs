// Another window: a server of its own, which has a session open until it is stopped.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export class Rival {
  #process;
  #serial = 0;
  #answers = new Map();

  /** editor: the Editor with whose home directory and server it works. */
  constructor(editor) {
    const bin = join(editor.extensionDir(), 'bin');
    const program = join(
      bin,
      readdirSync(bin).find((name) => name.startsWith('xcsh-ls')),
    );
    this.folder = editor.folder;
    this.#process = spawn(program, [], { env: editor.env(), cwd: editor.folder, stdio: ['pipe', 'pipe', 'ignore'] });
    let rest = Buffer.alloc(0);
    this.#process.stdout.on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (;;) {
        const head = rest.indexOf('\r\n\r\n');
        const length = Number(/Content-Length: (\d+)/i.exec(rest.subarray(0, Math.max(0, head)))?.[1]);
        if (head < 0 || rest.length < head + 4 + length) {
          return;
        }
        this.#take(JSON.parse(rest.subarray(head + 4, head + 4 + length)));
        rest = rest.subarray(head + 4 + length);
      }
    });
  }

  #take(m) {
    if (m.method !== undefined) {
      if (m.id !== undefined) {
        this.#send({ id: m.id, result: null });
      }
      return;
    }
    this.#answers.get(m.id)?.(m);
  }

  #send(m) {
    const text = JSON.stringify({ jsonrpc: '2.0', ...m });
    this.#process.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  }

  async #request(method, params) {
    const id = ++this.#serial;
    const answer = new Promise((resolve) => this.#answers.set(id, resolve));
    this.#send({ id, method, params });
    const { result, error } = await answer;
    if (error) {
      throw new Error(`${method}: ${error.message}`);
    }
    return result;
  }

  /** Resumes a session, which is open there afterwards. */
  async resume(target) {
    const uri = pathToFileURL(this.folder).href;
    await this.#request('initialize', {
      processId: null,
      workspaceFolders: [{ uri, name: 'proj' }],
      capabilities: {},
    });
    this.#send({ method: 'initialized', params: {} });
    const run = (command, args) => this.#request('workspace/executeCommand', { command, arguments: [args] });
    await run('xcsh.resume', { target });
    // A session is open for writing from the first write on.
    await run('xcsh.label', { entryId: (await run('xcsh.state', {})).leafId, label: 'rival' });
  }

  async stop() {
    const gone = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await gone;
  }
}
