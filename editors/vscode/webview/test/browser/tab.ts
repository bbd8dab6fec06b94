// A tab with the harness, which records everything that a harmless page never does.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';

// The tests run in the directory of the extension.
const index = pathToFileURL(path.resolve('webview/dev/index.html')).href;

// Debian's, of which the one without windows needs half as much time.
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

let browser: Browser | undefined;

async function start(): Promise<Browser> {
  browser ??= await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? installed.find((path) => existsSync(path)) ?? 'chromium',
    args: ['--no-sandbox'],
  });
  return browser;
}

export async function stop(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

export interface Options {
  theme?: string;
  width?: number;
  height?: number;
  more?: string; // of the address, for the harness
}

export interface Tab {
  page: Page;
  noise: string[];
}

/** Opens a scene, calls f with it, and fails if the page reported any error. */
export async function inScene(
  scene: string,
  f: (t: Tab) => Promise<void>,
  { theme = 'dark', width = 420, height = 760, more = '' }: Options = {},
): Promise<void> {
  const page = await (await start()).newPage({ viewport: { width, height } });
  const noise: string[] = [];
  page.on('console', (m) => m.type() !== 'log' && noise.push(`${m.type()}: ${m.text()}`));
  page.on('pageerror', (e) => noise.push(`threw: ${e.message}`));
  page.on('dialog', (d) => {
    noise.push(`dialog: ${d.message()}`);
    void d.dismiss();
  });
  page.on(
    'request',
    (r) => !r.url().startsWith('file:') && !r.url().startsWith('data:') && noise.push(`request: ${r.url()}`),
  );
  page.on('popup', (p) => noise.push(`popup: ${p.url()}`));
  await page.addInitScript("window.hit = () => console.error('hit')");
  try {
    await page.goto(`${index}#scene=${scene}&theme=${theme}${more}`);
    await page.waitForSelector('#composer, .reading');
    await page.waitForSelector('.message, .welcome h2');
    const address = page.url();
    await f({ page, noise });
    assert.equal(page.url(), address, 'the page went away');
    assert.deepEqual(noise, []);
    assert.deepEqual(await page.evaluate('window.harness.refused'), [], 'messages that the extension would refuse');
  } finally {
    await page.close();
  }
}

/** Opens the search in the conversation, and searches for a text. */
export async function find(page: Page, text: string): Promise<void> {
  await page.evaluate("window.harness.post({ kind: 'find' })");
  await page.fill('.find input', text);
  await page.press('.find input', 'Enter');
}

/** Waits until an expression is true in the page, whose policy forbids the browser's own wait function. */
export async function until(page: Page, expression: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!(await page.evaluate(`Boolean(${expression})`))) {
    if (Date.now() > deadline) throw new Error(`never true: ${expression}`);
    await page.evaluate('new Promise((r) => requestAnimationFrame(r))');
  }
}

/** Returns the page's messages of a kind. */
export async function sent<T = { [key: string]: unknown }>(page: Page, kind: string): Promise<T[]> {
  return page.evaluate(`window.harness.received.filter((m) => m.kind === ${JSON.stringify(kind)})`);
}

/** Returns the names of the called commands, without read-only ones. */
export async function called(page: Page): Promise<string[]> {
  const calls = await sent<{ command: string }>(page, 'call');
  const readOnly = ['xcsh.snapshot', 'xcsh.messages', 'xcsh.tree', 'xcsh.stats', 'xcsh.changes'];
  return calls.map((c) => c.command).filter((c) => !readOnly.includes(c));
}
