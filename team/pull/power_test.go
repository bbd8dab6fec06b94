package pull_test

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// After a pull the file survives a loss of power.
func TestAPulledFileSurvivesALossOfPower(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		w := newWorld(t)
		p := w.publish(story.content, 400)
		whole := wholeFile(t, w, p)
		fsys := st.NewPowerFs()
		path, err := at(fsys, w.kim).pull(t, p.sid)
		require.NoError(t, err)
		for _, loss := range []st.Loss{{}, {Names: true}, {Content: rand.New(rand.NewPCG(1, 2))}} {
			content, err := afero.ReadFile(fsys.After(t, loss), path)
			require.NoError(t, err, name)
			require.Equal(t, whole, string(content), name)
		}
	}
}

// A loss of power during a pull leaves no file that is not whole, and the next pull completes it.
func TestALossOfPowerDuringAPull(t *testing.T) {
	t.Parallel()
	for step := 1; ; step++ {
		w := newWorld(t)
		p := w.publish(conversation(30), 400)
		whole := wholeFile(t, w, p)
		fsys := st.NewPowerFs()
		faulty := &st.FaultFs{Fs: fsys, At: step, Mode: st.Dead}
		_, _ = at(faulty, w.kim).pull(t, p.sid)
		for _, loss := range []st.Loss{{}, {Names: true}} {
			after := fsys.After(t, loss)
			for path, content := range visible(t, after) {
				if content == "" { // a reserved name, where there are no links
					require.NoError(t, after.Remove(path))
					continue
				}
				require.Equal(t, whole, content, "step %d, %s", step, path)
			}
			path, err := at(after, w.kim).pull(t, p.sid)
			require.NoError(t, err)
			require.Equal(t, whole, visible(t, after)[filepath.ToSlash(path)], "step %d", step)
		}
		if !faulty.Fired() {
			require.Greater(t, step, 8)
			return
		}
	}
}

// The store may join segments while a session is pulled.
func TestSegmentsAreJoinedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(60), 300)
	joined := 0
	l := &lying{Store: w.kim, seg: func(*team.Segment) {
		n, err := w.ann.Compact(t.Context(), p.sid)
		require.NoError(t, err)
		joined += n
	}}
	m := at(afero.NewMemMapFs(), &everyOther{Store: l})
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Positive(t, joined)
	requirePulled(t, m.fs, path, p)
}

// A body that is replaced during a pull is pulled instead.
func TestABodyIsReplacedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(30), 300)
	old := p.body
	once := false
	l := &lying{Store: w.kim, seg: func(*team.Segment) {
		if !once {
			once = true
			w.replace(p, 2, []byte(st.User("aaaaaaaa", "", "rewritten")+"\n"))
		}
	}}
	m := at(afero.NewMemMapFs(), &everyOther{Store: &onlyPublished{l}})
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.NotEqual(t, string(old), string(p.body))
	requirePulled(t, m.fs, path, p)
	require.Len(t, files(t, m.fs), 1)
}

// A body that is replaced all the time is busy.
func TestABodyIsReplacedAllTheTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(30), 300)
	gen := 1
	l := &lying{Store: w.kim, seg: func(*team.Segment) {
		gen++
		w.replace(p, gen, []byte(strings.Repeat(st.User("aaaaaaaa", "", "rewritten")+"\n", gen)))
	}}
	m := at(afero.NewMemMapFs(), &nothingAfterFirst{Store: l})
	_, err := m.pull(t, p.sid)
	requireKind(t, fault.Busy, err)
	require.Empty(t, visible(t, m.fs))
}

// replace makes a body the next generation.
func (w *world) replace(p *published, gen int, body []byte) {
	w.t.Helper()
	ctx := context.Background()
	lease, err := w.ann.Lease(ctx, p.sid, true)
	require.NoError(w.t, err)
	require.NoError(w.t, w.ann.Stage(ctx, team.Stage{SID: p.sid, Gen: gen, Was: team.EmptySum, Bytes: body, Sum: team.SumOf(body)}))
	tip, err := w.ann.Publish(ctx, team.Publish{
		SID: p.sid, WasGen: gen - 1, WasLen: lease.Len, WasSum: lease.Sum, Gen: gen, Len: int64(len(body)), Sum: team.SumOf(body), Fence: lease.Fence,
	})
	require.NoError(w.t, err)
	require.Equal(w.t, team.OK, tip.Code)
	p.body = body
}

// onlyPublished has no old generations, as after a purge.
type onlyPublished struct{ team.Store }

func (o *onlyPublished) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	if tip, err := o.Tip(ctx, sid); err != nil || tip.Gen != gen {
		return err
	}
	return o.Store.Read(ctx, sid, gen, from, most, each)
}

// nothingAfterFirst passes no segment, although it looks at the first.
type nothingAfterFirst struct{ team.Store }

func (n *nothingAfterFirst) Read(ctx context.Context, sid team.SID, gen int, from int64, _ int, _ func(team.Segment) error) error {
	return n.Store.Read(ctx, sid, gen, from, 1, func(team.Segment) error { return nil })
}

// Names run out, and nothing is replaced.
func TestAllNamesAreTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(3), 300)
	m := at(afero.NewMemMapFs(), w.kim)
	dir, err := m.library.DirFor(cwd)
	require.NoError(t, err)
	foreign := strings.Replace(string(conversation(2)), headerID, "fedcba9876543210", 1)
	for n := range 100 {
		name := named
		if n > 0 {
			name = strings.TrimSuffix(named, ".jsonl") + "_" + strconv.Itoa(n+1) + ".jsonl"
		}
		require.NoError(t, afero.WriteFile(m.fs, filepath.Join(dir, name), []byte(foreign), 0o600))
	}
	_, err = m.pull(t, p.sid)
	requireKind(t, fault.FileExists, err)
	for path, content := range visible(t, m.fs) {
		require.Equal(t, foreign, content, path)
	}
}
