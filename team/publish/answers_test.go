package publish_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// answering is a store that gives the next appends other answers.
type answering struct {
	team.Store

	appends []int // bytes of each append
	change  func(a team.Append) (team.Tip, error, bool)
}

func (a *answering) Append(ctx context.Context, p team.Append) (team.Tip, error) {
	a.appends = append(a.appends, len(p.Bytes))
	if a.change != nil {
		if tip, err, ok := a.change(p); ok {
			return tip, err
		}
	}
	return a.Store.Append(ctx, p)
}

// answer makes the store of a machine an answering one.
func (m *machine) answer() *answering {
	a := &answering{Store: m.login}
	m.wrap = func(team.Store) team.Store { return a }
	return a
}

// TestShortSendsTheLostLinesAgain is a store that was restored from a backup.
// Proves: TM-09, TM-40, TM-41
func TestShortSendsTheLostLinesAgain(t *testing.T) {
	t.Parallel()
	drawn := team.NewSID()
	draw := func() team.SID { return drawn }
	today, backup := newWorld(), newWorld()
	m, old := today.machine(t, "ann"), backup.machine(t, "ann")
	m.draw, old.draw = draw, draw
	old.put(lines("a", 0, 7))
	require.Equal(t, drawn, old.sent())
	m.put(lines("a", 0, 7))
	require.Equal(t, drawn, m.sent())
	m.add(lines("a", 7, 10))
	require.Equal(t, drawn, m.sent())
	m.login, m.w.Server = old.login, backup.Server
	today.pass(leaseTime)
	m.add(lines("a", 10, 12))
	require.Equal(t, drawn, m.sent())
	require.Len(t, backup.sessions(t), 1)
	require.Zero(t, m.count(publish.Forked))
}

// TestEachAnswerThatComparesAgain answers an append with each code that means another body, although the body is the expected one.
// Proves: TM-03
func TestEachAnswerThatComparesAgain(t *testing.T) {
	t.Parallel()
	for _, code := range []team.Code{team.Ahead, team.Short, team.Differs, team.OtherGen, team.Fenced} {
		w := newWorld()
		m := w.machine(t, "ann")
		m.put(lines("a", 0, 10))
		sid := m.sent()
		a := m.answer()
		times := 2
		a.change = func(p team.Append) (team.Tip, error, bool) {
			times--
			tip, err := m.login.Tip(t.Context(), p.SID)
			tip.Code = code
			return tip, err, times >= 0
		}
		m.add(lines("a", 10, 12))
		require.Equal(t, sid, m.sent(), code)
		require.Negative(t, times)
		require.Len(t, w.sessions(t), 1)
	}
}

// TestAStoreThatNeverAgreesIsNotAskedAllTheTime backs off, and reports what is left.
func TestAStoreThatNeverAgreesIsNotAskedAllTheTime(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	a := m.answer()
	a.change = func(p team.Append) (team.Tip, error, bool) {
		tip, err := m.login.Tip(t.Context(), p.SID)
		tip.Code = team.Ahead
		return tip, err, true
	}
	m.put(lines("a", 0, 3))
	left := m.flush()
	require.Equal(t, 1, left.Sessions)
	require.EqualValues(t, len(m.body()), left.Bytes)
	require.True(t, fault.Is(left.Err, fault.Stale))
	require.Less(t, len(a.appends), 20)
}

// TestFencedWaitsForTheOtherDevice keeps lines here while another device writes, and sends them when it is done.
// Proves: TM-27
func TestFencedWaitsForTheOtherDevice(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	o := w.machine(t, "bob")
	w.pass(leaseTime)
	tip, err := o.login.Lease(t.Context(), sid, false)
	require.NoError(t, err)
	m.add(lines("a", 10, 12))
	left := m.flush()
	require.Equal(t, 1, left.Sessions)
	require.EqualValues(t, len(lines("a", 10, 12)), left.Bytes)
	s := m.p.State(path)
	require.Equal(t, publish.Kept, s.Phase)
	require.Equal(t, tip.Device, s.Writer)
	require.False(t, s.Since.IsZero())
	require.NoError(t, o.login.Release(t.Context(), sid, tip.Fence))
	m.p.Woken(sid)
	require.Zero(t, m.again())
	require.Equal(t, sid, m.sent())
	require.Zero(t, m.count(publish.Forked))
}

// interrupted is a store whose appends end with the process.
type interrupted struct {
	team.Store

	end context.CancelFunc
}

func (i interrupted) Append(ctx context.Context, _ team.Append) (team.Tip, error) {
	i.end()
	return team.Tip{}, fault.New(fault.Cancelled, "Ended (test): %w.", ctx.Err())
}

// TestAnInterruptedStepKeepsTheState: an end in the middle of a call says nothing new about who writes the session.
func TestAnInterruptedStepKeepsTheState(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	w.pass(leaseTime)
	_, err := w.machine(t, "bob").login.Lease(t.Context(), sid, false)
	require.NoError(t, err)
	m.add(lines("a", 10, 12))
	require.Equal(t, 1, m.flush().Sessions)
	require.Equal(t, publish.Kept, m.p.State(path).Phase)
	ctx, end := context.WithCancel(t.Context())
	ended := 0
	m.wrap = func(s team.Store) team.Store { return interrupted{s, func() { ended++; end() }} }
	m.p.TurnEnded(path)
	require.Equal(t, 1, m.p.Flush(ctx).Sessions)
	require.Equal(t, 1, ended)
	require.Equal(t, publish.Kept, m.p.State(path).Phase)
}

// TestASleeperSendsOrForks is a laptop that slept for a week: first no other device wrote, then one did.
// Proves: TM-21, TM-22
func TestASleeperSendsOrForks(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m, o := w.machine(t, "ann"), w.machine(t, "bob")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	w.pass(7 * 24 * time.Hour)
	m.add(lines("a", 10, 12))
	require.Equal(t, sid, m.sent(), "no other device wrote")
	w.pass(leaseTime)
	o.put(lines("a", 0, 12) + lines("b", 0, 4))
	require.Equal(t, sid, o.sent())
	w.pass(leaseTime)
	m.add(lines("a", 12, 14))
	forked := m.sent()
	require.NotEqual(t, sid, forked)
	require.Equal(t, 1, m.count(publish.Forked))
	require.Equal(t, publish.Event{Kind: publish.Forked, Path: path, SID: forked, Origin: sid}, m.events[0])
	w.check(t, split(string(m.body())+string(o.body())))
	m.add(lines("a", 14, 16))
	require.Equal(t, forked, m.sent(), "one fork")
	m.restart(false)
	m.add(lines("a", 16, 17))
	require.Equal(t, forked, m.sent(), "also without the state")
}

// TestGoneIsReportedOnce stops for a deleted session and sends again when it is restored.
// Proves: TM-36
func TestGoneIsReportedOnce(t *testing.T) {
	t.Parallel()
	for _, keep := range []bool{true, false} {
		w := newWorld()
		m := w.machine(t, "ann")
		m.put(lines("a", 0, 10))
		sid := m.sent()
		require.NoError(t, m.login.Delete(t.Context(), sid, false))
		for n := 10; n < 13; n++ {
			m.add(line("a", n))
			require.Zero(t, m.flush(), "it stays here")
			require.Equal(t, publish.Gone, m.p.State(path).Phase)
		}
		require.Equal(t, 1, m.count(publish.Failed))
		require.Empty(t, w.sessions(t))
		m.restart(keep)
		require.Zero(t, m.flush())
		require.Equal(t, publish.Gone, m.p.State(path).Phase, "also after a restart")
		require.Empty(t, w.sessions(t))
		require.NoError(t, m.login.Delete(t.Context(), sid, true))
		require.Equal(t, sid, m.sent())
	}
}

// TestAReaderSendsNothing may read the team's sessions only.
func TestAReaderSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.Member("ray", "core", 1)
	a, m := w.machine(t, "ann"), w.machine(t, "ray")
	a.put(lines("a", 0, 10))
	sid := a.sent()
	m.put(lines("a", 0, 10) + lines("b", 0, 3))
	require.Zero(t, m.flush())
	require.Equal(t, publish.Gone, m.p.State(path).Phase)
	m.put(lines("b", 0, 3))
	require.Zero(t, m.flush())
	require.Equal(t, publish.Gone, m.p.State(path).Phase)
	require.Equal(t, lines("a", 0, 10), w.body(t, sid))
	require.Len(t, w.sessions(t), 1)
}

// TestBehindSendsNothing has a file that lacks lines of the store, which ends at the end of a segment or within one.
func TestBehindSendsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m, o := w.machine(t, "ann"), w.machine(t, "bob")
	m.put(lines("a", 0, 5))
	m.sent()
	m.add(lines("a", 5, 10))
	sid := m.sent()
	for n := range 10 {
		o.put(lines("a", 0, n) + line("b", 7)[:n]) // and a torn line
		o.restart(false)
		require.Zero(t, o.flush())
		if n == 0 {
			continue // nothing to compare
		}
		s := o.p.State(path)
		require.Equal(t, publish.Behind, s.Phase, n)
		require.Equal(t, sid, s.SID)
	}
	require.Len(t, w.sessions(t), 1)
	w.pass(leaseTime)
	o.put(lines("a", 0, 10))
	o.add(line("b", 1))
	require.Equal(t, sid, o.sent(), "when the file has them it continues")
}

// TestATornEndAfterALossOfPowerIsBehind is a file that lost its unsynced end.
// Proves: TM-07
func TestATornEndAfterALossOfPowerIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	m.put(lines("a", 0, 9) + line("a", 9)[:7])
	require.Zero(t, m.flush())
	require.Equal(t, publish.Behind, m.p.State(path).Phase)
	m.put(lines("c", 0, 9))
	require.Equal(t, sid, m.sent(), "rewritten, since this machine knows what it agreed on")
	require.Equal(t, 2, w.sessions(t)[sid].tip.Gen)
}

// TestACopyOfAFileIsAVariant has two files with one header id that both continue.
// Proves: TM-30
func TestACopyOfAFileIsAVariant(t *testing.T) {
	t.Parallel()
	const copied = "/s/copy.jsonl"
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	a := m.sent()
	m.add(line("a", 10))
	m.sent()
	content := header() + lines("a", 0, 10) + lines("b", 0, 5)
	require.NoError(t, writeFile(m.disk, copied, content))
	m.p.Touched(copied)
	require.Zero(t, m.again())
	b := m.p.State(copied).SID
	require.NotEqual(t, a, b)
	require.Equal(t, lines("a", 0, 10)+lines("b", 0, 5), w.body(t, b))
	m.add(line("a", 11))
	require.Equal(t, a, m.sent())
	for range 2 { // the state file is that of one of them
		m.restart(true)
		m.p.Touched(copied)
		require.Equal(t, a, m.sent())
		require.Equal(t, b, m.p.State(copied).SID)
	}
	require.Len(t, w.sessions(t), 2)
}

// TestAReplacedLongerFileIsNoContinuation has a file that another one of the same beginning was renamed over.
// Proves: TM-28
func TestAReplacedLongerFileIsNoContinuation(t *testing.T) {
	t.Parallel()
	w := newWorld()
	disk := afero.NewBasePathFs(afero.NewOsFs(), t.TempDir())
	require.NoError(t, disk.MkdirAll("/s", 0o700))
	m := w.machineOn(t, "ann", disk)
	m.put(lines("a", 0, 100))
	sid := m.sent()
	const next = "/s/next"
	require.NoError(t, writeFile(disk, next, header()+lines("c", 0, 5)+lines("a", 5, 200)))
	require.NoError(t, disk.Rename(next, path))
	require.Equal(t, sid, m.sent())
	require.Equal(t, 2, w.sessions(t)[sid].tip.Gen)
}

// TestARewrittenHeadIsNoNewGeneration renames the session in every way of the programs.
func TestARewrittenHeadIsNoNewGeneration(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	m.retitle("A much longer title than before", "user")
	require.Equal(t, sid, m.sent())
	m.add(line("a", 10))
	require.Equal(t, sid, m.sent())
	all := w.sessions(t)
	require.Len(t, all, 1)
	require.Equal(t, 1, all[sid].tip.Gen)
	h, err := m.login.Head(t.Context(), sid)
	require.NoError(t, err)
	require.Equal(t, 2, h.Rev)
	require.Contains(t, string(h.Bytes), `"title":"A much longer title than before"`)
	require.Contains(t, string(h.Bytes), `"cwd":"."`)
}

// TestALineThatIsLargerThanABatchGoesAlone, and the line behind it goes, too.
// Proves: TM-32
func TestALineThatIsLargerThanABatchGoesAlone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	large := `{"type":"message","id":"x","text":"` + strings.Repeat("x", 3<<20) + `"}` + "\n"
	m.put(line("a", 1) + large + line("a", 2))
	a := m.answer()
	m.sent()
	require.Equal(t, []int{len(line("a", 1)), len(large), len(line("a", 2))}, a.appends)
}

// TestBatchesShrinkUntilTheyPass has a line that breaks after some bytes.
// Proves: TM-12 (smaller batches), TM-14
func TestBatchesShrinkUntilTheyPass(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	var body strings.Builder
	for n := range 3000 {
		fmt.Fprintf(&body, `{"n":%d,"x":%q}`+"\n", n, strings.Repeat("x", 1000))
	}
	m.put(body.String())
	a := m.answer()
	breaks, most := 0, 300<<10
	a.change = func(p team.Append) (team.Tip, error, bool) {
		if len(p.Bytes) > most {
			breaks++
			return team.Tip{}, unreachable(), true
		}
		return team.Tip{}, nil, false
	}
	m.sent()
	require.GreaterOrEqual(t, breaks, 2)
	require.Less(t, breaks, 8)
	most = 1 << 20
	m.put(body.String() + body.String())
	a.appends = nil
	m.sent()
	require.Greater(t, a.appends[len(a.appends)-2], 300<<10, "the size grows again")
	for _, n := range a.appends {
		require.LessOrEqual(t, n, 1<<20)
	}
}

// TestEveryFixtureArrivesByteForByte publishes the files of the real programs, whose bodies are then those of the store.
// Proves: TM-33
func TestEveryFixtureArrivesByteForByte(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.anyCwd = true
	m.decided = decisions(consentAll, consentTeam, false)
	bodies := map[string]string{} // by path
	n := 0
	for name, content := range fixtures(t) {
		h, err := shipping.ReadHead(strings.NewReader(string(content)))
		if err != nil || h.Header().Cwd == "" {
			continue
		}
		n++
		file := fmt.Sprintf("/s/%d/%s", n, name)
		require.NoError(t, writeFile(m.disk, file, string(content)))
		bodies[file] = string(content[h.Len():])
		m.p.Touched(file)
	}
	require.Greater(t, n, 60)
	require.Zero(t, m.again())
	all := w.sessions(t)
	for file, body := range bodies {
		s := m.p.State(file)
		end := strings.LastIndexByte(body, '\n') + 1
		switch {
		case s.Phase == publish.Behind: // another fixture has the same id and begins with it
			require.True(t, strings.HasPrefix(all[s.SID].body, body[:end]), file)
		case end > 0:
			require.Equal(t, publish.Sent, s.Phase, file)
			require.True(t, strings.HasPrefix(all[s.SID].body, body[:end]), file)
		}
	}
}
