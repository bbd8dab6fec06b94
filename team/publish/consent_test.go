package publish_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// TestNothingIsSentWithoutConsent requires that the store is not even connected.
func TestNothingIsSentWithoutConsent(t *testing.T) {
	t.Parallel()
	with := func(change func(d *consent.Decisions)) consent.Decisions {
		d := decisions(consent.New, consent.Team, true)
		change(&d)
		return d
	}
	for name, d := range map[string]consent.Decisions{
		"no decisions": {},
		"off":          decisions(consent.Off, consent.Team, true),
		"another":      with(func(d *consent.Decisions) { d.Projects["git:x#"] = d.Projects[key]; delete(d.Projects, key) }),
		"taken out":    with(func(d *consent.Decisions) { d.Sessions[headerID] = consent.Off }),
		"older": with(func(d *consent.Decisions) {
			p := d.Projects[key]
			p.Since = "2099-01-01T00:00:00Z"
			d.Projects[key] = p
		}),
		"unknown value": decisions("later", consent.Team, true),
	} {
		w := newWorld()
		m := w.machine(t, "ann")
		m.decided = d
		connected := false
		m.wrap = func(s team.Store) team.Store { connected = true; return s }
		m.put(lines("a", 0, 10))
		require.Zero(t, m.flush(), name)
		require.Equal(t, publish.Off, m.p.State(path).Phase, name)
		require.False(t, connected, name)
	}
}

// TestConsentIsReadBeforeEachBatch ends it between two batches.
func TestConsentIsReadBeforeEachBatch(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(strings.Repeat(line("a", 49), 20000))
	a := m.answer()
	a.change = func(team.Append) (team.Tip, error, bool) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.decided = decisions(consent.Off, consent.Team, false)
		return team.Tip{}, nil, false
	}
	require.Zero(t, m.flush())
	require.Equal(t, publish.Off, m.p.State(path).Phase)
	require.Len(t, a.appends, 1)
	m.decided = decisions(consent.New, consent.Team, false)
	a.change = nil
	m.sent()
}

// TestAnUnreadableDecisionPermitsNothing is reported once.
func TestAnUnreadableDecisionPermitsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	connected := false
	m.wrap = func(s team.Store) team.Store { connected = true; return s }
	m.unread = fault.New(fault.Damaged, "team.json cannot be used.")
	m.put(lines("a", 0, 10))
	left := m.flush()
	require.Equal(t, 1, left.Sessions)
	require.True(t, fault.Is(left.Err, fault.Damaged))
	m.flush()
	require.Equal(t, 1, m.count(publish.Failed))
	require.False(t, connected)
	m.unread = nil
	m.sent()
}

// TestAPrivateProjectAddsNothingToASharedSession has a session of another user with the same id.
func TestAPrivateProjectAddsNothingToASharedSession(t *testing.T) {
	t.Parallel()
	for _, body := range []string{lines("a", 0, 10) + lines("b", 0, 2), lines("b", 0, 2)} {
		w := newWorld()
		a, b := w.machine(t, "ann"), w.machine(t, "bob")
		a.put(lines("a", 0, 10))
		a.sent()
		b.decided = decisions(consent.New, consent.Me, false)
		w.pass(leaseTime)
		b.put(body)
		require.Equal(t, 1, b.flush().Sessions)
		require.Equal(t, publish.Stuck, b.p.State(path).Phase)
		require.True(t, fault.Is(b.p.State(path).Err, fault.Denied))
		require.Len(t, w.sessions(t), 1)
		for _, s := range w.sessions(t) {
			require.NotContains(t, s.body, "b00000")
		}
		b.decided.Sessions = map[string]consent.Share{headerID: consent.All} // the user shares it
		b.sent()
	}
}

// TestAPrivateProjectIsInvisible to other members.
func TestAPrivateProjectIsInvisible(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := w.machine(t, "bob")
	b.decided = decisions(consent.New, consent.Me, false)
	b.put(lines("b", 0, 10))
	require.Zero(t, b.flush())
	require.Equal(t, publish.Sent, b.p.State(path).Phase)
	require.Empty(t, w.sessions(t))
	a := w.machine(t, "ann")
	a.put(lines("a", 0, 10))
	a.sent()
	require.Len(t, w.sessions(t), 1)
}

// secret is one of a known form, which no scanner of this repository mistakes for a real one.
var secret = strings.Join([]string{"ghp", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"}, "_")

func secretLine(n int) string {
	return strings.Replace(line("s", n), `"content":"`, `"content":"`+secret+" ", 1)
}

// TestSecretsDoNotLeave redacts lines with two running sums, also across restarts with and without the state file.
func TestSecretsDoNotLeave(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.decided = decisions(consent.New, consent.Team, true)
	body := ""
	var sids []team.SID
	for n, restart := range []func(){func() {}, func() {}, func() { m.restart(true) }, func() { m.restart(false) }, func() {}} {
		restart()
		body += secretLine(2*n) + line("a", n)
		m.put(body)
		require.Zero(t, m.flush())
		require.Equal(t, publish.Sent, m.p.State(path).Phase)
		sids = append(sids, m.p.State(path).SID)
		stored := w.body(t, sids[n])
		require.NotContains(t, stored, secret)
		require.Equal(t, strings.Count(body, "\n"), strings.Count(stored, "\n"))
	}
	require.Len(t, w.sessions(t), 1)
	m.retitle("use "+secret, "user")
	require.Zero(t, m.flush())
	h, err := m.login.Head(t.Context(), sids[0])
	require.NoError(t, err)
	require.Contains(t, string(h.Bytes), "use ")
	require.NotContains(t, string(h.Bytes), secret)
}

// TestRedactionThatIsSwitchedOnReplacesTheBody of a session that began without it; a session that began with it keeps it.
// Proves: TM-47
func TestRedactionThatIsSwitchedOnReplacesTheBody(t *testing.T) {
	t.Parallel()
	for _, restart := range []bool{false, true} {
		w := newWorld()
		m := w.machine(t, "ann")
		m.put(secretLine(0))
		sid := m.sent()
		require.Contains(t, w.body(t, sid), secret)
		m.decided = decisions(consent.New, consent.Team, true)
		if restart {
			m.restart(true)
		}
		m.add(secretLine(1))
		require.Zero(t, m.flush())
		now := m.p.State(path).SID
		require.NotContains(t, w.body(t, now), secret)
		require.Equal(t, 2, strings.Count(w.body(t, now), "\n"))
		m.decided = decisions(consent.New, consent.Team, false)
		m.add(secretLine(2))
		require.Zero(t, m.flush())
		require.Equal(t, now, m.p.State(path).SID)
		require.NotContains(t, w.body(t, now), secret)
	}
}

// TestHeadsLeaveWithoutPaths of this machine.
func TestHeadsLeaveWithoutPaths(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 1))
	sid := m.sent()
	h, err := m.login.Head(t.Context(), sid)
	require.NoError(t, err)
	require.NotContains(t, string(h.Bytes), `"/p"`)
	require.Equal(t, headerID, h.HeaderID)
	require.Equal(t, path[len("/s/"):], h.FileName)
}

// TestTitlesOfUsersWin over those of programs, and the machine that changes one wins over the store.
func TestTitlesOfUsersWin(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m, o := w.machine(t, "ann"), w.machine(t, "bob")
	title := func() string {
		infos, err := m.login.List(t.Context(), team.ListQuery{Project: 1, Limit: 1})
		require.NoError(t, err)
		return infos[0].Title
	}
	set := func(m *machine, text, source string) {
		m.retitle(text, source)
		m.sent()
		w.pass(leaseTime)
	}
	m.put(lines("a", 0, 1))
	m.sent()
	set(m, "automatic", "auto")
	require.Equal(t, "automatic", title())
	o.put(lines("a", 0, 1))
	set(o, "by bob", "user")
	require.Equal(t, "by bob", title())
	set(m, "automatic again", "auto")
	require.Equal(t, "by bob", title())
	require.Equal(t, 1, m.count(publish.Titled))
	set(m, "by ann", "user")
	require.Equal(t, "by ann", title(), "the later one")
	o.restart(true)
	set(o, "by bob", "user")
	require.Equal(t, "by ann", title(), "bob's file is older than the store's title")
	require.Equal(t, 1, o.count(publish.Titled))
}
