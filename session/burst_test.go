package session

import (
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

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	st "github.com/xcsh-ls/xcsh-ls/session/sessiontest"
)

// alarms is a clock that strikes when a test says so.
type alarms struct {
	mu  sync.Mutex
	set []*alarm
}

type alarm struct {
	d time.Duration
	f func()
}

func (c *alarms) after(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &alarm{d, f}
	c.set = append(c.set, a)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		n := len(c.set)
		c.set = slices.DeleteFunc(c.set, func(b *alarm) bool { return a == b })
		return len(c.set) < n
	}
}

// strike rings what is set by now and reports for how long that was set.
func (c *alarms) strike() (rang []time.Duration) {
	c.mu.Lock()
	due := c.set
	c.set = nil
	c.mu.Unlock()
	for _, a := range due {
		a.f()
		rang = append(rang, a.d)
	}
	return rang
}

// openFs counts the files that are open for writing, and calls out before some steps.
type openFs struct {
	afero.Fs
	mu     sync.Mutex
	open   int                      // guarded by mu
	opened int                      // guarded by mu
	before func(op string)          // may be nil
	closed func(f afero.File) error // after a file was closed; may be nil
}

func (o *openFs) count(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open += n
	o.opened += max(0, n)
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

func (f *openFile) Sync() error {
	f.fs.step("sync")
	return f.File.Sync()
}

func (f *openFile) Close() error {
	f.fs.count(-1)
	err := f.File.Close()
	if err == nil && f.fs.closed != nil {
		err = f.fs.closed(f.File)
	}
	return err
}

// bursting is a session that is appended to while a test winds the clock.
type bursting struct {
	*alarms
	*player
	t   *testing.T
	fs  *openFs
	s   *Store
	log *Log
}

func newBursting(t *testing.T, base afero.Fs) *bursting {
	t.Helper()
	b := &bursting{alarms: &alarms{}, player: newPlayer(123), t: t, fs: &openFs{Fs: base}}
	require.NoError(t, base.MkdirAll(filepath.Dir(lockedFile), 0o755))
	require.NoError(t, afero.WriteFile(base, lockedFile, []byte(st.File(
		st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"),
	)), 0o600))
	b.s = b.store()
	b.log = b.open()
	return b
}

func (b *bursting) store() *Store {
	o := b.lockOptions
	o.after = b.after
	s := NewStore(StoreConfig{Fs: b.fs})
	s.locks = newLocker(b.fs, o)
	return s
}

func (b *bursting) open() *Log {
	b.t.Helper()
	l, err := b.s.Open(lockedFile)
	require.NoError(b.t, err)
	return l
}

func prompt(text string) *Draft { return DraftMessage(json.RawMessage(st.UserMessage(text))) }

// say appends and requires that the file then ends with what was said.
func (b *bursting) say(l *Log, text string) (id string) {
	b.t.Helper()
	id, err := l.Append(prompt(text))
	require.NoError(b.t, err)
	content := b.content()
	require.Contains(b.t, content[strings.LastIndexByte(content[:len(content)-1], '\n')+1:], id)
	return id
}

func (b *bursting) content() string {
	b.t.Helper()
	content, err := afero.ReadFile(b.fs, lockedFile)
	require.NoError(b.t, err)
	return string(content)
}

// stampThere is what the lock holds, "" when it is free.
func (b *bursting) stampThere() string {
	b.t.Helper()
	content, err := afero.ReadFile(b.fs, lockedLock)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(b.t, err)
	}
	return string(content)
}

// requireEnded requires that nothing is left of a burst.
func (b *bursting) requireEnded() {
	b.t.Helper()
	require.Empty(b.t, b.stampThere())
	require.Zero(b.t, b.fs.open)
	require.Empty(b.t, b.process.held)
	require.Empty(b.t, b.process.gates)
	require.Empty(b.t, b.set)
}

func (b *bursting) requireAll(ids ...string) {
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

func onBothStorages(t *testing.T, test func(t *testing.T, b *bursting)) {
	t.Helper()
	st.RunStorage(t, func(t *testing.T, fs afero.Fs) { test(t, newBursting(t, fs)) })
}

func TestABurstLastsUntilTheAppendsPause(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		one := b.say(b.log, "1")
		first := b.stampThere()
		require.NotEmpty(t, first)
		two := b.say(b.log, "2")
		require.NoError(t, b.log.Flush())
		changed, err := b.log.Refresh()
		require.NoError(t, err)
		require.False(t, changed)
		require.Equal(t, []time.Duration{burstPause}, b.strike(), "something was appended")
		require.Equal(t, first, b.stampThere(), "one lock for all of it")
		require.Equal(t, 1, b.fs.opened, "and one open file")
		b.strike()
		b.requireEnded()

		three := b.say(b.log, "3")
		require.NotEqual(t, first, b.stampThere())
		require.NoError(t, b.log.Close())
		b.requireEnded()
		b.requireAll(one, two, three)
	})
}

// However fast the appends come, others have their turn: omp asks every 2 ms for 500 ms.
func TestABurstGivesOthersTheirTurn(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		var ids []string
		other := newPlayer(77)
		other.waiting = func(n int) {
			ids = append(ids, b.say(b.log, fmt.Sprint("in a hurry ", n)))
			if time.Duration(n)*lockRetry%burstPause == 0 {
				b.strike()
			}
		}
		ids = append(ids, b.say(b.log, "the first"))
		unlock, err := other.publish(b.fs)
		require.NoError(t, err)
		require.LessOrEqual(t, time.Duration(other.waits)*lockRetry, burstPause*burstTurns)
		require.Greater(t, time.Duration(other.waits)*lockRetry, burstPause, "it was a long burst")
		require.Zero(t, b.fs.open)

		// Now it is ours to wait, first for as long as the others need to notice and
		// then for them.
		clock := b.now()
		b.waiting = func(n int) {
			if n == 1 {
				assert.Equal(t, burstRest, b.now().Sub(clock), "the rest")
			}
			if n == 10 {
				assert.NoError(t, unlock())
			}
		}
		ids = append(ids, b.say(b.log, "the last"))
		require.Equal(t, 10, b.waits)
		b.requireAll(ids...)
		require.NoError(t, b.log.Close())
		b.requireEnded()
	})
}

func TestAPauseIsFollowedByARestTooAndOnlyOnce(t *testing.T) {
	t.Parallel()
	b := newBursting(t, afero.NewMemMapFs())
	b.say(b.log, "1")
	b.strike()
	b.strike()
	b.requireEnded()
	b.say(b.log, "right after the pause")
	require.Equal(t, 1, b.waits)
	b.say(b.log, "in the burst")
	require.NoError(t, b.log.Close())
	require.Equal(t, 1, b.waits)

	b = newBursting(t, afero.NewMemMapFs())
	b.say(b.log, "1")
	b.strike()
	b.strike()
	b.clock = b.clock.Add(burstRest)
	b.say(b.log, "later")
	require.Zero(t, b.waits, "the rest is over")
}

// Others who write to the file will want the lock again: as long as they do, none has to
// wait for more than one append.
func TestABurstIsForOneWhoWritesAlone(t *testing.T) {
	t.Parallel()
	b := newBursting(t, afero.NewMemMapFs())
	b.say(b.log, "1")
	require.NotEmpty(t, b.stampThere())
	other := b.open()
	b.say(other, "2")
	require.NotEmpty(t, b.stampThere(), "it does not know of the first")
	b.say(b.log, "3")
	b.requireEnded()
	b.clock = b.clock.Add(burstCompany - 1)
	b.say(b.log, "4")
	b.requireEnded()
	b.clock = b.clock.Add(1)
	b.say(b.log, "5")
	require.NotEmpty(t, b.stampThere())
	require.Zero(t, b.waits)
	require.NoError(t, errors.Join(b.log.Close(), other.Close()))
	b.requireEnded()
}

// Where a file that is open cannot be replaced, a burst keeps only the lock.
func TestABurstThatKeepsTheFileShut(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		b.log.burst.shut = true
		ids := []string{b.say(b.log, "1")}
		stamp := b.stampThere()
		require.NotEmpty(t, stamp)
		require.Zero(t, b.fs.open)
		ids = append(ids, b.say(b.log, "2"))
		require.Equal(t, stamp, b.stampThere())
		require.NoError(t, b.log.Flush())
		require.Zero(t, b.fs.open)
		b.requireAll(ids...)
		require.NoError(t, b.log.Close())
		b.requireEnded()
	})
}

// Nobody closes the Log, and nothing of it is left but memory.
func TestAForgottenLogKeepsNeitherLockNorFile(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		b.say(b.log, "1")
		b.log = nil
		for b.strike() != nil {
			require.LessOrEqual(t, b.fs.opened, 1)
		}
		b.requireEnded()
	})
}

// The clock strikes late: the burst that set it is over and another one goes on.
func TestALateAlarmEndsNoOtherBurst(t *testing.T) {
	t.Parallel()
	b := newBursting(t, afero.NewMemMapFs())
	b.say(b.log, "1")
	late := b.set[0].f
	b.log.burst.giveUp()
	b.say(b.log, "2")
	stamp := b.stampThere()
	for range 2 * burstTurns {
		late()
	}
	require.Equal(t, stamp, b.stampThere())
	require.NoError(t, b.log.Close())
	b.requireEnded()
}

func TestOtherGoroutinesDoNotWaitForABurst(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		other := b.open()
		ids := []string{b.say(b.log, "1"), b.say(other, "2"), b.say(b.log, "3")}
		b.requireAll(ids...)
		unlock, err := b.s.locks.publish(lockedFile) // what moves and trash do
		require.NoError(t, err)
		require.Zero(t, b.fs.open)
		require.NoError(t, unlock())

		b.say(b.log, "4")
		changed, err := other.SetTitle(Title{Text: "T"})
		require.NoError(t, err)
		require.True(t, changed)
		b.say(b.log, "5")
		changed, err = b.log.SetTitle(Title{Text: "U"})
		require.NoError(t, err)
		require.True(t, changed)
		b.requireEnded()
		require.Zero(t, b.waits, "nobody polled")
		require.NoError(t, errors.Join(b.log.Close(), other.Close()))
	})
}

// Several Logs of one process and what else takes the lock, at the same time, without a
// clock that could help out.
func TestBurstsDoNotLockEachOtherOut(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
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
				unlock, err := b.s.locks.publish(lockedFile)
				if assert.NoError(t, err) {
					assert.NoError(t, unlock())
				}
			}
		})
		all.Wait()
		b.requireAll(slices.Concat(ids...)...)
		b.requireEnded()
	})
}

// What programs do that take no lock, while we have the lock and the file open.
func TestABurstIsNotAloneWithTheFile(t *testing.T) {
	t.Parallel()
	theirs := st.User("ffffffff", "bbbbbbbb", "theirs") + "\n"
	add := func(b *bursting) error {
		f, err := b.fs.Fs.OpenFile(lockedFile, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(theirs)
		return errors.Join(err, f.Close())
	}
	// replace puts a file there that lacks what we wrote last.
	replace := func(b *bursting) error {
		content := strings.SplitAfter(b.content(), "\n")
		text := strings.Join(content[:3], "") + theirs
		return errors.Join(
			afero.WriteFile(b.fs.Fs, lockedFile+".tmp", []byte(text), 0o600), b.fs.Fs.Rename(lockedFile+".tmp", lockedFile),
		)
	}
	remove := func(b *bursting) error { return b.fs.Fs.Remove(lockedFile) }
	away := func(b *bursting) error { return b.fs.Fs.Rename("/s", "/t") }
	for _, c := range []struct {
		name  string
		does  func(b *bursting) error
		known bool // theirs is in the file
		disk  bool // only there, because memory has no inodes
	}{
		{"appends", add, true, false},
		{"replaces", replace, true, true},
		{"removes", remove, false, false},
		{"moves the directory", away, false, true},
	} {
		for _, when := range []string{"between two appends", "between look and write"} {
			t.Run(c.name+" "+when, func(t *testing.T) {
				t.Parallel()
				onBothStorages(t, func(t *testing.T, b *bursting) {
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
					require.Empty(t, b.process.held)
					b.requireAll(ids...)
				})
			})
		}
	}
}

// A file system may say only when a file is closed that what was written to it is lost.
func TestWhatClosingSaysIsTold(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		before := b.content()
		id := b.say(b.log, "1")
		b.fs.closed = func(afero.File) error {
			assert.NoError(t, afero.WriteFile(b.fs.Fs, lockedFile, []byte(before), 0o600))
			return &os.PathError{Op: "close", Path: lockedFile, Err: os.ErrDeadlineExceeded}
		}
		b.strike()
		b.strike()
		b.fs.closed = nil
		require.Equal(t, before, b.content())
		require.ErrorIs(t, b.log.Flush(), os.ErrDeadlineExceeded)
		require.ErrorIs(t, b.log.Err(), os.ErrDeadlineExceeded)
		require.NoError(t, b.log.Flush(), "it is made up for")
		require.NoError(t, b.log.Err())
		b.requireAll(id)

		// Not in a burst it is told at once.
		b.fs.closed = func(afero.File) error { return os.ErrDeadlineExceeded }
		two, err := b.log.Append(prompt("2"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		b.fs.closed = nil
		require.NoError(t, b.log.Flush())
		b.requireAll(id, two)

		b.clock = b.clock.Add(burstCompany)
		b.say(b.log, "3")
		b.fs.closed = func(afero.File) error { return os.ErrDeadlineExceeded }
		err = b.log.Close()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Equal(t, fault.IO, fault.KindOf(err))
		b.requireEnded()
	})
}

// A disk may need longer for a sync than others wait for the lock.
func TestASlowSyncKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		id := b.say(b.log, "1")
		b.fs.before = func(op string) {
			if op == "sync" {
				b.strike()
				b.strike()
				assert.Empty(t, b.stampThere())
				assert.Equal(t, 1, b.fs.open, "it is just being synced")
			}
		}
		require.NoError(t, b.log.Flush())
		b.requireEnded()
		b.requireAll(id)
	})
}

// A failed sync is told, and what was written stays.
func TestAFailedSyncInABurst(t *testing.T) {
	t.Parallel()
	base := afero.NewMemMapFs()
	b := newBursting(t, base)
	faulty := &st.FaultFs{Fs: base, On: func(op, _ string) bool { return op == "sync" }}
	b.fs.Fs = faulty
	id := b.say(b.log, "1")
	faulty.At = 1
	require.ErrorIs(t, b.log.Flush(), st.ErrInjected)
	require.NoError(t, b.log.Flush())
	b.requireAll(id)
	require.NoError(t, b.log.Close())
	b.requireEnded()
}

// A process that ended in a burst leaves its lock, which the next one takes.
func TestABurstOfADeadProcess(t *testing.T) {
	t.Parallel()
	onBothStorages(t, func(t *testing.T, b *bursting) {
		dead := newBursting(t, b.fs.Fs)
		dead.pid = gonePID
		dead.s = dead.store()
		dead.log = dead.open()
		ids := []string{dead.say(dead.log, "1"), dead.say(dead.log, "2")}
		require.Contains(t, b.stampThere(), "999:")
		ids = append(ids, b.say(b.log, "3"))
		require.Zero(t, b.waits)
		b.requireAll(ids...)
		require.NoError(t, b.log.Close())
		b.requireEnded()
	})
}

// plain must never let a line pass that prepare would change.
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
		out, err := prepareWithin([]byte(line), nil, limits{text: MaxPersistChars, image: minBlobChars})
		require.NoError(t, err)
		if plain([]byte(line)) {
			require.Equal(t, line, string(out))
			require.True(t, ordinary([]byte(line), limits{text: MaxPersistChars, image: minBlobChars}), line)
		}
	}
	require.True(t, plain([]byte(st.UserMessage("hello"))))
}
