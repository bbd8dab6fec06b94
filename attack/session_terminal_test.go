package attack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every command that prints a part of a session file.
func TestSessionFilesCannotControlATerminal(t *testing.T) {
	v := newVictim(t)
	path := v.hostileSession()
	before := v.read(path)
	all := filepath.Dir(path)
	for _, args := range [][]string{
		{"list"},
		{"list", "--all"},
		{"list", "prompt"},
		{"list", "--json"},
		{"list", "--json", "answer"},
		{"dump"},
		{"dump", path},
		{"context", path},
		{"context", "--json", path},
		{"doctor"},
		{"doctor", path},
		{"doctor", "--all"},
		{"gc"},
		{"gc", "--json"},
		{"export", path, "a.md"},
		{"export", path, "a.html"},
		{"export", "--format", "agentBase", path, "b.json"},
		{"import", "--dry-run", path},
		{"import", "--json", path},
		{"doctor", "--salvage", "s.jsonl", path},
		{"run", "--model", "fake/m", "--resume", path, "--no-session", "go"},
	} {
		out := v.run(append(args, "--session-dir", all, "--log-level", "debug")...)
		requireQuiet(t, strings.Join(args, " "), out)
		require.NotEmpty(t, out.stdout+out.stderr, args)
	}
	require.Equal(t, before, v.read(path), "a session's bytes stay")
	require.Contains(t, v.run("dump", path).stdout, `answer \u001b]52;c;Y3VybCBldmls\u0007`)
	require.Contains(t, v.run("dump", path).stdout, ordinary)
}

// Escaped JSON keeps its meaning, and raw text is available to programs.
func TestEscapedJSONMeansTheSame(t *testing.T) {
	v := newVictim(t)
	path := v.hostileSession()
	var r struct {
		Context struct {
			Messages []json.RawMessage `json:"messages"`
		} `json:"context"`
	}
	require.NoError(t, json.Unmarshal([]byte(v.run("context", "--json", path).stdout), &r))
	var message struct{ Content []struct{ Text string } }
	require.NoError(t, json.Unmarshal(r.Context.Messages[len(r.Context.Messages)-1], &message))
	require.Equal(t, "again "+steering+"\ufffd\ufffd2J "+ordinary, message.Content[0].Text)
	require.Contains(t, v.run("dump", "--raw", path).stdout, "answer "+steering)
}

// File names may contain any characters.
func TestNamesOfFilesSteerNoTerminal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names have no control characters there")
	}
	v := newVictim(t)
	name := "x\x1b]0;t\a\n\u202e\u009b2J.jsonl"
	dir := filepath.Join(v.home, "d\x1b[2J\u202e")
	v.write(filepath.Join(dir, name), strings.Join(v.hostileLines("x"), "\n"))
	v.write(filepath.Join(dir, "y"+name), "no session")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "z"+name), 0o700))
	for _, args := range [][]string{
		{"list"},
		{"list", "--json"},
		{"doctor"},
		{"doctor", "--all"},
		{"doctor", filepath.Join(dir, name)},
		{"dump", filepath.Join(dir, name)},
		{"dump", filepath.Join(dir, "y"+name)},
		{"gc", "--also", dir},
		{"import", dir},
		{"export", filepath.Join(dir, name), filepath.Join(v.work, name+".md")},
		{"export", filepath.Join(dir, name), "missing" + name + "/a.md"},
	} {
		requireQuiet(t, strings.Join(args, " "), v.run(append(args, "--session-dir", dir)...))
	}
}
