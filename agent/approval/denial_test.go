package approval_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
)

// The end of plan mode requires an answer in every mode, whatever the rules allow; no answer allows the next
// one, and a change of the mode is no answer.
func TestTheEndOfPlanModeIsAlwaysAsked(t *testing.T) {
	t.Parallel()
	for _, mode := range approval.Modes {
		synctest.Test(t, func(t *testing.T) {
			g := approval.NewGate(approval.Config{Root: "/w", Mode: mode, Memory: allTools{}, Sandbox: true})
			answers := make(chan answer, 2)
			for _, id := range []string{"a", "b"} {
				asking(t.Context(), g, approval.Request{ID: id, Tool: "exit_plan_mode", Args: []byte(`{"title":"P"}`), EndsPlan: true}, answers)
				require.Len(t, g.Pending(), 1)
				for _, other := range approval.Modes {
					require.NoError(t, g.SetMode(other))
					require.Len(t, g.Pending(), 1)
				}
				require.Empty(t, g.Pending()[0].Rules)
				require.NoError(t, g.Answer(id, approval.Workspace))
				require.NoError(t, (<-answers).err)
			}
		})
	}
}

// allTools is a memory that must not be asked to remember anything.
type allTools struct{}

func (allTools) Rules(string) ([]approval.Rule, error) {
	return []approval.Rule{{Tool: "exit_plan_mode"}}, nil
}

func (allTools) Add(string, []approval.Rule) error { panic("a rule was stored") }

// A denial gives the model the user's reason, from the prompt as from elsewhere.
func TestADenialHasAReason(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
		answers := make(chan answer, 1)
		asking(t.Context(), g, edit("a", "/w/x"), answers)
		require.NoError(t, g.Deny("a", " Not this file.\n"))
		require.EqualError(t, (<-answers).err, "The user denied this edit call. The user's reason: Not this file.")
		g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) {
			return approval.Once, &approval.Denial{Reason: "Never."}
		})
		asking(t.Context(), g, edit("b", "/w/x"), answers)
		require.EqualError(t, (<-answers).err, "The user denied this edit call. The user's reason: Never.")
		require.Error(t, g.Deny("b", "again"))
	})
}
