package kit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// Fixtures is the directory of the session files that the programs wrote, whichever
// package a test belongs to.
var Fixtures = func() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..", "testdata", "sessions")
}()

// DiskFixtures is the real file system, read-only: a reader that wrote would fail.
func DiskFixtures() afero.Fs { return afero.NewReadOnlyFs(afero.NewOsFs()) }

// ReadJSON decodes the JSON file at path into the value that into points to.
func ReadJSON(t *testing.T, path string, into any) {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, into), path)
}

// SessionFiles returns the session files of one program's fixtures.
func SessionFiles(t *testing.T, program string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Fixtures, program, "*.jsonl"))
	require.NoError(t, err)
	var sessions []string
	for _, f := range files {
		if !strings.HasSuffix(f, ".migrated.jsonl") {
			sessions = append(sessions, f)
		}
	}
	require.NotEmpty(t, sessions)
	return sessions
}
