import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  changing,
  conflicts,
  grouped,
  hunksAt,
  limitTexts,
  oldestRecord,
  Once,
  referTo,
} from '../../src/changes/hunks';
import type { ChangedFile, ChangedHunk, RewindPath } from '../../src/wire.gen';

const file = (path: string, pending: number, kept: number): ChangedFile => ({
  path,
  status: 'modified',
  added: 1,
  removed: 1,
  pending,
  kept,
  binary: false,
  records: ['r1'],
  rewindable: true,
});

test('files with something to review are in the first group, kept ones in the second, unchanged ones in none', () => {
  const { review, kept } = grouped([file('/a', 1, 2), file('/b', 0, 1), file('/c', 0, 0)]);
  assert.deepEqual(
    [review, kept].map((group) => group.map((f) => f.path)),
    [['/a'], ['/b']],
  );
});

const hunk = (id: string, newStart: number, newLines: number, state = 'pending'): ChangedHunk => ({
  hunk: id,
  oldStart: 1,
  oldLines: 0,
  newStart,
  newLines,
  text: '',
  mixed: false,
  state,
});

const change = (start: number, end: number) => ({
  originalStartLineNumber: 1,
  originalEndLineNumber: 1,
  modifiedStartLineNumber: start,
  modifiedEndLineNumber: end,
});

test('a change of the gutter finds its hunks, whatever the borders of the two are', () => {
  const hunks = [hunk('a', 3, 2), hunk('b', 8, 0), hunk('c', 10, 5), hunk('k', 3, 2, 'kept')];
  const at = (start: number, end: number) => hunksAt(hunks, change(start, end)).map((h) => h.hunk);
  assert.deepEqual(at(3, 4), ['a']);
  assert.deepEqual(at(4, 4), ['a']);
  assert.deepEqual(at(2, 9), ['a', 'b'], 'two hunks that the editor shows as one change');
  assert.deepEqual(at(8, 0), ['b'], 'a deletion is between two lines');
  assert.deepEqual(at(10, 14), ['c']);
  assert.deepEqual(at(12, 12), ['c'], 'a part of a hunk');
  assert.deepEqual(at(5, 5), [], 'the line behind a hunk');
  assert.deepEqual(at(2, 2), [], 'the line before a hunk');
  assert.deepEqual(at(20, 22), []);
  assert.deepEqual(referTo('/a', hunks.slice(0, 1)), [{ path: '/a', hunk: 'a' }]);
});

const planned = (path: string, action: string, by?: string[]): RewindPath => ({ path, action, ...(by ? { by } : {}) });

test('a plan is split into what changes and what is refused', () => {
  const result = { plan: [planned('/a', 'restore'), planned('/b', 'none'), planned('/c', 'conflict')] };
  assert.deepEqual(
    [changing(result), conflicts(result)].map((paths) => paths.map((p) => p.path)),
    [['/a'], ['/c']],
  );
  assert.deepEqual([changing({}), conflicts({})], [[], []]);
});

test('only a file that is restored whole has a known text', () => {
  assert.equal(oldestRecord(planned('/a', 'restore', ['r1', 'r2'])), 'r1');
  assert.equal(oldestRecord(planned('/a', 'merge', ['r1'])), undefined);
  assert.equal(oldestRecord(planned('/a', 'conflict', ['r1'])), undefined);
  assert.equal(oldestRecord(planned('/a', 'restore')), undefined);
});

test('a sentence about what could not be seen is shown once', () => {
  const limit = (text: string) => ({ kind: 'outside', records: null, text });
  assert.deepEqual(limitTexts([limit('A.'), limit('B.'), limit('A.'), limit('')]), ['A.', 'B.']);
  assert.deepEqual(limitTexts(null), []);
});

test('a second press does nothing, while the first one runs and right after it', async () => {
  let now = 0;
  let ran = 0;
  const once = new Once(400, () => now);
  let release = (): void => undefined;
  const running = once.run('undo', () => {
    ran++;
    return new Promise<void>((resolve) => (release = resolve));
  });
  await once.run('undo', async () => void ran++);
  assert.equal(ran, 1, 'while it runs');
  await once.run('keep', async () => void ran++);
  assert.equal(ran, 2, 'another action');
  release();
  await running;
  now = 399;
  await once.run('undo', async () => void ran++);
  assert.equal(ran, 2, 'right after it');
  now = 401;
  await once.run('undo', async () => void ran++);
  assert.equal(ran, 3, 'later');
  await assert.rejects(once.run('fails', () => Promise.reject(new Error('no'))));
  now = 900;
  await once.run('fails', async () => void ran++);
  assert.equal(ran, 4, 'after a failure');
});
