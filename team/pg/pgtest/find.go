package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
)

// requireVariable is the environment variable that makes a missing PostgreSQL a failure.
const requireVariable = "XCSH_REQUIRE_POSTGRES"

// missing is the reason for skipping a test.
const missing = "PostgreSQL is not installed: neither /usr/lib/postgresql/*/bin nor PATH has initdb"

// Require skips the test if this machine has no PostgreSQL, and fails it instead if XCSH_REQUIRE_POSTGRES
// is 1.
func Require(t testing.TB) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("On Windows the tests start no PostgreSQL.")
	}
	if _, err := find(); err == nil {
		return
	}
	if os.Getenv(requireVariable) == "1" {
		t.Fatalf("%s. %s=1 requires it; install the package postgresql.", missing, requireVariable)
	}
	t.Skipf("%s. Install the package postgresql to run this test.", missing)
}

// find returns the directory of initdb and postgres: the newest version of Debian's directory, which is
// not in PATH, or the directory in PATH.
func find() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	version := func(path string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // 0 for a directory with another name
		return n
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", errors.New(missing)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return "", err
	}
	return filepath.Dir(path), nil
}
