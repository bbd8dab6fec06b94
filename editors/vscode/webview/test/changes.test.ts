import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ChangesModel } from '../src/changes';
import type { FromPage, JsonObject } from '../../src/chat/messages';
import { changesOf, changesOfPlan, planOf, recordsOf } from '../src/state/changes';
import { newItem } from '../src/state/items';
import { Store } from '../src/state/store';
import { endsTurn, turnEndingAt } from '../src/state/turns';
import { PlayedChanges } from '../dev/changes';
import { hostile } from './hostile';

test('an answer that is none is read as no changes and as a plan that cannot be carried out', () => {
  for (const bad of [undefined, null, 3, 'x', [], { files: 3, plan: [null, { path: 4 }], totals: [] }]) {
    assert.deepEqual(changesOf(bad).files, []);
    assert.equal(planOf(bad).token, '');
    assert.deepEqual(planOf(bad).paths, []);
  }
  const plan = planOf({
    plan: [{ path: '/a', action: 'explode', places: [{ start: -1 }, { start: 4, end: 2 }] }],
    planToken: 'x',
  });
  assert.equal(plan.paths[0]?.action, 'conflict', 'an unknown action is not carried out');
  assert.deepEqual([plan.conflicts, plan.token, plan.paths[0]?.places], [1, '', []]);
});

test('the changes of a turn are read from the plan that undoes it', () => {
  const changes = changesOfPlan(
    planOf({
      plan: [
        { path: '/a', action: 'restore', added: 1, removed: 5 },
        { path: '/b', action: 'remove', removed: 3 },
        { path: '/c', action: 'create', added: 9 },
        { path: '/d', action: 'none' },
        { path: '/e', action: 'conflict' },
      ],
    }),
  );
  assert.deepEqual(
    changes.files.map((f) => [f.path, f.status, f.added, f.removed]),
    [
      ['/a', 'modified', 5, 1],
      ['/b', 'added', 3, 0],
      ['/c', 'deleted', 0, 9],
      ['/e', 'modified', 0, 0],
    ],
  );
  assert.deepEqual(changes.totals, { files: 4, added: 8, removed: 10, pending: 0 });
});

const prompt = (id: string) => newItem(id, id, { role: 'user', content: 'Do it' });
const answer = (id: string, tool?: string) =>
  newItem(id, id, {
    role: 'assistant',
    content: tool ? [{ type: 'toolCall', id: `c${id}`, name: tool, arguments: {} }] : [{ type: 'text', text: 'Done' }],
  });

test('a turn has a card if it called something that can change files', () => {
  const items = [
    prompt('p1'),
    answer('a1', 'edit'),
    answer('a2'),
    prompt('p2'),
    answer('a3', 'read'),
    prompt('p3'),
    answer('a4', 'bash'),
  ];
  assert.deepEqual(turnEndingAt(items, 'a2', true), { promptId: 'p1', next: 'p2' });
  assert.equal(turnEndingAt(items, 'a1', true), null, 'the turn goes on');
  assert.equal(turnEndingAt(items, 'a3', true), null, 'it only read');
  assert.deepEqual(turnEndingAt(items, 'a4', true), { promptId: 'p3', next: '' });
  assert.equal(turnEndingAt(items, 'a4', false), null, 'the turn runs, or there are newer messages');
  assert.equal(turnEndingAt(items.slice(1), 'a2', true), null, 'its prompt is not loaded');
  assert.deepEqual(
    [endsTurn(items[2]!, items[3]), endsTurn(items[1]!, items[2]), endsTurn(items[3]!, items[4])],
    [true, false, false],
  );
});

/** A model with a simulated server, whose clock only moves explicitly. */
function played() {
  const log = {
    notices: [] as string[],
    actions: [] as string[],
    composed: [] as string[],
    failures: [] as unknown[],
    sent: [] as FromPage[],
  };
  const clock = { now: 10_000 };
  const server = new PlayedChanges(() => undefined);
  let broken = '';
  const store = new Store((m) => {
    if (m.kind !== 'call') return void log.sent.push(m);
    const reply = (result: JsonObject) => {
      const error = result['error'];
      store.receive(error ? { kind: 'answer', id: m.id, error } : { kind: 'answer', id: m.id, result });
    };
    if (broken) return reply({ error: { kind: 'io', message: broken } });
    if (m.command === 'xcsh.changes') reply(server.changes(m.args));
    else if (m.command === 'xcsh.keep') reply(server.keep(m.args));
    else if (m.command === 'xcsh.branch') reply({ editorText: 'again' });
    else reply(server.rewind(m.args));
  });
  const model = new ChangesModel(
    store,
    {
      available: () => true,
      running: () => false,
      notice: (_tone, text, actions) => {
        log.notices.push(text);
        log.actions.push(...actions.map((a) => a.command));
      },
      failed: (e) => log.failures.push(e),
      compose: (text) => log.composed.push(text),
      speak: () => undefined,
    },
    () => clock.now,
  );
  server.turn('p1', [
    { path: 'a.ts', status: 'modified', added: 4, removed: 1 },
    { path: 'b.ts', status: 'added', added: 9, removed: 0 },
  ]);
  server.turn('p2', [{ path: 'a.ts', status: 'modified', added: 2, removed: 2 }]);
  return { model, server, store, log, clock, fail: (why: string) => (broken = why) };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
const a = '/home/you/calc/a.ts';

test('the card of an older turn has only what that turn did', async () => {
  const { model } = played();
  model.want({ promptId: 'p1', next: 'p2' });
  model.want({ promptId: 'p2', next: '' });
  await settled();
  const turns = model.getState().turns;
  assert.deepEqual(turns.get('p1')?.records, ['r0-0', 'r0-1']);
  assert.deepEqual(turns.get('p1')?.changes.totals, { files: 2, added: 13, removed: 1, pending: 0 });
  assert.deepEqual(turns.get('p2')?.changes.totals.files, 1);
  assert.deepEqual(recordsOf(turns.get('p2')!.changes), ['r1-0']);
});

test('a rewind asks for confirmation, and then offers Redo', async () => {
  const { model, log, clock, server } = played();
  model.rewindTo('p2');
  await settled();
  assert.equal(model.getState().rewinding?.plan?.paths.length, 1);
  await model.confirm();
  assert.equal(
    server.calls.filter((c) => c['planToken']).length,
    0,
    'a second click on the same place confirms nothing',
  );
  clock.now += 500;
  await model.confirm();
  assert.equal(model.getState().rewinding, null);
  assert.deepEqual(log.notices, ['Undid the changes of 1 file.']);
  assert.deepEqual([log.actions, log.composed], [['page.redo'], ['Add the tests.']]);
  await model.redo('w1');
  await settled();
  assert.equal(log.notices.at(-1), 'Redid the changes of 1 file.');
  assert.equal(model.getState().session.totals.pending, 3);
  assert.deepEqual(log.failures, []);
});

test('a stale plan is made again, and only carried out after another confirmation', async () => {
  const { model, server, clock } = played();
  model.rewindTo('p1');
  await settled();
  clock.now += 500;
  server.touch();
  await model.confirm();
  await settled();
  const now = model.getState().rewinding;
  assert.equal(now?.renewed, true);
  assert.equal(now?.running, false);
  await model.confirm();
  assert.equal(model.getState().rewinding?.renewed, true, 'the second press of a double press');
  clock.now += 500;
  await model.confirm();
  assert.equal(model.getState().rewinding, null);
});

test('a conflict disables the rewind until the file is left out of the plan', async () => {
  const { model, server, clock } = played();
  server.conflicts.set('a.ts', { text: 'You changed lines 1-2, too.', places: [{ start: 1, end: 2 }] });
  model.rewindTo('p1');
  await settled();
  clock.now += 500;
  await model.confirm();
  assert.equal(
    server.calls.some((c) => c['planToken'] !== undefined),
    false,
  );
  const conflict = model.getState().rewinding?.plan?.paths.find((p) => p.path === a);
  model.leaveOut(conflict!);
  model.leaveOut(conflict!);
  await settled();
  const { plan, leftOut } = model.getState().rewinding!;
  assert.deepEqual(
    [plan?.paths.map((p) => p.path), leftOut.map((p) => p.path), plan?.conflicts],
    [['/home/you/calc/b.ts'], [a], 0],
  );
  model.showPlan();
  model.takeIn(a);
  await settled();
  assert.equal(model.getState().rewinding?.plan?.conflicts, 1);
  model.leaveOut(conflict!);
  await settled();
  await model.confirm();
  assert.deepEqual(server.calls.at(-1)?.['except'], [a]);
  assert.equal(model.getState().rewinding, null);
});

test('opening a file of the plan does not change the confirmation', async () => {
  const { model, log } = played();
  model.rewindTo('p1');
  await settled();
  const before = model.getState().rewinding;
  model.showPlan(before!.plan!.paths[0]);
  model.refresh(); // the editor opened the file
  await settled();
  assert.equal(model.getState().rewinding, before);
  assert.deepEqual(
    log.sent.map((m) => m.kind),
    ['openPlanned'],
  );
});

test('going back with the conversation only makes no plan', async () => {
  const { model, server, clock, log } = played();
  model.rewindTo('p2');
  await settled();
  model.choose('conversation');
  await settled();
  clock.now += 500;
  const before = server.calls.length;
  await model.confirm();
  assert.equal(server.calls.length, before);
  assert.deepEqual(log.composed, ['again']);
});

test('after a hunk is kept and the turn is undone, nothing is left to review', async () => {
  const { model, clock } = played();
  model.refresh();
  await settled();
  await model.keep({ paths: [a] });
  await settled();
  assert.equal(model.getState().session.totals.pending, 1);
  model.undoTurn(['r0-0', 'r0-1', 'r1-0']);
  await settled();
  clock.now += 500;
  await model.confirm();
  await settled();
  assert.deepEqual(model.getState().session.files, []);
});

test('a failure is shown in the confirmation, which stays open', async () => {
  const { model, clock, fail } = played();
  model.undoTurn(['r0-0']);
  await settled();
  clock.now += 500;
  fail('The disk is full.');
  await model.confirm();
  assert.deepEqual(
    [model.getState().rewinding?.error, model.getState().rewinding?.running],
    ['The disk is full.', false],
  );
  model.cancel();
  assert.equal(model.getState().rewinding, null);
});

test('an answer to a plan that nobody waits for any more is dropped', async () => {
  const { model } = played();
  model.rewindTo('p1');
  model.cancel();
  model.rewindTo('p2');
  await settled();
  assert.equal(model.getState().rewinding?.plan?.paths.length, 1);
  model.clear();
  await settled();
  assert.equal(model.getState().rewinding, null);
});

test('hostile names of files reach the extension as they are', async () => {
  const { model, server, log } = played();
  server.turn(
    'p3',
    hostile.map((path) => ({ path, status: path, added: 1, removed: 0 })),
  );
  model.rewindTo('p3');
  await settled();
  model.showPlan();
  const sent = log.sent[0];
  assert.equal(sent?.kind === 'openPlanned' && sent.planned.length, new Set(hostile).size);
});
