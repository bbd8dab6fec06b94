package approval_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func proposal(id string) approval.Request {
	r := edit(id, "/w/x")
	r.Preview.Target = "/w/x"
	r.Preview.Base = tool.Sum([]byte("old\n"))
	return r
}

// A revision approves one call with the user's text, and nothing else.
func TestARevisionApprovesOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask, Memory: noRules{}})
		grants := make(chan approval.Grant, 1)
		go func() {
			grant, err := g.Ask(t.Context(), proposal("a"))
			assert.NoError(t, err)
			grants <- grant
		}()
		synctest.Wait()
		require.NoError(t, g.Revise("a", "the base", "mine\n"))
		grant := <-grants
		require.Equal(t, approval.Once, grant.Decision)
		require.Equal(t, &tool.Revision{Target: "/w/x", Base: "the base", Content: "mine\n"}, grant.Revision)
		require.True(t, fault.Is(g.Revise("a", "the base", "again"), fault.NotFound), "it is not pending any more")

		answers := make(chan answer, 1)
		asking(t.Context(), g, proposal("b"), answers)
		require.Len(t, g.Pending(), 1, "a revision is no rule")
		require.NoError(t, g.Answer("b", approval.Once))
		<-answers
	})
}

// noRules is a memory that must not be asked to remember anything.
type noRules struct{}

func (noRules) Rules(string) ([]approval.Rule, error) { return nil, nil }

func (noRules) Add(string, []approval.Rule) error { panic("a rule was stored") }

// Only the proposed text of one file that this program writes can be replaced. A refused answer leaves the prompt
// pending.
func TestOtherPromptsHaveNoRevision(t *testing.T) {
	t.Parallel()
	plan, hosted, kept, two, closed := proposal("a"), proposal("a"), proposal("a"), proposal("a"), edit("a", "/w/x")
	plan.EndsPlan, kept.Changed = true, true
	hosted.Hosted, hosted.Effect = "pi", approval.Changes
	two.Preview.Paths, two.Preview.Target = []string{"/w/x", "/w/y"}, ""
	for name, r := range map[string]approval.Request{
		"a command": command("a", "make"), "a plan": plan, "an engine's call": hosted, "a change that was made": kept,
		"two files": two, "without a base": closed,
	} {
		synctest.Test(t, func(t *testing.T) {
			g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
			answers := make(chan answer, 1)
			asking(t.Context(), g, r, answers)
			require.True(t, fault.Is(g.Revise("a", "base", "mine"), fault.InvalidArgument), name)
			require.Len(t, g.Pending(), 1, name)
			require.NoError(t, g.Answer("a", approval.Deny))
			<-answers
		})
	}
}

func TestARevisionIsChecked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := approval.NewGate(approval.Config{Root: "/w", Mode: approval.Ask})
		answers := make(chan answer, 1)
		asking(t.Context(), g, proposal("a"), answers)
		require.True(t, fault.Is(g.Revise("a", "", "mine"), fault.InvalidArgument), "without a base")
		require.True(t, fault.Is(g.Revise("a", "base", strings.Repeat("x", 16<<20+1)), fault.Limit))
		require.Len(t, g.Pending(), 1)
		require.NoError(t, g.Answer("a", approval.Deny))
		<-answers
	})
}
