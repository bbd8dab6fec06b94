// A small project with a bug, some sessions, and the answers of a model that fixes it, for screenshots.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const source = `// Package ratelimit limits how often callers may do something.
package ratelimit

import (
	"sync"
	"time"
)

// Limiter is a token bucket: one token per interval, up to burst.
type Limiter struct {
	mu       sync.Mutex
	tokens   int
	burst    int
	interval time.Duration
	last     time.Time // when a token was added
	now      func() time.Time
}

// Allow takes a token, and reports whether there was one.
func (l *Limiter) Allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refill()
	if l.tokens == 0 {
		return false
	}
	l.tokens--
	return true
}

// refill adds a token for each interval that has passed.
func (l *Limiter) refill() {
	now := l.now()
	added := int(now.Sub(l.last) / l.interval)
	l.tokens = min(l.burst, l.tokens+added)
	l.last = now
}
`;

const test = `package ratelimit

import (
	"testing"
	"time"
)

// A caller that polls faster than the interval gets a token per interval.
func TestPolling(t *testing.T) {
	clock := time.Unix(0, 0)
	l := &Limiter{burst: 1, interval: time.Second, last: clock, now: func() time.Time { return clock }}
	allowed := 0
	for range 25 {
		clock = clock.Add(400 * time.Millisecond)
		if l.Allow() {
			allowed++
		}
	}
	if allowed != 10 {
		t.Errorf("%d calls in 10 s were allowed, want 10", allowed)
	}
}
`;

/** The name of the model. */
export const model = 'qwen3-coder:30b';

/** The directory with the double of go: the real one would compile its library in the fresh home directory. */
const programs = (editor) => join(editor.root, 'bin');

export const path = (editor) => `${programs(editor)}:${process.env.PATH}`;

/** Writes the project and its sessions. */
export function project(editor) {
  writeFileSync(join(editor.folder, 'go.mod'), 'module example.com/ratelimit\n\ngo 1.26\n');
  writeFileSync(join(editor.folder, 'limiter.go'), source);
  writeFileSync(join(editor.folder, 'limiter_test.go'), test);
  mkdirSync(programs(editor), { recursive: true });
  const go = join(programs(editor), 'go');
  writeFileSync(
    go,
    "#!/bin/sh\nprintf '=== RUN   TestPolling\\n--- PASS: TestPolling (0.00s)\\nPASS\\n'\nprintf 'ok  \\texample.com/ratelimit\\t0.214s\\n'\n",
  );
  chmodSync(go, 0o755);

  const age = (hours) => ({ age: hours });
  const first = { age: 5, id: '01a19656-0000-7000-8000-00000000aaaa' };
  editor.session(
    'xcsh',
    'Fix the flaky clock test',
    [['why does TestClock fail on Mondays?', 'The week begins on Sunday.']],
    first,
  );
  editor.session('xcsh', 'Without a clock', [['and without a clock?', 'Then it works.']], {
    age: 4,
    parentSession: first.id,
  });
  editor.session('pi', 'Document the burst setting', [['document burst', 'Here it is.']], age(27));
  editor.session('omp', 'Cheaper locking in Allow', [['profile Allow', 'Most of it is the lock.']], age(52));
  const other = join(editor.root, 'work/website');
  editor.session('omp', 'Release notes', [['write the release notes', 'They are in NEWS.md.']], {
    age: 30,
    cwd: other,
  });
  editor.session('pi', 'Import the old corpus', [['import the corpus', 'Done.']], age(24 * 9));
}

/** The change that fixes the bug. */
export const fix = {
  id: 'call-fix',
  name: 'edit',
  args: {
    path: 'limiter.go',
    edits: [
      {
        oldText: '\tl.last = now\n',
        newText: '\tl.last = l.last.Add(time.Duration(added) * l.interval)\n',
      },
    ],
  },
};

const table = `Fixed, and \`TestPolling\` passes. What changes for callers that poll, with an interval of 1 s:

| Poll every | Allowed in 10 s, before | Now |
|---|---|---|
| 400 ms | 0 | 10 |
| 1 s | 10 | 10 |
| 1.5 s | 6 | 6 |

The fraction of an interval is now kept in \`last\`, so that it counts for the next token:

\`\`\`go
l.last = l.last.Add(time.Duration(added) * l.interval)
\`\`\`

After a long pause, \`last\` is still close to now, and the bucket holds at most \`burst\` tokens. Should I add a test for that, too? It would move the clock by an hour and check that only one call is allowed. The same code is in upload.go, with a limit per user, and has the same bug there: I can fix both.`;

/** The answers of the model. held: until when the last one is incomplete. */
export const answers = (held) => [
  {
    text: 'I look at the limiter and at its test.',
    calls: [
      { id: 'call-read', name: 'read', args: { path: 'limiter.go' } },
      { id: 'call-test', name: 'read', args: { path: 'limiter_test.go' } },
      { id: 'call-grep', name: 'grep', args: { pattern: 'l\\.last', path: '.' } },
    ],
  },
  {
    text: '`refill` sets `last` to the current time even if less than an interval has passed. Polling every 400 ms never adds up to a token. `last` must advance by **whole intervals**.',
    calls: [fix],
  },
  { text: 'Now the tests.', calls: [{ id: 'call-go', name: 'bash', args: { command: 'go test -v ./...' } }] },
  { text: table, held },
];
