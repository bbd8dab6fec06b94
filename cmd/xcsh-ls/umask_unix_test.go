//go:build unix

package main

import (
	"bytes"
	"image"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// places are parts of the paths of all kinds of files that the program writes.
var places = []string{".bash.log", "blobs/", "sessions/", "history.db", "page.html", "terminal-sessions/t1", "trash/"}

// TestFilesArePrivateUnderAnyUmask runs turns that write a session, a long output, an image and the
// history, exports, forks, lists and deletes sessions and checks the mode of everything new.
// Proves: X-117, AB-086
func TestFilesArePrivateUnderAnyUmask(t *testing.T) {
	t.Parallel()
	for _, umask := range []string{"0000", "0022", "0027", "0077", "0007"} {
		t.Run(umask, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, formats[0])
			seeing := filepath.Join(m.agentDir(), "models.json")
			m.write(seeing, strings.Replace(m.read(seeing), `"id":"m"`, `"id":"m","input":["text","image"]`, 1))
			m.write(m.path("picture.png"), noise(t))
			m.Script(
				"m", providertest.Reply{ToolCalls: calls("bash", map[string]any{"command": "seq 20000"})},
				providertest.Reply{ToolCalls: calls("read", map[string]any{"path": "picture.png"})},
				providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Again."},
			)
			before, locked := modes(t, m.home), false
			m.runUnder(umask, "run", "--model", "fake/m", "--approval", "yolo", "go")
			out := filepath.Join(m.agentDir(), "page.html")
			m.runUnder(umask, "export", m.sessionFile(), out)
			m.runUnder(umask, "run", "--model", "fake/m", "--fork", m.sessionFile(), "again")
			m.runUnder(umask, "list", "--all")
			m.editUnder(umask, func(ed *lsptest.Editor) {
				for _, c := range []struct {
					command string
					args    lsptest.Fields
				}{{"xcsh.continue", nil}, {"xcsh.fork", nil}, {"xcsh.rename", lsptest.Fields{"title": "T"}}, {"xcsh.delete", lsptest.Fields{"source": "T", "confirm": true}}} {
					_, failure := ed.Exec(c.command, c.args)
					require.Nil(t, failure, c.command)
					for path, mode := range modes(t, m.agentDir()) {
						if strings.HasSuffix(path, ".lock") {
							require.Equal(t, fs.FileMode(0o600), mode, path)
							locked = true
						}
					}
				}
			})
			after, seen := modes(t, m.home), map[string]bool{}
			for path, mode := range after {
				if _, old := before[path]; old || mode.Type() != 0 && !mode.IsDir() {
					continue
				}
				want := fs.FileMode(0o600)
				if mode.IsDir() {
					want = 0o700
				}
				require.Equal(t, want, mode.Perm(), path)
				for _, part := range places {
					if strings.Contains(path, part) {
						seen[part] = true
					}
				}
			}
			require.Len(t, seen, len(places), "%v of %v", seen, after)
			require.True(t, locked, "there was a lock")
		})
	}
}

// noise is a picture that cannot be compressed.
func noise(t *testing.T) string {
	t.Helper()
	random, picture := rand.New(rand.NewPCG(1, 2)), image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range picture.Pix {
		picture.Pix[i] = byte(random.Uint32())
	}
	var b strings.Builder
	require.NoError(t, png.Encode(&b, picture))
	return b.String()
}

// runUnder runs the program with a umask until it exits.
func (m *machine) runUnder(umask string, args ...string) {
	m.t.Helper()
	var errs bytes.Buffer
	cmd := m.command(args...)
	shell := append([]string{"-c", "umask " + umask + `; exec "$0" "$@"`, cmd.Path}, args...)
	under := m.command()
	under.Path, under.Args, under.Stderr = "/bin/sh", append([]string{"sh"}, shell...), &errs
	require.NoError(m.t, under.Run(), errs.String())
}

// editUnder serves an editor with a umask until use returns.
func (m *machine) editUnder(umask string, use func(ed *lsptest.Editor)) {
	m.t.Helper()
	cmd := m.command()
	cmd.Args = []string{"sh", "-c", "umask " + umask + `; exec "$0" --stdio --terminal-id t1`, cmd.Path}
	cmd.Path = "/bin/sh"
	ed := lsptest.StartProcess(m.t, cmd)
	ed.Initialize(lsptest.Fields{
		"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}}, "capabilities": lsptest.Fields{},
	})
	use(ed)
	ed.Shutdown()
	ed.Exit()
	ed.Wait()
}

// modes returns the mode of everything below dir.
func modes(t *testing.T, dir string) map[string]fs.FileMode {
	t.Helper()
	all := map[string]fs.FileMode{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Lstat(path)
		if err == nil {
			all[path] = info.Mode()
		}
		return err
	}))
	return all
}
