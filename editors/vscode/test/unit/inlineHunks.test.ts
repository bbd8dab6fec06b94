import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTwoFilesPatch } from 'diff';

import { hunksOf, withHunks } from '../../src/chat/inline/hunks';
import { Proposal } from '../../src/chat/inline/proposal';
import { relaxed } from '../../src/chat/inline/relaxed';
import { block } from '../../src/chat/inline/texts';

const before = 'one\ntwo\nthree\nfour\nfive\n';
const after = 'one\nzwei\nthree\nvier\nneu\nfive\n';
const patchOf = (a: string, b: string): string => createTwoFilesPatch('a.txt', 'a.txt', a, b);
const proposal = (a = before, b = after): Proposal => new Proposal(patchOf(a, b), a);

test('hunks have the lines of the text without the change', () => {
  assert.deepEqual(
    hunksOf(before, after).map(({ line, lines, diff }) => ({ line, lines, diff })),
    [
      { line: 1, lines: 1, diff: '-two\n+zwei' },
      { line: 3, lines: 1, diff: '-four\n+vier\n+neu' },
    ],
  );
  assert.deepEqual(
    hunksOf('a\n', 'new\na\n').map(({ line, lines, diff }) => ({ line, lines, diff })),
    [{ line: 0, lines: 0, diff: '+new' }],
    'an insertion replaces no line',
  );
  assert.deepEqual(
    hunksOf('a\nb', 'a').map(({ diff }) => diff),
    ['-a\n-b\n+a'],
    'a line end is a part of its line',
  );
});

test('any subset of random hunks can be applied, and all of them give the new text', () => {
  let seed = 11;
  const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  const text = (): string => Array.from({ length: random(12) }, () => `line ${random(5)}\n`).join('');
  for (let round = 0; round < 500; round++) {
    const [a, b] = [text(), text()];
    const hunks = hunksOf(a, b);
    assert.equal(withHunks(a, hunks), b);
    assert.equal(withHunks(a, []), a);
    const some = hunks.filter(() => random(2) === 0);
    const rest = hunksOf(withHunks(a, some), b);
    assert.equal(withHunks(withHunks(a, some), rest), b);
    for (const { offset, length, line } of hunks) {
      assert.equal(a.slice(0, offset).split('\n').length - 1, line);
      assert.ok(offset + length <= a.length);
    }
  }
});

test('a change whose hunks are all kept is allowed, and one without is denied', () => {
  const kept = proposal();
  kept.decide(0, 'keep');
  assert.equal(kept.outcome(before), undefined, 'one hunk is undecided');
  kept.decideAll('keep');
  assert.deepEqual(kept.outcome(before), { kind: 'allow' });

  const undone = proposal();
  undone.decideAll('undo');
  assert.deepEqual(undone.outcome(before), { kind: 'deny' });
});

test('a change that is partly kept is made so, and the model learns which part', () => {
  const p = proposal();
  p.decide(1, 'keep');
  p.decideAll('undo');
  const outcome = p.outcome(before);
  assert.ok(outcome?.kind === 'revise');
  assert.equal(outcome.text, 'one\ntwo\nthree\nvier\nneu\nfive\n');
  assert.equal(withHunks(before, outcome.hunks), outcome.text);
  assert.match(outcome.reason, /kept 1 of the 2 parts/);
  assert.match(outcome.reason, /line 4:\n-four\n\+vier/);
  assert.doesNotMatch(outcome.reason, /zwei/);
});

test('a decision is final, and later ones do not count', () => {
  const p = proposal();
  p.decide(0, 'undo');
  p.decideAll('keep');
  p.decide(0, 'keep');
  p.decide(7, 'keep');
  const outcome = p.outcome(before);
  assert.ok(outcome?.kind === 'revise');
  assert.deepEqual(
    outcome.hunks.map((h) => h.line),
    [3],
  );
});

test('the hunks follow text that is typed elsewhere, which the server would refuse as a change', () => {
  const p = proposal();
  const typed = `zero\n${before}`;
  p.update(typed);
  assert.deepEqual(
    p.hunks.map((h) => h.line),
    [2, 4],
  );
  p.decideAll('keep');
  const outcome = p.outcome(typed);
  assert.ok(outcome?.kind === 'revise', 'the server would refuse the proposed text');
  assert.equal(withHunks(typed, outcome.hunks), `zero\n${after}`);
  assert.match(outcome.reason, /do not repeat it/);
});

test('lines beside the change can be edited before and after the server asks', () => {
  const typed = before.replace('five', 'five!');
  for (const p of [proposal(), new Proposal(patchOf(before, after), typed)]) {
    p.update(typed);
    assert.ok(p.fits);
    p.decideAll('keep');
    const outcome = p.outcome(typed);
    assert.ok(outcome?.kind === 'revise', 'the server would not make it');
    assert.equal(withHunks(typed, outcome.hunks), after.replace('five', 'five!'));
  }
});

test('a change is only made beside a line that it knows', () => {
  const patch = patchOf('a\nx\nb\nx\nc\n', 'a\nx\nb\ny\nc\n'); // the second x
  assert.equal(relaxed('a\nx\nb\nx\nc\n', patch), 'a\nx\nb\ny\nc\n');
  assert.equal(relaxed('a\nx\nB\nx\nc\n', patch), 'a\nx\nB\ny\nc\n');
  assert.equal(relaxed('new\na\nx\nb\nx\nC\n', patch), 'new\na\nx\nb\ny\nC\n');
  assert.equal(relaxed('a\nx\nB\nx\nC\n', patch), undefined, 'both neighbors were edited');
  assert.equal(relaxed('a\nb\nc\n', patch), undefined, 'the line is gone');
  assert.equal(relaxed('a\r\nb\r\n', patchOf('a\nb\n', 'a\nnew\nb\n')), 'a\r\nnew\r\nb\r\n');
  assert.equal(relaxed('mine', patchOf('', 'new\n')), undefined);
  for (const none of ['', 'x', '@@ -1,9 +1,9 @@\n-x\n']) {
    assert.equal(relaxed('x\n', none), undefined);
  }
});

test('a change that no longer fits can only be rejected', () => {
  const p = proposal();
  p.decide(0, 'keep');
  p.update(before.replace('four', 'mine'));
  assert.equal(p.fits, false);
  p.decide(1, 'keep');
  p.decideAll('keep');
  assert.equal(p.outcome(before), undefined);
  p.update(before);
  assert.equal(p.fits, true, 'the user restored the text');

  p.update('');
  p.decideAll('undo');
  assert.deepEqual(p.outcome(''), { kind: 'deny' });
});

test('a patch that is none has no hunks', () => {
  for (const patch of ['', 'no patch', '@@ -1,9 +1,9 @@\n-x\n+y\n', '--- a\n+++ b\n@@ -1 +1 @@\n']) {
    assert.deepEqual(new Proposal(patch, before).hunks, []);
  }
});

test('the reason for the model is bounded', () => {
  const p = proposal('a\nb\nc\n', `a\n${'x'.repeat(50_000)}\nc\nd\n`);
  p.decide(0, 'keep');
  p.decideAll('undo');
  const outcome = p.outcome('a\nb\nc\n');
  assert.ok(outcome?.kind === 'revise' && outcome.reason.length <= 4000);
});

test('code cannot close the block that it is shown in', () => {
  for (const code of ['```\n[click](command:xcshLs.inlineChat.keepAll)', '`````', 'plain']) {
    const [fence] = /`+/.exec(block(code, 'diff'))!;
    assert.ok(!code.includes(fence), code);
    assert.ok(block(code, 'diff').endsWith(`\n${fence}\n`));
  }
});
