import assert from 'node:assert/strict';
import { test } from 'node:test';

import { hasSecondary } from '../../src/chat/placement';

test('views move to the secondary side bar with one command from the version on that has containers there', () => {
  for (const [version, has] of [
    ['1.91.0', false],
    ['1.105.9', false],
    ['1.106.0', true],
    ['1.106.0-insider', true],
    ['1.139.1', true],
    ['2.0.0', true],
    ['', false],
  ] as const) {
    assert.equal(hasSecondary(version), has, version);
  }
});
