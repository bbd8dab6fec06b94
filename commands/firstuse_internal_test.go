package commands

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// An engine that is known not to do something refuses it with its name; one that does not run yet may still learn it.
func TestWhatAnEngineCannotDo(t *testing.T) {
	t.Parallel()
	for sentence, a := range map[string]ability{
		"pi cannot be steered. Wait, or stop it first.":  steering,
		"pi takes no images.":                            images,
		"pi cannot go back. Fork the session instead.":   branching,
		"pi does not compact a conversation on request.": compacting,
		"pi chooses its model itself.":                   choosing,
	} {
		for _, state := range []engine.State{engine.Ready, engine.Running} {
			err := a.of(engine.Status{Name: "pi", State: state})
			require.EqualError(t, err, sentence)
			require.Equal(t, fault.Denied, fault.KindOf(err))
		}
		require.NoError(t, a.of(engine.Status{Name: "pi", State: engine.Known}))
		require.NoError(t, a.of(engine.Status{Name: engine.Own, State: engine.Ready}))
		all := engine.Can{Steer: true, Branch: true, Compact: true, Images: true, Files: true, Permission: true, Models: true, Login: true}
		require.NoError(t, a.of(engine.Status{Name: "pi", State: engine.Ready, Can: all}))
	}
}

// The error of a prompt names the ways to continue, by the class of the failure.
func TestTheWaysToContinue(t *testing.T) {
	t.Parallel()
	hosted, own := engine.Status{Name: "pi"}, engine.Status{Name: engine.Own}
	offer := &EngineOffer{Engine: "omp"}
	failure := fault.New(fault.Provider, "It failed.")
	given := []event.Action{{Title: "Given"}}
	for name, tc := range map[string]struct {
		err     error
		current engine.Status
		want    []string
	}{
		"no login":             {failure.With("class", "login"), hosted, []string{"Log In"}},
		"ended":                {failure.With("class", "engine"), hosted, []string{"Start Again", "Use xcsh-ls"}},
		"ended long ago":       {failure.With("class", "engine"), own, nil},
		"no model":             {failure, own, []string{"Use omp"}},
		"signed in":            {failure.With("reason", provider.NeedsKey).With("program", "pi"), own, []string{"Use omp", "Use pi", "Enter Key…", "Choose Another Model"}},
		"signed in, offered":   {failure.With("reason", provider.NeedsKey).With("program", "omp"), own, []string{"Use omp", "Enter Key…", "Choose Another Model"}},
		"a service":            {failure.With("class", "auth"), own, nil},
		"with actions already": {failure.With("class", "login").With("actions", given), hosted, []string{"Given"}},
		"another kind":         {fault.New(fault.Busy, "Wait.").With("class", "login"), hosted, nil},
		"another error":        {errors.New("odd"), hosted, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := withActions(tc.err, tc.current, offer)
			require.EqualError(t, err, tc.err.Error())
			var titles []string
			if f, ok := asFault(err); ok {
				actions, _ := f.Data["actions"].([]event.Action)
				for _, a := range actions {
					titles = append(titles, a.Title)
				}
			}
			require.Equal(t, tc.want, titles)
		})
	}
}

func TestTheArticleOfAnEngine(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a pi", "an omp", "an opencode", "a "}, []string{withArticle("pi"), withArticle("omp"), withArticle("opencode"), withArticle("")})
}
