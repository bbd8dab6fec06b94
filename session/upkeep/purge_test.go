package upkeep_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
	"github.com/xcsh-ls/xcsh-ls/session/upkeep"
)

// aged is a session that was used so many days before noon.
func aged(id string, days int, change ...func(*upkeep.PurgeSession)) upkeep.PurgeSession {
	at := kit.Noon.AddDate(0, 0, -days)
	s := upkeep.PurgeSession{Facts: library.Facts{Path: "/s/" + id + ".jsonl", ID: id, Name: id, Size: 10, ModTime: at, LastEntry: at}}
	for _, c := range change {
		c(&s)
	}
	return s
}

func kept(why string) func(*upkeep.PurgeSession) {
	return func(s *upkeep.PurgeSession) { s.Keep = why }
}

func forkOf(parent string) func(*upkeep.PurgeSession) {
	return func(s *upkeep.PurgeSession) { s.Parent = parent }
}

// planned are the sessions of a plan, in its order.
func planned(items []upkeep.PurgeItem) []string {
	list := []string{}
	for _, i := range items {
		list = append(list, i.ID)
	}
	return list
}

// reasons are the protected sessions with their reasons.
func reasons(p upkeep.PurgePlan) map[string]string {
	why := map[string]string{}
	for _, i := range p.Protected {
		why[i.ID] = i.Reason
	}
	return why
}

// Proves: AB-010, AB-046, AB-049
func TestPlanPurge(t *testing.T) {
	t.Parallel()
	type protected = map[string]string
	for name, c := range map[string]struct {
		sessions  []upkeep.PurgeSession
		forks     []string
		keep      int
		plan      []string
		protected protected
	}{
		"nothing": {plan: []string{}, protected: protected{}},
		"fewer than are kept": {
			sessions: []upkeep.PurgeSession{aged("a", 400), aged("b", 500)}, keep: 50,
			plan: []string{}, protected: protected{"a": upkeep.KeepNewest},
		},
		"the oldest go, the one used last first": {
			sessions: []upkeep.PurgeSession{aged("a", 4), aged("b", 1), aged("c", 3), aged("d", 2)}, keep: 2,
			plan: []string{"c", "a"}, protected: protected{"b": upkeep.KeepNewest},
		},
		"of one time the file changed last stays, then the later id": {
			sessions: []upkeep.PurgeSession{
				aged("a", 5), aged("b", 5), aged("c", 5, func(s *upkeep.PurgeSession) { s.ModTime = kit.Noon }),
			}, keep: 2,
			plan: []string{"a"}, protected: protected{"c": upkeep.KeepNewest},
		},
		"keep 0 leaves what is protected": {
			sessions: []upkeep.PurgeSession{
				aged("new", 1), aged("old", 2), aged("live", 9, kept(upkeep.KeepLive)), aged("locked", 9, kept(upkeep.KeepLocked)),
				aged("titled", 9, kept(upkeep.KeepTitled)), aged("labelled", 9, kept(upkeep.KeepLabelled)),
				aged("continued", 9, kept(upkeep.KeepContinued)), aged("damaged", 9, kept(upkeep.KeepDamaged)),
				aged("newer", 9, kept(upkeep.KeepNewer)), aged("junk", 9, kept(upkeep.KeepUnreadable)),
			},
			plan: []string{"old"}, protected: protected{
				"new": upkeep.KeepNewest, "live": upkeep.KeepLive, "locked": upkeep.KeepLocked, "titled": upkeep.KeepTitled,
				"labelled": upkeep.KeepLabelled, "continued": upkeep.KeepContinued, "damaged": upkeep.KeepDamaged,
				"newer": upkeep.KeepNewer, "junk": upkeep.KeepUnreadable,
			},
		},
		"what is protected counts towards keep": {
			sessions: []upkeep.PurgeSession{aged("a", 1), aged("b", 2, kept(upkeep.KeepTitled)), aged("c", 3), aged("d", 4)}, keep: 2,
			plan: []string{"c", "d"}, protected: protected{"a": upkeep.KeepNewest, "b": upkeep.KeepTitled},
		},
		"what is protected beyond keep costs nothing newer its place": {
			sessions: []upkeep.PurgeSession{aged("a", 1), aged("b", 2), aged("c", 3, kept(upkeep.KeepLabelled)), aged("d", 4)}, keep: 2,
			plan: []string{"d"}, protected: protected{"a": upkeep.KeepNewest, "c": upkeep.KeepLabelled},
		},
		"a time to come counts as now": {
			sessions: []upkeep.PurgeSession{
				aged("future", 900, func(s *upkeep.PurgeSession) { s.LastEntry = kit.Noon.AddDate(73, 0, 0) }),
				aged("a", 1), aged("b", 2), aged("c", 3),
			}, keep: 2,
			// According to the file a is the newest, so that it stays although the other is first.
			plan: []string{"b", "c"}, protected: protected{"future": upkeep.KeepNewest, "a": upkeep.KeepNewest},
		},
		"a file from the future with old entries is an old one": {
			sessions: []upkeep.PurgeSession{
				aged("future", 9, func(s *upkeep.PurgeSession) { s.ModTime = kit.Noon.AddDate(1, 0, 0) }), aged("a", 1), aged("b", 2),
			},
			plan: []string{"b"}, protected: protected{"future": upkeep.KeepNewest, "a": upkeep.KeepNewest},
		},
		"without a time in it the file's counts": {
			sessions: []upkeep.PurgeSession{aged("a", 1, func(s *upkeep.PurgeSession) { s.LastEntry = time.Time{} }), aged("b", 2)}, keep: 1,
			plan: []string{"b"}, protected: protected{"a": upkeep.KeepNewest},
		},
		"each folder and each program has a newest": {
			sessions: []upkeep.PurgeSession{
				aged("a", 1), aged("b", 2), aged("c", 3, func(s *upkeep.PurgeSession) { s.Folder = "/v" }),
				aged("d", 4, func(s *upkeep.PurgeSession) { s.Folder = "/v" }), aged("e", 5, func(s *upkeep.PurgeSession) { s.Origin = session.Pi }),
			},
			plan: []string{"b", "d"}, protected: protected{"a": upkeep.KeepNewest, "c": upkeep.KeepNewest, "e": upkeep.KeepNewest},
		},
		"each folder keeps as many": {
			sessions: []upkeep.PurgeSession{
				aged("a", 1), aged("b", 2), aged("c", 3, func(s *upkeep.PurgeSession) { s.Folder = "/v" }),
				aged("d", 4, func(s *upkeep.PurgeSession) { s.Folder = "/v" }), aged("e", 5),
			}, keep: 2,
			plan: []string{"e"}, protected: protected{"a": upkeep.KeepNewest, "c": upkeep.KeepNewest},
		},
		"the newest is one that can be gone on with": {
			sessions: []upkeep.PurgeSession{aged("junk", 0, kept(upkeep.KeepUnreadable)), aged("a", 1), aged("b", 2)},
			plan:     []string{"b"}, protected: protected{"junk": upkeep.KeepUnreadable, "a": upkeep.KeepNewest},
		},
		"parents of what stays stay, and theirs": {
			sessions: []upkeep.PurgeSession{
				aged("new", 1, forkOf("p1")), aged("p1", 5, forkOf("/elsewhere/p2.jsonl")), aged("p2", 6, forkOf("p3")), aged("p3", 7),
				aged("x", 8, forkOf("y")), aged("y", 9),
			}, keep: 1,
			plan: []string{"x", "y"}, protected: protected{
				"new": upkeep.KeepNewest, "p1": upkeep.KeepParent, "p2": upkeep.KeepParent, "p3": upkeep.KeepParent,
			},
		},
		"parents of forks elsewhere stay": {
			sessions: []upkeep.PurgeSession{aged("new", 1), aged("a", 2), aged("b", 3), aged("c", 4)},
			forks:    []string{"a", `C:\sessions\b.jsonl`},
			plan:     []string{"c"}, protected: protected{"new": upkeep.KeepNewest, "a": upkeep.KeepParent, "b": upkeep.KeepParent},
		},
		"forks that lead in a circle": {
			sessions: []upkeep.PurgeSession{aged("new", 1), aged("a", 2, forkOf("b")), aged("b", 3, forkOf("a"))},
			plan:     []string{"a", "b"}, protected: protected{"new": upkeep.KeepNewest},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := slices.Clone(c.sessions)
			p := upkeep.PlanPurge(c.sessions, c.forks, c.keep, kit.Noon)
			require.Equal(t, c.plan, planned(p.Plan))
			require.Equal(t, c.protected, reasons(p))
			require.Equal(t, given, c.sessions, "what is given stays as it is")
			for _, i := range p.Plan {
				require.Equal(t, upkeep.PurgeOld, i.Reason)
				require.Contains(t, i.Message, fmt.Sprint(c.keep))
			}
			for _, i := range slices.Concat(p.Plan, p.Protected) {
				require.NotEmpty(t, i.Message)
				at, ok := session.ParseTime(i.LastUsed)
				require.True(t, ok && !at.After(kit.Noon), i.LastUsed)
			}
			slices.Reverse(c.sessions)
			again := upkeep.PlanPurge(c.sessions, c.forks, c.keep, kit.Noon)
			require.Equal(t, p, again, "the order in which sessions come does not count")
			require.Equal(t, p.Token(), again.Token())
		})
	}
}

// Proves: AB-045
func TestThePlansTokenChangesWithTheSessions(t *testing.T) {
	t.Parallel()
	base := func() []upkeep.PurgeSession {
		return []upkeep.PurgeSession{aged("a", 1), aged("b", 2), aged("c", 3), aged("t", 4, kept(upkeep.KeepTitled)), aged("l", 5, kept(upkeep.KeepLive))}
	}
	token := func(sessions []upkeep.PurgeSession) string {
		return upkeep.PlanPurge(sessions, nil, 2, kit.Noon).Token()
	}
	was := token(base())
	require.Len(t, was, 32)
	for name, change := range map[string]func(s []upkeep.PurgeSession) []upkeep.PurgeSession{
		"a session of the plan grew":     func(s []upkeep.PurgeSession) []upkeep.PurgeSession { s[2].Size++; return s },
		"one was touched":                func(s []upkeep.PurgeSession) []upkeep.PurgeSession { s[2].ModTime = s[2].ModTime.Add(1); return s },
		"a protected one grew":           func(s []upkeep.PurgeSession) []upkeep.PurgeSession { s[3].Size++; return s },
		"one got a title":                func(s []upkeep.PurgeSession) []upkeep.PurgeSession { s[2].Keep = upkeep.KeepTitled; return s },
		"one is gone":                    func(s []upkeep.PurgeSession) []upkeep.PurgeSession { return slices.Delete(s, 2, 3) },
		"one came":                       func(s []upkeep.PurgeSession) []upkeep.PurgeSession { return append(s, aged("n", 0)) },
		"one came that is old":           func(s []upkeep.PurgeSession) []upkeep.PurgeSession { return append(s, aged("o", 99)) },
		"one is another session":         func(s []upkeep.PurgeSession) []upkeep.PurgeSession { s[2].ID = "z"; return s },
		"one was forked":                 func(s []upkeep.PurgeSession) []upkeep.PurgeSession { s[0].Parent = "c"; return s },
		"the open one is open no longer": func(s []upkeep.PurgeSession) []upkeep.PurgeSession { s[4].Keep = ""; return s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NotEqual(t, was, token(change(base())))
		})
	}
	growing := base()
	growing[4].Size, growing[4].ModTime = 99, kit.Noon
	require.Equal(t, was, token(growing), "what is open is written to")
	growing[4].LastEntry = kit.Noon
	require.NotEqual(t, was, token(growing), "it is the one used last now, so that another one has to go")
}
