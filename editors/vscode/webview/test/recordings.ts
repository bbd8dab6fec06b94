// Messages of a real server to a client, with snapshots taken meanwhile: `after` is the number of
// notifications before the snapshot's answer.

import abort from './fixtures/abort.json';
import approval from './fixtures/approval.json';
import branch from './fixtures/branch.json';
import compaction from './fixtures/compaction.json';
import read from './fixtures/read.json';
import retry from './fixtures/retry.json';
import shell from './fixtures/shell.json';
import steering from './fixtures/steering.json';
import streaming from './fixtures/streaming.json';
import type { Numbered, Snapshot } from '../src/state/wire';
import { isSnapshot, numbered } from '../src/state/wire';

export interface Recording {
  name: string;
  log: Numbered[];
  snapshots: { after: number; snapshot: Snapshot }[];
}

interface Recorded {
  log: { method: string; params: unknown }[];
  snapshots: { after: number; snapshot: unknown }[];
}

function recordingOf(name: string, r: Recorded): Recording {
  const log: Numbered[] = [];
  const counts = [0]; // notifications of a session before each one of the file
  for (const { method, params } of r.log) {
    const n =
      method === 'xcsh/event'
        ? numbered('event', params)
        : method === 'xcsh/sessionChanged'
          ? numbered('session', params)
          : undefined;
    if (n) log.push(n);
    counts.push(log.length);
  }
  const snapshots = r.snapshots.map(({ after, snapshot }) => {
    if (!isSnapshot(snapshot)) throw new Error(`${name}: a snapshot is none`);
    return { after: counts[after]!, snapshot };
  });
  return { name, log, snapshots };
}

export const recordings: Recording[] = Object.entries({
  abort,
  approval,
  branch,
  compaction,
  read,
  retry,
  shell,
  steering,
  streaming,
}).map(([name, r]) => recordingOf(name, r as Recorded));
