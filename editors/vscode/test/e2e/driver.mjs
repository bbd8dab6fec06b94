// Drives an editor: code-server with the packaged extension, in a temporary home directory, shown
// in headless Chromium. Nothing here sleeps: every step waits for a condition in the page or on
// disk.
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Place } from './place.mjs';
import { codeServer, freePort, node } from './stage.mjs';
import { until } from './until.mjs';

export { until };

/** The strings of package.json, including the command titles. */
const titles = JSON.parse(readFileSync(new URL('../../package.nls.json', import.meta.url), 'utf8'));

/** Settings that silence everything except the extension. */
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
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
};

/** The pages of the extension. A preview of Markdown is one of another. */
const ownPages = 'iframe.webview.ready[src*="extensionId=xcsh-ls.xcsh-ls"]';

/** Reports, in the editor's page, whether its state has a text. It stores its state every few seconds. */
async function isStored(text) {
  const { indexedDB } = globalThis;
  const done = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  for (const { name } of await indexedDB.databases()) {
    const db = await done(indexedDB.open(name));
    try {
      for (const store of db.objectStoreNames) {
        const values = await done(db.transaction(store).objectStore(store).getAll());
        if (values.some((value) => String(value).includes(text))) {
          return true;
        }
      }
    } finally {
      db.close();
    }
  }
  return false;
}

/** An editor in a temporary home directory, driven like by a user. */
export class Editor extends Place {
  /** options: see README.md. stage: the Stage that shows editors. */
  constructor(name, options, stage) {
    const root = mkdtempSync(join(tmpdir(), 'xcsh-e2e-'));
    super(join(root, 'home'), join(root, 'work', options.folders?.[0] ?? 'proj'));
    this.name = name;
    this.root = root;
    this.options = options;
    this.stage = stage;
    const folders = options.folders ?? ['proj'];
    this.folders = folders.map((folder) => join(root, 'work', folder));
    this.extensions = join(root, 'extensions');
    this.user = join(root, 'user');
  }

  /**
   * Creates the home directory and starts code-server in it. It does not need the browser, so that
   * it can run while the browser shows another scenario.
   */
  async prepare() {
    // Paths and programs are machine settings, which the editor reads from a separate directory.
    const places = [join(this.user, 'User'), join(this.user, 'Machine')];
    for (const dir of [this.home, ...places, ...this.folders]) {
      mkdirSync(dir, { recursive: true });
    }
    const settings = { ...quiet, ...this.options.settings?.(this) };
    for (const place of places) {
      writeFileSync(join(place, 'settings.json'), JSON.stringify(settings));
    }
    this.options.sessions?.(this);
    await this.options.begin?.(this);
    cpSync(this.stage.extensions, this.extensions, { recursive: true });
    this.options.installed?.(this);
    this.port = await freePort();
    const trusting = settings['security.workspace.trust.enabled'] ? [] : ['--disable-workspace-trust'];
    this.log = '';
    this.server = spawn(
      node,
      [
        ...codeServer(this.user, this.extensions, join(this.root, 'config.yaml')),
        ...['--auth', 'none', '--bind-addr', `127.0.0.1:${this.port}`, '--disable-telemetry', '--disable-update-check'],
        ...['--disable-getting-started-override', ...trusting],
      ],
      { env: this.env() },
    );
    for (const stream of [this.server.stdout, this.server.stderr]) {
      stream.on('data', (data) => (this.log += data));
    }
    await until('the editor to answer', () =>
      fetch(`http://127.0.0.1:${this.port}/healthz`).then(
        (r) => r.ok,
        () => false,
      ),
    );
  }

  /** Shows the editor. */
  async open() {
    this.page = await this.stage.open(this.port);
    const opened = this.folders.length === 1 ? `folder=${this.folder}` : `workspace=${this.#workspaceFile()}`;
    await this.page.goto(`${this.stage.url}/?${opened}`);
    await this.page.waitForSelector('.statusbar-item');
  }

  #workspaceFile() {
    const file = join(this.root, 'work/all.code-workspace');
    writeFileSync(file, JSON.stringify({ folders: this.folders.map((path) => ({ path })) }));
    return file;
  }

  /** The environment of the editor, and of programs of its user. */
  env() {
    const { home } = this;
    // API keys in the environment of the test run must not reach a model.
    const own = Object.entries(process.env).filter(([name]) => !/(KEY|TOKEN|SECRET)$/.test(name));
    return {
      ...Object.fromEntries(own),
      HOME: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      XDG_DATA_HOME: join(home, '.local/share'),
      XDG_CACHE_HOME: join(home, '.cache'),
      // A model server of this machine, or of another scenario, must not be found by accident.
      ...(this.options.detect ? {} : { XCSH_LS_NO_DETECT: '1' }),
      PI_OFFLINE: '1', // the real pi would look for a newer version
      PATH: this.options.path?.(this) ?? process.env.PATH,
    };
  }

  /** Returns the directory of the unpacked extension. */
  extensionDir() {
    const name = readdirSync(this.extensions).find((entry) => entry.startsWith('xcsh-ls.'));
    return join(this.extensions, name);
  }

  /** Returns the logs of the extension and the server. */
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
    await this.page?.close();
    const { server } = this;
    if (server?.exitCode === null) {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      server.kill();
      await gone;
    }
    // The server exits shortly after the extension host.
    await until('the servers to end', () => this.serverPids().length === 0, 10_000).catch(() => {
      for (const pid of this.serverPids()) {
        process.kill(pid, 'SIGKILL');
      }
    });
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Returns the xcsh-ls processes that belong to this editor. */
  serverPids() {
    return readdirSync('/proc')
      .filter((pid) => {
        if (!/^\d+$/.test(pid)) {
          return false;
        }
        try {
          const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
          return (
            /xcsh-ls\0--stdio/.test(command) &&
            readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${this.home}\0`)
          );
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  // --- actions of the user -------------------------------------------------------

  /** Runs a command from the palette: the extension's commands by id, others by title, "Developer: Open URL". */
  async palette(command) {
    const { page } = this;
    const own = titles[`command.${command}`];
    const title = own ? `xcsh: ${own}` : command;
    const briefly = { timeout: 1500 };
    await until(`the command ${title}`, async () => {
      // The list is created when it is opened, so commands registered later appear only in the next
      // one. A window that is still starting takes the focus away, which closes the list.
      try {
        await page.keyboard.press('F1');
        await page
          .locator('.quick-input-widget input')
          .first()
          .fill('>' + title, briefly);
        const row = page.locator(`.quick-input-list .monaco-list-row[aria-label^="${title}"]`).first();
        await row.waitFor(briefly);
        // A click that times out could still have happened, so it gets a long timeout.
        await row.click({ timeout: 8000 });
        return true;
      } catch {
        await this.#closeQuickInput();
        return false;
      }
    });
  }

  /** Escape would stop a turn if the focus were in the panel. */
  async #closeQuickInput() {
    if (await this.input().isVisible()) {
      await this.page.keyboard.press('Escape');
    }
  }

  /** The lines of the open quick pick. */
  rows() {
    return this.page.locator('.quick-input-widget .quick-input-list .monaco-list-row');
  }

  row(text) {
    return this.rows().filter({ hasText: text }).first();
  }

  /** The input of the open quick pick or input box. */
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

  /** Presses the button of the session list that includes all folders. */
  async allFolders() {
    await this.page.mouse.move(1000, 700); // away from the input, whose tooltip would cover the button
    const buttons = ['titlebar', 'inline-action-bar'].map(
      (bar) => `.quick-input-widget .quick-input-${bar} .action-label`,
    );
    await this.page.locator(buttons.join(', ')).first().click();
  }

  /** Types into the open input box, and confirms. */
  async answer(text) {
    // If a list was open before, it is the same element until the box replaces it.
    await this.page.locator('.quick-input-message', { hasText: "Press 'Enter' to confirm" }).waitFor();
    await this.input().fill(text);
    await this.input().press('Enter');
  }

  /** Saves in the file dialog, which first shows the proposed name. */
  async saveAs(path, proposed) {
    const { page } = this;
    await until('the dialog', async () =>
      (
        await this.input()
          .inputValue()
          .catch(() => '')
      ).endsWith(proposed),
    );
    await this.input().fill(path);
    // The dialog follows the path typed into the directory.
    await until('the dialog to follow', async () => (await this.input().inputValue()) === path);
    await page.locator('.quick-input-widget .monaco-button', { hasText: 'OK' }).click();
  }

  notification(text) {
    return this.page.locator('.notification-list-item').filter({ hasText: text }).first();
  }

  /** Waits for a message and presses one of its buttons. */
  async notified(text, button) {
    const item = this.notification(text);
    // The editor hides a message after some seconds, which pass on a busy machine; the bell shows it again.
    await item
      .waitFor({ state: 'visible', timeout: 10_000 })
      .catch(() => this.page.locator('[id="status.notifications"]').click());
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

  /** Shows the extension's container and returns the view of sessions. */
  async sessionsView() {
    await this.page.locator('.activitybar .action-label[aria-label^="xcsh"]').first().click();
    const view = this.page.locator('.pane').filter({ has: this.page.locator('.pane-header[aria-label^="Sessions"]') });
    await view.waitFor();
    // The editor moves the focus to the page once that has loaded, wherever the focus is.
    await this.chat.locator('#composer').waitFor();
    return view;
  }

  /** Returns a line of the view of sessions. */
  treeRow(text) {
    return this.page.locator('.pane .monaco-list-row').filter({ hasText: text }).first();
  }

  /** Clicks a button on a line of the view. */
  async inline(text, title) {
    const row = this.treeRow(text);
    await row.hover();
    await row.locator(`.action-label[aria-label^="${title}"]`).first().click();
  }

  /** Chooses a command from the menu of a line of the view. */
  async menu(text, title) {
    const { page } = this;
    const menu = page.locator('.monaco-menu');
    await until(`the menu of ${text}`, async () => {
      try {
        await this.treeRow(text).click({ button: 'right' });
        await menu.waitFor({ timeout: 1500 });
        // A menu ignores clicks directly after it was opened, so that the one that opened it chooses nothing.
        await menu.locator('.action-item', { hasText: title }).first().hover({ timeout: 1500 });
        await menu.locator('.action-item.focused', { hasText: title }).waitFor({ timeout: 1500 });
        await page.keyboard.press('Enter');
        await menu.waitFor({ state: 'detached', timeout: 1500 });
        return true;
      } catch {
        await page.keyboard.press('Escape');
        return false;
      }
    });
  }

  /** The content of the chat panel, which must be opened before any report. */
  get chat() {
    return this.page.frameLocator(ownPages).first().frameLocator('#active-frame');
  }

  /** The content of the last opened report or help page. */
  get report() {
    return this.page.frameLocator('iframe.webview.ready').last().frameLocator('#active-frame');
  }

  /** Waits until the stored state of the editor has a text. A reload of the page does not wait for that. */
  async stored(text) {
    await until(`${text} to be stored`, () => this.page.evaluate(isStored, text));
  }

  /** Opens the panel and waits until it is ready. */
  async openChat() {
    await this.palette('xcshLs.chat.open');
    // Older messages are not rendered while they are scrolled out of view.
    await this.chat.locator('.welcome, .message').first().waitFor({ state: 'attached' });
  }

  /** Sends a prompt in the panel. */
  async say(text, key = 'Enter') {
    const composer = this.chat.locator('#composer');
    await composer.fill(text);
    await composer.press(key);
  }

  /** Returns the message with a text in the panel. */
  said(text) {
    return this.chat.locator('.conversation').getByText(text);
  }

  /** Selects the model that needs no API key, in the panel. */
  async useDemo() {
    await this.chat.getByRole('button', { name: /^Model: / }).click();
    await this.pick('offline/demo');
    await this.chat.getByRole('button', { name: 'Model: demo' }).waitFor();
    await this.composerFocused();
  }

  /** Waits until the panel has the focus back, after a list. The next list would be closed by it. */
  async composerFocused() {
    const composer = this.chat.locator('#composer');
    await until('the focus to return', () =>
      composer.evaluate((el) => el.ownerDocument.activeElement === el && el.ownerDocument.hasFocus()),
    );
  }

  /** Waits until no turn is running. */
  async turnEnds() {
    await this.chat.locator('.stop').waitFor({ state: 'detached' });
  }

  /** Hides the panel. */
  async hideChat() {
    await this.page.keyboard.press('Control+Shift+E');
    await this.page.locator('.explorer-folders-view').first().waitFor();
    await this.page.locator('iframe.webview.ready').waitFor({ state: 'detached' });
  }

  /** Opens a file of the folder in an editor. */
  async openFile(name) {
    const { page } = this;
    await until(`the editor of ${name}`, async () => {
      try {
        await page.keyboard.press('Control+P');
        await this.input().fill(name, { timeout: 1500 });
        await this.row(name).click({ timeout: 1500 });
        await page.locator('.tab.active', { hasText: name }).waitFor({ timeout: 1500 });
        return true;
      } catch {
        await this.#closeQuickInput();
        return false;
      }
    });
    await page.locator('.editor-instance .view-lines').first().waitFor();
  }

  /** Returns the text of the active editor. */
  async text() {
    const lines = this.page.locator('.editor-instance .view-lines').first();
    return (await lines.innerText()).replaceAll('\u00a0', ' ');
  }

  async status(text) {
    await this.page.locator('.statusbar-item').filter({ hasText: text }).first().waitFor();
  }

  /** Drags the border of the side bar to a position, in pixels from the left. */
  async widen(x) {
    const { mouse } = this.page;
    const box = await this.page.locator('.part.sidebar').boundingBox();
    await mouse.move(box.x + box.width, 500);
    await mouse.down();
    await mouse.move(x, 500, { steps: 5 });
    await mouse.up();
    await until('the wider side bar', async () => {
      const now = await this.page.locator('.part.sidebar').boundingBox();
      return Math.abs(now.x + now.width - x) < 20;
    });
    await mouse.move(900, 600);
  }

  /** Saves a screenshot, if screenshots are enabled. */
  async shot(name) {
    if (process.env.SCREENSHOTS) {
      await this.page.screenshot({
        path: join(process.env.SCREENSHOTS, `${this.name}-${name}.png`),
        animations: 'disabled',
      });
    }
  }
}
