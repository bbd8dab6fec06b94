package hook_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
)

// scripted is a hook that follows a script and records its calls.
type scripted struct {
	name   string
	cancel bool
	err    error
	panics any
	calls  *[]string
	seen   *hook.Event
}

func (s scripted) Before(ctx context.Context, e hook.Event) (hook.Decision, error) {
	s.note(ctx, "before", e)
	return hook.Decision{Cancel: s.cancel, By: s.name}, s.err
}

func (s scripted) After(ctx context.Context, e hook.Event) { s.note(ctx, "after", e) }

func (s scripted) note(ctx context.Context, when string, e hook.Event) {
	*s.calls = append(*s.calls, fmt.Sprint(when, " ", s.name, " ", ctx.Value(key{})))
	if s.seen != nil {
		*s.seen = e
	}
	if s.panics != nil {
		panic(s.panics)
	}
}

type key struct{}

// Proves: O-063 (the first veto ends it), O-064
func TestBefore(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		hooks   []scripted
		by      string // the hook that refused
		calls   []string
		reports []string
	}{
		"no hooks": {},
		"no hook vetoes": {
			hooks: []scripted{{name: "a"}, {name: "b"}},
			calls: []string{"before a x", "before b x"},
		},
		"the first veto ends it, later hooks do not run": {
			hooks: []scripted{{name: "a"}, {name: "b", cancel: true}, {name: "c", cancel: true}},
			by:    "b",
			calls: []string{"before a x", "before b x"},
		},
		"an error is reported and is not a no": {
			hooks:   []scripted{{name: "a", err: broken}, {name: "b"}},
			calls:   []string{"before a x", "before b x"},
			reports: []string{"hook session_before_switch: broken"},
		},
		"a no with an error is not a no": {
			hooks:   []scripted{{name: "a", cancel: true, err: broken}},
			calls:   []string{"before a x"},
			reports: []string{"hook session_before_switch: broken"},
		},
		"a panic is reported and is not a no": {
			hooks:   []scripted{{name: "a", cancel: true, panics: "boom"}, {name: "b"}},
			calls:   []string{"before a x", "before b x"},
			reports: []string{"hook session_before_switch: panic: boom"},
		},
		"a no after an error is a no": {
			hooks:   []scripted{{name: "a", err: broken}, {name: "b", cancel: true}},
			by:      "b",
			calls:   []string{"before a x", "before b x"},
			reports: []string{"hook session_before_switch: broken"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls, reports []string
			r := runner(tc.hooks, &calls, &reports)
			ctx := context.WithValue(t.Context(), key{}, "x")
			require.Equal(t, hook.Decision{Cancel: tc.by != "", By: tc.by}, r.Before(ctx, hook.Event{Name: hook.BeforeSwitch}))
			require.Equal(t, tc.calls, calls)
			require.Equal(t, tc.reports, reports)
		})
	}
}

// Proves: O-064
func TestAfterNotifiesEveryHook(t *testing.T) {
	t.Parallel()
	var calls, reports []string
	r := runner([]scripted{{name: "a", panics: errors.New("boom")}, {name: "b", cancel: true}, {name: "c"}}, &calls, &reports)
	r.After(context.WithValue(t.Context(), key{}, "x"), hook.Event{Name: hook.Branch})
	require.Equal(t, []string{"after a x", "after b x", "after c x"}, calls)
	require.Equal(t, []string{"hook session_branch: panic: boom"}, reports)
}

func TestHooksGetTheWholeEvent(t *testing.T) {
	t.Parallel()
	var calls []string
	var seen hook.Event
	r := hook.Runner{Hooks: []hook.Hook{scripted{name: "a", calls: &calls, seen: &seen}}}
	e := hook.Event{
		Name: hook.BeforeSwitch, Reason: "resume", Cwd: "/w",
		TargetSessionFile: "/s/b.jsonl", PreviousSessionFile: "/s/a.jsonl", EntryID: "aaaaaaaa",
	}
	ctx := context.WithValue(t.Context(), key{}, "x")
	r.Before(ctx, e)
	require.Equal(t, e, seen)
	e.Name = hook.Switch
	r.After(ctx, e)
	require.Equal(t, e, seen)
}

// A caller without a report function gets no failures.
func TestFailuresWithoutAReport(t *testing.T) {
	t.Parallel()
	var calls []string
	r := hook.Runner{Hooks: []hook.Hook{scripted{name: "a", calls: &calls, panics: "boom"}}}
	ctx := context.WithValue(t.Context(), key{}, "x")
	require.Zero(t, r.Before(ctx, hook.Event{}))
	r.After(ctx, hook.Event{})
	require.Len(t, calls, 2)
}

func runner(hooks []scripted, calls, reports *[]string) hook.Runner {
	r := hook.Runner{Report: func(err error) { *reports = append(*reports, err.Error()) }}
	for _, h := range hooks {
		h.calls = calls
		r.Hooks = append(r.Hooks, h)
	}
	return r
}

// writer is a hook that gives a summary and adds entries.
type writer struct {
	scripted
	add *hook.Add
}

func (w writer) Attach(add hook.Add) { *w.add = add }

// Proves: O-063
func TestTheLastCompactionCountsUnlessAHookRefuses(t *testing.T) {
	t.Parallel()
	give := func(summary string) hook.Hook {
		return deciding{hook.Decision{Compaction: &hook.Compaction{Summary: summary}}}
	}
	first, second, refuse := give("first"), give("second"), deciding{hook.Decision{Cancel: true, By: "guard"}}
	e := hook.Event{Name: hook.BeforeCompact}
	require.Equal(t, "second", hook.Runner{Hooks: []hook.Hook{first, second, deciding{}}}.Before(t.Context(), e).Compaction.Summary)
	require.Equal(t, hook.Decision{Cancel: true, By: "guard"}, hook.Runner{Hooks: []hook.Hook{first, refuse, second}}.Before(t.Context(), e))
}

func TestOnlyWritersAddEntries(t *testing.T) {
	t.Parallel()
	var got hook.Add
	called := 0
	r := hook.Runner{Hooks: []hook.Hook{deciding{}, writer{add: &got}}}
	r.Attach(func(context.Context, hook.Event, string, []hook.Entry) error {
		called++
		return nil
	})
	require.NoError(t, got(t.Context(), hook.Event{}, "", nil))
	require.Equal(t, 1, called)
}

// deciding is a hook with one answer.
type deciding struct{ d hook.Decision }

func (d deciding) Before(context.Context, hook.Event) (hook.Decision, error) { return d.d, nil }

func (deciding) After(context.Context, hook.Event) {}
