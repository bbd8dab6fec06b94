package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// scannedFs counts how often a folder is listed, which each look at a folder without git does once.
type scannedFs struct {
	afero.Fs
	folder string
	scans  atomic.Int32
	seen   chan struct{} // closed by the first one
	first  sync.Once
}

func (f *scannedFs) Open(name string) (afero.File, error) {
	if name == f.folder {
		f.scans.Add(1)
		defer f.first.Do(func() { close(f.seen) })
	}
	return f.Fs.Open(name)
}

// saves is an editor in which the user saves files.
type saves struct {
	change.NoDocuments
	mu    sync.Mutex
	paths []string
}

func (e *saves) save(path string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.paths = append(e.paths, path)
}

func (e *saves) Watch() func() []string {
	return func() []string {
		e.mu.Lock()
		defer e.mu.Unlock()
		paths := e.paths
		e.paths = nil
		return paths
	}
}

// unsaved is a workspace with an unsaved document.
type unsaved struct{ tool.Local }

func (unsaved) Unsaved(context.Context) []string { return []string{"/elsewhere"} }

// A look begins when the model begins to write the call, so that the command need not wait for it. It is used only if nothing can
// have happened since that does not belong to the command.
func TestTheLookBeginsWithTheCall(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell")
	}
	type scene struct {
		folder string
		editor *saves
		clock  *atomic.Int64 // seconds
	}
	other := func(t *testing.T, s scene) {
		require.NoError(t, os.WriteFile(filepath.Join(s.folder, "a"), []byte("other\n"), 0o644))
	}
	for name, c := range map[string]struct {
		meanwhile func(t *testing.T, s scene) // while the model writes the call
		files     func(disk afero.Fs) tool.Workspace
		before    string
		scans     int32
	}{
		"used": {before: "one\n", scans: 2},
		"old":  {before: "other\n", scans: 3, meanwhile: func(t *testing.T, s scene) { other(t, s); s.clock.Add(6) }},
		"saved by the user": {before: "other\n", scans: 3, meanwhile: func(t *testing.T, s scene) {
			other(t, s)
			s.editor.save(filepath.Join(s.folder, "a"))
		}},
		"unsaved documents": {before: "one\n", scans: 3, files: func(disk afero.Fs) tool.Workspace { return unsaved{tool.Local{Fs: disk}} }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, err := filepath.EvalSymlinks(t.TempDir())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(folder, "a"), []byte("one\n"), 0o644))
			disk := &scannedFs{Fs: afero.NewOsFs(), folder: folder, seen: make(chan struct{})}
			here, hold := scene{folder, &saves{}, &atomic.Int64{}}, make(chan struct{})
			call := answerOf(t, "bash", fields{"command": "echo two >> a"})
			call.Hold = hold
			sessions := afero.NewMemMapFs()
			w, s := editing(t, sessions, folder, []providertest.Reply{call, {Text: "Done."}}, onDisk(t.TempDir()), func(cfg *agent.Config) {
				cfg.Changes.Disk, cfg.Documents = disk, here.editor
				cfg.Now = func() time.Time { return time.Unix(here.clock.Load(), 0) }
				if c.files != nil {
					cfg.Workspace = c.files(disk)
				}
			})
			turn := promptInBackground(t, s, "go")
			<-disk.seen
			if c.meanwhile != nil {
				c.meanwhile(t, here)
			}
			close(hold)
			<-turn
			require.Equal(t, c.scans, disk.scans.Load(), "one after the command, the others before it")
			file := s.File()
			require.NoError(t, w.Close(t.Context()))
			records, store := recordsIn(t, sessions, file)
			require.Len(t, records, 1)
			require.Empty(t, records[0].AlsoEditor)
			before, err := store.Get(records[0].Changes[0].Before.SHA256)
			require.NoError(t, err)
			require.Equal(t, c.before, string(before))
		})
	}
}

// Only the first command of an answer uses the look ahead of it: the next one would find what the first did.
func TestALookAheadIsForOneCommand(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil || runtime.GOOS == "windows" {
		t.Skip("needs git and a shell")
	}
	dir := t.TempDir()
	folder := filepath.Join(dir, "w")
	require.NoError(t, exec.CommandContext(t.Context(), "git", "init", "-q", folder).Run())
	sessions := afero.NewMemMapFs()
	broken := providertest.Reply{ToolCalls: []providertest.Call{{Name: "bash", Args: json.RawMessage(`{"command": `)}}}
	w, s := editing(t, sessions, folder, []providertest.Reply{
		answerOf(t, "bash", fields{"command": "echo 1 > a"}, "write", fields{"path": "b", "content": "2\n"}, "bash", fields{"command": "echo 3 >> a; echo 3 >> b"}),
		broken, // its look is never used
		{Text: "Done."},
	}, onDisk(dir))
	prompt(t, s, "go")
	file := s.File()
	require.NoError(t, w.Close(t.Context()))
	records, store := recordsIn(t, sessions, file)
	var found []string
	for _, r := range records {
		for _, c := range r.Changes {
			before, _ := store.Get(c.Before.SHA256)
			after, err := store.Get(c.After.SHA256)
			require.NoError(t, err)
			found = append(found, r.Tool+" "+c.Path+": "+string(before)+"→"+string(after))
		}
	}
	require.Equal(t, []string{"bash a: →1\n", "write b: →2\n", "bash a: 1\n→1\n3\n", "bash b: 2\n→2\n3\n"}, found)
	temp, err := os.ReadDir(filepath.Join(dir, "temp"))
	require.True(t, err != nil || len(temp) == 0, "%v", temp)
}
