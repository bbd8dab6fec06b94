// What the Marketplace and Open VSX require of the manifest and the README, beyond what "vsce package" checks.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Metadata {
  displayName: string;
  description: string;
  publisher: string;
  version: string;
  license: string;
  pricing: string;
  icon: string;
  homepage: string;
  repository: { url: string; directory: string };
  bugs: { url: string };
  galleryBanner: { color: string; theme: string };
  keywords: string[];
  categories: string[];
  engines: { vscode: string };
  extensionKind: string[];
  badges?: { url: string; href: string }[];
  preview?: boolean;
  enabledApiProposals?: string[];
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Metadata;
const texts = JSON.parse(readFileSync('package.nls.json', 'utf8')) as Record<string, string>;
const localized = (text: string) => texts[text.replace(/^%|%$/g, '')] ?? text;

// https://code.visualstudio.com/api/references/extension-manifest
const categories = [
  'AI',
  'Azure',
  'Chat',
  'Data Science',
  'Debuggers',
  'Education',
  'Extension Packs',
  'Formatters',
  'Keymaps',
  'Language Packs',
  'Linters',
  'Machine Learning',
  'Notebooks',
  'Other',
  'Programming Languages',
  'SCM Providers',
  'Snippets',
  'Testing',
  'Themes',
  'Visualization',
];

test('the metadata is what the registries accept', () => {
  assert.ok(localized(manifest.displayName).length > 0 && !localized(manifest.displayName).includes('%'));
  const description = localized(manifest.description);
  assert.ok(description.length > 0 && description.length <= 200 && !description.includes('%'), description);
  assert.match(manifest.publisher, /^[a-z0-9][a-z0-9-]*$/);
  assert.match(manifest.version, /^\d+\.\d+\.\d+$/, 'pre-releases have no suffix in the Marketplace');
  assert.equal(manifest.pricing, 'Free');
  assert.ok(manifest.keywords.length > 0 && manifest.keywords.length <= 30);
  assert.equal(new Set(manifest.keywords).size, manifest.keywords.length);
  for (const keyword of manifest.keywords) assert.match(keyword, /^[a-z0-9-]{1,50}$/);
  assert.deepEqual(
    manifest.categories.filter((name) => !categories.includes(name)),
    [],
  );
  assert.ok(manifest.categories.length > 0);
  assert.match(manifest.engines.vscode, /^\^\d+\.\d+\.\d+$/);
  assert.deepEqual(
    manifest.extensionKind.filter((kind) => kind !== 'workspace' && kind !== 'ui'),
    [],
  );
  assert.match(manifest.galleryBanner.color, /^#[0-9a-f]{6}$/);
  assert.ok(['dark', 'light'].includes(manifest.galleryBanner.theme));
  assert.equal(manifest.enabledApiProposals, undefined, 'only VS Code itself may use proposals');
});

test('links lead to the repository, by https', () => {
  assert.match(manifest.repository.url, /^https:\/\/github\.com\/[\w-]+\/[\w-]+\.git$/);
  assert.equal(manifest.repository.directory, 'editors/vscode');
  const base = manifest.repository.url.replace(/\.git$/, '');
  for (const url of [manifest.bugs.url, manifest.homepage]) assert.ok(url.startsWith(base), url);
  for (const { url, href } of manifest.badges ?? []) {
    for (const address of [url, href]) assert.match(address, /^https:\/\//);
    assert.doesNotMatch(url, /\.svg(\?|$)/);
  }
});

test('the licence is beside the manifest', () => {
  assert.equal(manifest.license, 'MIT');
  assert.match(readFileSync('LICENSE', 'utf8'), /MIT License/);
  assert.ok(existsSync('CHANGELOG.md'));
});

test('the icon is a square PNG of at least 128 pixels', () => {
  const icon = readFileSync(manifest.icon);
  assert.equal(icon.toString('latin1', 1, 4), 'PNG');
  const [width, height] = [icon.readUInt32BE(16), icon.readUInt32BE(20)];
  assert.equal(width, height);
  assert.ok(width >= 128, `${width}`);
});

// The registries refuse images of SVG and of http, and show none that is missing.
for (const file of ['README.md', 'CHANGELOG.md']) {
  test(`the images of ${file} can be shown`, () => {
    const page = readFileSync(file, 'utf8');
    assert.doesNotMatch(page, /<svg|<script|<iframe/i);
    const images = [
      ...page.matchAll(/!\[[^\]]*\]\(\s*<?([^)\s>]+)/g),
      ...page.matchAll(/<img[^>]+src=["']?([^"'\s>]+)/gi),
    ].map((match) => match[1] ?? '');
    for (const image of images) {
      assert.doesNotMatch(image, /\.svg(\?|$)/i);
      if (!/^https:\/\//.test(image)) {
        assert.doesNotMatch(image, /^[a-z]+:/i);
        assert.ok(existsSync(image) || existsSync(`../../${image}`), image); // vsce resolves them in the repository
      }
    }
  });
}
