//go:build unix

package script_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/agent/hook/script"
)

// Proves: O-065
func TestNotificationsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b"} {
		w.put(t, name, `read -r line; echo "$(basename "$0") $line" >>`+w.cwd+`/told; echo '{"cancel": true}'`)
	}
	var want strings.Builder
	for i := range 20 {
		e := w.event(hook.Tree)
		e.EntryID = fmt.Sprint(i)
		w.After(t.Context(), e)
		for _, name := range []string{"a", "b"} {
			fmt.Fprintf(&want, `%s {"type":"session_tree","cwd":"%s","sessionId":"id","sessionFile":"/s/a.jsonl","entryId":"%d"}`+"\n", name, w.cwd, i)
		}
	}
	w.Close(t.Context())
	require.Equal(t, want.String(), read(t, w.cwd+"/told"))
	require.Empty(t, w.allReports(), "output is ignored")
}

// Notifications delay neither the change of a session, nor other folders, nor a hook before a
// change.
// Proves: O-065
func TestNotificationsDoNotBlock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	holds, done := fifo(t, w.cwd+"/holds"), fifo(t, w.cwd+"/done")
	other := filepath.Join(w.cwd, "other")
	require.NoError(t, os.Mkdir(other, 0o700))
	w.put(t, "a", `case "$XCSH_HOOK_EVENT" in
		session_start) cat holds; echo start >>told;;
		session_tree) echo tree >>told; echo done >done;;
		session_switch) echo other >`+done+`;;
		*) echo '{"cancel": true}';;
	esac`)
	ctx, cancel := context.WithCancel(t.Context())
	w.After(ctx, w.event(hook.Start))
	w.After(ctx, w.event(hook.Tree))
	cancel() // the command is over
	require.True(t, w.ask(t).Cancel)
	e := w.event(hook.Switch)
	e.Cwd = other
	w.After(t.Context(), e)
	require.Equal(t, "other", line(t, done))
	require.NoFileExists(t, w.cwd+"/told")
	require.NoError(t, os.WriteFile(holds, nil, 0o600))
	require.Equal(t, "done", line(t, done))
	require.Equal(t, "start\ntree\n", read(t, w.cwd+"/told"))
	require.Empty(t, w.allReports())
}

func TestFailingHookIsReportedAndTheNextIsNotified(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Limit(time.Minute, 2*time.Second, time.Minute)
	w.put(t, "a", `exec cat `+fifo(t, w.cwd+"/holds"))
	w.put(t, "b", `exit 1`)
	w.After(t.Context(), w.event(hook.Compact))
	w.Close(t.Context())
	require.Equal(t, []string{
		"a| The hook a exceeded the time limit of 2 s for session_compact and was killed.",
		"b| The hook b failed at session_compact (exit status 1).",
	}, w.allReports())
}

// Proves: O-065
func TestTheEndDoesNotWaitForever(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"its own limit": 300 * time.Millisecond, "the limit of the caller": time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Limit(time.Minute, time.Minute, limit)
			started := fifo(t, w.cwd+"/started")
			w.put(t, "a", `echo >>begun; echo started >`+started+`; exec cat `+fifo(t, w.cwd+"/holds"))
			w.After(t.Context(), w.event(hook.Tree))
			w.After(t.Context(), w.event(hook.Shutdown))
			line(t, started)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if limit == time.Minute {
				cancel()
			}
			w.Close(ctx)
			require.Equal(t, "\n", read(t, w.cwd+"/begun"), "waiting notifications were dropped")
			require.Equal(t, []string{"| Hooks did not finish before the time limit in " + w.cwd + " and were killed."}, w.allReports())
			w.After(t.Context(), w.event(hook.Start))
			require.Len(t, w.allReports(), 2)
			require.Equal(t, "| Hooks were not notified of session_start in "+w.cwd+" because too many earlier notifications are pending.", w.allReports()[1])
		})
	}
}

// A hook that hangs must not fill the memory.
func TestOnlySoManyEventsWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Limit(time.Minute, time.Minute, 0)
	started := fifo(t, w.cwd+"/started")
	w.put(t, "a", `echo >`+started+`; exec cat `+fifo(t, w.cwd+"/holds"))
	w.After(t.Context(), w.event(hook.Tree))
	line(t, started)
	for range script.MaxNotifications {
		w.After(t.Context(), w.event(hook.Tree))
	}
	require.Empty(t, w.allReports())
	w.After(t.Context(), w.event(hook.Tree))
	require.Len(t, w.allReports(), 1)
}

// Not parallel, because it counts allocations.
func TestWithoutExecutablesThereIsNothingToDo(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Remove(w.dir))
	w.After(t.Context(), w.event(hook.Start))
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		w.After(t.Context(), w.event(hook.Tree))
		_, _ = w.Before(t.Context(), w.event(hook.BeforeTree))
	}), float64(30), "a missing folder, twice")
	w.Close(t.Context())
	require.Empty(t, w.allReports())
}
