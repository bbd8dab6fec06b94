package pull_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// stories are pulls, whose steps fail in turn.
var stories = map[string]struct {
	content []byte
	link    bool // the storage has hard links
}{
	"reserved":  {conversation(30), false},
	"linked":    {conversation(30), true},
	"converted": {oldConversation(), false},
}

// oldConversation is a session file of version 1.
func oldConversation() []byte {
	lines := []string{`{"type":"session","id":"` + headerID + `","timestamp":"2025-01-02T03:04:05.000Z","cwd":"/elsewhere/web"}`}
	for _, text := range []string{"one", "two", "three"} {
		lines = append(lines, `{"type":"message","timestamp":"2025-01-02T03:04:06.000Z","message":{"role":"user","content":"`+text+`"}}`)
	}
	return []byte(st.File(lines...))
}

// memoryLink is a hard link on a storage that has none: a copy, as one step.
func memoryLink(fsys afero.Fs, step func() error) func(from, to string) error {
	return func(from, to string) error {
		if err := step(); err != nil {
			return err
		}
		if ok, err := afero.Exists(fsys, to); err != nil || ok {
			return errors.Join(err, fs.ErrExist)
		}
		content, err := afero.ReadFile(fsys, from)
		if err != nil {
			return err
		}
		return afero.WriteFile(fsys, to, content, 0o600)
	}
}

// At each step the storage may fail, or the program may end. No file under a visible name is then other than whole, and another pull
// completes it.
func TestEveryStepOfThePullMayFail(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		for _, mode := range []st.Mode{st.Once, st.Short, st.Dead} {
			steps := 0
			for at := 1; failAt(t, name, story.content, story.link, mode, at); at++ {
				steps++
			}
			require.Greater(t, steps, 5, name)
		}
	}
}

// failAt pulls with a fault at one step, and reports whether there was such a step.
func failAt(t *testing.T, name string, content []byte, link bool, mode st.Mode, step int) (fired bool) {
	t.Helper()
	w := newWorld(t)
	p := w.publish(content, 400)
	base := afero.NewMemMapFs()
	whole := wholeFile(t, w, p)
	faulty := &st.FaultFs{Fs: base, At: step, Mode: mode, Reads: true, On: func(_, path string) bool {
		return !strings.HasPrefix(filepath.ToSlash(path), "/locks")
	}}
	m := at(faulty, w.kim)
	if link {
		m.config.Link = memoryLink(base, func() error {
			return faulty.Chmod(ownRoot, 0o700) // counts as a step
		})
		require.NoError(t, base.MkdirAll(ownRoot, 0o700))
	}
	path, err := m.pull(t, p.sid)
	if err == nil {
		content, err := afero.ReadFile(base, path)
		require.NoError(t, err)
		require.Equal(t, whole, string(content), "%s, step %d", name, step)
	}
	for path, content := range visible(t, base) {
		if content == "" && !link && mode == st.Dead {
			require.NoError(t, base.Remove(path)) // the reserved name of a program that was killed
			continue
		}
		require.Equal(t, whole, content, "%s at %d, %s", name, step, path)
	}
	again := at(base, w.kim)
	if link {
		again.config.Link = memoryLink(base, func() error { return nil })
	}
	path, err = again.pull(t, p.sid)
	require.NoError(t, err, "%s, step %d", name, step)
	got, err := afero.ReadFile(base, path)
	require.NoError(t, err)
	require.Equal(t, whole, string(got))
	require.Len(t, visible(t, base), 1)
	require.Empty(t, hiddenFiles(t, base), "%s at %d", name, step)
	return faulty.Fired()
}

// wholeFile returns the file that a pull without faults makes.
func wholeFile(t *testing.T, w *world, p *published) string {
	t.Helper()
	fsys := afero.NewMemMapFs()
	clean := newWorld(t)
	h := bytes.IndexByte(p.head, '\n') + 1
	q := clean.publish(append(bytes.Clone(p.head[:h]), p.body...), 1000)
	path, err := at(fsys, clean.kim).pull(t, q.sid)
	require.NoError(t, err)
	content, err := afero.ReadFile(fsys, path)
	require.NoError(t, err)
	return string(content)
}

func hiddenFiles(t *testing.T, fsys afero.Fs) (found []string) {
	t.Helper()
	for path := range files(t, fsys) {
		if strings.HasPrefix(filepath.Base(path), ".") {
			found = append(found, path)
		}
	}
	return found
}

// Each call to the store may fail, before it takes effect or behind it. The pull repeats it.
func TestEveryCallToTheStoreMayFail(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		for _, lost := range []bool{false, true} {
			calls := 0
			for n := 1; ; n++ {
				w := newWorld(t)
				p := w.publish(story.content, 400)
				whole := wholeFile(t, w, p)
				store := &faulty{Store: w.kim, at: n, lost: lost}
				m := at(afero.NewMemMapFs(), store)
				path, err := m.pull(t, p.sid)
				require.NoError(t, err, "%s at %d", name, n)
				content, err := afero.ReadFile(m.fs, path)
				require.NoError(t, err)
				require.Equal(t, whole, string(content))
				require.Len(t, files(t, m.fs), 1)
				if !store.fired() {
					break
				}
				calls++
			}
			require.GreaterOrEqual(t, calls, 3, name)
		}
	}
}

// The store may be gone for good from any call on. The next pull continues.
func TestAStoreThatIsGoneIsContinued(t *testing.T) {
	t.Parallel()
	for name, story := range stories {
		for n := 1; ; n++ {
			w := newWorld(t)
			p := w.publish(story.content, 400)
			whole := wholeFile(t, w, p)
			store := &faulty{Store: w.kim, at: n, ever: true}
			fsys := afero.NewMemMapFs()
			_, err := at(fsys, store).pull(t, p.sid)
			if err != nil {
				requireKind(t, fault.Offline, err)
				require.Empty(t, visible(t, fsys), "%s at %d", name, n)
			}
			path, err := at(fsys, w.kim).pull(t, p.sid)
			require.NoError(t, err)
			content, err := afero.ReadFile(fsys, path)
			require.NoError(t, err)
			require.Equal(t, whole, string(content))
			require.Len(t, files(t, fsys), 1)
			if !store.fired() {
				break
			}
		}
	}
}

// counting counts the bytes of segments.
type counting struct {
	team.Store
	bytes int
	cut   int // after so many bytes a call breaks, once; 0 is never
}

func (c *counting) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	return c.Store.Read(ctx, sid, gen, from, most, func(s team.Segment) error {
		if c.cut > 0 && c.bytes >= c.cut {
			return errOffline
		}
		c.bytes += len(s.Bytes)
		return each(s)
	})
}

// A pull that was interrupted continues with what it has, after summing it.
// Proves: TM-06
func TestAPullContinues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(90), 500)
	n := len(p.body)
	for _, spoil := range []struct {
		name  string
		do    func(t *testing.T, fsys afero.Fs, temp string)
		saved bool
	}{
		{"as it is", func(*testing.T, afero.Fs, string) {}, true},
		{"half a segment more", func(t *testing.T, fsys afero.Fs, temp string) { appendTo(t, fsys, temp, "half") }, true},
		{"another byte", func(t *testing.T, fsys afero.Fs, temp string) { changeAt(t, fsys, temp, 300) }, false},
		{"another head", func(t *testing.T, fsys afero.Fs, temp string) { changeAt(t, fsys, temp, 3) }, false},
		{"empty", func(t *testing.T, fsys afero.Fs, temp string) {
			require.NoError(t, afero.WriteFile(fsys, temp, nil, 0o600))
		}, false},
		{"readable by others", func(t *testing.T, fsys afero.Fs, temp string) { require.NoError(t, fsys.Chmod(temp, 0o644)) }, false},
	} {
		m := at(afero.NewMemMapFs(), &counting{Store: w.kim, cut: n / 2})
		_, err := m.pull(t, p.sid)
		requireKind(t, fault.Offline, err)
		temps := hiddenFiles(t, m.fs)
		require.Len(t, temps, 1)
		require.Equal(t, "."+named+".tmp", filepath.Base(temps[0]))
		spoil.do(t, m.fs, temps[0])
		second := &counting{Store: w.kim}
		path, err := at(m.fs, second).pull(t, p.sid)
		require.NoError(t, err, spoil.name)
		requirePulled(t, m.fs, path, p)
		require.Equal(t, spoil.saved, second.bytes < n*2/3, "%s: %d of %d", spoil.name, second.bytes, n)
		require.Len(t, files(t, m.fs), 1)
	}
}

func appendTo(t *testing.T, fsys afero.Fs, path, text string) {
	t.Helper()
	content, err := afero.ReadFile(fsys, path)
	require.NoError(t, err)
	require.NoError(t, afero.WriteFile(fsys, path, append(content, text...), 0o600))
}

func changeAt(t *testing.T, fsys afero.Fs, path string, off int) {
	t.Helper()
	content, err := afero.ReadFile(fsys, path)
	require.NoError(t, err)
	content[off] ^= 1
	require.NoError(t, afero.WriteFile(fsys, path, content, 0o600))
}

// A connection that breaks after some bytes, each time, still brings everything: what came stays.
// Proves: TM-12 (a pull)
func TestEveryConnectionBreaks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(90), 500)
	breaking := &lying{Store: w.kim}
	got := 0
	breaking.seg = func(s *team.Segment) { got++ }
	store := &everyOther{Store: breaking}
	m := at(afero.NewMemMapFs(), store)
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	requirePulled(t, m.fs, path, p)
	require.Greater(t, store.breaks, 5)
	require.Less(t, got, 3*len(p.body)/500)
}

// everyOther breaks each call after two segments.
type everyOther struct {
	team.Store
	breaks int
}

func (e *everyOther) Read(ctx context.Context, sid team.SID, gen int, from int64, most int, each func(team.Segment) error) error {
	n := 0
	return e.Store.Read(ctx, sid, gen, from, most, func(s team.Segment) error {
		if n++; n > 2 {
			e.breaks++
			return errOffline
		}
		return each(s)
	})
}

// Proves: TM-34
func TestThereIsNoSpace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(40), 500)
	m := at(afero.NewMemMapFs(), w.kim)
	m.config.Free = func(string) (int64, bool) { return 1000, true }
	_, err := m.pull(t, p.sid)
	requireKind(t, fault.NoSpace, err)
	require.Contains(t, err.Error(), "MB")
	require.Empty(t, visible(t, m.fs))
	full := at(&st.FaultFs{Fs: m.fs, At: 1, Mode: st.Dead, Err: syscall.ENOSPC, On: func(op, path string) bool {
		return op == "write" && strings.HasSuffix(path, ".tmp")
	}}, w.kim)
	_, err = full.pull(t, p.sid)
	requireKind(t, fault.NoSpace, err)
	require.Empty(t, visible(t, m.fs))
	m = at(m.fs, w.kim)
	_, err = m.pull(t, p.sid)
	require.NoError(t, err)
}

// Esc ends a pull and keeps what came.
func TestAPullIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(90), 500)
	ctx, cancel := context.WithCancel(t.Context())
	l := &lying{Store: w.kim, seg: func(s *team.Segment) {
		if s.Off > int64(len(p.body)/2) {
			cancel()
		}
	}}
	m := at(afero.NewMemMapFs(), &everyOther{Store: l})
	_, err := m.puller().Pull(ctx, p.sid, cwd, nil)
	requireKind(t, fault.Cancelled, err)
	require.Empty(t, visible(t, m.fs))
	second := &counting{Store: w.kim}
	path, err := at(m.fs, second).pull(t, p.sid)
	require.NoError(t, err)
	requirePulled(t, m.fs, path, p)
	require.Less(t, second.bytes, len(p.body)*2/3)
}

// A name that is taken is never replaced.
// Proves: TM-35
func TestANameThatIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(4), 500)
	m := at(afero.NewMemMapFs(), w.kim)
	dir, err := m.library.DirFor(cwd)
	require.NoError(t, err)
	other := filepath.Join(dir, named)
	foreign := strings.Replace(string(conversation(2)), headerID, "fedcba9876543210", 1)
	require.NoError(t, afero.WriteFile(m.fs, other, []byte(foreign), 0o600))
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Equal(t, strings.TrimSuffix(named, ".jsonl")+"_2.jsonl", filepath.Base(path))
	requirePulled(t, m.fs, path, p)
	content, err := afero.ReadFile(m.fs, other)
	require.NoError(t, err)
	require.Equal(t, foreign, string(content))
}

// On the real file system the second name of a file whose pull was killed is removed, and never written to.
func TestASecondNameIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(9), 500)
	m := onDisk(t, w.kim)
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	requirePulled(t, m.fs, path, p)
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
	require.NoError(t, os.Link(path, temp))
	w.append(p, []byte(st.User("zzzzzzzz", "", "more")+"\n"))
	again, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Equal(t, path, again)
	requirePulled(t, m.fs, path, p)
	require.NoFileExists(t, temp)
}

// One process at a time pulls a session.
func TestTwoPullsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.publish(conversation(9), 500)
	m := onDisk(t, nil)
	busy := 0
	m.config.Store = &lying{Store: w.kim, seg: func(*team.Segment) {
		other := *m
		other.config.Store = w.kim
		_, err := other.pull(t, p.sid)
		requireKind(t, fault.Busy, err)
		busy++
	}}
	path, err := m.pull(t, p.sid)
	require.NoError(t, err)
	require.Positive(t, busy)
	requirePulled(t, m.fs, path, p)
}
