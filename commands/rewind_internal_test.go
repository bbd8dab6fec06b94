package commands

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// planner is a session whose plans are fixed.
type planner struct {
	plans []wire.RewindResult // each call takes the next
	err   error
	calls []wire.RewindArgs
}

func (p *planner) Rewind(_ context.Context, a wire.RewindArgs) (wire.RewindResult, error) {
	p.calls = append(p.calls, a)
	if p.err != nil {
		return wire.RewindResult{}, p.err
	}
	r := p.plans[0]
	p.plans = p.plans[1:]
	return r, nil
}

// answering answers questions by the texts of the buttons.
type answering struct {
	Headless
	answers         []string
	asked, notified []string
}

func (u *answering) Ask(_ context.Context, q Question) (int, error) {
	u.asked = append(u.asked, q.Text+" ["+strings.Join(q.Choices, "|")+"]")
	if len(u.answers) == 0 {
		return Unasked, nil
	}
	answer := u.answers[0]
	u.answers = u.answers[1:]
	for i, c := range q.Choices {
		if c == answer {
			return i, nil
		}
	}
	return Closed, nil
}

func (u *answering) Notify(_ context.Context, _ Level, text string) {
	u.notified = append(u.notified, text)
}

func talkTo(p *planner, u *answering) rewindTalk {
	env := &Env{UI: u, Fs: afero.NewMemMapFs(), Log: zap.NewNop()}
	return rewindTalk{cwd: "/w", ask: env.ask(), rewinder: p, show: func(context.Context, wire.RewindArgs, wire.RewindResult) error { return nil }}
}

func planOf(token string, paths ...wire.PlanPath) wire.RewindResult {
	r := wire.RewindResult{Plan: paths, PlanToken: &token}
	for _, p := range paths {
		if p.Action == wire.Conflict {
			r.Conflicts++
		}
	}
	return r
}

var (
	merged  = wire.PlanPath{Path: "/w/a.go", Action: wire.Merge, Added: 1, Removed: 2}
	removed = wire.PlanPath{Path: "/w/b.go", Action: wire.Remove}
	clash   = wire.PlanPath{Path: "/w/c.go", Action: wire.Conflict, Reason: wire.Overlaps, Text: "You changed lines 1-2, which the call changed, too."}
	done    = wire.RewindResult{Rewound: new(true), ID: "r", Files: 2}
)

func TestARewindIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answers  []string
		plans    []wire.RewindResult
		asked    []string
		tokens   []string // of the calls
		except   []string // of the last call
		kind     fault.Kind
		notified string
	}{
		"rewind": {
			[]string{"Rewind"},
			[]wire.RewindResult{planOf("t", merged, removed), done},
			[]string{"This will merge 1 file and remove 1 file. Rewind? [Rewind|Show|Cancel]"},
			[]string{"", "t"},
			nil, "", "Rewound 2 files.",
		},
		"show first": {
			[]string{"Show", "Rewind"},
			[]wire.RewindResult{planOf("t", merged), done},
			[]string{"This will merge 1 file. Rewind? [Rewind|Show|Cancel]", "This will merge 1 file. Rewind? [Rewind|Cancel]"},
			[]string{"", "t"},
			nil, "", "Rewound 2 files.",
		},
		"cancel": {
			[]string{"Cancel"},
			[]wire.RewindResult{planOf("t", merged)},
			[]string{"This will merge 1 file. Rewind? [Rewind|Show|Cancel]"},
			[]string{""},
			nil, fault.Cancelled, "",
		},
		"closed": {
			[]string{"nothing"},
			[]wire.RewindResult{planOf("t", merged)},
			[]string{"This will merge 1 file. Rewind? [Rewind|Show|Cancel]"},
			[]string{""},
			nil, fault.Cancelled, "",
		},
		"no user": {
			nil,
			[]wire.RewindResult{planOf("t", merged)},
			[]string{"This will merge 1 file. Rewind? [Rewind|Show|Cancel]"},
			[]string{""},
			nil, "", "",
		},
		"nothing": {
			nil,
			[]wire.RewindResult{planOf("t", wire.PlanPath{Path: "/w/a.go", Action: wire.None})},
			nil,
			[]string{""},
			nil, "", "There is nothing to undo: the files already have this state.",
		},
		"the others": {
			[]string{"Rewind the Others", "Rewind"},
			[]wire.RewindResult{planOf("", merged, clash), planOf("u", merged), done},
			[]string{
				"This will merge 1 file. 1 file can't be undone.\nc.go: You changed lines 1-2, which the call changed, too. [Rewind the Others|Show|Cancel]",
				"This will merge 1 file. Rewind? [Rewind|Show|Cancel]",
			},
			[]string{"", "", "u"},
			[]string{"/w/c.go"},
			"", "Rewound 2 files.",
		},
		"nothing but conflicts": {
			[]string{"Cancel"},
			[]wire.RewindResult{planOf("", clash)},
			[]string{"No file changes. 1 file can't be undone.\nc.go: You changed lines 1-2, which the call changed, too. [Show|Cancel]"},
			[]string{""},
			nil, fault.Cancelled, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, u := &planner{plans: tc.plans}, &answering{answers: tc.answers}
			_, err := talkTo(p, u).run(t.Context(), wire.RewindArgs{Before: new("p")})
			require.Equal(t, tc.kind, fault.KindOf(err))
			require.Equal(t, tc.asked, u.asked)
			var tokens []string
			for _, c := range p.calls {
				tokens = append(tokens, c.PlanToken)
				require.Equal(t, "p", *c.Before)
			}
			require.Equal(t, tc.tokens, tokens)
			require.Equal(t, tc.except, p.calls[len(p.calls)-1].Except)
			require.Equal(t, tc.notified, strings.Join(u.notified, "|"))
		})
	}
}

func TestAPlanThatFails(t *testing.T) {
	t.Parallel()
	_, err := talkTo(&planner{err: fault.New(fault.Busy, "busy")}, &answering{}).run(t.Context(), wire.RewindArgs{Before: new("p")})
	require.True(t, fault.Is(err, fault.Busy))
}

// Names of files can neither add rows nor links.
func TestPlansAndChangesAreEscaped(t *testing.T) {
	t.Parallel()
	evil := "/w/a`|](http://x)\n# b\x1b[31m.go"
	text := RewindPlanMarkdown("/w", planOf("t", wire.PlanPath{Path: evil, Action: wire.Conflict, Text: "a|b\nc"}))
	require.Equal(t, 1, strings.Count(text, "\n| a"), text)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, strings.ReplaceAll(text, `\]`, ""), "](http")
	changes := changesMarkdown("/w", wire.Changes{
		Totals: wire.Totals{Files: 1, Added: 1}, Limits: []wire.Limit{{Text: "x\n# y"}},
		Files: []wire.File{{Path: evil, Status: wire.Modified, Added: 1, Hunks: []wire.Hunk{{Text: "@@ -1 +1 @@\n+```\n+# end\n"}}}},
	})
	require.Contains(t, changes, "````diff\n@@ -1 +1 @@\n+```\n+# end\n````\n")
	require.NotContains(t, changes, "\x1b")
	require.NotContains(t, changes, "\n# b")
	require.NotContains(t, changes, "\n# y")
}

func TestWordsOfARewind(t *testing.T) {
	t.Parallel()
	require.Equal(t, "No file changes. The conversation goes back 2 prompts. HEAD has moved since. Commits stay.",
		RewindPlanText(wire.RewindResult{Conversation: true, Prompts: 2, Head: &wire.Head{Moved: true}}))
	require.Equal(t, "This will restore 2 files, create 1 file and remove 1 file.", RewindPlanText(planOf("t",
		wire.PlanPath{Action: wire.Restore}, wire.PlanPath{Action: wire.Remove}, wire.PlanPath{Action: wire.Restore}, wire.PlanPath{Action: wire.Create})))
	require.Equal(t, "Rewound 1 file. 2 files are not saved yet. 1 commit made by commands stays.",
		RewoundText(wire.RewindResult{Rewound: new(true), Files: 1, Unsaved: []string{"a", "b"}, Commits: []string{"c"}}))
	require.Equal(t, "No file was changed: cancelled by hook guard.", RewoundText(wire.RewindResult{Rewound: new(false), CancelledBy: "hook guard"}))
	require.Equal(t, "+1 −2; your changes stay", PlanNote(wire.PlanPath{Action: wire.Merge, Added: 1, Removed: 2, Yours: []wire.Range{{Start: 1, End: 2}}}))
	require.Empty(t, PlanNote(wire.PlanPath{Action: wire.Remove}))
}

func TestArgumentsOfARewind(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]wire.RewindArgs{
		"":             {Before: new("p"), Conversation: true, Summary: "x"},
		"before":       {Before: new("p"), To: new("q")},
		"before ":      {PlanToken: "t"},
		"before  ":     {Before: new("")},
		"to":           {To: new("")},
		"records":      {Records: []string{}},
		"hunks":        {Hunks: []wire.HunkRef{}},
		"paths":        {Paths: []string{}},
		"conversation": {Redo: new(""), Conversation: true},

		"conversation ": {Before: new("p"), Summarize: true},
	} {
		err := RewindArgs{RewindArgs: a}.check()
		if want == "" {
			require.NoError(t, err)
			continue
		}
		f, ok := asFault(err)
		require.True(t, ok, want)
		require.Equal(t, fault.InvalidArgument, f.Kind)
		require.Equal(t, strings.TrimSpace(want), f.Data["field"], fmt.Sprint(a))
	}
}
