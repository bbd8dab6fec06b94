// A home directory with sessions of terminal programs.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { until } from './until.mjs';

export class Place {
  /** home: the home directory; folder: the working directory of sessions without a directory of their own. */
  constructor(home, folder) {
    this.home = home;
    /** The first folder of the workspace. */
    this.folder = folder;
  }

  /**
   * Writes a session file like a terminal program does, and returns its path. turns: [prompt,
   * answer]. more: cwd, id, age in hours, parentSession.
   */
  session(program, title, turns, more = {}) {
    const cwd = more.cwd ?? this.folder;
    const at = new Date(Date.now() - (more.age ?? 1) * 3_600_000);
    const id = more.id ?? `01a19656-0000-7000-8000-${String(++this.serial).padStart(12, '0')}`;
    const dir = join(this.home, `.${program}`, 'agent/sessions', `--${cwd.slice(1).replaceAll('/', '-')}--`);
    const file = join(dir, `${at.toISOString().replace(/[:.]/g, '-')}_${id}.jsonl`);
    const lines = [
      { type: 'session', version: 3, id, timestamp: at.toISOString(), cwd, parentSession: more.parentSession },
    ];
    let parentId = null;
    const add = (entry) => {
      const entryId = (0xaa000000 + ++this.serial).toString(16);
      lines.push({ ...entry, id: entryId, parentId, timestamp: at.toISOString() });
      parentId = entryId;
    };
    if (title) {
      add({ type: 'session_info', name: title });
    }
    for (const [said, answered] of turns) {
      add({ type: 'message', message: { role: 'user', content: said, timestamp: at.getTime() } });
      add({
        type: 'message',
        message: {
          role: 'assistant',
          content: [{ type: 'text', text: answered }],
          api: 'anthropic-messages',
          provider: 'anthropic',
          model: 'claude-sonnet-4-5',
          usage: {
            input: 10,
            output: 5,
            cacheRead: 0,
            cacheWrite: 0,
            totalTokens: 15,
            cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
          },
          stopReason: 'stop',
          timestamp: at.getTime(),
        },
      });
    }
    mkdirSync(dir, { recursive: true });
    writeFileSync(file, lines.map((line) => JSON.stringify(line) + '\n').join(''));
    spawnSync('touch', ['-d', at.toISOString(), file]);
    return file;
  }

  serial = 0;

  /** Returns all session files below the home directory. */
  sessionFiles() {
    const found = [];
    const walk = (dir) => {
      for (const entry of existsSync(dir) ? readdirSync(dir, { withFileTypes: true }) : []) {
        const path = join(dir, entry.name);
        if (entry.isDirectory()) {
          walk(path);
        } else if (entry.name.endsWith('.jsonl') && dirname(dir).endsWith('/sessions')) {
          found.push(path);
        }
      }
    };
    for (const program of ['.xcsh', '.pi', '.omp']) {
      walk(join(this.home, program, 'agent/sessions'));
    }
    return found;
  }

  /** Returns the first line of a session file that is being written, once it is complete. */
  async header(file) {
    return JSON.parse((await until(`the beginning of ${file}`, () => /^.*\n/.exec(this.read(file))))[0]);
  }

  read(file) {
    return readFileSync(file, 'utf8');
  }

  /** Waits until a file exists and is not empty. */
  async file(path) {
    await until(path, () => existsSync(path) && statSync(path).size > 0);
    return this.read(path);
  }
}
