import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { commands } from '../../src/commands.gen';
import { allowedInRestrictedMode } from '../../src/trust';

interface Entry {
  command: string;
  when?: string;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  contributes: { menus: { commandPalette: Entry[] } };
};

test('restricted mode allows exactly the commands that read sessions or write one to a file', () => {
  assert.deepEqual(
    commands
      .map((c) => c.name)
      .filter(allowedInRestrictedMode)
      .sort(),
    [
      'xcsh.artifact',
      'xcsh.artifacts',
      'xcsh.change',
      'xcsh.changes',
      'xcsh.commandsList',
      'xcsh.context',
      'xcsh.doctor',
      'xcsh.dump',
      'xcsh.entries',
      'xcsh.exists',
      'xcsh.export',
      'xcsh.history',
      'xcsh.info',
      'xcsh.list',
      'xcsh.messages',
      'xcsh.models',
      'xcsh.providers',
      'xcsh.recent',
      'xcsh.resolve',
      'xcsh.setup',
      'xcsh.snapshot',
      'xcsh.state',
      'xcsh.stats',
      'xcsh.team.follow',
      'xcsh.team.status',
      'xcsh.transcript',
      'xcsh.trash',
      'xcsh.tree',
    ],
  );
});

test('in restricted mode the palette shows a command of the server only if it is allowed', () => {
  const when = new Map(manifest.contributes.menus.commandPalette.map((entry) => [entry.command, entry.when ?? '']));
  for (const { name, palette } of commands) {
    assert.equal(when.has(name), palette, name);
    if (palette) {
      assert.equal(!when.get(name)?.includes('isWorkspaceTrusted'), allowedInRestrictedMode(name), name);
    }
  }
});
