package approval_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
)

// machine is a folder with files, links that lead out of it, and files outside of it.
type machine struct{ root, out, keys string }

func newMachine(t *testing.T) machine {
	t.Helper()
	dir := t.TempDir()
	m := machine{root: filepath.Join(dir, "work"), out: filepath.Join(dir, "outside"), keys: filepath.Join(dir, "home", ".xcsh", "agent")}
	for _, name := range []string{
		m.root + "/main.go", m.root + "/sub/b.go", m.root + "/package.json", m.root + "/x.js", m.root + "/.env", m.root + "/.git/config",
		m.out + "/file", m.keys + "/auth.json", dir + "/home/.ssh/id_rsa",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte("text\n"), 0o600))
	}
	require.NoError(t, os.WriteFile(m.root+"/tool", []byte("#!/bin/sh\n"), 0o700))
	for name, to := range map[string]string{
		"auth-link": m.keys + "/auth.json", "sub/auth-link": m.keys + "/auth.json", "out-link": m.out, "in-link": "sub", "settings-link": ".vscode/settings.json",
		".idea": "sub",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(m.root, name)))
	}
	mkfifo(t, m.root+"/pipe")
	return m
}

func (m machine) fill(text string) string {
	return strings.NewReplacer("{root}", m.root, "{out}", m.out, "{keys}", m.keys, "{home}", filepath.Dir(filepath.Dir(m.keys))).Replace(text)
}

func (m machine) config(sandbox bool) approval.Config {
	return approval.Config{
		Root: m.root, Mode: approval.Ask, Protected: []string{m.keys}, Sandbox: sandbox,
		Sensitive: func(path string) bool { return filepath.Base(path) == ".env" || strings.Contains(path, ".ssh") },
	}
}

// pair is a command that was allowed and a later one.
type pair struct {
	shown, next string
	like        bool
}

func followups(t *testing.T) (pairs []pair) {
	t.Helper()
	content, err := os.ReadFile("testdata/followups.txt")
	require.NoError(t, err)
	var shown string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		sign, text, ok := strings.Cut(line, " ")
		require.True(t, ok, line)
		switch sign {
		case ">":
			shown = text
		case "+", "-":
			pairs = append(pairs, pair{shown, text, sign == "+"})
		default:
			require.Fail(t, line)
		}
	}
	return pairs
}

// A rule that is allowed for the session covers similar requests and none that do more.
func TestFollowUps(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the paths are those of Unix")
	}
	m := newMachine(t)
	pairs := followups(t)
	for _, sandbox := range []bool{false, true} {
		var like, more, passed, asked int
		for _, p := range pairs {
			g := approval.NewGate(m.config(sandbox))
			questions := 0
			g.Attach(func(context.Context, approval.Prompt) (approval.Decision, error) {
				questions++
				return approval.Session, nil
			})
			_, err := g.Ask(t.Context(), bash(m.fill(p.shown)))
			require.NoError(t, err)
			questions = 0
			_, err = g.Ask(t.Context(), bash(m.fill(p.next)))
			require.NoError(t, err)
			switch {
			case p.like:
				like++
				asked += questions
			default:
				more++
				passed += 1 - questions
			}
			if p.like != (questions == 0) {
				t.Errorf("sandbox %v: after %q: %q asked: %v", sandbox, p.shown, p.next, questions > 0)
			}
		}
		t.Logf("sandbox %v: %d pairs; of %d that do more %d pass unasked; of %d that are like what was allowed %d are asked about again",
			sandbox, len(pairs), more, passed, like, asked)
		require.GreaterOrEqual(t, more, 215)
	}
}
