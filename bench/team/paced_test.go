package team_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/racetest"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/publish"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// paced calls each function every 500 ms, all of them spread over that time, and returns how long the calls took.
func (b *bench) paced(do []func(i int) error, each int) []time.Duration {
	b.Helper()
	const pause = 500 * time.Millisecond
	var mu sync.Mutex
	var times []time.Duration
	var failed error
	var running sync.WaitGroup
	began := time.Now()
	for w, f := range do {
		running.Go(func() {
			for i := range each {
				at := began.Add(time.Duration(i)*pause + time.Duration(w)*pause/time.Duration(len(do)))
				select {
				case <-b.Context().Done():
					return
				case <-time.After(time.Until(at)):
				}
				start := time.Now()
				err := f(i)
				took := time.Since(start)
				mu.Lock()
				times = append(times, took)
				if err != nil {
					failed = err
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	require.NoError(b, failed)
	slices.Sort(times)
	return times
}

// Writers that append twice a second each, as turns of users do, against as many that INSERT.
func TestPacedWriters(t *testing.T) {
	b := newBench(t)
	writers, each := size(10, 50), size(6, 40)
	appends, inserts := b.writers(writers)
	base, ours := b.paced(inserts, each), b.paced(appends, each)
	b.row("paced writers, median", ours[len(ours)/2], base[len(base)/2], "INSERT", 2)
	if big() { // of few, the 99th percentile is the slowest
		b.row("paced writers, 99th percentile", ours[len(ours)*99/100], base[len(base)*99/100], "INSERT", 2)
	}
}

// A line that is written while the store is down, against one without a store. The session's file is written as always, and its path is noted.
func TestALineWhileTheStoreIsDown(t *testing.T) {
	racetest.Large(t)
	b := &bench{T: t}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	p := publish.New(publish.Config{
		Store: func() (team.Store, int, error) {
			return nil, 0, fault.New(fault.Offline, "The team store cannot be reached.")
		},
		Fs: afero.NewOsFs(), States: shipping.States{Fs: afero.NewMemMapFs(), Dir: "/state"}, Clock: publish.SystemClock{},
		Consent: func() (consent.Decisions, error) { return consent.Decisions{}, nil },
		Project: func(string, consent.Decisions) (identity.Project, error) { return identity.Project{}, nil },
	})
	write := func() error {
		_, err := f.Write(line)
		return err
	}
	var ours, base []time.Duration
	noted := func() error {
		err := write()
		p.Touched(path)
		return err
	}
	for i := range size(2000, 20000) {
		if i%2 == 0 { // the second of two writes is faster
			base, ours = append(base, b.took(write)), append(ours, b.took(noted))
		} else {
			ours, base = append(ours, b.took(noted)), append(base, b.took(write))
		}
	}
	b.row("1,000 lines while the store is down, of the median", 1000*median(ours), 1000*median(base), "write", 1.1)
}
