package publish_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team"
)

// faulty is a store of which one call fails, before it takes effect or after.
type faulty struct {
	team.Store

	mu    sync.Mutex
	at    int  // 1-based; 0 never fails
	lost  bool // the call takes effect, and only its answer is lost
	dead  bool // all later calls fail, too, without an effect
	count int
	calls []string
	fail  func() // is called when the call fails; may be nil
}

// before counts a call, and returns an error if it fails without an effect. after returns that of a lost answer.
func (f *faulty) before(name string) (after func() error, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.count++
	f.calls = append(f.calls, name)
	hit := f.at > 0 && f.count == f.at
	if hit && f.fail != nil {
		f.fail()
	}
	switch {
	case hit && !f.lost, f.dead && f.at > 0 && f.count > f.at:
		return nil, unreachable()
	case hit:
		return unreachable, nil
	}
	return func() error { return nil }, nil
}

// fired reports whether a call failed.
func (f *faulty) fired() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at > 0 && f.count >= f.at
}

func call[T any](f *faulty, name string, do func() (T, error)) (T, error) {
	var none T
	after, err := f.before(name)
	if err != nil {
		return none, err
	}
	v, err := do()
	if lost := after(); lost != nil {
		return none, lost
	}
	return v, err
}

func (f *faulty) Project(ctx context.Context, name, key, display string) (team.Project, error) {
	return call(f, "project", func() (team.Project, error) { return f.Store.Project(ctx, name, key, display) })
}

func (f *faulty) Open(ctx context.Context, o team.Opening) ([]team.Known, error) {
	return call(f, "open", func() ([]team.Known, error) { return f.Store.Open(ctx, o) })
}

func (f *faulty) Tip(ctx context.Context, sid team.SID) (team.Tip, error) {
	return call(f, "tip", func() (team.Tip, error) { return f.Store.Tip(ctx, sid) })
}

func (f *faulty) Append(ctx context.Context, a team.Append) (team.Tip, error) {
	return call(f, "append", func() (team.Tip, error) { return f.Store.Append(ctx, a) })
}

func (f *faulty) Lease(ctx context.Context, sid team.SID, force bool) (team.Tip, error) {
	return call(f, "lease", func() (team.Tip, error) { return f.Store.Lease(ctx, sid, force) })
}

func (f *faulty) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	_, err := call(f, "read", func() (bool, error) { return true, f.Store.Read(ctx, sid, gen, from, most, each) })
	return err
}

func (f *faulty) SumAt(ctx context.Context, sid team.SID, gen int, at int64) (end int64, sum team.Sum, err error) {
	end, err = call(f, "sum", func() (int64, error) {
		end, sum, err = f.Store.SumAt(ctx, sid, gen, at)
		return end, err
	})
	return end, sum, err
}

func (f *faulty) Lacks(ctx context.Context, project int, sid team.SID, hashes []team.Sum) ([]team.Sum, error) {
	return call(f, "lacks", func() ([]team.Sum, error) { return f.Store.Lacks(ctx, project, sid, hashes) })
}

func (f *faulty) PutBlob(ctx context.Context, project int, sid team.SID, b []byte) error {
	_, err := call(f, "image", func() (bool, error) { return true, f.Store.PutBlob(ctx, project, sid, b) })
	return err
}

func (f *faulty) Fork(ctx context.Context, o team.Forking) (team.Tip, error) {
	return call(f, "fork", func() (team.Tip, error) { return f.Store.Fork(ctx, o) })
}

func (f *faulty) Stage(ctx context.Context, s team.Stage) error {
	_, err := call(f, "stage", func() (bool, error) { return true, f.Store.Stage(ctx, s) })
	return err
}

func (f *faulty) Publish(ctx context.Context, p team.Publish) (team.Tip, error) {
	return call(f, "publish", func() (team.Tip, error) { return f.Store.Publish(ctx, p) })
}

func (f *faulty) Head(ctx context.Context, sid team.SID) (team.Head, error) {
	return call(f, "head", func() (team.Head, error) { return f.Store.Head(ctx, sid) })
}

func (f *faulty) SetHead(ctx context.Context, sid team.SID, h team.Head) (int, error) {
	return call(f, "sethead", func() (int, error) { return f.Store.SetHead(ctx, sid, h) })
}

func (f *faulty) Said(ctx context.Context, sid team.SID, from, to int64, texts []team.Text) error {
	_, err := call(f, "said", func() (bool, error) { return true, f.Store.Said(ctx, sid, from, to, texts) })
	return err
}

func (f *faulty) Tell(ctx context.Context, sid team.SID, n int64) {
	_, _ = call(f, "tell", func() (bool, error) { f.Store.Tell(ctx, sid, n); return true, nil })
}

// story is a way of a file into the store. It ends with a file of which the store has all lines, and returns all lines that were
// written, without those that were rewritten on purpose.
type story struct {
	name  string
	setup func(w *world, m *machine) // with a store that works
	then  func(w *world, m *machine) // the change of the file that is sent with faults
	calls []string                   // that the story needs
	gen   int                        // of the session at the end
	all   int                        // sessions at the end
}

// other writes to the session of the file from another machine.
func other(w *world, m *machine, body string) {
	o := w.machine(m.t, "bob")
	o.put(body)
	o.sent()
}

func stories() []story {
	return []story{
		{
			name:  "first push",
			setup: func(*world, *machine) {},
			then:  func(_ *world, m *machine) { m.put(lines("a", 0, 60)) },
			calls: []string{"project", "open", "tip", "append", "said", "head", "sethead"}, gen: 1, all: 1,
		},
		{
			name:  "more lines",
			setup: func(_ *world, m *machine) { m.put(lines("a", 0, 10)); m.sent() },
			then:  func(_ *world, m *machine) { m.add(lines("a", 10, 20)) },
			calls: []string{"append"}, gen: 1, all: 1,
		},
		{
			name: "fork",
			setup: func(w *world, m *machine) {
				m.put(lines("a", 0, 10))
				m.sent()
				w.pass(leaseTime)
				other(w, m, lines("a", 0, 10)+lines("b", 0, 10))
				w.pass(leaseTime)
			},
			then:  func(_ *world, m *machine) { m.add(lines("a", 10, 20)) },
			calls: []string{"append", "tip", "sum", "fork", "append"}, gen: 1, all: 2,
		},
		{
			name:  "rewritten file",
			setup: func(_ *world, m *machine) { m.put(lines("a", 0, 10)); m.sent() },
			then:  func(_ *world, m *machine) { m.put(lines("c", 0, 20)) },
			calls: []string{"open", "tip", "lease", "stage", "publish"}, gen: 2, all: 1,
		},
		{
			name: "another device writes",
			setup: func(w *world, m *machine) {
				m.put(lines("a", 0, 10))
				m.sent()
				w.pass(leaseTime)
				o := w.machine(m.t, "bob")
				o.put(lines("a", 0, 10) + lines("a", 10, 11))
				o.sent()
				m.put(lines("a", 0, 11))
			},
			then:  func(_ *world, m *machine) { m.add(lines("a", 11, 20)) },
			calls: []string{"append", "lease"}, gen: 1, all: 1,
		},
		{
			name:  "renamed",
			setup: func(_ *world, m *machine) { m.put(lines("a", 0, 10)); m.sent() },
			then: func(_ *world, m *machine) {
				m.retitle("A title", "user")
			},
			calls: []string{"said", "head", "sethead"}, gen: 1, all: 1,
		},
	}
}

// TestEachFaultOfTheStore fails each call of each story, with and without its effect.
func TestEachFaultOfTheStore(t *testing.T) {
	t.Parallel()
	for _, s := range stories() {
		for _, lost := range []bool{false, true} {
			for at := 1; at > 0; at++ {
				w := newWorld()
				m := w.machine(t, "ann")
				s.setup(w, m)
				w.limit = 2 * leaseTime
				f := &faulty{Store: m.login, at: at, lost: lost}
				m.wrap = func(team.Store) team.Store { return f }
				s.then(w, m)
				content := string(m.content())
				m.sent()
				require.Equal(t, content, string(m.content()))
				s.ends(t, w, m)
				if !f.fired() {
					require.Subset(t, f.calls, s.calls, s.name)
					at = -1
				}
			}
		}
	}
}

// ends requires the end of a story.
func (s story) ends(t *testing.T, w *world, m *machine) {
	t.Helper()
	w.check(t, split(string(m.body())))
	all := w.sessions(t)
	require.Len(t, all, s.all, s.name)
	require.Equal(t, s.gen, all[m.p.State(path).SID].tip.Gen, s.name)
	if s.all > 1 {
		require.Positive(t, m.count(0), s.name)
	}
}

// TestKilledAtEachCall ends the process at each call of each story, and begins a new one, with or without its state file.
// Proves: TM-01, TM-02, TM-04, TM-05
func TestKilledAtEachCall(t *testing.T) {
	t.Parallel()
	for _, s := range stories() {
		for mode := range 4 {
			lost, keep := mode&1 > 0, mode&2 > 0
			for at := 1; at > 0; at++ {
				w := newWorld()
				m := w.machine(t, "ann")
				s.setup(w, m)
				w.limit = 2 * leaseTime
				f := &faulty{Store: m.login, at: at, lost: lost, dead: true}
				m.wrap = func(team.Store) team.Store { return f }
				s.then(w, m)
				content := string(m.content())
				left := m.flush()
				if !f.fired() {
					require.Zero(t, left)
					at = -1
					continue
				}
				m.wrap = nil
				m.restart(keep)
				require.Zero(t, m.flush(), s.name)
				require.Equal(t, content, string(m.content()))
				sid := m.p.State(path).SID
				require.Equal(t, string(m.body()), w.body(t, sid))
				w.check(t, split(string(m.body())))
				if keep {
					s.ends(t, w, m)
				}
			}
		}
	}
}
