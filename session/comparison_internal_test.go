package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/internal/indexfile"
)

// compareLater makes every comparison one in the background, for one test.
func compareLater(t *testing.T) {
	t.Helper()
	indexEverything(t)
	compareAll = 1
	t.Cleanup(func() { compareAll = 0 })
}

// gateFs keeps the comparison of a file waiting until the gate is opened. It counts the open files.
type gateFs struct {
	afero.Fs
	path   string
	gate   chan struct{} // nil: nothing waits
	opened atomic.Int64  // of path, since the gate was made
	files  atomic.Int64  // that are open
}

func (g *gateFs) Open(name string) (afero.File, error) {
	f, err := g.Fs.Open(name)
	if err != nil || name != g.path {
		return f, err
	}
	g.files.Add(1)
	gate := g.gate
	if g.opened.Add(1) == 1 {
		gate = nil // the session itself is the first to open it
	}
	return &gatedFile{File: f, fs: g, gate: gate}, nil
}

type gatedFile struct {
	afero.File
	fs   *gateFs
	gate chan struct{}
}

func (f *gatedFile) ReadAt(b []byte, off int64) (int, error) {
	if f.gate != nil {
		<-f.gate
	}
	return f.File.ReadAt(b, off)
}

func (f *gatedFile) Close() error {
	f.fs.files.Add(-1)
	return f.File.Close()
}

// shut opens the session with its comparison at a shut gate. The caller opens the gate.
func (x *indexed) shut() (l *Log, gate *gateFs) {
	x.Helper()
	g := &gateFs{Fs: afero.NewOsFs(), path: x.path, gate: make(chan struct{})}
	s := x.open(g)
	s.DirFor = func(string) (string, error) { return x.dir, nil }
	l, err := s.Open(x.path)
	require.NoError(x, err)
	synctest.Wait()
	require.NotNil(x, l.doc.comparing, "it is compared in the background")
	require.False(x, l.doc.comparing.Ended())
	open := g.gate
	g.gate = nil // what opens the file from now on does not wait
	return l, &gateFs{gate: open, Fs: g}
}

// touch appends a line to the session, as another program.
func (x *indexed) touch() {
	x.Helper()
	x.addLine(`{"type":"message","id":"fefefefe","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"foreign"}}`)
}

func (x *indexed) addLine(line string) {
	x.Helper()
	f, err := os.OpenFile(x.path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(x, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(x, err)
	require.NoError(x, f.Close())
}

// flip changes a digit of the session in place and sets the times back. It returns the new content.
func (x *indexed) flip(at int) []byte {
	x.Helper()
	info, err := os.Stat(x.path)
	require.NoError(x, err)
	var now []byte
	x.write(func(content []byte) []byte {
		content[at] = '0' + (content[at]-'0'+1)%10
		now = bytes.Clone(content)
		return content
	})
	require.NoError(x, os.Chtimes(x.path, info.ModTime(), info.ModTime()))
	return now
}

// middle returns the place of a digit in the middle of a session, where only a comparison of all bytes finds a change.
func middle(content []byte) int {
	return bytes.LastIndex(content[:len(content)/2], []byte(`"input":`)) + len(`"input":`)
}

// changed changes the session as another program, by a line at its end or a digit in the middle. It returns the content.
func (x *indexed) changed(inPlace bool) []byte {
	x.Helper()
	content, err := os.ReadFile(x.path)
	require.NoError(x, err)
	if inPlace {
		return x.flip(middle(content))
	}
	x.touch()
	content, err = os.ReadFile(x.path)
	require.NoError(x, err)
	return content
}

// like requires that a log shows what a whole reading of its file shows.
func (x *indexed) like(l *Log) {
	x.Helper()
	want, err := load(x.fs, x.path, nil)
	require.NoError(x, err)
	got := logView(x.T, l)
	whole := logView(x.T, &Log{doc: want, leaf: l.leaf, foreign: l.foreign, store: x.store})
	require.Equal(x, whole, got)
	require.NoError(x, want.Close())
}

// A session of several megabytes grew, and changed in a megabyte that is not the last one.
func TestAChangeFarFromTheEndIsFound(t *testing.T) {
	compareLater(t)
	for _, differs := range []bool{false, true} {
		x := newIndexed(t, afero.NewOsFs(), Xcsh, 40)
		parent := "null"
		for n := range 40 {
			id := fmt.Sprintf("%08x", 0xD0000000+n)
			x.addLine(fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"%s 7"}}`,
				id, parent, strings.Repeat("x", 100_000)))
			parent = `"` + id + `"`
		}
		x.equal(x.store)
		content, err := os.ReadFile(x.path)
		require.NoError(t, err)
		if differs {
			x.flip(bytes.Index(content[2_300_000:], []byte(" 7")) + 2_300_001)
		}
		x.touch()
		l, err := x.store.Open(x.path)
		require.NoError(t, err)
		require.NotNil(t, l.doc.comparing)
		replaced, err := l.Settled(t.Context())
		require.NoError(t, err)
		require.Equal(t, differs, replaced)
		x.like(l)
		require.NoError(t, l.Close())
		x.equal(x.store)
		require.True(t, x.caseA())
	}
}

// writes are all ways to write to a session, or to show or choose something of it that is not its newest context.
var writes = map[string]func(s *Store, l *Log, id string) error{
	"Append": func(_ *Store, l *Log, _ string) error {
		_, err := l.Append(DraftCustom("test", []byte(`{}`)))
		return err
	},
	"AppendModel": func(_ *Store, l *Log, _ string) error { _, err := l.AppendModel("p", "m", ""); return err },
	"SetLabel":    func(_ *Store, l *Log, id string) error { _, err := l.SetLabel(id, "text"); return err },
	"SetTitle": func(_ *Store, l *Log, _ string) error {
		_, err := l.SetTitle(Title{Text: "New", Source: "user"})
		return err
	},
	"SetDescription": func(_ *Store, l *Log, _ string) error { _, err := l.SetDescription("text"); return err },
	"Branch":         func(_ *Store, l *Log, id string) error { return l.Branch(id) },
	"Summary":        func(_ *Store, l *Log, id string) error { _, err := l.BranchWithSummary(id, "text"); return err },
	"AppendAt":       func(_ *Store, l *Log, id string) error { _, err := l.AppendAt(id, DraftCustom("x", nil)); return err },
	"ResetLeaf":      func(_ *Store, l *Log, _ string) error { return l.ResetLeaf() },
	"Hold":           func(_ *Store, l *Log, _ string) error { l.Hold()(); return nil },
	"EnsureOnDisk":   func(_ *Store, l *Log, _ string) error { return l.EnsureOnDisk() },
	"Settled":        func(_ *Store, l *Log, _ string) error { _, err := l.Settled(context.Background()); return err },
	"Fork": func(s *Store, l *Log, _ string) error {
		fork, err := s.Fork(l)
		return errors.Join(err, closeLog(fork))
	},
	"ForkAt": func(s *Store, l *Log, id string) error {
		fork, _, err := s.ForkAt(l, id, AtIt)
		return errors.Join(err, closeLog(fork))
	},
}

func closeLog(l *Log) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// Nothing is written, and nothing but the newest context shown, before all bytes were compared. What differs is then
// known to everything that waited.
//
// Proves: F-03
func TestWritesWaitForTheComparison(t *testing.T) {
	compareLater(t)
	for _, d := range []Dialect{Xcsh, Pi} {
		for name, write := range writes {
			for _, differs := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					x := newIndexed(t, afero.NewOsFs(), d, 120)
					before := x.changed(differs)
					l, gate := x.shut()
					x.waits(l, gate, before, func(s *Store) error {
						id := l.doc.tree.id(l.doc.Len() / 2)
						return write(s, l, id)
					}, name)
					replaced, err := l.Settled(t.Context())
					require.NoError(t, err)
					require.Equal(t, differs, replaced)
					after, err := os.ReadFile(x.path)
					require.NoError(t, err)
					if name != "SetTitle" {
						require.True(t, bytes.HasPrefix(after, before), "no byte before the new lines changed")
						x.like(l)
					}
					require.NoError(t, l.Close())
				})
			}
		}
	}
}

// waits requires that write does nothing until the gate is opened.
func (x *indexed) waits(l *Log, gate *gateFs, before []byte, write func(s *Store) error, name string) {
	x.Helper()
	var wrote atomic.Bool
	var err error
	var work sync.WaitGroup
	work.Go(func() {
		err = write(l.store)
		wrote.Store(true)
	})
	synctest.Wait()
	require.False(x, wrote.Load(), "%s waits", name)
	now, readErr := os.ReadFile(x.path)
	require.NoError(x, readErr)
	require.Equal(x, string(before), string(now))
	require.NoError(x, l.View(func(d *Document, leaf Leaf) error {
		_, err := d.ContextState(leaf)
		return err
	}), "the newest context can be shown")
	ended, cancel := context.WithCancel(x.Context())
	cancel()
	_, waitErr := l.Settled(ended)
	require.ErrorIs(x, waitErr, context.Canceled)
	close(gate.gate)
	work.Wait()
	require.NoError(x, err, name)
}

// A byte of every kind of line changes in place, with the length and the times as they were. An append after an early
// answer goes behind the present bytes, and what was shown is corrected.
func TestAChangeInPlaceIsFoundBeforeAnAppend(t *testing.T) {
	compareLater(t)
	for _, rests := range []bool{true, false} {
		for _, d := range []Dialect{Xcsh, Pi, Omp} {
			x := newIndexed(t, afero.NewOsFs(), d, 150)
			x.rests(rests)
			content, err := os.ReadFile(x.path)
			require.NoError(t, err)
			replaced := 0
			kinds := everyKind(content)
			require.Greater(t, len(kinds), 9)
			for kind, places := range kinds {
				for _, at := range places {
					now := x.flip(at)
					require.False(t, x.caseA(), "%s: the system says when the file changed", kind)
					l, err := x.store.Open(x.path)
					require.NoError(t, err)
					early := l.doc.comparing != nil && at > int(l.doc.headerAt.end) // what is before is read in any case
					_, err = l.Append(DraftCustom("test", []byte(`{}`)))
					require.NoError(t, err)
					again, err := l.Settled(t.Context())
					require.NoError(t, err)
					require.Equal(t, early, again, "%s: after the early answer or before it", kind)
					if again {
						replaced++
					}
					x.like(l)
					after, err := os.ReadFile(x.path)
					require.NoError(t, err)
					require.True(t, bytes.HasPrefix(after, now))
					require.NoError(t, l.Close())
				}
			}
			require.Greater(t, replaced, len(kinds)/2, "most are found by the comparison only")
		}
	}
}

// rests makes the store's clock one by which files have rested, or have not.
func (x *indexed) rests(rests bool) {
	if !rests {
		x.store.Now = time.Now
	}
}

// caseA reports whether the index file is used without looking at the session.
func (x *indexed) caseA() bool {
	x.Helper()
	r := &indexReader{store: x.store, at: x.store.indexAt(x.path)}
	if !r.openIndex() {
		return false
	}
	defer r.base.Close()
	info, err := x.fs.Stat(x.path)
	require.NoError(x, err)
	var d Document
	d.info = info
	d.takeStamp(x.store.Now())
	return unchanged(r.facts.stamp, d.stamp, r.facts.rested)
}

// everyKind returns the places of some digits of a line of every kind in a session.
func everyKind(content []byte) map[string][]int {
	kinds := map[string][]int{}
	off := 0
	for _, line := range bytes.SplitAfter(content, []byte("\n")) {
		kind, _, _ := strings.Cut(string(line), `,"id"`)
		if i := bytes.Index(line, []byte(`"role":"`)); i >= 0 {
			kind += string(line[i : i+12])
		}
		for _, at := range digits(line) {
			if len(kinds[kind]) < 2 {
				kinds[kind] = append(kinds[kind], off+at)
			}
		}
		off += len(line)
	}
	return kinds
}

// A line of the newest context that is not the entry that the index names is never shown.
func TestALineOfTheContextIsTheEntryOfItsSlot(t *testing.T) {
	compareLater(t)
	synctest.Test(t, func(t *testing.T) {
		x := newIndexed(t, afero.NewOsFs(), Xcsh, 120)
		content, err := os.ReadFile(x.path)
		require.NoError(t, err)
		parent := "null"
		for i := range 100 { // the newest context
			content = fmt.Appendf(content, `{"type":"message","id":"0%07x","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"more %d","timestamp":1}}`+"\n", i, parent, i)
			parent = fmt.Sprintf(`"0%07x"`, i)
		}
		require.NoError(t, os.WriteFile(x.path, content, 0o600))
		d := x.equal(x.store)
		path, _ := d.tree.path(d.Len() - 1)
		var at int
		for _, i := range path { // a message that the spine's context has
			if of := d.tree.span(i); d.tree.role(i) == "user" && of.off > 1000 && of.end < int64(len(content)-endBytes) {
				at = int(of.off) + bytes.Index(content[of.off:], []byte(`"id":"0`)) + 7
			}
		}
		require.NotZero(t, at, "there is such a message")
		x.flip(at)
		l, gate := x.shut()
		calls := 0
		var ctx Context
		var work sync.WaitGroup
		work.Go(func() {
			err = l.View(func(d *Document, leaf Leaf) (err error) {
				calls++
				ctx, _, err = BuildContext(d, leaf, nil)
				return err
			})
		})
		synctest.Wait()
		close(gate.gate)
		work.Wait()
		require.NoError(t, err)
		require.Equal(t, 2, calls, "the first did not show it")
		whole, err := load(x.fs, x.path, nil)
		require.NoError(t, err)
		want, _, err := BuildContext(whole, AtLast(), nil)
		require.NoError(t, err)
		require.Equal(t, want, ctx)
		require.NoError(t, whole.Close())
		require.NoError(t, l.Close())
	})
}

// Closing a session does not wait for its comparison, and leaves no file open.
func TestClosingEndsTheComparison(t *testing.T) {
	compareLater(t)
	synctest.Test(t, func(t *testing.T) {
		x := newIndexed(t, afero.NewOsFs(), Xcsh, 120)
		x.touch()
		l, gate := x.shut()
		fs, ok := gate.Fs.(*gateFs)
		require.True(t, ok)
		var work sync.WaitGroup
		work.Go(func() {
			if _, err := l.Append(DraftCustom("test", []byte(`{}`))); err == nil {
				t.Error("it was closed")
			}
		})
		synctest.Wait()
		work.Go(func() {
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		before, err := os.ReadFile(x.path)
		require.NoError(t, err)
		close(gate.gate) // the one read that is under way
		work.Wait()
		after, err := os.ReadFile(x.path)
		require.NoError(t, err)
		require.Equal(t, before, after)
		require.Zero(t, fs.files.Load(), "open files")
	}) // no goroutine is left
}

// The file is removed, or replaced by another one, while it is compared.
func TestTheFileGoesWhileItIsCompared(t *testing.T) {
	compareLater(t)
	for _, how := range []string{"removed", "replaced", "replaced by a pipe's directory"} {
		synctest.Test(t, func(t *testing.T) {
			x := newIndexed(t, afero.NewOsFs(), Xcsh, 120)
			x.touch()
			content, err := os.ReadFile(x.path)
			require.NoError(t, err)
			l, gate := x.shut()
			require.NoError(t, os.Remove(x.path))
			switch how {
			case "replaced":
				require.NoError(t, os.WriteFile(x.path, bytes.Replace(content, []byte("say 1"), []byte("tell 1"), 1), 0o600))
			case "replaced by a pipe's directory":
				require.NoError(t, os.Mkdir(x.path, 0o700))
			}
			close(gate.gate)
			_, err = l.Append(DraftCustom("test", []byte(`{}`)))
			if how == "replaced by a pipe's directory" {
				require.Error(t, err)
				_ = l.Close() // it says so again
				return
			}
			require.NoError(t, err)
			x.like(l)
			require.NoError(t, l.Close())
		})
	}
}

// Whatever fails while a session is opened and compared, an append goes behind the present bytes, or fails.
func TestFaultsOfTheComparison(t *testing.T) {
	compareLater(t)
	for _, mode := range []sessiontest.Mode{sessiontest.Once, sessiontest.Dead} {
		for _, differs := range []bool{false, true} {
			at := 1
			for fired := true; fired; at++ {
				x := newIndexed(t, afero.NewOsFs(), Xcsh, 36)
				before := x.changed(differs)
				fs := &sessiontest.FaultFs{Fs: x.fs, At: at, Mode: mode, Reads: true, On: func(_, name string) bool {
					return name == x.path || strings.HasPrefix(name, filepath.Join(x.dir, "index"))
				}}
				l, err := x.open(fs).Open(x.path)
				if err == nil {
					id, appendErr := l.Append(DraftCustom("test", []byte(`{}`)))
					closeErr := l.Close()
					after, err := os.ReadFile(x.path)
					require.NoError(t, err)
					require.True(t, bytes.HasPrefix(after, before), "at %d", at)
					if appendErr == nil && closeErr == nil {
						require.Equal(t, 1, bytes.Count(after, []byte(id)), "at %d", at)
					}
				}
				fired = fs.Fired()
				x.equal(x.store)
			}
			require.Greater(t, at, 25)
		}
	}
}

// Readers and other programs go on while a session is compared, and see what a whole reading shows.
func TestReadersDuringTheComparison(t *testing.T) {
	compareLater(t)
	for seed := range uint64(6) {
		x := newIndexed(t, afero.NewOsFs(), Dialect(seed%3), 200)
		x.changed(seed%2 == 0)
		l, err := x.store.Open(x.path)
		require.NoError(t, err)
		var work sync.WaitGroup
		for p := range 6 {
			work.Go(func() {
				r := rand.New(rand.NewPCG(seed, uint64(p)))
				for n := range 20 {
					var err error
					switch {
					case p == 0 && n%5 == 0:
						x.addLine(fmt.Sprintf(`{"type":"message","id":"%08x","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"f"}}`, 0xE0000000+n))
						_, err = l.Refresh()
					case p == 1 && n%5 == 0:
						_, err = l.Append(DraftCustom("test", []byte(`{}`)))
					default:
						err = l.View(func(d *Document, leaf Leaf) error {
							if _, err := d.ContextState(leaf); err != nil {
								return err
							}
							_, err := d.Entry(r.IntN(d.Len()))
							return err
						})
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		work.Wait()
		_, err = l.Settled(t.Context())
		require.NoError(t, err)
		x.addLine(`{"type":"custom","id":"ffffffff","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","customType":"end"}`)
		_, err = l.Refresh()
		require.NoError(t, err)
		require.NoError(t, l.Close())
		x.equal(x.store)
	}
}

// keptSlots returns how many entries the index files of the session have.
func (x *indexed) keptSlots() int {
	x.Helper()
	r := &indexReader{store: x.store, at: x.store.indexAt(x.path)}
	require.True(x, r.openIndex())
	require.NoError(x, r.base.Close())
	return r.facts.slots
}

// When a session that grew is closed, its index files have all of its entries.
func TestClosingExtendsTheIndexFiles(t *testing.T) {
	indexEverything(t)
	for _, d := range []Dialect{Xcsh, Pi, Omp} {
		for _, foreign := range []bool{false, true} {
			x := newIndexed(t, afero.NewOsFs(), d, 200)
			l, err := x.store.Open(x.path)
			require.NoError(t, err)
			entries := l.doc.Len()
			require.Equal(t, entries, x.keptSlots())
			for n := range 4 {
				if foreign {
					x.addLine(fmt.Sprintf(`{"type":"message","id":"%08x","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"f"}}`, 0xE0000000+n))
					_, err = l.Refresh()
				} else {
					_, err = l.Append(DraftCustom("test", []byte(`{}`)))
				}
				require.NoError(t, err)
			}
			require.Equal(t, entries, x.keptSlots(), "they are not written with every entry")
			require.NoError(t, l.Close())
			require.Equal(t, entries+4, x.keptSlots())
			require.False(t, x.caseA(), "what other programs did meanwhile is not known")
			x.equal(x.store)
			require.Equal(t, entries+4, x.keptSlots())
			require.True(t, x.caseA(), "it was compared")
		}
	}
}

// An open session that grows keeps its index files near to what it has.
func TestAGrowingSessionExtendsItsIndexFiles(t *testing.T) {
	indexEverything(t)
	was := keepEvery
	keepEvery = 2000
	defer func() { keepEvery = was }()
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 200)
	l, err := x.store.Open(x.path)
	require.NoError(t, err)
	entries, grew := x.keptSlots(), 0
	for range 100 {
		_, err = l.Append(DraftCustom("test", fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("x", 300))))
		require.NoError(t, err)
		if now := x.keptSlots(); now > entries {
			require.LessOrEqual(t, now-entries, 6)
			require.Equal(t, l.doc.Len(), now)
			entries, grew = now, grew+1
		}
	}
	require.Greater(t, grew, 10)
	x.like(l)
	require.NoError(t, l.Close())
	x.equal(x.store)
}

// Whatever fails while index files are extended, the session is saved, and no temporary file stays.
func TestFaultsOfExtendingIndexFiles(t *testing.T) {
	indexEverything(t)
	was := keepEvery
	keepEvery = 200
	defer func() { keepEvery = was }()
	for _, mode := range []sessiontest.Mode{sessiontest.Once, sessiontest.Dead, sessiontest.Short} {
		at := 1
		for fired := true; fired; at++ {
			x := newIndexed(t, afero.NewOsFs(), Xcsh, 60)
			fs := &sessiontest.FaultFs{Fs: x.fs, At: at, Mode: mode, Reads: true, On: func(_, name string) bool { return strings.HasPrefix(name, filepath.Join(x.dir, "index")) }}
			l, err := x.open(fs).Open(x.path)
			require.NoError(t, err)
			for range 3 {
				_, err = l.Append(DraftCustom("test", []byte(`{}`)))
				require.NoError(t, err)
			}
			require.NoError(t, l.Close(), "at %d", at)
			fired = fs.Fired()
			if mode != sessiontest.Dead {
				left, err := filepath.Glob(filepath.Join(x.dir, "index", "*.tmp"))
				require.NoError(t, err)
				require.Empty(t, left, "at %d", at)
			}
			x.equal(x.store)
		}
		require.Greater(t, at, 20)
	}
}

// An index file that is of other bytes is not extended.
func TestAForeignIndexFileIsNotExtended(t *testing.T) {
	indexEverything(t)
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 200)
	old, err := os.ReadFile(x.file(baseEnd))
	require.NoError(t, err)
	content, err := os.ReadFile(x.path)
	require.NoError(t, err)
	x.flip(middle(content))
	l, err := x.store.Open(x.path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(x.file(baseEnd), old, 0o600))
	_, err = l.Append(DraftCustom("test", []byte(`{}`)))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoFileExists(t, x.file(extensionEnd))
	x.equal(x.store)
}

// Two servers open, extend and close one session, while a third program appends to it.
func TestTwoServersExtendOneIndex(t *testing.T) {
	compareLater(t)
	was := keepEvery
	keepEvery = 300
	defer func() { keepEvery = was }()
	x := newIndexed(t, afero.NewOsFs(), Xcsh, 100)
	var work sync.WaitGroup
	for p := range 3 {
		work.Go(func() {
			s := x.open(afero.NewOsFs())
			for n := range 12 {
				if p == 2 {
					x.addLine(fmt.Sprintf(`{"type":"message","id":"%08x","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"f"}}`, 0xE0000000+n))
					continue
				}
				l, err := s.Open(x.path)
				if err != nil {
					t.Error(err)
					return
				}
				for range 3 {
					if _, err := l.Append(DraftCustom("test", []byte(`{"p":1}`))); err != nil {
						t.Error(err)
					}
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	d := x.equal(x.store)
	custom := 0
	for i := range d.Len() {
		if d.tree.typ(i) == TypeCustom {
			custom++
		}
	}
	content, err := os.ReadFile(x.path)
	require.NoError(t, err)
	require.Equal(t, 72, bytes.Count(content, []byte(`"data":{"p":1}`)), "of %d", custom)
	require.Equal(t, indexfile.Name(x.path), x.store.indexAt(x.path).name)
}

// Without numbers of files and times of changes, the content is compared all the same.
func TestTheComparisonOnPoorFileSystems(t *testing.T) {
	compareLater(t)
	for name, fs := range map[string]afero.Fs{"memory": afero.NewMemMapFs(), "two seconds": coarse{afero.NewOsFs()}} {
		for _, differs := range []bool{false, true} {
			x := newIndexed(t, fs, Pi, 150)
			require.False(t, x.caseA(), name)
			if differs {
				x.write(func(b []byte) []byte {
					b[middle(b)] ^= 1
					return b
				})
			}
			before, err := afero.ReadFile(fs, x.path)
			require.NoError(t, err)
			l, err := x.store.Open(x.path)
			require.NoError(t, err)
			require.NotNil(t, l.doc.comparing, "%s: it always is", name)
			_, err = l.Append(DraftCustom("test", []byte(`{}`)))
			require.NoError(t, err)
			replaced, err := l.Settled(t.Context())
			require.NoError(t, err)
			require.Equal(t, differs, replaced, name)
			x.like(l)
			require.NoError(t, l.Close())
			after, err := afero.ReadFile(fs, x.path)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(after, before))
			x.equal(x.store)
		}
	}
}
