package kit

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Trial is one operation on storage that fails at one of its steps.
type Trial struct {
	T      *testing.T
	Base   afero.Fs // the existing files, without faults
	Faulty *st.FaultFs
	S      *session.Store
	Dir    string
	Path   string       // of the session
	Log    *session.Log // of it, open
	Armed  bool         // the steps count
	Acked  []string     // entries that were acknowledged
	Tried  []string     // all entries
	Last   *session.Log // the one that an entry was appended to, nil for none
}

// places gives each trial a directory of its own, because locks are known to the whole
// process by the path of their file.
var places atomic.Int64

// NewTrial writes a session and an artifact to a file system of its own and opens the session
// through a [st.FaultFs] that fails at step number at.
func NewTrial(t *testing.T, file string, at int, mode st.Mode, reads bool) *Trial {
	t.Helper()
	return NewTrialOn(t, afero.NewMemMapFs(), file, at, mode, reads)
}

// NewTrialOn is [NewTrial] on other storage.
func NewTrialOn(t *testing.T, base afero.Fs, file string, at int, mode st.Mode, reads bool) *Trial {
	t.Helper()
	w := &Trial{T: t, Base: base, Dir: fmt.Sprintf("/trial%d/--w--", places.Add(1))}
	w.Path = filepath.Join(w.Dir, filepath.Base(Filed))
	Put(t, w.Base, w.Path, file)
	Put(t, w.Base, strings.TrimSuffix(w.Path, ".jsonl")+"/0.bash.log", "output")
	w.Faulty = &st.FaultFs{Fs: w.Base, At: at, Mode: mode, Reads: reads, On: func(string, string) bool { return w.Armed }}
	w.S = w.store(w.Faulty, 1)
	var err error
	w.Log, err = w.S.Open(w.Path)
	require.NoError(t, err)
	w.Armed = true
	return w
}

// store returns a store to which locks without an owner look old enough to be stale.
func (w *Trial) store(fs afero.Fs, seed int64) *session.Store {
	now := func() time.Time { return time.Now().Add(time.Duration(seed) * time.Hour) }
	return session.NewStore(session.StoreConfig{
		Fs: fs, Now: now, Random: rand.New(rand.NewSource(seed)),
		DirFor: func(string) (string, error) { return w.Dir, nil },
		RootFor: func(string) (session.FileRoot, bool) {
			return session.FileRoot{Blobs: filepath.Dir(w.Dir) + "/blobs"}, true
		},
	})
}

// Append appends to l and records the outcome.
func (w *Trial) Append(l *session.Log, d *session.Draft) error {
	id, err := l.Append(d)
	w.Last = l
	if id != "" {
		w.Tried = append(w.Tried, id)
		require.Equal(w.T, err, l.Err(), "fault %d: the returned error stays", w.Faulty.At)
	}
	if err == nil && l.OnDisk() {
		w.Acked = append(w.Acked, w.Tried...)
		w.Tried = nil
	}
	return err
}

// requireKept requires that everything acknowledged is in the file at path, once.
func (w *Trial) requireKept(path string, ids []string) {
	w.T.Helper()
	text := Content(w.T, w.Base, path)
	for _, id := range ids {
		require.Equal(w.T, 1, strings.Count(text, `"id":"`+id+`"`), "fault %d: %s in\n%s", w.Faulty.At, id, text)
	}
	require.True(w.T, len(ids) == 0 || strings.HasSuffix(text, "\n"))
}

// requireNothingElse requires that every session that a list would show can be read, and
// that nothing temporary is left.
func (w *Trial) requireNothingElse() {
	w.T.Helper()
	require.NoError(w.T, afero.Walk(w.Base, "/", func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		require.NotContains(w.T, path, ".tmp", "fault %d", w.Faulty.At)
		if name := filepath.Base(path); strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, ".") {
			doc, err := session.NewStore(session.StoreConfig{Fs: w.Base}).Load(path)
			require.NoError(w.T, err, "fault %d", w.Faulty.At)
			require.NoError(w.T, doc.Close())
		}
		return nil
	}))
}

// RequireSentence requires that an error is a message fit for users.
func RequireSentence(t *testing.T, err error) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.NotEmpty(t, f.Kind)
	require.False(t, strings.ContainsFunc(f.Message, unicode.IsControl), "%q", f.Message)
	require.True(t, utf8.ValidString(f.Message), "%q", f.Message)
	require.NotEqual(t, fault.Internal, f.Kind)
	require.Greater(t, len(f.Message), 10)
}

// Describe is append for a description.
func (w *Trial) Describe(text string) error {
	leaf := w.Log.LeafID()
	_, err := w.Log.SetDescription(text)
	if id := w.Log.LeafID(); id != leaf {
		w.Tried = append(w.Tried, id)
	}
	if err == nil {
		w.Acked, w.Tried = append(w.Acked, w.Tried...), nil
	}
	return err
}

// Forked appends a message to fork and returns its path. It takes the results of Fork; an error
// is returned unchanged.
func (w *Trial) Forked(fork *session.Log, err error) (string, error) {
	if err != nil {
		return "", err
	}
	w.Acked = append(w.Acked, "aaaaaaaa", "bbbbbbbb")
	err = w.Append(fork, Say("user", "x"))
	return fork.Path(), err
}

// TryOperation runs an operation with its fault and reports whether that was reached.
func TryOperation(t *testing.T, w *Trial, run func(w *Trial) (string, error)) bool {
	t.Helper()
	before := Content(t, w.Base, w.Path)
	path, err := run(w)
	w.Armed = false
	if !w.Faulty.Fired() {
		require.NoError(t, err)
	}
	if err != nil {
		require.ErrorIs(t, err, st.ErrInjected, "fault %d", w.Faulty.At)
		RequireSentence(t, err)
	}
	if w.Faulty.Mode != st.Dead {
		w.requireNothingElse()
	}
	if path != w.Path { // the previous session is unchanged
		require.Equal(t, before, Content(t, w.Base, w.Path), "fault %d", w.Faulty.At)
	}
	if path != "" && len(w.Acked) > 0 {
		w.requireKept(path, w.Acked)
	}
	if path == w.Path || path == w.Log.Path() {
		w.goOn(path)
	}
	return w.Faulty.Fired()
}

// goOn ends the faults. All entries that the session still lacks are written, once, and it can
// continue; so can the next process that opens it.
func (w *Trial) goOn(path string) {
	w.T.Helper()
	if w.Faulty.Mode != st.Dead {
		_ = w.Log.Close() // where the operation did not
		require.NoError(w.T, w.Log.Err(), "fault %d", w.Faulty.At)
		w.requireKept(path, append(w.Acked, w.Tried...))
	} else if exists, err := afero.Exists(w.Base, path); err == nil && !exists {
		return // the machine crashed before the first of it was written
	}
	if info, err := w.Base.Stat(path); err == nil && info.Size() == 0 {
		require.Equal(w.T, st.Dead, w.Faulty.Mode)
		require.Empty(w.T, w.Acked, "the machine went when only the name was there")
		return
	}
	next, err := w.store(w.Base, 2).Open(path)
	require.NoError(w.T, err, "fault %d", w.Faulty.At)
	id, err := next.Append(Say("user", "after the fault"))
	require.NoError(w.T, err, "fault %d", w.Faulty.At)
	require.NoError(w.T, next.Close())
	w.requireKept(path, append(w.Acked, id))
}
