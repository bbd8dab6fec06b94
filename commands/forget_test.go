package commands_test

import (
	"fmt"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

func TestForget(t *testing.T) {
	t.Parallel()
	env, _ := past(t)
	prompts := do(t, env, "xcsh.history", nil)["prompts"].([]any)
	id := prompts[1].(map[string]any)["id"]
	require.Equal(t, args{"forgotten": 1.0}, do(t, env, "xcsh.forget", args{"ids": []any{id, 4711}}))
	require.Equal(t, "[4 2 1 0]", fmt.Sprint(historyOf(t, env, nil)))
	require.Equal(t, args{"forgotten": 2.0}, do(t, env, "xcsh.forget", args{"prompts": []string{"prompt number 0", "prompt number 2", "prompt"}}))
	require.Equal(t, "[4 1]", fmt.Sprint(historyOf(t, env, nil)))
	require.Equal(t, args{"forgotten": 2.0}, do(t, env, "xcsh.forget", args{"all": true, "confirm": true, "compact": true}))
	require.Empty(t, historyOf(t, env, nil))
}

// No prompt is removed by accident.
// Proves: N-04
func TestForgetRejectsInvalidArguments(t *testing.T) {
	t.Parallel()
	env, _ := past(t)
	many := make([]int, 1001)
	for field, list := range map[string][]args{
		"ids":     {{"confirm": true}, {"ids": []int{}}, {"prompts": []string{}}, {"ids": many}},
		"all":     {{"all": true, "ids": []int{1}}, {"all": true, "prompts": []string{"x"}, "confirm": true}},
		"confirm": {{"all": true}, {"all": true, "confirm": false}, {"ids": []int{1}, "confirm": false}},
	} {
		for _, a := range list {
			_, err := run(t.Context(), env, "xcsh.forget", a)
			require.Equal(t, field, requireKind(t, fault.InvalidArgument, err).Data["field"], a)
		}
	}
	require.Len(t, historyOf(t, env, nil), 5)
}

// A call without arguments asks the user for one of the newest prompts.
func TestForgetAsksWhichPrompt(t *testing.T) {
	t.Parallel()
	env, _ := past(t)
	_, err := run(t.Context(), env, "xcsh.forget", nil)
	require.Len(t, requireKind(t, fault.ArgumentNeeded, err).Data["choices"], 5)
	who := &answering{answer: 1}
	env.UI = who
	require.Equal(t, args{"forgotten": 1.0}, do(t, env, "xcsh.forget", nil))
	require.Equal(t, "[4 2 1 0]", fmt.Sprint(historyOf(t, env, nil)))
	require.Len(t, who.asked, 1)
}

// Removing all prompts requires confirmation if the user can be asked.
func TestForgettingAllNeedsConfirmation(t *testing.T) {
	t.Parallel()
	for answer, left := range map[int]int{commands.Closed: 5, 1: 5, 0: 0} {
		env, _ := past(t)
		who := &answering{answer: answer}
		env.UI = who
		_, err := run(t.Context(), env, "xcsh.forget", args{"all": true})
		if left > 0 {
			requireKind(t, fault.Cancelled, err)
		} else {
			require.NoError(t, err)
		}
		require.Len(t, who.asked, 1)
		require.Len(t, historyOf(t, env, nil), left)
		do(t, env, "xcsh.forget", args{"prompts": []string{"prompt number 1"}})
		require.Len(t, who.asked, 1, "named prompts need no confirmation")
	}
}

// Without a history there is no prompt to remove.
func TestForgetWithoutAHistory(t *testing.T) {
	t.Parallel()
	env := newEnv(afero.NewMemMapFs())
	require.Equal(t, args{"forgotten": 0.0}, do(t, env, "xcsh.forget", args{"all": true, "confirm": true}))
}
