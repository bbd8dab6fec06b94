//go:build unix

package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

// addition is a call of [hook.Add].
type addition struct {
	event   hook.Event
	by      string
	entries []hook.Entry
}

// collect records the entries of the hooks.
func (w *world) collect() (added func() []addition) {
	var mu sync.Mutex
	var all []addition
	w.Attach(func(_ context.Context, e hook.Event, by string, entries []hook.Entry) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, addition{e, by, entries})
		return nil
	})
	return func() []addition {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

func state(data string) []hook.Entry {
	return []hook.Entry{{Type: hook.Custom, CustomType: "x", Data: json.RawMessage(data)}}
}

// Executables add entries before and after changes, in their order, also those that refuse.
func TestEntriesOfExecutables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	added := w.collect()
	w.put(t, "10-a.sh", `echo '{"entries":[{"type":"custom","customType":"x","data":1}]}'`)
	w.put(t, "20-b.sh", `echo '{"cancel":true,"entries":[{"type":"custom","customType":"x","data":2}]}'`)
	w.put(t, "30-c.sh", `echo '{"entries":[{"type":"custom","customType":"x","data":3}]}'`)
	require.Equal(t, hook.Decision{Cancel: true, By: "20-b.sh"}, w.ask(t))
	before, after := w.event(hook.BeforeFork), w.event(hook.Tree)
	require.Equal(t, []addition{{before, "10-a.sh", state("1")}, {before, "20-b.sh", state("2")}}, added())
	w.After(t.Context(), after)
	w.Close(t.Context())
	require.Equal(t, []addition{{after, "10-a.sh", state("1")}, {after, "20-b.sh", state("2")}, {after, "30-c.sh", state("3")}}, added()[2:])
	require.Empty(t, w.allReports())
}

// An invalid answer adds nothing and is reported; words after a change are ignored.
func TestInvalidEntriesOfExecutables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	added := w.collect()
	w.put(t, "a.sh", `echo '{"cancel":true,"entries":[{"type":"message","customType":"x"}]}'`)
	require.True(t, w.ask(t).Cancel, "it refuses all the same")
	w.put(t, "a.sh", `echo 'done: {"entries":[1]}'`)
	w.After(t.Context(), w.event(hook.Tree))
	w.Close(t.Context())
	require.Empty(t, added())
	require.Len(t, w.allReports(), 1)
	require.True(t, strings.HasPrefix(w.allReports()[0], `a.sh| The hook a.sh returned an invalid entry, so that none was added: entries[0]: its type is "message"`), w.allReports()[0])
}

func TestEntriesThatCannotBeAddedAreReported(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "a.sh", `echo '{"entries":[{"type":"custom","customType":"x"}]}'`)
	require.Zero(t, w.ask(t))
	w.Attach(func(context.Context, hook.Event, string, []hook.Entry) error { return errors.New("the disk\nis full") })
	require.Zero(t, w.ask(t))
	require.Equal(t, []string{
		"a.sh| The hook a.sh could not add entries to the session: entries are not supported here.",
		"a.sh| The hook a.sh could not add entries to the session: the disk is full.",
	}, w.allReports())
}

// The last executable's summary counts; one that is invalid is reported, and the others count.
func TestSummariesOfExecutables(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(t, "10-a.sh", `echo '{"compaction":{"summary":"first"}}'`)
	w.put(t, "20-b.sh", `echo '{"compaction":{"summary":"second"}}'`)
	w.put(t, "30-c.sh", `echo '{"compaction":{"summary":""}}'`)
	d, err := w.Before(t.Context(), w.event(hook.BeforeCompact))
	require.NoError(t, err)
	require.Equal(t, hook.Decision{Compaction: &hook.Compaction{By: "20-b.sh", Summary: "second"}}, d)
	require.Equal(t, []string{"30-c.sh| The hook 30-c.sh returned an invalid compaction, which was not used: summary is missing for session_before_compact."}, w.allReports())
	require.Zero(t, w.ask(t), "another event")
}
