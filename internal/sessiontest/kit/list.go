package kit

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// SessionsRoot is the sessions directory of the finder that [NewFinder] returns.
const SessionsRoot = "/home/zed/.xcsh/agent/sessions"

// Noon is when every test of the listings happens.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// NewFinder looks for xcsh's sessions of a user called zed.
func NewFinder(fs afero.Fs) library.Finder {
	return library.Finder{
		Fs: fs, Home: "/home/zed", Temp: "/tmp", Now: func() time.Time { return Noon },
		Roots: []library.Root{library.OwnRoot(library.AgentPlaces("/home/zed/.xcsh/agent"))},
	}
}

// Chat is a session in which the user and the model take turns.
func Chat(id, cwd string, texts ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"session","version":3,"id":%s,"timestamp":"2026-11-20T10:00:00.000Z","cwd":%s}`+"\n",
		rawjson.Quote(id), rawjson.Quote(cwd))
	parent := "null"
	for i, text := range texts {
		role := [...]string{"user", "assistant"}[i%2]
		fmt.Fprintf(&b, `{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-11-20T10:00:01.000Z","message":{"role":%q,"content":[{"type":"text","text":%s}]}}`+"\n",
			i, parent, role, rawjson.Quote(text))
		parent = fmt.Sprintf(`"e%d"`, i)
	}
	return b.String()
}

// PutSession writes a session file that was changed some time before noon.
func PutSession(t testing.TB, fs afero.Fs, path, content string, ago time.Duration) {
	t.Helper()
	require.NoError(t, fs.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, afero.WriteFile(fs, path, []byte(content), 0o600))
	require.NoError(t, fs.Chtimes(path, Noon.Add(-ago), Noon.Add(-ago)))
}

// PathsOf returns the paths of infos.
func PathsOf(infos []library.Info) []string {
	paths := []string{}
	for _, i := range infos {
		paths = append(paths, i.Path)
	}
	return paths
}

// Listed returns the files that List shows, and fails on any problem.
func Listed(t *testing.T, f library.Finder, cwd string) []string {
	t.Helper()
	infos, problems, err := f.List(t.Context(), cwd, library.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, problems)
	return PathsOf(infos)
}

// ListedAll returns the files that ListAll shows, and fails on any problem.
func ListedAll(t *testing.T, f library.Finder) []string {
	t.Helper()
	infos, problems, err := f.ListAll(t.Context(), library.ListOptions{})
	require.NoError(t, err)
	require.Empty(t, problems)
	return PathsOf(infos)
}

// OnEveryFs runs test on memory and on a real directory.
func OnEveryFs(t *testing.T, test func(t *testing.T, fs afero.Fs)) {
	t.Helper()
	t.Run("in memory", func(t *testing.T) { t.Parallel(); test(t, afero.NewMemMapFs()) })
	t.Run("on disk", func(t *testing.T) {
		t.Parallel()
		test(t, afero.NewBasePathFs(afero.NewOsFs(), t.TempDir()))
	})
}

// StoreHash digests every path and byte of a file system.
func StoreHash(t *testing.T, fs afero.Fs) string {
	t.Helper()
	h := sha256.New()
	require.NoError(t, afero.Walk(fs, "/", func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		var content []byte
		if info.Mode().IsRegular() {
			content, err = afero.ReadFile(fs, path)
		}
		_, hashErr := fmt.Fprintf(h, "%s %s %x\n", path, info.Mode(), content)
		return errors.Join(err, hashErr)
	}))
	return fmt.Sprintf("%x", h.Sum(nil))
}
