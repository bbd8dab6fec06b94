package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// workshop builds test binaries and runs them. It is safe for concurrent use.
type workshop struct {
	root, dir string        // both absolute
	base      time.Duration // least time limit of a test, whatever it takes without a mutant

	mu    sync.Mutex
	sound map[string]func(context.Context) soundness // by the test, at most one run of each
	built map[string]func(context.Context) binary    // unchanged test binaries, by package
}

// soundness is the outcome of a test without a mutant.
type soundness struct {
	took time.Duration
	err  error
}

// binary is a test binary.
type binary struct {
	path string
	err  error
}

func newWorkshop(root string) (*workshop, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	return &workshop{root: root, dir: dir, base: 30 * time.Second, sound: map[string]func(context.Context) soundness{}, built: map[string]func(context.Context) binary{}}, nil
}

func (w *workshop) close() {
	_ = os.RemoveAll(w.dir)
}

// environment returns the variables for the go command and for tests, which may build programs themselves.
// The overlay is the path of its description, or empty.
func environment(overlay string) []string {
	env := os.Environ()
	if overlay != "" {
		env = append(env, "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	return env
}

// build compiles the tests of a package, and returns what the compiler says if it fails.
func (w *workshop) build(ctx context.Context, pkg, overlay, to string) error {
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-ldflags=-s -w", "-o", to, "./"+pkg)
	cmd.Dir, cmd.Env = w.root, environment(overlay)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go test -c ./%s: %w\n%s", pkg, err, out)
	}
	return nil
}

// outcome is what a run of a test ended with.
type outcome int

const (
	passed outcome = iota
	failed
	timedOut
)

// grace is the time for a test binary to print its stacks after its time limit, and for its children to end.
const grace = 10 * time.Second

// test runs one test with a binary, as "go test" does, in the directory of the package.
func (w *workshop) test(ctx context.Context, bin, test, overlay string, limit time.Duration) (outcome, string, error) {
	pkg, pattern, err := target(test)
	if err != nil {
		return 0, "", err
	}
	limited, cancel := context.WithTimeout(ctx, limit+grace)
	defer cancel()
	cmd := exec.CommandContext(limited, bin, "-test.v", "-test.failfast", "-test.run="+pattern, "-test.timeout="+limit.String())
	cmd.Dir, cmd.Env, cmd.WaitDelay = filepath.Join(w.root, filepath.FromSlash(pkg)), environment(overlay), grace
	b, err := cmd.CombinedOutput()
	out := string(b)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 0, out, ctx.Err()
	case limited.Err() != nil || strings.Contains(out, "panic: test timed out after"):
		return timedOut, out, nil
	case err == nil:
		return passed, out, ran(test, out)
	case errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 2):
		return failed, out, nil // 2 is the code of a panic
	default:
		return 0, out, err
	}
}

// ran reports whether a test that did not fail was run to its end.
func ran(test, out string) error {
	name := strings.TrimPrefix(path.Ext(test), ".")
	if strings.HasPrefix(test, "TestConversations/") || strings.HasPrefix(test, "TestScripts/") {
		name = test
	}
	if !strings.Contains(out, "--- PASS: "+name+" ") {
		return fmt.Errorf("%s was skipped or did not run", test)
	}
	return nil
}

// unchanged returns the test binary of a package without a mutant.
func (w *workshop) unchanged(ctx context.Context, pkg string) binary {
	w.mu.Lock()
	f := w.built[pkg]
	if f == nil {
		var once sync.Once
		b := binary{path: filepath.Join(w.dir, fmt.Sprintf("unchanged%d.test.exe", len(w.built)))}
		f = func(ctx context.Context) binary {
			once.Do(func() { b.err = w.build(ctx, pkg, "", b.path) })
			return b
		}
		w.built[pkg] = f
	}
	w.mu.Unlock()
	return f(ctx)
}

// unchangedLimit is the time for a test without a mutant.
const unchangedLimit = 3 * time.Minute

// passes returns how long a test takes without a mutant, or an error if it fails then.
func (w *workshop) passes(ctx context.Context, test string) soundness {
	w.mu.Lock()
	f := w.sound[test]
	if f == nil {
		var once sync.Once
		var s soundness
		f = func(ctx context.Context) soundness {
			once.Do(func() { s = w.passesNow(ctx, test) })
			return s
		}
		w.sound[test] = f
	}
	w.mu.Unlock()
	return f(ctx)
}

func (w *workshop) passesNow(ctx context.Context, test string) soundness {
	pkg, _, err := target(test)
	if err != nil {
		return soundness{err: err}
	}
	bin := w.unchanged(ctx, pkg)
	if bin.err != nil {
		return soundness{err: bin.err}
	}
	start := time.Now()
	result, out, err := w.test(ctx, bin.path, test, "", unchangedLimit)
	if err == nil && result != passed {
		err = fmt.Errorf("%s fails without a mutant:\n%s", test, tail(out))
	}
	return soundness{took: time.Since(start), err: err}
}

// overlay writes the file of a mutant and the description of the overlay into a directory, and returns the path of the latter.
func (w *workshop) overlay(m mutant, dir string) (string, error) {
	text, err := mutated(w.root, m)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, path.Base(m.file))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return "", err
	}
	description, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(w.root, filepath.FromSlash(m.file)): file}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, description, 0o600)
}

// noise matches the lines of "-test.v" without a message.
var noise = regexp.MustCompile(`(?m)^(=== |PASS$| *--- (PASS|SKIP): ).*\n?`)

// tail returns the end of an output that may be long, without the lines about tests that passed.
func tail(out string) string {
	const most = 4000
	out = noise.ReplaceAllString(out, "")
	if len(out) > most {
		out = "…" + out[len(out)-most:]
	}
	return out
}
