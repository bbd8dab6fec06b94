package agent

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/spf13/afero"

	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// TestEventsOutOfOrder: the watcher's refresh takes no turn, so that it numbers and publishes events
// beside an operation: they arrive out of order.
func TestEventsOutOfOrder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sessions", "--w--", "a.jsonl")
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	_ = os.WriteFile(path, []byte(st.File(st.Header("0123456789abcdef", "/w"), st.User("aaaaaaaa", "", "one"), st.Assistant("bbbbbbbb", "aaaaaaaa", "two"))), 0o600)
	fs := afero.NewOsFs()
	finder := library.Finder{Fs: fs, Roots: []library.Root{library.OwnRoot(library.AgentPlaces(dir))}, Now: time.Now}
	m := NewManager(Config{Storage: Storage{Store: session.NewStore(session.StoreConfig{Fs: fs, DirFor: finder.DirFor, RootFor: finder.FileRoot}), Finder: finder}})
	s, err := m.Session(context.Background(), "/w")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Switch(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	var last uint64
	wrong := 0
	m.Subscribe(func(e Event) {
		if c, ok := e.(SessionChanged); ok {
			if c.Seq < last {
				wrong++
			}
			last = max(last, c.Seq)
		}
	})
	// One foreign line for each branch: a writer without a pause would keep a branch, which is a write
	// too, from its turn at the end of the file.
	turns := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		f, _ := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		defer f.Close()
		for range turns {
			_, _ = f.WriteString(st.User(time.Now().Format("050405.000000"), "bbbbbbbb", "f") + "\n")
			s.refresh() // the call of the watcher's loop
		}
	})
	for range 2000 {
		turns <- struct{}{}
		_, _ = s.Branch(context.Background(), "bbbbbbbb", BranchOptions{})
	}
	close(turns)
	done.Wait()
	if wrong > 0 {
		t.Fatalf("%d events arrived behind a later one", wrong)
	}
}
