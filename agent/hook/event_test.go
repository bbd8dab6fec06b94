package hook_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

func TestEventsHaveTheNamesOfTheTerminalPrograms(t *testing.T) {
	t.Parallel()
	require.Equal(t, []hook.Name{
		"session_start", "session_before_switch", "session_switch", "session_before_fork", "session_branch",
		"session_before_tree", "session_tree", "session_before_compact", "session_compact", "session_before_rewind", "session_rewind", "session_shutdown",
	}, hook.Names())
	var asking []hook.Name
	for _, n := range hook.Names() {
		if n.Asks() {
			asking = append(asking, n)
		}
	}
	require.Equal(t, []hook.Name{hook.BeforeSwitch, hook.BeforeFork, hook.BeforeTree, hook.BeforeCompact, hook.BeforeRewind}, asking)
}

func TestAnEventAsJSON(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]hook.Event{
		`{"type":"session_start","cwd":"/w","sessionId":"id"}`: {Name: hook.Start, Cwd: "/w", SessionID: "id"},
		`{"type":"session_rewind","cwd":"/w","sessionId":"id","plan":{"files":2,"conflicts":0,"conversation":true}}`: {
			Name: hook.Rewind, Cwd: "/w", SessionID: "id", Plan: &hook.RewindPlan{Files: 2, Conversation: true},
		},
		`{"type":"t","cwd":"c","sessionId":"i","sessionFile":"f","reason":"r","targetSessionFile":"t","previousSessionFile":"p","entryId":"e",` +
			`"position":"at","oldLeafId":"o","newLeafId":"n","userWantsSummary":true,"customInstructions":"ci","willRetry":true}`: {
			Name: "t", Cwd: "c", SessionID: "i", SessionFile: "f", Reason: "r", TargetSessionFile: "t", PreviousSessionFile: "p", EntryID: "e",
			Position: "at", OldLeafID: "o", NewLeafID: "n", UserWantsSummary: true, CustomInstructions: "ci", WillRetry: true,
		},
	} {
		got, err := json.Marshal(e)
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

func TestDecisionsInWords(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		d               hook.Decision
		by, whatHappens string
	}{
		{hook.Decision{Cancel: true}, "hook", "A hook cancelled the move."},
		{hook.Decision{Cancel: true, By: "guard.sh"}, "hook guard.sh", "The hook guard.sh cancelled the move."},
		{hook.Decision{Cancel: true, Reason: "no"}, "hook: no", "A hook cancelled the move: no"},
		{hook.Decision{Cancel: true, By: "guard.sh", Reason: "Not today."}, "hook guard.sh: Not today.", "The hook guard.sh cancelled the move: Not today."},
	} {
		require.Equal(t, tc.by, tc.d.String())
		require.Equal(t, tc.whatHappens, tc.d.Refusal("the move"))
	}
	require.Empty(t, hook.Decision{By: "guard.sh", Reason: "unused"}.String())
}

// closing is a hook that has something to finish.
type closing struct {
	scripted
	closed *context.Context
}

func (c closing) Close(ctx context.Context) {
	*c.closed = ctx
	panic("in the end")
}

func TestHooksThatHaveSomethingToFinishAreClosed(t *testing.T) {
	t.Parallel()
	var calls, reports []string
	var first, second context.Context
	r := runner(nil, &calls, &reports)
	r.Hooks = []hook.Hook{closing{closed: &first}, scripted{calls: &calls}, closing{closed: &second}}
	r.Close(t.Context())
	require.Equal(t, t.Context(), first)
	require.Equal(t, t.Context(), second)
	require.Equal(t, []string{"hook close: panic: in the end", "hook close: panic: in the end"}, reports)
}
