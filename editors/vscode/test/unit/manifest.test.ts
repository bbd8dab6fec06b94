import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { commands } from '../../src/commands.gen';
import { activate } from '../../src/extension';
import { inPseudo } from '../../webview/dev/pseudo';
import { machineSettings, ownSettings, serverSettings } from '../../src/settings';
// @ts-expect-error a script without types
import recorder from './recorder.cjs';

interface Entry {
  command: string;
  title: string;
  when?: string;
}
interface Manifest {
  contributes: {
    commands: Entry[];
    menus: Record<string, Entry[]>;
    views: Record<string, { id: string; when?: string }[]>;
    viewsContainers: { activitybar: { id: string; icon: string }[] };
    viewsWelcome: { view: string; contents: string }[];
    configuration: { properties: Record<string, { default: unknown; scope: string }> };
    walkthroughs: {
      steps: { id: string; description: string; media: { markdown: string }; completionEvents: string[] }[];
    }[];
  };
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  icon: string;
  main: string;
}

// The tests run in the directory of the package.
const text = readFileSync('package.json', 'utf8');
const manifest = JSON.parse(text) as Manifest;
const texts = JSON.parse(readFileSync('package.nls.json', 'utf8')) as Record<string, string>;
const { contributes } = manifest;
const declared = contributes.commands.map((entry) => entry.command);

/** The registrations that the code makes when it is activated. */
const registered = (recorder as { registered: Record<'commands' | 'views' | 'settings', string[]> }).registered;
const subscriptions: unknown[] = [];
activate({
  subscriptions,
  extensionPath: '/nowhere',
  extension: { id: 'xcsh-ls.xcsh-ls' },
  globalState: { get: () => undefined },
  workspaceState: { get: () => undefined },
  secrets: { onDidChange: () => ({ dispose: () => undefined }) },
} as never);

test('every declared command is registered', () => {
  assert.deepEqual(
    declared.filter((id) => !registered.commands.includes(id)),
    [],
  );
});

test('every registered command is declared, or is called only by code', () => {
  const quiet = commands.filter((c) => !c.palette).map((c) => c.name);
  assert.deepEqual(
    registered.commands.filter((id) => !declared.includes(id) && !quiet.includes(id)),
    [],
  );
});

test('no command is declared or registered twice', () => {
  assert.deepEqual(declared, [...new Set(declared)]);
  assert.deepEqual(registered.commands, [...new Set(registered.commands)]);
});

test('menus name only declared commands, and each command has a condition for the palette', () => {
  const named = Object.values(contributes.menus).flatMap((entries) => entries.map((entry) => entry.command));
  assert.deepEqual(
    named.filter((id) => !declared.includes(id)),
    [],
  );
  const inPalette = contributes.menus['commandPalette']?.map((entry) => entry.command) ?? [];
  assert.deepEqual([...inPalette].sort(), [...declared].sort());
});

/** The keys of the manifest whose values users read. */
const shown =
  /^(?:title|shortTitle|name|label|description|markdownDescription|enumDescriptions|markdownEnumDescriptions|enumItemLabels|contents|tooltip|displayName|contextualTitle|deprecationMessage|markdownDeprecationMessage|altText)$/;

/** Calls f with each text below a key that users read. */
function eachShown(value: unknown, key: string, f: (text: string) => void): void {
  if (typeof value === 'string') return shown.test(key) ? f(value) : undefined;
  if (Array.isArray(value)) for (const item of value) eachShown(item, key, f);
  else if (value !== null && typeof value === 'object')
    for (const [name, item] of Object.entries(value)) eachShown(item, name, f);
}

test('in another language, no text of the manifest is English', () => {
  const translated = inPseudo(texts, 'values');
  const found: string[] = [];
  let count = 0;
  const { displayName, description } = JSON.parse(text) as Record<string, string>;
  eachShown({ displayName, description, contributes, capabilities: manifest.capabilities }, '', (english) => {
    count++;
    const local = english.replace(/%([\w.-]+)%/g, (_, key: string) => translated[key] ?? key);
    if (/\p{L}/u.test(local.replace(/⟦[^]*⟧/u, ''))) found.push(english);
  });
  assert.deepEqual(found, []);
  assert.ok(count > 150, `${count} texts`);
});

test('links in texts run declared commands', () => {
  const links = [...JSON.stringify(texts).matchAll(/\(command:([\w.]+)/g)].map(([, id]) => id ?? '');
  assert.ok(links.length > 5);
  assert.deepEqual(
    links.filter((id) => !declared.includes(id) && !/^(workbench|vscode)\./.test(id)),
    [],
  );
});

test('the declared views are registered, and no others', () => {
  const views = Object.values(contributes.views)
    .flat()
    .map((view) => view.id);
  assert.deepEqual([...registered.views].sort(), [...views].sort());
  const containers = contributes.viewsContainers.activitybar.map((container) => container.id);
  assert.deepEqual(Object.keys(contributes.views), containers);
  const named = [...text.matchAll(/view == ([\w.]+)/g)]
    .map(([, id]) => id ?? '')
    .concat(contributes.viewsWelcome.map((w) => w.view));
  assert.deepEqual(
    named.filter((id) => !views.includes(id)),
    [],
  );
});

test('every setting that is read is declared, and vice versa', () => {
  const read = new Set<string>();
  const reader = { get: (name: string) => void read.add(`xcshLs.${name}`) };
  serverSettings(reader, true);
  ownSettings(reader);
  const known = Object.keys(contributes.configuration.properties);
  const shared = known.filter((key) => !key.startsWith('xcshLs.chat.'));
  assert.deepEqual([...read].sort(), shared.sort());
  assert.deepEqual(
    registered.settings.filter((key) => key.startsWith('xcshLs.') && !known.includes(key)),
    [],
  );
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.deepEqual(
    restricted.filter((key) => !known.includes(key)),
    [],
  );
});

test('no folder setting controls programs, permissions, keys, or session directories', () => {
  const { properties } = contributes.configuration;
  const scoped = (scope: string): string[] => Object.keys(properties).filter((key) => properties[key]?.scope === scope);
  assert.deepEqual(scoped('machine').sort(), machineSettings.map((name) => `xcshLs.${name}`).sort());
  // With this scope, workspace settings apply.
  assert.deepEqual(scoped('machine-overridable'), []);
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  assert.deepEqual(
    [...machineSettings, 'model'].map((name) => `xcshLs.${name}`).filter((key) => !restricted.includes(key)),
    [],
  );
  // A setting that names a program or a directory must have this scope, including future ones.
  assert.deepEqual(
    Object.keys(properties).filter(
      (key) => /path|program|dir|roots|approval/i.test(key) && !scoped('machine').includes(key),
    ),
    [],
  );
});

test('every text of the manifest is defined, and none is unused', () => {
  const used = [...text.matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key ?? '');
  assert.deepEqual([...new Set(used)].sort(), Object.keys(texts).sort());
  // Text that users read is translated, not written into the manifest.
  for (const { title } of contributes.commands) {
    assert.match(title, /^%.+%$/);
  }
});

test('every text of the code can be translated', () => {
  const check = spawnSync(process.execPath, ['scripts/l10n.mjs', '--check'], { encoding: 'utf8' });
  assert.equal(check.stderr, '');
  assert.equal(check.status, 0);
});

test('referenced files exist', () => {
  const media = contributes.walkthroughs.flatMap((w) => w.steps.map((step) => step.media.markdown));
  const icons = contributes.viewsContainers.activitybar.map((container) => container.icon);
  assert.equal(media.length, 5);
  assert.deepEqual(
    [...media, ...icons, manifest.icon].filter((file) => !existsSync(file)),
    [],
  );
});

test('the walkthrough goes from the model to the terminal', () => {
  assert.deepEqual(
    contributes.walkthroughs.map((w) => w.steps.map((step) => step.id)),
    [['model', 'prompt', 'resume', 'permissions', 'terminal']],
  );
});

test('completion events of the walkthrough can occur', () => {
  const events = contributes.walkthroughs.flatMap((w) => w.steps.flatMap((step) => step.completionEvents));
  const ids = events.filter((event) => event.startsWith('onCommand:')).map((event) => event.slice('onCommand:'.length));
  assert.ok(ids.length > 0);
  assert.deepEqual(
    ids.filter((id) => !declared.includes(id)),
    [],
  );
});

test("the server's and the extension's commands have different prefixes", () => {
  const names = commands.map((c) => c.name);
  for (const id of registered.commands) {
    assert.ok(id.startsWith('xcshLs.') || names.includes(id), id);
  }
});
