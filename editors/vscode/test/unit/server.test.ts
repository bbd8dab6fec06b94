import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isOfConnection, ServerError, toServerError } from '../../src/server/errors';
import { logRecord } from '../../src/server/log';
import { introduction, probeVersion, versionIn } from '../../src/server/version';
import { wireVersion } from '../../src/wire.gen';

test('a server error keeps its kind, message, and data', () => {
  const error = toServerError({
    code: -32803,
    message: 'Session "x" not found.',
    data: { kind: 'notFound', path: '/x' },
  });
  assert.equal(error.kind, 'notFound');
  assert.equal(error.message, 'Session "x" not found.');
  assert.equal(error.text('path'), '/x');
  assert.equal(error.text('kind2'), undefined);
});

test('a canceled request is recognized without data', () => {
  assert.equal(toServerError({ code: -32800, message: 'Request cancelled' }).kind, 'cancelled');
  const canceled = new Error('Canceled');
  canceled.name = 'Canceled';
  assert.equal(toServerError(canceled).kind, 'cancelled');
});

test('any other value becomes an error with its message', () => {
  assert.equal(toServerError(new Error('boom')).message, 'boom');
  assert.equal(toServerError('boom').message, 'boom');
  assert.equal(toServerError(undefined).kind, 'unknown');
  const own = new ServerError('gone', 'noServer');
  assert.equal(toServerError(own), own);
});

test('a request without a server differs from one that failed', () => {
  const destroyed = Object.assign(new Error('Cannot call write after a stream was destroyed'), {
    code: 'ERR_STREAM_DESTROYED',
  });
  assert.equal(isOfConnection(destroyed), true);
  assert.equal(isOfConnection({ code: -32097, message: 'Pending response rejected' }), true);
  assert.equal(isOfConnection({ code: -32803, message: 'no', data: { kind: 'notFound' } }), false);
  assert.equal(isOfConnection({ code: -32601, message: 'no such method' }), false);
  assert.equal(isOfConnection({ code: -32800, message: 'Request cancelled' }), false);
  assert.equal(isOfConnection(new ServerError('not trusted', 'untrusted')), false);
});

test('a log record has a level, a logger, and fields', () => {
  assert.deepEqual(
    logRecord(
      '{"level":"warn","ts":"2026-11-21T00:00:00Z","logger":"session","caller":"x.go:1","msg":"odd","path":"/x"}',
    ),
    {
      level: 'warn',
      text: '[session] odd {"path":"/x"}',
    },
  );
  assert.deepEqual(logRecord('{"level":"fatal","msg":"gone"}'), { level: 'error', text: 'gone' });
  assert.deepEqual(logRecord('panic: oops'), { level: 'info', text: 'panic: oops' });
  assert.deepEqual(logRecord('17'), { level: 'info', text: '17' });
});

test("the version is parsed from the program's output", () => {
  assert.equal(versionIn('xcsh-ls 0.3.1\n'), '0.3.1');
  assert.equal(versionIn('xcsh-ls (devel)\n'), '(devel)');
  assert.equal(versionIn('gopls v0.20\n'), undefined);
});

test('another program is not accepted as the server', async () => {
  // Node takes the argument for a script.
  await assert.rejects(probeVersion(process.execPath), /node/);
  await assert.rejects(probeVersion('/nothing/here'), /ENOENT/);
});

test('the protocol versions must match', () => {
  const result = (version: unknown) => ({
    serverInfo: { name: 'xcsh-ls', version: '1.2.3' },
    capabilities: { experimental: { xcsh: { wireVersion: version } } },
  });
  assert.deepEqual(introduction(result(wireVersion)), { version: '1.2.3' });
  assert.deepEqual(introduction(result(wireVersion + 1)).mismatch, { theirs: wireVersion + 1, ours: wireVersion });
  assert.deepEqual(introduction({ capabilities: {} }).mismatch, { theirs: undefined, ours: wireVersion });
  assert.deepEqual(introduction(undefined).version, '');
});
