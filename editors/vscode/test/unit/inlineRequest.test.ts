import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Applied } from '../../src/chat/applied';
import { Proposal } from '../../src/chat/inline/proposal';
import { endOf, InlineRequest, type ChangeAsk } from '../../src/chat/inline/request';
import { Turns, type Waiter } from '../../src/chat/inline/turns';
import { ServerError } from '../../src/server/errors';
import type { SessionEvent } from '../../src/wire.gen';

const text = 'one\ntwo\n';
const patch = '--- a\n+++ a\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n';
const change = (id: string): ChangeAsk => ({
  kind: 'change',
  id,
  proposal: new Proposal(patch, text),
  isRevisable: true,
  warnings: [],
});

function running(): InlineRequest {
  const request = new InlineRequest();
  assert.equal(request.send(' in German '), true);
  assert.equal(request.wish, 'in German');
  return request;
}

/** A change that was made without approval. */
function made() {
  const applied = new Applied(text);
  const over = applied.expect(['zwei\n']);
  applied.changed([{ offset: 4, length: 4, text: 'zwei\n' }]);
  over();
  return applied.hunks.map((hunk) => ({ hunk, line: 1, lines: 1, diff: '-two\n+zwei' }));
}

test('a request without words is not sent, and none is sent twice', () => {
  const request = new InlineRequest();
  assert.equal(request.send(' \n'), false);
  assert.equal(request.send('a'), true);
  assert.equal(request.send('b'), false);
  request.queue();
  assert.equal(request.send('b'), false);
  assert.equal(request.wish, 'a');
});

test('a reviewed change ends the request with its turn', () => {
  const request = running();
  request.ask(change('c'));
  assert.deepEqual(
    request.decideHunk('c', 0, 'keep', text).map((e) => e.kind),
    ['answer'],
  );
  request.settled('c');
  assert.equal(request.phase, 'running', 'the model may go on');
  request.finish({ answer: 'It is German now.' });
  assert.equal(request.phase, 'done');
});

test('the answer of a turn without a change is shown, and another request can follow', () => {
  const request = running();
  request.finish({ answer: 'It is German already.' });
  assert.equal(request.phase, 'ended');
  assert.equal(request.end.answer, 'It is German already.');
  assert.equal(request.send('in French'), true);
  assert.equal(request.end.answer, undefined);
});

test('a failure and a stop are shown even after a change', () => {
  for (const end of [{ failure: 'No.' }, { stopped: true }]) {
    const request = running();
    request.ask(change('c'));
    request.finish(end);
    assert.equal(request.phase, 'ended');
    assert.deepEqual(request.asks, [], 'nothing waits for an answer');
  }
});

test('an approval that was answered elsewhere is gone, and a late decision does nothing', () => {
  const request = running();
  request.ask(change('c'));
  request.ask({ kind: 'call', id: 'd', title: 'Run ls', diff: '', warnings: [] });
  request.settled('c');
  assert.deepEqual(
    request.asks.map((ask) => ask.id),
    ['d'],
  );
  assert.deepEqual(request.decideHunk('c', 0, 'keep', text), []);
  assert.deepEqual(request.decideAll('keep', text), [], 'a command is not allowed with the changes');
});

test('all pending changes can be decided together', () => {
  const request = running();
  request.ask(change('c'));
  request.ask(change('d'));
  const effects = request.decideAll('undo', text);
  assert.deepEqual(
    effects.map((e) => e.kind === 'answer' && [e.ask.id, e.ask.proposal.outcome(text)?.kind]),
    [
      ['c', 'deny'],
      ['d', 'deny'],
    ],
  );
});

test('changes that were made without approval are reviewed after the turn', () => {
  const request = running();
  const changes = made();
  request.setMade(changes);
  request.finish({ answer: 'Done.' });
  assert.equal(request.phase, 'review');
  assert.equal(request.send('more'), false);
  assert.deepEqual(request.decideMade(changes[0]!.hunk, 'keep'), [], 'a kept change stays as it is');
  assert.deepEqual(
    request.decideMade(changes[0]!.hunk, 'undo').map((e) => e.kind),
    ['revert'],
  );
  request.setMade([]);
  assert.equal(request.phase, 'done');
});

test('a closed request follows nothing', () => {
  const request = running();
  request.ask(change('c'));
  request.close();
  request.finish({ answer: 'Late.' });
  assert.equal(request.phase, 'done');
  assert.deepEqual([request.asks, request.made, request.send('again')], [[], [], false]);
});

test('the progress follows the events of the turn', () => {
  const request = running();
  const event = (e: object): boolean => request.follow(e as SessionEvent);
  const update = (type: string): object => ({ type: 'message_update', assistantMessageEvent: { type } });
  assert.equal(event(update('thinking_delta')), false, 'that is how it begins');
  assert.equal(event(update('text_delta')), true);
  assert.equal(event(update('text_delta')), false, 'nothing is drawn anew for each word');
  assert.deepEqual(request.doing, { kind: 'answering' });
  event({ type: 'tool_execution_start', toolName: 'read' });
  assert.deepEqual(request.doing, { kind: 'tool', name: 'read' });
  assert.equal(event({ type: 'tool_execution_start', toolName: 'x', parentToolCallId: 'p' }), false);
  event({ type: 'auto_retry_start' });
  assert.deepEqual(request.doing, { kind: 'retrying' });
  request.finish({});
  assert.equal(event(update('text_delta')), false);
});

test('a canceled request is a stop, and any other error a failure', () => {
  assert.deepEqual(endOf(new ServerError('Canceled', 'cancelled')), { stopped: true });
  assert.equal(endOf(new ServerError('No key.', 'provider')).failure, 'No key.');
});

/** The end of work in folders, and requests whose turns the test ends. */
function desk() {
  const listeners = new Set<() => void>();
  const log: string[] = [];
  const turns = new Turns((_, listener) => {
    listeners.add(listener);
    return { dispose: () => listeners.delete(listener) };
  });
  const request = (name: string, cwd = '/w') => {
    const stops: (() => void)[] = [];
    let attempt: { resolve: (v: string) => void; reject: (e: Error) => void } | undefined;
    const token = {
      isCancellationRequested: false,
      onCancellationRequested: (f: () => void) => {
        stops.push(f);
        return { dispose: () => stops.splice(stops.indexOf(f), 1) };
      },
    };
    const waiter: Waiter<string> = {
      cwd,
      token,
      queued: () => void log.push(`${name} queued`),
      sent: () => void log.push(`${name} sent`),
      send: () => new Promise((resolve, reject) => (attempt = { resolve, reject })),
    };
    return {
      result: turns.run(waiter),
      end: () => attempt!.resolve(name),
      fail: (kind: 'busy' | 'provider', data = {}) => attempt!.reject(new ServerError(kind, kind, data)),
      stop: () => stops.forEach((f) => f()),
    };
  };
  return { log, request, listeners, ends: () => [...listeners].forEach((f) => f()) };
}

const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

test('requests of a folder are sent one after the other, also after one failed', async () => {
  const { log, request } = desk();
  const [a, b, c] = [request('a'), request('b'), request('c')];
  const other = request('other', '/v');
  await settled();
  assert.deepEqual(log, ['a sent', 'b queued', 'c queued', 'other sent']);
  a.fail('provider');
  await assert.rejects(a.result);
  await settled();
  assert.equal(log.at(-1), 'b sent');
  b.end();
  assert.equal(await b.result, 'b');
  await settled();
  assert.equal(log.at(-1), 'c sent');
  c.end();
  other.end();
  assert.deepEqual(await Promise.all([c.result, other.result]), ['c', 'other']);
});

test('a request waits for a turn that was started elsewhere', async () => {
  const { log, request, ends, listeners } = desk();
  const a = request('a');
  await settled();
  a.fail('busy');
  await settled();
  assert.deepEqual(log, ['a sent', 'a queued']);
  ends();
  await settled();
  assert.equal(log.at(-1), 'a sent');
  a.end();
  assert.equal(await a.result, 'a');
  assert.equal(listeners.size, 0);
});

test('a turn that ends while the request is refused is not waited for', async () => {
  const { log, request, ends } = desk();
  const a = request('a');
  await settled();
  ends();
  a.fail('busy');
  await settled();
  assert.deepEqual(log, ['a sent', 'a queued', 'a sent']);
  a.end();
  await a.result;
});

test('a waiting request can be stopped, and a session that another program has is not waited for', async () => {
  const { request, listeners } = desk();
  const a = request('a');
  const b = request('b');
  await settled();
  b.stop();
  await assert.rejects(b.result, { kind: 'cancelled' });
  a.fail('busy', { pid: 7 });
  await assert.rejects(a.result, { kind: 'busy' });
  const c = request('c');
  await settled();
  c.fail('busy');
  await settled();
  c.stop();
  await assert.rejects(c.result, { kind: 'cancelled' });
  assert.equal(listeners.size, 0);
});
