package session_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// aged is a session that was used so many days before noon.
func aged(id string, days int, change ...func(*session.PurgeSession)) session.PurgeSession {
	at := noon.AddDate(0, 0, -days)
	s := session.PurgeSession{Path: "/s/" + id + ".jsonl", ID: id, Name: id, Size: 10, ModTime: at, LastEntry: at}
	for _, c := range change {
		c(&s)
	}
	return s
}

func kept(why session.PurgeReason) func(*session.PurgeSession) {
	return func(s *session.PurgeSession) { s.Keep = why }
}

func forkOf(parent string) func(*session.PurgeSession) {
	return func(s *session.PurgeSession) { s.Parent = parent }
}

// planned are the sessions of a plan, in its order.
func planned(items []session.PurgeItem) []string {
	list := []string{}
	for _, i := range items {
		list = append(list, i.ID)
	}
	return list
}

// reasons are the protected sessions with why they are.
func reasons(p session.PurgePlan) map[string]session.PurgeReason {
	why := map[string]session.PurgeReason{}
	for _, i := range p.Protected {
		why[i.ID] = i.Reason
	}
	return why
}

func TestPlanPurge(t *testing.T) {
	t.Parallel()
	type protected = map[string]session.PurgeReason
	for name, c := range map[string]struct {
		sessions  []session.PurgeSession
		forks     []string
		keep      int
		plan      []string
		protected protected
	}{
		"nothing": {plan: []string{}, protected: protected{}},
		"fewer than are kept": {
			sessions: []session.PurgeSession{aged("a", 400), aged("b", 500)}, keep: 50,
			plan: []string{}, protected: protected{"a": session.KeepNewest},
		},
		"the oldest go, the one used last first": {
			sessions: []session.PurgeSession{aged("a", 4), aged("b", 1), aged("c", 3), aged("d", 2)}, keep: 2,
			plan: []string{"c", "a"}, protected: protected{"b": session.KeepNewest},
		},
		"of one time the file changed last stays, then the later id": {
			sessions: []session.PurgeSession{
				aged("a", 5), aged("b", 5), aged("c", 5, func(s *session.PurgeSession) { s.ModTime = noon }),
			}, keep: 2,
			plan: []string{"a"}, protected: protected{"c": session.KeepNewest},
		},
		"keep 0 leaves what is protected": {
			sessions: []session.PurgeSession{
				aged("new", 1), aged("old", 2), aged("live", 9, kept(session.KeepLive)), aged("locked", 9, kept(session.KeepLocked)),
				aged("titled", 9, kept(session.KeepTitled)), aged("labelled", 9, kept(session.KeepLabelled)),
				aged("continued", 9, kept(session.KeepContinued)), aged("damaged", 9, kept(session.KeepDamaged)),
				aged("newer", 9, kept(session.KeepNewer)), aged("junk", 9, kept(session.KeepUnreadable)),
			},
			plan: []string{"old"}, protected: protected{
				"new": session.KeepNewest, "live": session.KeepLive, "locked": session.KeepLocked, "titled": session.KeepTitled,
				"labelled": session.KeepLabelled, "continued": session.KeepContinued, "damaged": session.KeepDamaged,
				"newer": session.KeepNewer, "junk": session.KeepUnreadable,
			},
		},
		"what is protected counts towards keep": {
			sessions: []session.PurgeSession{aged("a", 1), aged("b", 2, kept(session.KeepTitled)), aged("c", 3), aged("d", 4)}, keep: 2,
			plan: []string{"c", "d"}, protected: protected{"a": session.KeepNewest, "b": session.KeepTitled},
		},
		"what is protected beyond keep costs nothing newer its place": {
			sessions: []session.PurgeSession{aged("a", 1), aged("b", 2), aged("c", 3, kept(session.KeepLabelled)), aged("d", 4)}, keep: 2,
			plan: []string{"d"}, protected: protected{"a": session.KeepNewest, "c": session.KeepLabelled},
		},
		"a time to come counts as now": {
			sessions: []session.PurgeSession{
				aged("future", 900, func(s *session.PurgeSession) { s.LastEntry = noon.AddDate(73, 0, 0) }),
				aged("a", 1), aged("b", 2), aged("c", 3),
			}, keep: 2,
			// The file says that a is the newest, so that it stays although the other is first.
			plan: []string{"b", "c"}, protected: protected{"future": session.KeepNewest, "a": session.KeepNewest},
		},
		"a file from the future with old entries is an old one": {
			sessions: []session.PurgeSession{
				aged("future", 9, func(s *session.PurgeSession) { s.ModTime = noon.AddDate(1, 0, 0) }), aged("a", 1), aged("b", 2),
			},
			plan: []string{"b"}, protected: protected{"future": session.KeepNewest, "a": session.KeepNewest},
		},
		"without a time in it the file's counts": {
			sessions: []session.PurgeSession{aged("a", 1, func(s *session.PurgeSession) { s.LastEntry = time.Time{} }), aged("b", 2)}, keep: 1,
			plan: []string{"b"}, protected: protected{"a": session.KeepNewest},
		},
		"each folder and each program has a newest": {
			sessions: []session.PurgeSession{
				aged("a", 1), aged("b", 2), aged("c", 3, func(s *session.PurgeSession) { s.Folder = "/v" }),
				aged("d", 4, func(s *session.PurgeSession) { s.Folder = "/v" }), aged("e", 5, func(s *session.PurgeSession) { s.Origin = session.Pi }),
			},
			plan: []string{"b", "d"}, protected: protected{"a": session.KeepNewest, "c": session.KeepNewest, "e": session.KeepNewest},
		},
		"each folder keeps as many": {
			sessions: []session.PurgeSession{
				aged("a", 1), aged("b", 2), aged("c", 3, func(s *session.PurgeSession) { s.Folder = "/v" }),
				aged("d", 4, func(s *session.PurgeSession) { s.Folder = "/v" }), aged("e", 5),
			}, keep: 2,
			plan: []string{"e"}, protected: protected{"a": session.KeepNewest, "c": session.KeepNewest},
		},
		"the newest is one that can be gone on with": {
			sessions: []session.PurgeSession{aged("junk", 0, kept(session.KeepUnreadable)), aged("a", 1), aged("b", 2)},
			plan:     []string{"b"}, protected: protected{"junk": session.KeepUnreadable, "a": session.KeepNewest},
		},
		"parents of what stays stay, and theirs": {
			sessions: []session.PurgeSession{
				aged("new", 1, forkOf("p1")), aged("p1", 5, forkOf("/elsewhere/p2.jsonl")), aged("p2", 6, forkOf("p3")), aged("p3", 7),
				aged("x", 8, forkOf("y")), aged("y", 9),
			}, keep: 1,
			plan: []string{"x", "y"}, protected: protected{
				"new": session.KeepNewest, "p1": session.KeepParent, "p2": session.KeepParent, "p3": session.KeepParent,
			},
		},
		"parents of forks elsewhere stay": {
			sessions: []session.PurgeSession{aged("new", 1), aged("a", 2), aged("b", 3), aged("c", 4)},
			forks:    []string{"a", `C:\sessions\b.jsonl`},
			plan:     []string{"c"}, protected: protected{"new": session.KeepNewest, "a": session.KeepParent, "b": session.KeepParent},
		},
		"forks that lead in a circle": {
			sessions: []session.PurgeSession{aged("new", 1), aged("a", 2, forkOf("b")), aged("b", 3, forkOf("a"))},
			plan:     []string{"a", "b"}, protected: protected{"new": session.KeepNewest},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := slices.Clone(c.sessions)
			p := session.PlanPurge(c.sessions, c.forks, c.keep, noon)
			require.Equal(t, c.plan, planned(p.Plan))
			require.Equal(t, c.protected, reasons(p))
			require.Equal(t, given, c.sessions, "what is given stays as it is")
			for _, i := range p.Plan {
				require.Equal(t, session.PurgeOld, i.Reason)
				require.Contains(t, i.Message, fmt.Sprint(c.keep))
			}
			for _, i := range slices.Concat(p.Plan, p.Protected) {
				require.NotEmpty(t, i.Message)
				at, ok := session.ParseTime(i.LastUsed)
				require.True(t, ok && !at.After(noon), i.LastUsed)
			}
			slices.Reverse(c.sessions)
			again := session.PlanPurge(c.sessions, c.forks, c.keep, noon)
			require.Equal(t, p, again, "the order in which sessions come does not count")
			require.Equal(t, p.Token(), again.Token())
		})
	}
}

func TestThePlansTokenChangesWithTheSessions(t *testing.T) {
	t.Parallel()
	base := func() []session.PurgeSession {
		return []session.PurgeSession{aged("a", 1), aged("b", 2), aged("c", 3), aged("t", 4, kept(session.KeepTitled)), aged("l", 5, kept(session.KeepLive))}
	}
	token := func(sessions []session.PurgeSession) string { return session.PlanPurge(sessions, nil, 2, noon).Token() }
	was := token(base())
	require.Len(t, was, 32)
	for name, change := range map[string]func(s []session.PurgeSession) []session.PurgeSession{
		"a session of the plan grew":     func(s []session.PurgeSession) []session.PurgeSession { s[2].Size++; return s },
		"one was touched":                func(s []session.PurgeSession) []session.PurgeSession { s[2].ModTime = s[2].ModTime.Add(1); return s },
		"a protected one grew":           func(s []session.PurgeSession) []session.PurgeSession { s[3].Size++; return s },
		"one got a title":                func(s []session.PurgeSession) []session.PurgeSession { s[2].Keep = session.KeepTitled; return s },
		"one is gone":                    func(s []session.PurgeSession) []session.PurgeSession { return slices.Delete(s, 2, 3) },
		"one came":                       func(s []session.PurgeSession) []session.PurgeSession { return append(s, aged("n", 0)) },
		"one came that is old":           func(s []session.PurgeSession) []session.PurgeSession { return append(s, aged("o", 99)) },
		"one is another session":         func(s []session.PurgeSession) []session.PurgeSession { s[2].ID = "z"; return s },
		"one was forked":                 func(s []session.PurgeSession) []session.PurgeSession { s[0].Parent = "c"; return s },
		"the open one is open no longer": func(s []session.PurgeSession) []session.PurgeSession { s[4].Keep = ""; return s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotEqual(t, was, token(change(base())))
		})
	}
	growing := base()
	growing[4].Size, growing[4].ModTime = 99, noon
	require.Equal(t, was, token(growing), "what is open is written to")
	growing[4].LastEntry = noon
	require.NotEqual(t, was, token(growing), "it is the one used last now, so that another one has to go")
}
