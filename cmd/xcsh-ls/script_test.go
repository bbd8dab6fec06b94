package main

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/team/pg/pgtest"
)

// withDatabase are tests that may share a server of PostgreSQL.
type withDatabase struct{ *testing.M }

func (m withDatabase) Run() int { return pgtest.Run(m.M) }

func TestMain(m *testing.M) {
	serveMCP()
	self = func() (string, error) {
		if path, err := exec.LookPath("xcsh-ls"); err == nil { // testscript puts it there
			return path, nil
		}
		return os.Executable()
	}
	testscript.Main(withDatabase{m}, map[string]func(){"xcsh-ls": main, "converse": converse})
}

// The scripts run the program as a shell or an editor does. They start in $WORK, which contains an empty
// HOME. Beside testscript's own commands they have:
//
//	converse FILE xcsh-ls ...  is a program that talks to the server as an editor does
//	status N PROG ...  runs a program that must exit with code N
//	here FILE ...      replaces $WORK in files by the directory
//	remember DIR       notes every file below DIR with its mode, time and bytes
//	unchanged DIR      fails when anything below DIR has changed
//	ndjson FILE TYPE ...  fails when the lines of FILE are not events of these types
//	grows OLD NEW      fails when NEW is not OLD with more lines
//
// The condition [file:PATH] holds if the file exists.
//
// $SESSIONS is the directory that holds the sessions of $WORK, $FIXTURES the
// session files of the repository.
func TestScripts(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the scripts use Unix paths")
	}
	fixtures, err := filepath.Abs("../../testdata/sessions")
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			name := "--" + strings.ReplaceAll(strings.TrimPrefix(env.WorkDir, "/"), "/", "-") + "--"
			env.Setenv("HOME", home)
			env.Setenv("SESSIONS", filepath.Join(home, ".xcsh/agent/sessions", name))
			env.Setenv("FIXTURES", fixtures)
			env.Setenv("XDG_CACHE_HOME", cacheOf(env))
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise every race-enabled process exits a second late
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(condition string) (bool, error) {
			path, ok := strings.CutPrefix(condition, "file:")
			if !ok {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			_, err := os.Stat(path)
			return err == nil, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": status, "here": here, "remember": remember, "unchanged": unchanged,
			"ndjson": ndjson, "grows": grows,
		},
	})
}

// cacheOf creates a cache directory for lists outside the directories that scripts compare: whether the
// cache is written depends on the age of a session when it is listed.
func cacheOf(env *testscript.Env) string {
	dir, err := os.MkdirTemp("", "xcsh-ls-script")
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "xcsh"), 0o700)
	}
	if err != nil {
		env.T().Fatal(err)
	}
	env.Defer(func() { _ = os.RemoveAll(dir) })
	return dir
}

func status(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, not %d", got, want)
	}
}

func here(ts *testscript.TestScript, _ bool, args []string) {
	for _, file := range args {
		text := strings.ReplaceAll(ts.ReadFile(file), "$WORK", ts.Getenv("WORK"))
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(text), 0o600))
	}
}

// tree maps each path to its mode, time and content.
type tree map[string]string

func remember(ts *testscript.TestScript, _ bool, args []string) {
	state, err := json.Marshal(treeOf(ts, args[0]))
	ts.Check(err)
	ts.Setenv("REMEMBERED_"+filepath.Base(args[0]), string(state))
}

func unchanged(ts *testscript.TestScript, _ bool, args []string) {
	before := tree{}
	ts.Check(json.Unmarshal([]byte(ts.Getenv("REMEMBERED_"+filepath.Base(args[0]))), &before))
	after := treeOf(ts, args[0])
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if after[path] != before[path] {
			ts.Fatalf("%s was %s, now %s", path, before[path], after[path])
		}
		delete(after, path)
	}
	if len(after) > 0 {
		ts.Fatalf("new: %v", slices.Sorted(maps.Keys(after)))
	}
}

func treeOf(ts *testscript.TestScript, dir string) tree {
	t := tree{}
	ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if d.Type().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(content))
		}
		t[path] = fmt.Sprintln(info.Mode(), info.ModTime().UnixNano(), sum)
		return nil
	}))
	return t
}
