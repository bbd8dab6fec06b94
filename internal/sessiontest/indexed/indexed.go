// Package indexed makes small sessions have index files in tests. Its callers must import package session.
package indexed

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/xcsh-ls/xcsh-ls/internal/sizes"
)

// env is the environment variable that makes [Main] run the tests of a package with index files. Only
// test binaries read it.
const env = "XCSH_TEST_INDEX"

// Everything makes every session file a large one that has an index file with small pages. It returns the
// function that restores the sizes. No session may be open when either is called.
func Everything() (restore func()) {
	s := sizes.Session
	small, from, bits, spines := *s.SmallFile, *s.IndexFrom, *s.PageBits, *s.SpineFrom
	*s.SmallFile, *s.IndexFrom, *s.PageBits, *s.SpineFrom = 0, 0, 4, 0
	return func() { *s.SmallFile, *s.IndexFrom, *s.PageBits, *s.SpineFrom = small, from, bits, spines }
}

// Main runs the tests of a package and returns the exit status. With XCSH_TEST_INDEX set, every session file is
// a large one, and a store without an index directory has one.
func Main(m *testing.M) int {
	if os.Getenv(env) == "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "xcsh-index")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer Everything()()
	*sizes.Session.IndexDir = dir
	status := m.Run()
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return status
}

// Owns reports whether path is one of the index files of a run with XCSH_TEST_INDEX, or their directory.
func Owns(path string) bool {
	dir := *sizes.Session.IndexDir
	return dir != "" && strings.HasPrefix(path, dir)
}

// NeedsContentInMemory skips a test that is about sessions whose whole content is in memory, or that counts the
// accesses to their files.
func NeedsContentInMemory(t testing.TB) {
	t.Helper()
	if os.Getenv(env) != "" {
		t.Skip("no session is held in memory in this run")
	}
}
