import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Backoff, crashWindowMs, maxCrashes } from '../../src/server/backoff';

test('each restart waits longer than the one before', () => {
  const backoff = new Backoff();
  const delays = [1, 2, 3, 4].map((at) => {
    const verdict = backoff.crashed(at);
    assert.equal(verdict.restart, true);
    return verdict.restart ? verdict.delayMs : Infinity;
  });
  assert.deepEqual(delays, [250, 1000, 4000, 10_000]);
});

test('the fifth exit within three minutes stops the restarts', () => {
  const backoff = new Backoff();
  for (let i = 1; i < maxCrashes; i++) {
    assert.equal(backoff.crashed(i * 1000).restart, true);
  }
  assert.deepEqual(backoff.crashed(5000), { restart: false });
});

test('older exits do not count', () => {
  const backoff = new Backoff();
  for (let i = 0; i < 20; i++) {
    assert.equal(backoff.crashed(i * (crashWindowMs / 3)).restart, true, `end ${i}`);
  }
});

test('a start by the user clears earlier exits', () => {
  const backoff = new Backoff();
  for (let i = 0; i < maxCrashes; i++) {
    backoff.crashed(i);
  }
  backoff.forget();
  assert.deepEqual(backoff.crashed(maxCrashes), { restart: true, delayMs: 250 });
});
