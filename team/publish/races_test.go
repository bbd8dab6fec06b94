package publish_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
)

// disturbed is a store in which another process does something before a call.
type disturbed struct {
	team.Store

	beforeFork, beforeStage, beforePublish sync.Once
	fork, stage, publish                   func()
	stages                                 int
}

func (d *disturbed) Fork(ctx context.Context, f team.Forking) (team.Tip, error) {
	if d.fork != nil {
		d.beforeFork.Do(d.fork)
	}
	return d.Store.Fork(ctx, f)
}

func (d *disturbed) Stage(ctx context.Context, s team.Stage) error {
	if d.stages++; d.stage != nil && d.stages == 2 {
		d.beforeStage.Do(d.stage)
	}
	return d.Store.Stage(ctx, s)
}

func (d *disturbed) Publish(ctx context.Context, p team.Publish) (team.Tip, error) {
	if d.publish != nil {
		d.beforePublish.Do(d.publish)
	}
	return d.Store.Publish(ctx, p)
}

// TestLinesArriveBeforeAGenerationIsPublished, which then is a fork: the body is not the one that was agreed on.
func TestLinesArriveBeforeAGenerationIsPublished(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	d := &disturbed{Store: m.login}
	d.publish = func() {
		tip, err := m.login.Tip(t.Context(), sid)
		require.NoError(t, err)
		tip, err = m.login.Append(t.Context(), team.Append{
			SID: sid, Gen: 1, Len: tip.Len, Sum: tip.Sum, Fence: tip.Fence, Bytes: []byte(line("a", 10)), New: team.SumOf([]byte(lines("a", 0, 11))),
		})
		require.NoError(t, err)
		require.Equal(t, team.OK, tip.Code)
	}
	m.wrap = func(team.Store) team.Store { return d }
	m.put(lines("c", 0, 20))
	require.NotEqual(t, sid, m.sent())
	require.Equal(t, lines("a", 0, 11), w.body(t, sid))
}

// diverge makes two machines write different lines behind ten common ones. The first one has not sent its own.
func diverge(t *testing.T) (w *world, m *machine, sid team.SID) {
	t.Helper()
	w = newWorld()
	m = w.machine(t, "ann")
	for n := range 10 {
		m.add(line("a", n))
		sid = m.sent()
	}
	w.pass(leaseTime)
	other(w, m, lines("a", 0, 10)+lines("b", 0, 2))
	w.pass(leaseTime)
	m.add(lines("a", 10, 12))
	return w, m, sid
}

// TestSegmentsAreJoinedBeforeAFork, so that none ends at the place of the fork any more.
func TestSegmentsAreJoinedBeforeAFork(t *testing.T) {
	t.Parallel()
	w, m, sid := diverge(t)
	d := &disturbed{Store: m.login}
	d.fork = func() {
		n, err := m.login.Compact(t.Context(), sid)
		require.NoError(t, err)
		require.Positive(t, n)
	}
	m.wrap = func(team.Store) team.Store { return d }
	require.NotEqual(t, sid, m.sent())
	require.Len(t, w.sessions(t), 2)
}

// TestAnOldStateFileMakesNoSecondFork has the state file of a fork that was made, to which lines were added since.
// Proves: TM-04
func TestAnOldStateFileMakesNoSecondFork(t *testing.T) {
	t.Parallel()
	w, m, sid := diverge(t)
	f := &faulty{Store: m.login, at: 1 << 20, dead: true}
	d := &disturbed{Store: f}
	d.fork = func() { f.mu.Lock(); defer f.mu.Unlock(); f.at, f.lost = f.count+1, true }
	m.wrap = func(team.Store) team.Store { return d }
	m.flush()
	file := m.states().Dir + "/" + headerID + ".json"
	old, err := afero.ReadFile(m.disk, file)
	require.NoError(t, err)
	require.Contains(t, string(old), `"fork":`)
	m.wrap = nil
	m.restart(true)
	fork := m.sent()
	require.NotEqual(t, sid, fork)
	require.NoError(t, writeFile(m.disk, file, string(old)))
	m.restart(true)
	m.add(line("a", 12))
	require.Equal(t, fork, m.sent())
	require.Len(t, w.sessions(t), 2)
}

// TestAnotherProcessStagesMeanwhile discards the pieces that were staged.
// Proves: TM-05
func TestAnotherProcessStagesMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	d := &disturbed{Store: m.login}
	d.stage = func() {
		garbage := []byte("garbage\n")
		require.NoError(t, m.login.Stage(t.Context(), team.Stage{SID: sid, Gen: 2, Was: team.EmptySum, Bytes: garbage, Sum: team.SumOf(garbage)}))
	}
	m.wrap = func(team.Store) team.Store { return d }
	m.put(lines("c", 0, 2) + strings.Repeat("x", 1<<20) + "\n" + lines("c", 2, 4))
	require.Equal(t, sid, m.sent())
	require.Equal(t, 2, w.sessions(t)[sid].tip.Gen)
	require.Len(t, w.sessions(t), 1)
}

// TestTheLongestContinuedVariantIsFound when the state file was lost.
func TestTheLongestContinuedVariantIsFound(t *testing.T) {
	t.Parallel()
	w, m, sid := diverge(t)
	fork := m.sent()
	require.NotEqual(t, sid, fork)
	at, err := m.login.Tip(t.Context(), fork)
	require.NoError(t, err)
	longer := team.NewSID()
	made, err := m.login.Fork(t.Context(), team.Forking{SID: fork, Gen: 1, At: at.Len, New: longer, Head: []byte(header())})
	require.NoError(t, err)
	m.add(line("a", 12))
	_, err = m.login.Append(t.Context(), team.Append{
		SID: longer, Gen: 1, Len: at.Len, Sum: at.Sum, Fence: made.Fence, Bytes: []byte(line("a", 12)), New: team.SumOf(m.body()),
	})
	require.NoError(t, err)
	m.restart(false)
	m.add(line("a", 13))
	require.Equal(t, longer, m.sent())
	require.Len(t, w.sessions(t), 3)
}

// TestADeletedForkIsNotSentToTheOriginal, and no other one is made.
func TestADeletedForkIsNotSentToTheOriginal(t *testing.T) {
	t.Parallel()
	w, m, _ := diverge(t)
	fork := m.sent()
	require.NoError(t, m.login.Delete(t.Context(), fork, false))
	for _, restart := range []bool{false, true} {
		if restart {
			m.restart(true)
		}
		m.add(line("a", 20+len(m.events)))
		for range 2 { // the append fails, and the comparison
			require.Zero(t, m.flush())
			require.Equal(t, publish.Gone, m.p.State(path).Phase)
			require.Len(t, w.sessions(t), 1)
		}
	}
}

// TestAnotherSessionUnderTheNameIsAnother, even with the same lines.
func TestAnotherSessionUnderTheNameIsAnother(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 10))
	sid := m.sent()
	content := strings.Replace(string(m.content()), headerID, "2f9d2a6b9c0d1234", 1) + line("a", 10)
	require.NoError(t, writeFile(m.disk, path, content))
	require.NotEqual(t, sid, m.sent())
	require.Equal(t, lines("a", 0, 10), w.body(t, sid))
}

// TestAChangeDuringAStepIsSent in another step.
func TestAChangeDuringAStepIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 3))
	m.sent()
	var once sync.Once
	m.onConsent = func() { // the file is open, so that its length is known
		once.Do(func() {
			m.add(line("a", 3))
			m.p.Touched(path)
		})
	}
	m.sent()
}

// stillClock never reaches the end of a wait.
type stillClock struct{ *world }

func (stillClock) After(time.Duration) <-chan time.Time { return nil }

// TestASuccessEndsOtherBackOffs of files in the background.
func TestASuccessEndsOtherBackOffs(t *testing.T) {
	t.Parallel()
	const second = "/s/second.jsonl"
	w := newWorld()
	m := w.machine(t, "ann")
	m.put(lines("a", 0, 3))
	require.NoError(t, writeFile(m.disk, second, strings.Replace(header(), headerID, "2f9d2a6b9c0d1234", 1)+lines("b", 0, 3)))
	m.clock = stillClock{w}
	m.start()
	failed, arrived := make(chan bool, 1), make(chan bool, 2)
	a := m.answer()
	a.change = func(p team.Append) (team.Tip, error, bool) {
		if p.Len == 0 && len(failed) == 0 && m.p.State(second).Phase == publish.Off {
			failed <- true
			return team.Tip{}, unreachable(), true
		}
		arrived <- true
		return team.Tip{}, nil, false
	}
	run := m.background(t)
	m.p.TurnEnded(path)
	<-failed
	m.p.TurnEnded(second)
	for range 2 {
		select {
		case <-arrived:
		case <-time.After(20 * time.Second):
			require.Fail(t, "the first file waits although the second one arrived")
		}
	}
	run.wait()
	require.Zero(t, m.again(), "lines that were on their way")
	require.Equal(t, lines("a", 0, 3), w.body(t, m.p.State(path).SID))
}
