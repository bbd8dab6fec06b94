package agent

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStepsOfAChange prints the order in which a folder changes its session. Other
// programs' extensions rely on it.
// Proves: X-197, O-033, O-054, P-022
func TestStepsOfAChange(t *testing.T) {
	t.Parallel()
	names := func(tr transition) (names []string) {
		for _, s := range tr.steps() {
			names = append(names, s.name)
		}
		return names
	}
	stop := []string{"stop the current run", "flush the previous session"}
	open := []string{"open the target", "build its context"}
	end := []string{"make it the live session", "notify hooks"}
	require.Equal(t, slices.Concat([]string{"ask hooks"}, open, stop, end), names(transition{}))
	require.Equal(t, slices.Concat([]string{"ask hooks"}, stop, open, end), names(transition{sameFile: true}))
}

// TestAFailureAtAnyStepUndoesAllBeforeIt fails each step in turn.
// Proves: X-207, O-055
func TestAFailureAtAnyStepUndoesAllBeforeIt(t *testing.T) {
	t.Parallel()
	failure := errors.New("broken")
	for failing := range 5 {
		var log []string
		var steps []step
		for i := range 5 {
			name := string(rune('a' + i))
			steps = append(steps, step{
				name: name,
				do: func(context.Context) error {
					if i == failing {
						return failure
					}
					log = append(log, "do "+name)
					return nil
				},
				undo: func() error {
					log = append(log, "undo "+name)
					return nil
				},
			})
		}
		steps[2].undo = nil
		require.ErrorIs(t, runSteps(t.Context(), steps), failure)
		var want []string
		for i := range failing {
			want = append(want, "do "+steps[i].name)
		}
		for i := range slices.Backward(steps[:failing]) {
			if steps[i].undo != nil {
				want = append(want, "undo "+steps[i].name)
			}
		}
		require.Equal(t, want, log)
	}
}

func TestCancelledChangeIsUndone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	undone := false
	err := runSteps(ctx, []step{
		{name: "first", do: func(context.Context) error { cancel(); return nil }, undo: func() error { undone = true; return nil }},
		{name: "never", do: func(context.Context) error { t.Error("ran after the cancellation"); return nil }},
	})
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, undone)
}
