//go:build unix

package script_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hook/script"
)

// Proves: O-064
func TestAnswers(t *testing.T) {
	t.Parallel()
	no := hook.Decision{Cancel: true, By: "a.sh"}
	for name, tc := range map[string]struct {
		script string
		want   hook.Decision
		report string
	}{
		"nothing":                {script: `:`},
		"white space":            {script: `echo; echo`},
		"an empty object":        {script: `echo '{}'`},
		"consent":                {script: `echo '{"cancel": false, "reason": "unused"}'`},
		"no":                     {script: `echo '{"cancel": true}'`, want: no},
		"no, over several lines": {script: `printf '\n{\n"cancel":\ntrue}\n\n'`, want: no},
		"no, and more":           {script: `echo '{"cancel": true, "since": [1]}'`, want: no},
		"no, for a reason": {
			script: `printf '%s' '{"cancel": true, "reason": "not\ton  Fridays\n\u001b[1m"}'`,
			want:   hook.Decision{Cancel: true, By: "a.sh", Reason: "not on Fridays [1m"},
		},
		"no, for a long reason": {
			script: `printf '{"cancel": true, "reason": "%0400d"}' 0`,
			want:   hook.Decision{Cancel: true, By: "a.sh", Reason: strings.Repeat("0", 299) + "…"},
		},
		"no without reading the question": {script: `exec <&-; echo '{"cancel": true}'`, want: no},
		"words":                           {script: `echo never`, report: `a.sh| The hook a.sh did not return {"cancel": true, "reason": "..."} for session_before_fork.`},
		"a list":                          {script: `echo '[true]'`, report: `a.sh| The hook a.sh did not return {"cancel": true, "reason": "..."} for session_before_fork.`},
		"a word for a boolean":            {script: `echo '{"cancel": "yes"}'`, report: `a.sh| The hook a.sh did not return {"cancel": true, "reason": "..."} for session_before_fork.`},
		"two answers":                     {script: `echo '{"cancel": true} {}'`, report: `a.sh| The hook a.sh did not return {"cancel": true, "reason": "..."} for session_before_fork.`},
		"no, and a failure":               {script: `echo '{"cancel": true}'; exit 3`, report: "a.sh| The hook a.sh failed at session_before_fork (exit status 3)."},
		"a failure with a reason":         {script: `echo 'no such	thing' >&2; exit 1`, report: "a.sh| The hook a.sh failed at session_before_fork (exit status 1): no such thing."},
		"a signal":                        {script: `kill -9 $$`, report: "a.sh| The hook a.sh failed at session_before_fork (signal: killed)."},
		"far too much":                    {script: `yes '{"cancel": true}' | head -c 3000000`, report: "a.sh| The hook a.sh returned more than 1048576 bytes for session_before_fork."},
		"far too much of a complaint":     {script: `yes | head -c 3000000 >&2`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put(t, "a.sh", tc.script)
			require.Equal(t, tc.want, w.ask(t))
			var reports []string
			if tc.report != "" {
				reports = []string{tc.report}
			}
			require.Equal(t, reports, w.allReports())
		})
	}
}

// Proves: X-192, O-053
func TestInputOfAnExecutable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "a.sh", `{ cat; echo "$XCSH_HOOK_EVENT"; pwd -P; echo "$PWD"; ps -o pgid= -o tty= -p $$; echo $$; } >"$0.txt"`)
	w.ask(t)
	cwd, err := filepath.EvalSymlinks(w.cwd)
	require.NoError(t, err)
	got := strings.Split(read(t, filepath.Join(w.dir, "a.sh.txt")), "\n")
	require.Equal(t, `{"type":"session_before_fork","cwd":"`+w.cwd+`","sessionId":"id","sessionFile":"/s/a.jsonl"}`, got[0], "one line")
	require.Equal(t, []string{"session_before_fork", cwd, w.cwd}, got[1:4])
	require.Equal(t, []string{got[5], "?"}, strings.Fields(got[4]), "a group of its own, without a terminal")

	require.NoError(t, os.Remove(w.cwd))
	w.ask(t)
	got = strings.Split(read(t, filepath.Join(w.dir, "a.sh.txt")), "\n")
	require.Equal(t, w.dir, got[3], "a missing folder")
	require.Empty(t, w.allReports())
}

// Proves: O-063
func TestTheFirstNoIsTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, answer := range map[string]string{"10-a": `exit 1`, "20-b": `{}`, "30-c": `{"cancel":true}`, "40-d": `{"cancel":true}`} {
		if strings.HasPrefix(answer, "{") {
			answer = "echo '" + answer + "'"
		}
		w.put(t, name, `basename "$0" >>`+w.cwd+"/asked", answer)
	}
	require.Equal(t, hook.Decision{Cancel: true, By: "30-c"}, w.ask(t))
	require.Equal(t, "10-a\n20-b\n30-c\n", read(t, w.cwd+"/asked"))
	require.Equal(t, []string{"10-a| The hook 10-a failed at session_before_fork (exit status 1)."}, w.allReports())
}

func TestNewHooksWorkAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, os.Remove(w.dir))
	require.Zero(t, w.ask(t))
	require.NoError(t, os.Mkdir(w.dir, 0o700))
	require.Zero(t, w.ask(t))
	path := w.put(t, "a.sh", `echo '{"cancel": true}'`)
	require.True(t, w.ask(t).Cancel)
	require.NoError(t, os.Remove(path))
	require.Zero(t, w.ask(t))
	require.Empty(t, w.allReports())
}

// Neither the executable nor any process that it has started may be left behind.
// Proves: O-064
func TestSlowHookIsKilledWithItsProcessGroup(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"at the limit": 2 * time.Second, "when the question is cancelled": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Limit(limit, time.Minute, time.Minute)
			pids, holds := fifo(t, w.cwd+"/pids"), fifo(t, w.cwd+"/holds")
			w.put(t, "a.sh", `trap '' TERM; cat `+holds+` & echo $$ $! >`+pids+`; echo '{"cancel": true}'; wait`)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			started := lines(pids)
			answered := make(chan hook.Decision)
			go func() {
				d, _ := w.Before(ctx, w.event(hook.BeforeFork))
				answered <- d
			}()
			group := strings.Fields(receive(t, started))
			require.Len(t, group, 2)
			if limit == time.Minute {
				cancel()
			}
			require.Zero(t, receive(t, answered))
			for _, pid := range group {
				n, err := strconv.Atoi(pid)
				require.NoError(t, err)
				require.Eventually(t, func() bool { return gone(n) }, 10*time.Second, 5*time.Millisecond, "process %d", n)
			}
		})
	}
}

// gone reports whether a process has ended. A zombie has ended, too.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err == nil {
		return strings.Contains(string(stat), ") Z ")
	}
	return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// Proves: O-064
func TestSlowHookIsReportedAndCancelsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Limit(2*time.Second, time.Minute, time.Minute)
	w.put(t, "a.sh", `echo '{"cancel": true}'; exec cat `+fifo(t, w.cwd+"/holds"))
	w.put(t, "b.sh", `echo '{"cancel": true, "reason": "asked all the same"}'`)
	require.Equal(t, hook.Decision{Cancel: true, By: "b.sh", Reason: "asked all the same"}, w.ask(t))
	require.Equal(t, []string{"a.sh| The hook a.sh exceeded the time limit of 2 s for session_before_fork and was killed."}, w.allReports())
}

// Background processes of an executable are not waited for, and continue.
func TestTheBackgroundIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holds, done := fifo(t, w.cwd+"/holds"), fifo(t, w.cwd+"/done")
	w.put(t, "a.sh", `{ cat `+holds+` >/dev/null; echo done >`+done+`; } & echo '{"cancel": true}'`)
	require.True(t, w.ask(t).Cancel)
	require.NoError(t, os.WriteFile(holds, []byte("go on\n"), 0o600))
	require.Equal(t, "done", line(t, done))
	require.Empty(t, w.allReports())
}

func TestACancelledQuestionIsNotAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "a.sh", `echo '{"cancel": true}'`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d, err := w.Before(ctx, w.event(hook.BeforeFork))
	require.NoError(t, err)
	require.Zero(t, d)
	require.Empty(t, w.allReports())
}

func TestReportsAreOptional(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "a.sh", "exit 1")
	d, err := script.New(script.Config{Dir: w.dir}).Before(t.Context(), w.event(hook.BeforeFork))
	require.NoError(t, err)
	require.Zero(t, d)
}
