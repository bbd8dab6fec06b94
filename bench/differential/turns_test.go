//go:build peers

package differential

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// writers is one session file that both programs write to.
type writers struct {
	*world
	file    string
	log     *session.Log // nil: not open
	manager int          // pi's, which knows the content of the file at the time of opening; -1: not open
	only    string       // the only writer; "": both
}

func (w *world) session(file string) *writers { return &writers{world: w, file: file, manager: -1} }

func (s *writers) close() {
	s.t.Helper()
	if s.log != nil {
		require.NoError(s.t, s.log.Close())
	}
	s.log, s.manager = nil, -1
}

// ids are the ids of all entries.
func (s *writers) ids() (ids []string) {
	s.t.Helper()
	doc, err := s.kit.Store.Load(s.file)
	require.NoError(s.t, err)
	for i := range doc.Len() {
		ids = append(ids, doc.ID(i))
	}
	require.NoError(s.t, doc.Close())
	return ids
}

// operation is something that both programs can do, by the name of pi's method. ours is nil for an
// operation of pi only.
type operation struct {
	name string
	args func(s *writers, ids []string) []any
	ours func(l *session.Log, s *writers, args []any) error
	own  bool // of ours only
}

func appending(draft func(s *writers, args []any) *session.Draft) func(*session.Log, *writers, []any) error {
	return func(l *session.Log, s *writers, args []any) error {
		_, err := l.Append(draft(s, args))
		return err
	}
}

var appendMessage = operation{
	name: "appendMessage",
	args: func(s *writers, _ []string) []any { return []any{s.message()} },
	ours: appending(func(s *writers, a []any) *session.Draft { return session.DraftMessage(s.json(a[0])) }),
}

// operations lists frequent operations more than once.
var operations = []operation{
	appendMessage, appendMessage, appendMessage, appendMessage, appendMessage, appendMessage, {
		name: "appendThinkingLevelChange",
		args: func(s *writers, _ []string) []any { return []any{pick(s.world, "off", "low", "high", "max")} },
		ours: appending(func(_ *writers, a []any) *session.Draft {
			return session.DraftSetting(session.TypeThinkingLevel, rawjson.Quote(a[0].(string)))
		}),
	}, {
		name: "appendModelChange",
		args: func(s *writers, _ []string) []any {
			return []any{pick(s.world, "anthropic", "openai"), pick(s.world, "m-3", "vendor/m-4")}
		},
		ours: appending(func(_ *writers, a []any) *session.Draft {
			return session.DraftModelChange(session.Pi, a[0].(string), a[1].(string), "")
		}),
	}, {
		name: "appendCustomEntry",
		args: func(s *writers, _ []string) []any {
			return []any{pick(s.world, "extension", "xcsh-ls.change", "xcsh-ls.review"), s.anything(3)}
		},
		ours: appending(func(s *writers, a []any) *session.Draft { return session.DraftCustom(a[0].(string), s.json(a[1])) }),
	}, {
		name: "appendSessionInfo",
		args: func(s *writers, _ []string) []any { return []any{"name " + s.text() + "."} },
		ours: func(l *session.Log, _ *writers, a []any) error {
			_, err := l.SetTitle(session.Title{Text: a[0].(string), Source: "user"})
			return err
		},
	}, {
		name: "appendLabelChange",
		args: func(s *writers, ids []string) []any {
			return []any{pick(s.world, ids...), pick(s.world, "", "label", "größe 😀")}
		},
		ours: func(l *session.Log, _ *writers, a []any) error {
			_, err := l.SetLabel(a[0].(string), a[1].(string))
			return err
		},
	}, {
		name: "branch",
		args: func(s *writers, ids []string) []any { return []any{pick(s.world, ids...)} },
		ours: func(l *session.Log, _ *writers, a []any) error { return l.Branch(a[0].(string)) },
	}, {
		name: "a durable place",
		args: func(s *writers, ids []string) []any { return []any{pick(s.world, append(ids, "")...)} },
		ours: func(l *session.Log, _ *writers, a []any) error {
			_, err := l.AppendAt(a[0].(string), session.DraftCustom("xcsh-ls.branch", []byte("{}")))
			return err
		},
		own: true,
	}, {
		name: "resetLeaf",
		args: func(*writers, []string) []any { return nil },
		ours: func(l *session.Log, _ *writers, _ []any) error { return l.ResetLeaf() },
	}, {
		name: "branchWithSummary",
		args: func(s *writers, ids []string) []any {
			return []any{pick[any](s.world, nil, pick(s.world, ids...)), s.text()}
		},
		ours: func(l *session.Log, _ *writers, a []any) error {
			id, _ := a[0].(string)
			_, err := l.BranchWithSummary(id, a[1].(string))
			return err
		},
	}, {
		name: "appendCompaction",
		args: func(s *writers, ids []string) []any {
			return []any{s.text(), pick[any](s.world, nil, pick(s.world, ids...), "gone"), s.r.IntN(1000), s.anything(2), s.r.IntN(2) == 0}
		},
	}, {
		name: "appendCustomMessageEntry",
		args: func(s *writers, _ []string) []any {
			return []any{"extension", s.textOrBlocks(), s.r.IntN(2) == 0, s.anything(2)}
		},
	}, {
		name: "appendContextEdit",
		args: func(s *writers, ids []string) []any {
			return []any{pick(s.world, ids...), pick[any](s.world, nil, object{"content": s.textOrBlocks()})}
		},
	}, {
		name: "appendUsage",
		args: func(s *writers, _ []string) []any { return []any{"cache_warm", "anthropic", "m-1", usage(), s.text()} },
	},
}

// step makes one of the writers perform one operation.
func (s *writers) step() {
	s.t.Helper()
	ids := s.ids()
	op := pick(s.world, operations...)
	if len(ids) == 0 || op.own && s.only == "pi" {
		op = appendMessage // the other operations need an entry to refer to
	}
	args := op.args(s, ids)
	who := s.only
	if who == "" {
		who = pick(s.world, "we", "pi")
	}
	switch {
	case op.ours == nil:
		who = "pi"
	case op.own:
		who = "we"
	}
	if who == "we" {
		s.note("we %s %s", op.name, s.json(args))
		s.reopenOurs(4)
		require.NoError(s.t, op.ours(s.log, s, args))
		return
	}
	s.reopenPi(2)
	err := s.pi.call(s.manager, nil, op.name, args...)
	s.note("pi %s %s: %v", op.name, s.json(args), err)
}

// reopenOurs opens the session if it is not open, and in one of n cases reopens it. A session that
// stays open is refreshed, as the server does when a file changes.
func (s *writers) reopenOurs(n int) {
	s.t.Helper()
	if s.log == nil || s.r.IntN(n) == 0 {
		s.close()
		log, err := s.kit.Store.Open(s.file)
		require.NoError(s.t, err)
		s.log = log
	}
	_, err := s.log.Refresh()
	require.NoError(s.t, err)
}

// reopenPi does the same with pi. A session that is not reopened does not know the entries that we
// wrote since, and continues from its own leaf.
func (s *writers) reopenPi(n int) {
	s.t.Helper()
	if s.manager < 0 || s.r.IntN(n) == 0 {
		s.manager = s.pi.open("open", s.file)
		s.note("pi opens")
	}
}

// requireLog requires that the open session matches the file.
func (s *writers) requireLog() {
	s.t.Helper()
	if s.log == nil {
		return
	}
	_, err := s.log.Refresh()
	require.NoError(s.t, err)
	want := s.ours(s.file, nil, true)
	require.NoError(s.t, s.log.View(func(d *session.Document, _ session.Leaf) error {
		require.Equal(s.t, want, s.answerOf(d, nil, true))
		return nil
	}))
}

// take runs the writers and compares how both programs read the result.
func (s *writers) take(steps int) {
	s.t.Helper()
	for i := range steps {
		before := s.read(s.file)
		s.step()
		after := s.read(s.file)
		require.GreaterOrEqual(s.t, len(after), len(before))
		require.Equal(s.t, string(before), string(after[:len(before)]), "existing content has changed")
		if i%8 == 7 || i == steps-1 {
			s.requireLog()
			s.requireSame(s.file, s.some(s.ids()))
		}
	}
	s.close()
	s.requireSame(s.file, s.some(s.ids()))
}

// Proves, AB-031
func TestOurEntries(t *testing.T) {
	t.Parallel()
	w := run(t, 50, func(w *world) {
		s := w.session(w.begin())
		s.only = "we"
		s.take(24)
	})
	require.NotZero(t, w.rows)
}

// Proves: X-023 (every role, odd texts), X-027 (pi's), P-005
func TestEntriesOfPi(t *testing.T) {
	t.Parallel()
	w := run(t, 50, func(w *world) {
		s := w.session(w.begin())
		s.only = "pi"
		s.take(24)
	})
	require.NotZero(t, w.rows)
	require.NotZero(t, w.tails)
}

// Proves, X-076 (pi's order), X-080, X-092, X-093, X-115 (pi itself), X-144, P-002, P-004, P-013, P-014, P-015, P-021, P-025, F-03 (beside the real pi)
func TestTakingTurns(t *testing.T) {
	t.Parallel()
	w := run(t, 70, func(w *world) { w.session(w.begin()).take(40) })
	require.NotZero(t, w.rows)
	require.NotZero(t, w.tails)
}
