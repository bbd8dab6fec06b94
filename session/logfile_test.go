package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

const (
	lockedFile = "/s/x.jsonl"
	lockedLock = "/s/.x.jsonl.lock"
	gonePID    = 999
)

// peer is one process of a test: its pid, its clock and its locks.
type peer struct {
	lock.Options
	mu    sync.Mutex
	clock time.Time
	waits int
}

// newPeer makes a process. All pids except gonePID are alive.
func newPeer(pid int) *peer {
	p := &peer{clock: time.Now()}
	p.Options = lock.Options{
		PID: pid, Process: &lock.Process{},
		Alive: func(pid int) bool { return pid != gonePID },
		Now: func() time.Time {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.clock
		},
		Wait: func(_ context.Context, d time.Duration) error {
			p.mu.Lock()
			p.clock = p.clock.Add(d)
			p.waits++
			p.mu.Unlock()
			return nil
		},
	}
	return p
}

// openFs counts the files that are open for appending, and calls before ahead of writes.
type openFs struct {
	afero.Fs
	mu     sync.Mutex
	open   int                      // guarded by mu
	before func(op string)          // may be nil
	closed func(f afero.File) error // after a file was closed; may be nil
}

func (o *openFs) count(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open += n
}

func (o *openFs) step(op string) {
	if o.before != nil {
		o.before(op)
	}
}

func (o *openFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	f, err := o.Fs.OpenFile(name, flag, perm)
	if err != nil || flag&os.O_APPEND == 0 {
		return f, err
	}
	o.count(1)
	return &openFile{f, o}, nil
}

type openFile struct {
	afero.File
	fs *openFs
}

func (f *openFile) Write(b []byte) (int, error) {
	f.fs.step("write")
	return f.File.Write(b)
}

func (f *openFile) Close() error {
	f.fs.count(-1)
	err := f.File.Close()
	if err == nil && f.fs.closed != nil {
		err = f.fs.closed(f.File)
	}
	return err
}

// shared is a session file that several Logs append to.
type shared struct {
	*peer
	t   *testing.T
	fs  *openFs
	s   *Store
	log *Log
}

func newShared(t *testing.T, base afero.Fs) *shared {
	t.Helper()
	b := &shared{peer: newPeer(123), t: t, fs: &openFs{Fs: base}}
	require.NoError(t, base.MkdirAll(filepath.Dir(lockedFile), 0o755))
	require.NoError(t, afero.WriteFile(base, lockedFile, []byte(st.File(
		st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
	)), 0o600))
	b.s = b.store()
	b.log = b.open()
	return b
}

func (b *shared) store() *Store {
	s := NewStore(StoreConfig{Fs: b.fs})
	s.Locks = lock.New(b.fs, b.Options)
	return s
}

func (b *shared) open() *Log {
	b.t.Helper()
	l, err := b.s.Open(lockedFile)
	require.NoError(b.t, err)
	return l
}

func prompt(text string) *Draft { return DraftMessage(json.RawMessage(st.UserMessage(text))) }

// say appends a message and requires that the file then ends with it.
func (b *shared) say(l *Log, text string) (id string) {
	b.t.Helper()
	id, err := l.Append(prompt(text))
	require.NoError(b.t, err)
	content := b.content()
	require.Contains(b.t, content[strings.LastIndexByte(content[:len(content)-1], '\n')+1:], id)
	return id
}

func (b *shared) content() string {
	b.t.Helper()
	content, err := afero.ReadFile(b.fs, lockedFile)
	require.NoError(b.t, err)
	return string(content)
}

// stampThere returns the content of the lock, "" if it is free.
func (b *shared) stampThere() string {
	b.t.Helper()
	content, err := afero.ReadFile(b.fs, lockedLock)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(b.t, err)
	}
	return string(content)
}

// requireReleased requires that neither the lock nor the open file outlives an append.
func (b *shared) requireReleased() {
	b.t.Helper()
	require.Empty(b.t, b.stampThere())
	require.Zero(b.t, b.fs.open)
	b.requireUnlocked()
}

// requireUnlocked requires that the process neither holds the lock nor waits for it: it would
// wait for ever then.
func (b *shared) requireUnlocked() {
	b.t.Helper()
	unlock, err := lock.New(b.fs.Fs, b.Options).Publish(lockedFile)
	require.NoError(b.t, err)
	require.NoError(b.t, unlock())
}

func (b *shared) requireAll(ids ...string) {
	b.t.Helper()
	doc, err := Load(b.fs, lockedFile)
	require.NoError(b.t, err)
	for _, id := range ids {
		require.Equal(b.t, 1, strings.Count(b.content(), `"id":"`+id+`"`), b.content())
		_, err := doc.Index(id)
		require.NoError(b.t, err)
	}
	require.Empty(b.t, doc.Problems())
}

func onBothStorages(t *testing.T, test func(t *testing.T, b *shared)) {
	t.Helper()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) { test(t, newShared(t, fs)) })
}

// Several Logs of one process and another user of the lock run at the same time.
func TestLogsOfOneProcessTakeTurns(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *shared) {
		const logs, each = 4, 60
		ids := make([][]string, logs)
		var all sync.WaitGroup
		for k := range logs {
			l := b.open()
			all.Go(func() {
				for i := range each {
					id, err := l.Append(prompt(fmt.Sprint(k, " ", i)))
					if err != nil {
						t.Error(err)
					}
					ids[k] = append(ids[k], id)
				}
				assert.NoError(t, l.Close())
			})
		}
		all.Go(func() {
			for range each {
				unlock, err := b.s.Locks.Publish(lockedFile)
				if assert.NoError(t, err) {
					assert.NoError(t, unlock())
				}
			}
		})
		all.Wait()
		b.requireAll(slices.Concat(ids...)...)
		b.requireReleased()
	})
}

// Programs without locks change the file between two appends, or while this process holds
// the lock and the open file.
// Proves: F-03
func TestChangesByProgramsWithoutALock(t *testing.T) {
	t.Parallel()
	theirs := st.User("ffffffff", "bbbbbbbb", "theirs") + "\n"
	add := func(b *shared) error {
		f, err := b.fs.Fs.OpenFile(lockedFile, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(theirs)
		return errors.Join(err, f.Close())
	}
	// replace puts a file in place that lacks the last entries this process wrote.
	replace := func(b *shared) error {
		content := strings.SplitAfter(b.content(), "\n")
		text := strings.Join(content[:3], "") + theirs
		return errors.Join(
			afero.WriteFile(b.fs.Fs, lockedFile+".tmp", []byte(text), 0o600), b.fs.Fs.Rename(lockedFile+".tmp", lockedFile),
		)
	}
	remove := func(b *shared) error { return b.fs.Fs.Remove(lockedFile) }
	away := func(b *shared) error { return b.fs.Fs.Rename("/s", "/t") }
	for _, c := range []struct {
		name  string
		does  func(b *shared) error
		known bool // theirs is in the file
		disk  bool // only there, because memory has no inodes
	}{
		{"appends", add, true, false},
		{"replaces", replace, true, true},
		{"removes", remove, false, false},
		{"moves the directory", away, false, true},
	} {
		for _, when := range []string{"between two appends", "between check and write"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				t.Parallel()
				onBothStorages(t, func(t *testing.T, b *shared) {
					if _, memory := b.fs.Fs.(*afero.MemMapFs); memory && (c.disk || when != "between two appends") {
						return // a file in memory that is open for appending does not follow its end
					}
					ids := []string{b.say(b.log, "1"), b.say(b.log, "2")}
					if when == "between two appends" {
						require.NoError(t, c.does(b))
					} else {
						b.fs.before = func(op string) {
							if op == "write" {
								b.fs.before = nil
								assert.NoError(t, c.does(b))
							}
						}
					}
					id, err := b.log.Append(prompt("3"))
					require.NoError(t, err)
					ids = append(ids, id, b.say(b.log, "4"))
					if c.known {
						ids = append(ids, "ffffffff")
					}
					b.requireAll(ids...)
					require.NoError(t, b.log.Close())
					require.Zero(t, b.fs.open)
					b.requireUnlocked()
					b.requireAll(ids...)
				})
			})
		}
	}
}

// Some file systems report a lost write only on close.
// Proves: F-12
func TestAnErrorOfClosing(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *shared) {
		before := b.content()
		b.fs.closed = func(afero.File) error {
			assert.NoError(t, afero.WriteFile(b.fs.Fs, lockedFile, []byte(before), 0o600))
			return &os.PathError{Op: "close", Path: lockedFile, Err: os.ErrDeadlineExceeded}
		}
		id, err := b.log.Append(prompt("1"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, fault.IO, fault.KindOf(err))
		require.ErrorIs(t, b.log.Err(), os.ErrDeadlineExceeded)
		b.requireReleased()
		b.fs.closed = nil
		require.Equal(t, before, b.content())
		require.NoError(t, b.log.Flush(), "the lost line is written again")
		require.NoError(t, b.log.Err())
		b.requireAll(id)
		require.NoError(t, b.log.Close())
	})
}

// A failed sync is reported, and the written entry stays.
func TestAFailedSync(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	b := newShared(t, base)
	faulty := &st.FaultFs{Fs: base, On: func(op, _ string) bool { return op == "sync" }}
	b.fs.Fs = faulty
	id := b.say(b.log, "1")
	faulty.At = 1
	require.ErrorIs(t, b.log.Flush(), st.ErrInjected)
	require.NoError(t, b.log.Flush())
	b.requireAll(id)
	require.NoError(t, b.log.Close())
	b.requireReleased()
}

// A process killed during an append leaves its lock behind, and the next append takes it
// over.
// Proves: F-03
func TestTheLockOfADeadProcess(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *shared) {
		dead := newShared(t, b.fs.Fs)
		dead.PID = gonePID
		dead.s = dead.store()
		dead.log = dead.open()
		ids := []string{dead.say(dead.log, "1"), dead.say(dead.log, "2")}
		_, err := dead.s.Locks.Publish(lockedFile)
		require.NoError(t, err)
		require.Contains(t, b.stampThere(), "999:")
		ids = append(ids, b.say(b.log, "3"))
		require.Zero(t, b.waits)
		b.requireAll(ids...)
		require.NoError(t, b.log.Close())
		b.requireReleased()
	})
}

// plain must never accept a line that prepare would change.
func TestPlainLinesNeedNoPreparation(t *testing.T) {
	t.Parallel()
	fat := strings.Repeat("x", minBlobChars)
	for _, line := range []string{
		`{"type":"message","message":{"role":"user","content":"hello"}}`,
		`{"partialJson":"x","a":1}`, `{"a":1,"jsonlEvents":[]}`, `{"p\u0061rtialJson":"x"}`, `{"\u006asonlEvents":1}`,
		`{"image_url":"data:image/png;base64,AAAA"}`, `{"im\u0061ge_url":"\u0064ata:image/png;base64,AAAA"}`,
		`{"image_url":{"url":"data:image/png;base64,AAAA"}}`,
		`{"content":[{"type":"image","data":"` + fat + `","mimeType":"image/png"}]}`,
		`{"type":"image_generation_call","result":"` + fat + `"}`,
	} {
		out, err := prepareWithin([]byte(line), nil, limits{text: maxPersistChars, image: minBlobChars})
		require.NoError(t, err)
		if plain([]byte(line)) {
			require.Equal(t, line, string(out))
			require.True(t, ordinary([]byte(line), limits{text: maxPersistChars, image: minBlobChars}), line)
		}
	}
	require.True(t, plain([]byte(st.UserMessage("hello"))))
}
