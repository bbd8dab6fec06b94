import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Applied, type Replacement } from '../../src/chat/applied';

/** A document in an editor. */
class Document {
  readonly applied: Applied;
  constructor(public text: string) {
    this.applied = new Applied(text);
  }

  change(offset: number, length: number, text: string): void {
    this.text = this.text.slice(0, offset) + text + this.text.slice(offset + length);
    this.applied.changed([{ offset, length, text }]);
  }

  type(before: string, text: string): void {
    const at = this.text.indexOf(before);
    assert.ok(at >= 0, before);
    this.change(at + before.length, 0, text);
  }

  server(old: string, text: string): void {
    const over = this.applied.expect([text]);
    this.change(this.text.indexOf(old), old.length, text);
    over();
  }

  reject(): string {
    return this.applied
      .undo()
      .reduce((text, r: Replacement) => text.slice(0, r.offset) + r.text + text.slice(r.offset + r.length), this.text);
  }
}

const changed = (): Document => {
  const d = new Document('one\ntwo\nthree\nfour\n');
  d.server('two\n', 'zwei\nzwei b\n');
  assert.equal(d.text, 'one\nzwei\nzwei b\nthree\nfour\n');
  return d;
};

test('text typed elsewhere is not part of the change and survives a reject', () => {
  const d = changed();
  d.type('one', ' mine');
  d.type('four\n', 'mine too\n');
  assert.equal(d.applied.without, 'one mine\ntwo\nthree\nfour\nmine too\n');
  assert.equal(d.reject(), 'one mine\ntwo\nthree\nfour\nmine too\n');
});

test('lines typed directly above and below a change are kept', () => {
  const d = changed();
  d.type('one\n', 'above\n');
  d.type('zwei b\n', 'below\n');
  assert.equal(d.reject(), 'one\nabove\ntwo\nbelow\nthree\nfour\n');
});

test('a line added with Enter after a change is kept', () => {
  const d = changed();
  d.type('zwei b', '\nmine');
  assert.equal(d.reject(), 'one\ntwo\nmine\nthree\nfour\n');
});

test('a change that the user edited is kept', () => {
  const d = changed();
  d.type('zwei', '!');
  assert.deepEqual(d.applied.counts, { whole: 0, touched: 1 });
  assert.equal(d.reject(), d.text);
});

test('lines between two ranges of one edit are not part of it', () => {
  const d = new Document('one\ntwo\nthree\nfour\n');
  d.server('one\ntwo\nthree\nfour\n', 'eins\ntwo\nthree\nvier\n');
  d.type('two', ' mine');
  assert.deepEqual(d.applied.counts, { whole: 2, touched: 0 });
  assert.equal(d.reject(), 'one\ntwo mine\nthree\nfour\n');
});

test('a change to an earlier change becomes part of it', () => {
  const d = changed();
  d.server('zwei\nzwei b\n', 'due\n');
  assert.deepEqual(d.applied.counts, { whole: 1, touched: 0 });
  assert.equal(d.reject(), 'one\ntwo\nthree\nfour\n');
});

test('removed lines are restored', () => {
  const d = new Document('one\ntwo\nthree\n');
  d.server('two\n', '');
  d.type('three\n', 'mine\n');
  assert.equal(d.reject(), 'one\ntwo\nthree\nmine\n');
});

test('a rejected edit is not waited for', () => {
  const d = new Document('one\n');
  d.applied.expect(['x'])();
  d.type('one', 'x');
  assert.deepEqual(d.applied.counts, { whole: 0, touched: 0 });
});

test('random typing survives a reject', () => {
  let seed = 7;
  const random = (n: number): number => (seed = (seed * 48271) % 2147483647) % n;
  for (let round = 0; round < 400; round++) {
    const d = new Document('line\n'.repeat(8));
    const typed: string[] = [];
    for (let step = 0; step < 8; step++) {
      const name = `${round}.${step};`;
      const starts = [...d.text.matchAll(/^/gm)].map((m) => m.index);
      const from = starts[random(starts.length)] ?? 0;
      if (random(2) === 0) {
        const mine = `user ${name}`;
        typed.push(mine);
        d.change(Math.min(from + random(4), d.text.length), 0, random(2) === 0 ? `${mine}\n` : mine);
      } else {
        const to = starts.find((s) => s > from) ?? d.text.length;
        if (!d.text.slice(from, to).includes('user')) {
          const text = `server ${name}\n`.repeat(random(3));
          const over = d.applied.expect([text]);
          d.change(from, to - from, text);
          over();
        }
      }
      assert.equal(d.applied.text, d.text);
    }
    const kept = d.reject();
    for (const mine of typed) {
      // Text typed into the middle of other typed text is recorded as two pieces.
      const whole = d.text.includes(mine);
      assert.ok(!whole || kept.includes(mine), `${mine} in ${JSON.stringify(kept)}`);
    }
  }
});
