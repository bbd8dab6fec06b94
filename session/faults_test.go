package session_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// trial is one operation on storage that fails at one of its steps.
type trial struct {
	t      *testing.T
	base   afero.Fs // what is there, without faults
	faulty *st.FaultFs
	s      *session.Store
	dir    string
	path   string       // of the session
	log    *session.Log // of it, open
	armed  bool         // the steps count
	acked  []string     // entries that were acknowledged
	tried  []string     // all entries
}

// places gives each trial a directory of its own, because locks are known to the whole
// process by the path of their file.
var places atomic.Int64

func newTrial(t *testing.T, file string, at int, mode st.Mode, reads bool) *trial {
	t.Helper()
	w := &trial{t: t, base: afero.NewMemMapFs(), dir: fmt.Sprintf("/trial%d/--w--", places.Add(1))}
	w.path = filepath.Join(w.dir, filepath.Base(filed))
	put(t, w.base, w.path, file)
	put(t, w.base, strings.TrimSuffix(w.path, ".jsonl")+"/0.bash.log", "output")
	w.faulty = &st.FaultFs{Fs: w.base, At: at, Mode: mode, Reads: reads, On: func(string, string) bool { return w.armed }}
	w.s = w.store(w.faulty, 1)
	var err error
	w.log, err = w.s.Open(w.path)
	require.NoError(t, err)
	w.armed = true
	return w
}

// store is one whose locks are old enough to be nobody's when they name nobody.
func (w *trial) store(fs afero.Fs, seed int64) *session.Store {
	now := func() time.Time { return time.Now().Add(time.Duration(seed) * time.Hour) }
	return session.NewStore(session.StoreConfig{
		Fs: fs, Now: now, IDs: session.NewIDs(now, rand.New(rand.NewSource(seed))), AfterFunc: never,
		DirFor: func(string) (string, error) { return w.dir, nil },
		RootFor: func(string) (session.FileRoot, bool) {
			return session.FileRoot{Blobs: filepath.Dir(w.dir) + "/blobs"}, true
		},
	})
}

// append appends to l and notes what came of it.
func (w *trial) append(l *session.Log, d *session.Draft) error {
	id, err := l.Append(d)
	if id != "" {
		w.tried = append(w.tried, id)
		require.Equal(w.t, err, l.Err(), "fault %d: what is told stays", w.faulty.At)
	}
	if err == nil && l.OnDisk() {
		w.acked = append(w.acked, w.tried...)
		w.tried = nil
	}
	return err
}

// requireKept requires that everything acknowledged is in the file at path, once.
func (w *trial) requireKept(path string, ids []string) {
	w.t.Helper()
	text := content(w.t, w.base, path)
	for _, id := range ids {
		require.Equal(w.t, 1, strings.Count(text, `"id":"`+id+`"`), "fault %d: %s in\n%s", w.faulty.At, id, text)
	}
	require.True(w.t, len(ids) == 0 || strings.HasSuffix(text, "\n"))
}

// requireNothingElse requires that every session that a list would show can be read, and
// that nothing temporary is left.
func (w *trial) requireNothingElse() {
	w.t.Helper()
	require.NoError(w.t, afero.Walk(w.base, "/", func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		require.NotContains(w.t, path, ".tmp", "fault %d", w.faulty.At)
		if name := filepath.Base(path); strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".") {
			doc, err := session.Load(w.base, path)
			require.NoError(w.t, err, "fault %d", w.faulty.At)
			require.NoError(w.t, doc.Close())
		}
		return nil
	}))
}

// requireSentence requires of an error what a person needs.
func requireSentence(t *testing.T, err error) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.NotEmpty(t, f.Kind)
	require.False(t, strings.ContainsFunc(f.Message, unicode.IsControl), "%q", f.Message)
	require.True(t, utf8.ValidString(f.Message), "%q", f.Message)
	require.NotEqual(t, fault.Internal, f.Kind)
	require.Greater(t, len(f.Message), 10)
}

// operations are the ways in which sessions are written. Each returns the session that
// it made or changed, "" for none.
var operations = map[string]struct {
	file func() string // conversation when nil
	run  func(w *trial) (path string, err error)
}{
	"a burst of appends": {nil, func(w *trial) (string, error) {
		var failed error
		for i := range 4 {
			failed = errors.Join(failed, w.append(w.log, say("user", fmt.Sprint(i))))
		}
		return w.path, failed
	}},
	"append and flush": {nil, func(w *trial) (string, error) {
		return w.path, errors.Join(w.append(w.log, say("user", "x")), w.log.Flush(), w.append(w.log, say("user", "y")), w.log.Flush())
	}},
	"append to a torn file": {func() string { return conversation() + `{"torn` }, func(w *trial) (string, error) {
		return w.path, errors.Join(w.append(w.log, say("user", "x")), w.append(w.log, say("user", "y")))
	}},
	"append with an image": {nil, func(w *trial) (string, error) {
		return w.path, w.append(w.log, imageMessage(base64.StdEncoding.EncodeToString(make([]byte, 3000))))
	}},
	"append behind another's line": {nil, func(w *trial) (string, error) {
		err := w.append(w.log, say("user", "x"))
		put(w.t, w.base, w.path, content(w.t, w.base, w.path)+st.User("ffffffff", "bbbbbbbb", "theirs")+"\n")
		w.acked = append(w.acked, "ffffffff")
		return w.path, errors.Join(err, w.append(w.log, say("user", "y")))
	}},
	"append to a file that was deleted": {nil, func(w *trial) (string, error) {
		require.NoError(w.t, w.base.Remove(w.path))
		return w.path, w.append(w.log, say("user", "x"))
	}},
	"create": {nil, func(w *trial) (string, error) {
		l, err := w.s.Create("/w", session.NewOptions{})
		if err != nil {
			return "", err
		}
		err = errors.Join(w.append(l, say("user", "x")), w.append(l, say("assistant", "y")), w.append(l, say("user", "z")))
		w.log = l
		return l.Path(), err
	}},
	"create at a path": {nil, func(w *trial) (string, error) {
		l, err := w.s.CreateAt(filepath.Join(w.dir, "named.jsonl"), "/w")
		if err != nil {
			return "", err
		}
		return l.Path(), w.append(l, say("user", "x"))
	}},
	"rename in the header": {nil, func(w *trial) (string, error) {
		_, err := w.log.SetTitle(session.Title{Text: "T"})
		return w.path, errors.Join(w.append(w.log, say("user", "x")), err)
	}},
	"rename in a burst": {nil, func(w *trial) (string, error) {
		failed := w.append(w.log, say("user", "x"))
		_, err := w.log.SetTitle(session.Title{Text: "T"})
		return w.path, errors.Join(failed, err, w.append(w.log, say("user", "y")))
	}},
	"describe": {nil, func(w *trial) (string, error) {
		err := errors.Join(w.describe("first"), w.describe("second"))
		return w.path, errors.Join(err, w.log.Flush(), w.append(w.log, say("user", "x")))
	}},
	"save before an answer": {nil, func(w *trial) (string, error) {
		l, err := w.s.Create("/w", session.NewOptions{})
		if err != nil {
			return "", err
		}
		w.log = l
		err = w.append(l, say("user", "x"))
		failed := l.EnsureOnDisk()
		if failed != nil { // who was told so saves again
			failed = errors.Join(failed, l.EnsureOnDisk())
		}
		return l.Path(), errors.Join(err, failed, l.Flush(), w.append(l, say("user", "y")))
	}},
	"keep a session in memory": {nil, func(w *trial) (string, error) {
		l := w.s.Memory("/w", session.NewOptions{})
		require.NoError(w.t, errors.Join(w.append(l, say("user", "x")), w.append(l, say("assistant", "y"))))
		kept, err := w.s.Keep(l)
		if kept == nil {
			_, more := l.Append(say("user", "goes on in memory"))
			require.NoError(w.t, more)
			w.tried = nil
			return "", err
		}
		w.log = kept
		return kept.Path(), errors.Join(err, w.append(kept, say("user", "z")))
	}},
	"rename in the slot": {func() string { return slotLine() + "\n" + conversation() }, func(w *trial) (string, error) {
		_, err := w.log.SetTitle(session.Title{Text: "T", Source: "user"})
		return w.path, errors.Join(err, w.append(w.log, say("user", "x")))
	}},
	"migrate": {func() string {
		old := `{"type":"message","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"one"}}`
		return st.File(`{"type":"session","id":"0123456789abcdef","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`, old)
	}, func(w *trial) (string, error) {
		return w.path, errors.Join(w.append(w.log, say("user", "x")), w.append(w.log, say("user", "y")))
	}},
	"fork": {nil, func(w *trial) (string, error) { return w.forked(w.s.Fork(w.log)) }},
	"fork of a file": {nil, func(w *trial) (string, error) {
		return w.forked(w.s.ForkFrom(w.path, "/v"))
	}},
	"branch to a file": {nil, func(w *trial) (string, error) {
		fork, _, err := w.s.ForkAt(w.log, "bbbbbbbb", session.AtIt)
		return w.forked(fork, err)
	}},
	"salvage": {func() string { return conversation() + "{torn\n" }, func(w *trial) (string, error) {
		out := filepath.Join(w.dir, "salvaged.jsonl")
		if _, err := w.s.Salvage(w.path, out, "/w"); err != nil {
			return "", err
		}
		w.acked = append(w.acked, "aaaaaaaa", "bbbbbbbb")
		return out, nil
	}},
	"write a file": {nil, func(w *trial) (string, error) {
		return "", w.s.WriteFile(filepath.Join(w.dir, "export.html"), false, func(out io.Writer) error {
			_, err := io.WriteString(out, "exported")
			return err
		})
	}},
	"write over a file": {nil, func(w *trial) (string, error) {
		put(w.t, w.base, filepath.Join(w.dir, "export.html"), "before")
		err := w.s.WriteFile(filepath.Join(w.dir, "export.html"), true, func(out io.Writer) error {
			_, err := io.WriteString(out, "exported")
			return err
		})
		want := "exported"
		if err != nil {
			want = "before"
		}
		require.Equal(w.t, want, content(w.t, w.base, filepath.Join(w.dir, "export.html")), "fault %d", w.faulty.At)
		return "", err
	}},
	"breadcrumb": {nil, func(w *trial) (string, error) {
		dir := filepath.Join(w.dir, "terminals")
		put(w.t, w.base, filepath.Join(dir, "tty1"), "/w\n/before.jsonl\n")
		err := session.WriteBreadcrumb(w.faulty, dir, "tty1", "/w", "/after.jsonl")
		_, file, ok := session.ReadBreadcrumb(w.base, dir, "tty1")
		require.True(w.t, ok, "fault %d", w.faulty.At)
		want := "/after.jsonl"
		if err != nil {
			want = "/before.jsonl"
		}
		require.Equal(w.t, want, file, "fault %d", w.faulty.At)
		return "", err
	}},
}

// describe is append for a description.
func (w *trial) describe(text string) error {
	leaf := w.log.LeafID()
	_, err := w.log.SetDescription(text)
	if id := w.log.LeafID(); id != leaf {
		w.tried = append(w.tried, id)
	}
	if err == nil {
		w.acked, w.tried = append(w.acked, w.tried...), nil
	}
	return err
}

func (w *trial) forked(fork *session.Log, err error) (string, error) {
	if err != nil {
		return "", err
	}
	w.acked = append(w.acked, "aaaaaaaa", "bbbbbbbb")
	err = w.append(fork, say("user", "x"))
	return fork.Path(), err
}

// TestNoFaultLosesWhatWasAcknowledged fails every step of every way to write in turn,
// with and without those that only read.
func TestNoFaultLosesWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	for name, op := range operations {
		for mode, how := range []string{"once", "dead", "short"} {
			for _, reads := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s reads=%v", name, how, reads), func(t *testing.T) {
					t.Parallel()
					file := conversation()
					if op.file != nil {
						file = op.file()
					}
					at := 1
					for tryOperation(t, newTrial(t, file, at, st.Mode(mode), reads), op.run) {
						require.Less(t, at, 1000, "the operation never runs through")
						at++
					}
					require.Greater(t, at, 3, "hardly a step could fail")
				})
			}
		}
	}
}

// tryOperation runs an operation with its fault and reports whether that was reached.
func tryOperation(t *testing.T, w *trial, run func(w *trial) (string, error)) bool {
	t.Helper()
	before := content(t, w.base, w.path)
	path, err := run(w)
	w.armed = false
	if !w.faulty.Fired() {
		require.NoError(t, err)
	}
	if err != nil {
		require.ErrorIs(t, err, st.ErrInjected, "fault %d", w.faulty.At)
		requireSentence(t, err)
	}
	if w.faulty.Mode != st.Dead {
		w.requireNothingElse()
	}
	if path != w.path { // the session that was there is as it was
		require.Equal(t, before, content(t, w.base, w.path), "fault %d", w.faulty.At)
	}
	if path != "" && len(w.acked) > 0 {
		w.requireKept(path, w.acked)
	}
	if path == w.path || path == w.log.Path() {
		w.goOn(path)
	}
	return w.faulty.Fired()
}

// goOn ends the trouble. Whatever the session still lacks is written, once, and it can
// go on; so can who opens it next.
func (w *trial) goOn(path string) {
	w.t.Helper()
	if w.faulty.Mode != st.Dead {
		_ = w.log.Close() // where the operation did not
		require.NoError(w.t, w.log.Err(), "fault %d", w.faulty.At)
		w.requireKept(path, append(w.acked, w.tried...))
	} else if exists, err := afero.Exists(w.base, path); err == nil && !exists {
		return // the machine went before the first of it was written
	}
	if info, err := w.base.Stat(path); err == nil && info.Size() == 0 {
		require.Equal(w.t, st.Dead, w.faulty.Mode)
		require.Empty(w.t, w.acked, "the machine went when only the name was there")
		return
	}
	next, err := w.store(w.base, 2).Open(path)
	require.NoError(w.t, err, "fault %d", w.faulty.At)
	id, err := next.Append(say("user", "after the fault"))
	require.NoError(w.t, err, "fault %d", w.faulty.At)
	require.NoError(w.t, next.Close())
	w.requireKept(path, append(w.acked, id))
}
