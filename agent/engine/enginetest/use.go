package enginetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Program is how a double is run.
type Program struct {
	Path string
	Args []string // before those of the protocol
	Env  []string // additions to the environment
}

// Pi returns the test program as the double of pi, with faults of the package comment. TestMain must call [Main].
func Pi(t testing.TB, faults ...string) Program {
	t.Helper()
	return Program{Path: self(t), Env: []string{roleName + "=pi", faultsName + "=" + strings.Join(faults, ";")}}
}

// Fork returns the test program as the double of omp or xcsh in RPC mode, with faults of the package comment. TestMain must
// call [Main].
func Fork(t testing.TB, name string, faults ...string) Program {
	t.Helper()
	if forks[name] == nil {
		t.Fatalf("%s has no double", name)
	}
	return Program{Path: self(t), Env: []string{roleName + "=" + name, faultsName + "=" + strings.Join(faults, ";")}}
}

// Player returns the test program as the player of a recording, a file in testdata of this package, such as
// "acp-omp.jsonl". TestMain must call [Main].
func Player(t testing.TB, recording string, faults ...string) Program {
	t.Helper()
	path := filepath.Join(sources(t), "testdata", recording)
	return Program{Path: self(t), Env: []string{roleName + "=play", playName + "=" + path, faultsName + "=" + strings.Join(faults, ";")}}
}

// Build builds the double of pi as an executable with a name such as "pi" in a new directory, and returns its path. Its
// faults are those of the variable ENGINE_DOUBLE_FAULTS.
func Build(t testing.TB, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "go", "build", "-o", path, "./double")
	cmd.Dir = sources(t)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the double cannot be built: %v\n%s", err, out)
	}
	return path
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sources returns the directory of this package.
func sources(t testing.TB) string {
	t.Helper()
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		t.Fatal("the directory of the double is unknown")
	}
	return filepath.Dir(file)
}
