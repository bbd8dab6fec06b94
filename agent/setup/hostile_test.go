package setup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// onDisk is a finder in a directory of the machine, with a home directory and a folder.
func onDisk(t *testing.T) (f setup.Finder, cwd string) {
	t.Helper()
	top := t.TempDir()
	f = setup.Finder{Fs: afero.NewOsFs(), Home: filepath.Join(top, "home"), Dirs: []setup.Dir{{Path: filepath.Join(top, "home/.omp/agent"), Program: session.Omp}, {Path: filepath.Join(top, "home/.pi/agent"), Program: session.Pi}}}
	cwd = filepath.Join(top, "w")
	require.NoError(t, os.MkdirAll(cwd, 0o700))
	put(t, filepath.Join(top, "home/secret.md"), "---\ndescription: SECRET\nalwaysApply: true\n---\nSECRET")
	put(t, filepath.Join(top, "home/secret.json"), `{"mcpServers":{"SECRET":{"command":"x"}}}`)
	return f, cwd
}

func put(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func link(t *testing.T, to, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(to, path))
}

// all returns everything of a result, texts included.
func all(t *testing.T, r *setup.Resolved) string {
	t.Helper()
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	text := string(raw)
	for _, f := range r.Context {
		text += f.Text
	}
	for _, s := range r.Skills {
		text += s.Body
	}
	for _, x := range r.Templates {
		text += x.Body
	}
	for _, x := range r.Rules {
		text += x.Body
	}
	return text
}

// trustAll makes decisions that trust every folder.
func trustOf(t *testing.T, f setup.Finder, cwd string, program session.Dialect) *setup.Resolved {
	t.Helper()
	put(t, filepath.Join(f.Home, ".pi/agent/trust.json"), `{"/":true}`)
	return f.Resolve(t.Context(), setup.Query{Cwd: cwd, Program: program})
}

// A folder's links and imports lead to no file outside of it, even if it is trusted.
func TestAFolderCannotReachOtherFiles(t *testing.T) {
	t.Parallel()
	f, cwd := onDisk(t)
	secret, server := filepath.Join(f.Home, "secret.md"), filepath.Join(f.Home, "secret.json")
	for _, name := range []string{"AGENTS.md", ".pi/skills/s/SKILL.md", ".pi/prompts/c.md", ".pi/APPEND_SYSTEM.md", ".omp/AGENTS.md", ".omp/rules/r.md"} {
		link(t, secret, filepath.Join(cwd, name))
	}
	link(t, server, filepath.Join(cwd, ".pi/mcp.json"))
	link(t, f.Home, filepath.Join(cwd, ".agents/skills"))
	put(t, filepath.Join(cwd, ".pi/settings.json"), `{"skills":["../../home","~/secret.md","/etc"],"prompts":["../../home/secret.md"]}`)
	r := trustOf(t, f, cwd, session.Pi)
	require.Equal(t, setup.Trusted, r.Trust.State)
	assert.NotContains(t, all(t, r), "SECRET")
	assert.Contains(t, strings.Join(problems(r), "\n"), "AGENTS.md are not sent to the model: it is a symbolic link that leaves its folder.")

	require.NoError(t, os.Remove(filepath.Join(cwd, ".omp/AGENTS.md")))
	require.NoError(t, os.Remove(filepath.Join(cwd, "AGENTS.md")))
	put(t, filepath.Join(cwd, ".env"), "SECRET=1")
	put(t, filepath.Join(cwd, "AGENTS.md"), "Kept @~/secret.md @../home/secret.md @"+secret+" @.env @/etc/passwd end")
	r = f.Resolve(t.Context(), setup.Query{Cwd: cwd, Program: session.Omp})
	assert.NotContains(t, all(t, r), "SECRET")
	require.NotEmpty(t, r.Context)
	assert.Contains(t, r.Context[0].Text, "@~/secret.md")
	assert.Contains(t, strings.Join(problems(r), "\n"), "it is outside of the folder")
}

// Directories that contain themselves, and very many and very large files, take little time and memory.
func TestLoopsAndLargeTreesAreBounded(t *testing.T) {
	t.Parallel()
	f, cwd := onDisk(t)
	skills := filepath.Join(cwd, ".pi/skills")
	put(t, filepath.Join(skills, "s/SKILL.md"), "---\ndescription: D\n---\nB")
	for _, name := range []string{"a", "b", "c", "d"} {
		link(t, ".", filepath.Join(skills, name))
	}
	link(t, "loop.md", filepath.Join(cwd, ".pi/prompts/loop.md"))
	put(t, filepath.Join(cwd, ".pi/prompts/large.md"), strings.Repeat("x", 300<<10))
	put(t, filepath.Join(cwd, ".pi/mcp.json"), `{"mcpServers":{`+strings.Repeat(" ", 2<<20)+`}}`)
	put(t, filepath.Join(cwd, "AGENTS.md"), strings.Repeat("x", 1<<20))
	r := trustOf(t, f, cwd, session.Pi)
	require.Len(t, r.Skills, 1)
	require.True(t, r.Context[0].Cut)
	require.Equal(t, 64<<10, r.Context[0].Bytes)
	text := strings.Join(problems(r), "\n")
	assert.Contains(t, text, "large.md is not used: it is longer than 262144 bytes.")
	assert.Contains(t, text, "mcp.json is not used: it is longer than 1048576 bytes.")
	assert.Contains(t, text, "loop.md is not used: ")

	w := newWorld(t)
	for i := range 1200 {
		w.file(filepath.Join("~/.omp/agent/skills", strings.Repeat("n", 1+i%90)+string(rune('a'+i/90)), "SKILL.md"), "---\ndescription: D\n---\n")
	}
	r = w.resolve(session.Omp)
	assert.LessOrEqual(t, len(r.Skills), 300)
	assert.Contains(t, strings.Join(problems(r), "\n"), "too many")
}

// A text that stands for a very large one, or has no end of brackets, is an error.
func TestBombs(t *testing.T) {
	t.Parallel()
	bomb := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		p := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.TrimSuffix(strings.Repeat("*"+p+",", 10), ",") + "]\n"
	}
	for name, content := range map[string]string{
		"~/.omp/agent/config.yml": bomb, ".omp/config.yml": "a: " + strings.Repeat("[", 100_000),
		".codex/config.toml": "a = " + strings.Repeat("[", 100_000), ".omp/mcp.json": strings.Repeat(`{"a":`, 100_000),
		".cursor/mcp.json": "{\n\"mcpServers\": tru", ".gemini/settings.json": "[]", "opencode.json": `{"mcp":{"x":1}}`,
	} {
		w := newWorld(t).file(name, content)
		r := w.resolve(session.Omp)
		require.Len(t, r.Problems, 1, name)
		assert.Less(t, len(r.Problems[0].Text), 500)
	}
	r := newWorld(t).file(".cursor/mcp.json", "{\n\"mcpServers\": tru").resolve(session.Omp)
	assert.Equal(t, folder+"/.cursor/mcp.json is not used: line 2: it is not valid JSON.", r.Problems[0].Text)
	r = newWorld(t).file("~/.omp/agent/config.yml", "a: b\nshellPath: [").resolve(session.Omp)
	assert.Contains(t, r.Problems[0].Text, "config.yml is not used: line ")
	r = newWorld(t).file("~/.omp/agent/skills/s/SKILL.md", "---\n"+bomb+"description: D\n---\nB").resolve(session.Omp)
	assert.LessOrEqual(t, len(r.Skills), 1)
}

// Imports end: in cycles, at a depth, and when there is too much.
func TestImports(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("AGENTS.md", "1 @a.md (see @sub/c.md), `@a.md` @missing.md me@example.com\n```\n@a.md\n```\n").
		file("a.md", "2 @b.md").file("b.md", "3 @a.md @AGENTS.md").file("sub/c.md", "in @d.md").file("sub/d.md", "D")
	r := w.resolve(session.Omp)
	assert.Equal(t, "1 2 3 @a.md @AGENTS.md (see in D), `@a.md` @missing.md me@example.com\n```\n@a.md\n```\n", r.Context[0].Text)
	w = newWorld(t).file("AGENTS.md", strings.Repeat("@a.md ", 10_000)).file("a.md", strings.Repeat("@b.md ", 1000)).file("b.md", strings.Repeat("x", 10_000))
	r = w.resolve(session.Omp)
	assert.LessOrEqual(t, r.Context[0].Bytes, 200<<10)
	// pi and xcsh import nothing.
	r = newWorld(t).file("AGENTS.md", "@a.md").file("a.md", "A").resolve(session.Pi)
	assert.Equal(t, "@a.md", r.Context[0].Text)
}

func FuzzParsers(f *testing.F) {
	f.Add("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[1]}},\"disabledServers\":[1]}", "$1 ${@:2} $@[1:2]", `a "b`)
	f.Add("---\nname: a\ndescription: b\n---\n@a `x", "{{x}}", "'")
	f.Add("a: &a [*a]\nretry: {maxRetries: .nan}\n", "$$", "\\\"")
	f.Add("[mcp_servers.a]\ncommand = \"x\"\ntimeout = inf\nd = 1979-05-27", "", "")
	f.Fuzz(func(t *testing.T, content, body, args string) {
		w := newWorld(t)
		for _, name := range []string{
			".omp/mcp.json", ".omp/config.yml", ".omp/settings.json", ".codex/config.toml", "opencode.json", "AGENTS.md", ".cursor/rules/r.mdc", ".omp/skills/s/SKILL.md",
			".pi/mcp.json", ".pi/settings.json", "~/.pi/agent/trust.json", "~/.omp/agent/config.yml", "~/.omp/agent/mcp.json", ".xcsh/mcp.json", "~/.xcsh/agent/config.yml",
		} {
			w.file(name, content)
		}
		w.file("~/.omp/agent/commands/c.md", body).file("~/.pi/agent/prompts/c.md", body)
		for _, program := range []session.Dialect{session.Pi, session.Omp, session.Xcsh} {
			r := w.trusted(program)
			for _, s := range r.Servers {
				_ = w.Expand(s, program, folder)
			}
			if got, err := r.InvokeTemplate("c", args); err == nil && len(got.Text) > 1<<20 {
				t.Fatal(len(got.Text))
			}
			if _, err := json.Marshal(r); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Whatever step of reading fails, the result has no more than without the fault.
func TestEveryStepOfReadingCanFail(t *testing.T) {
	t.Parallel()
	w := tree(t, "omp-setup")
	want := w.trusted(session.Omp)
	whole := w.Fs
	for at := 1; ; at++ {
		faulty := &st.FaultFs{Fs: whole, At: at, Mode: st.Once, Reads: true}
		w.Fs = faulty
		r := w.Resolve(t.Context(), setup.Query{Cwd: folder, Program: session.Omp})
		require.Subset(t, servers(want), servers(r))
		require.Subset(t, skills(want), skills(r))
		require.Subset(t, templates(want), templates(r))
		if !faulty.Fired() {
			require.Greater(t, at, 20)
			return
		}
	}
}
