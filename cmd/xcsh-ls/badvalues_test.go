package main

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// foreign are words that a user of a shell does not know: commands and arguments of editors, and errors of Go.
var foreign = regexp.MustCompile(`xcsh\.[a-z]|executeCommand|editor command|\bargument "|\b(strconv|pflag|fault|cobra)[.:]|[^-.]\bjson:|open sink|%!|panic|goroutine|invalid syntax|<nil>|\b[a-z]+[A-Z][a-z]+\b|Neovim|palette`)

// names are words in mixed case that belong to the shell.
var names = strings.NewReplacer("agentBase", "", "TestBadArguments", "", "agent-base", "")

// waits are commands that would wait for the user, or that only work as a part of a process.
var waits = regexp.MustCompile(`^xcsh-ls( (acp|login|sandbox-exec|leash|pdftext|team watch|completion.*|help))?$`)

// complaint checks that a run failed with one sentence in the terms of the shell, and returns it.
func (m *machine) complaint(args ...string) string {
	m.t.Helper()
	code, stdout, stderr := m.run(args...)
	text := strings.ReplaceAll(stdout+stderr, m.work, "")
	assert.NotRegexp(m.t, foreign, names.Replace(text), "%q", args)
	if code == 0 {
		return ""
	}
	assert.Contains(m.t, []int{1, 2}, code, "%q: %s", args, stderr)
	assert.NotEmpty(m.t, strings.TrimSpace(stdout+stderr), "%q", args)
	return stderr
}

// Every error that the value of a flag causes names the flag, as it is typed in a shell.
func TestBadValuesOfFlags(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("one")
	tested := 0
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		if !ours(c) || waits.MatchString(c.CommandPath()) {
			return
		}
		path := strings.Fields(c.CommandPath())[1:]
		m := &machine{t: t, Server: m.Server, home: m.home, work: m.work}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, limited := choices[f.Name]
			if f.Value.Type() != "int" && !limited && f.Name != "older-than" && f.Name != "model" && f.Value.Type() != "bool" {
				return
			}
			args := append(append([]string{}, path...), "--"+f.Name+"=b@d")
			if strings.Contains(c.Use, "PROMPT") || strings.HasPrefix(c.Use, "context") {
				args = append(args, "0190")
			}
			said := m.complaint(args...)
			if f.Name == "since" || f.Name == "engine" { // they also take names
				return
			}
			tested++
			require.Contains(t, said, `Invalid value "b@d" for --`+f.Name+": use ", "%q", args)
		})
	})
	require.Greater(t, tested, 20)
}

// Errors about entries, files and formats name the flag, and what to do.
func TestErrorsNameTheFlag(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("one")
	for line, want := range map[string]string{
		"changes 0190 --since gone":                      `There is no entry "gone" for --since. 'xcsh-ls rewind ID' lists the prompts of a session with their ids.`,
		"rewind 0190 --before gone":                      `There is no entry "gone" for --before. 'xcsh-ls rewind ID' lists`,
		"rewind 0190 --to gone":                          `There is no entry "gone" for --to. 'xcsh-ls rewind ID' lists`,
		"run hi --model fake/m --resume 0190 --branch x": `There is no entry "x" for --branch. 'xcsh-ls rewind ID' lists`,
		"list --log-file gone/x":                         "The log can't be written to gone/x: no such file or directory. Pass another file with --log-file.",
		"export 0190 notes.pdf":                          `Unknown extension ".pdf": use .html, .md, .txt, .jsonl or .json (agent-base), or choose the format with --format.`,
		"export notes.md":                                `Session "notes.md" not found. To write the newest session to this file, pass --output notes.md.`,
		"export 0190 clipboard":                          "xcsh-ls export writes files only.",
		"gc --older-than 3x":                             `Invalid value "3x" for --older-than: use a number of days up to 100000, or hours (12h), days (30d) or weeks (6w).`,
		"setup --trust maybe":                            `Invalid value "maybe" for --trust: use all, without-servers or none.`,
		"setup --program vim":                            `Invalid value "vim" for --program: use xcsh, pi or omp.`,
		"doctor gone --salvage x.jsonl":                  `Session "gone" not found.`,
	} {
		require.True(t, strings.HasPrefix(m.complaint(strings.Fields(line)...), want), "%s: %s", line, want)
	}
}

// A session that doctor salvages can be named by its id.
func TestSalvageTakesAnID(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("one")
	code, stdout, stderr := m.run("doctor", "0190", "--salvage", "saved.jsonl")
	require.Zero(t, code, stderr)
	require.Equal(t, "Saved 1 entry to: "+m.path("saved.jsonl")+"\n", stdout)
}

// Errors about arguments are in the terms of the shell, too.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("one")
	m.write(m.path("empty.jsonl"), "")
	m.write(m.path("junk.jsonl"), "junk\n")
	m.write(m.path("dir/file.txt"), "text")
	tests := [][]string{
		{"export", "gone"},
		{"export", "gone.jsonl"},
		{"export", "./gone.jsonl"},
		{"export", "junk.jsonl"},
		{"export", "empty.jsonl"},
		{"export", "dir"},
		{"export", ""},
		{"export", "0190", ""},
		{"export", "0190", "gone/x.md"},
		{"export", "0190", "x.docx"},
		{"export", "0190", "copy"},
		{"export", "0190", "x.md", "--format", "agentBase"},
		{"export", "0190", "~nobody/x.md"},
		{"export", "file://other/x", "y.md"},
		{"export", "0190", ".json"},
		{"export", "0190", "dir/file.txt"},
		{"export", "0190", "x.md", "--register-in-index"},
		{"export", "0190", m.agentDir() + "/sessions/x.md"},
		{"dump", "gone"},
		{"dump", "dir"},
		{"dump", "junk.jsonl"},
		{"dump", "../gone.jsonl"},
		{"dump", "file:///gone"},
		{"context", "gone"},
		{"context", "junk.jsonl"},
		{"context", ""},
		{"doctor", "gone"},
		{"doctor", "dir"},
		{"doctor", "0190", "--salvage", "0190"},
		{"doctor", "0190", "--salvage", "gone/x"},
		{"doctor", "0190", "--salvage", "dir"},
		{"changes", "gone"},
		{"changes", "0190", "--since", "gone"},
		{"changes", "junk.jsonl"},
		{"rewind", "gone"},
		{"rewind", "0190", "--before", "gone"},
		{"rewind", "0190", "--to", "gone"},
		{"rewind", "0190", "--redo=gone"},
		{"rewind", "0190", "--before", "aaaaaaaa", "--except", "gone"},
		{"move"},
		{"move", ""},
		{"move", "gone"},
		{"move", "0190", ""},
		{"move", "0190", "gone"},
		{"move", "0190", "dir/file.txt"},
		{"move", "junk.jsonl"},
		{"move", m.home + "/.pi/agent/sessions/--gone--/a.jsonl"},
		{"doctor", "--all"},
		{"import", "gone"},
		{"import", "junk.jsonl"},
		{"import", "dir/file.txt"},
		{"import"},
		{"import", "--cwd", "gone", "dir"},
		{"import", ""},
		{"gc", "--also", "gone"},
		{"gc", "--also", ""},
		{"list", "--session-dir", "gone"},
		{"list", "--agent-dir", "dir/file.txt"},
		{"list", "--log-file", "gone/x"},
		{"tools", "--read-only", "gone"},
		{"setup", "--trust", "all"},
		{"run", "hello", "--model", "gone/m"},
		{"run", "hello", "--resume", "gone"},
		{"run", "hello", "--fork", "gone"},
		{"run", "hello", "--branch", "gone"},
		{"run", "hello", "--engine", "gone"},
		{"run", "@gone"},
		{"run", "@dir"},
		{"run", "/gone"},
		{"run", "/model gone"},
		{"run", "--continue", "/label"},
		{"run", "hello", "--model", "fake/m", "--resume", "0190", "--branch", "gone"},
		{"login", "gone"},
		{"team", "list"},
		{"team", "pull", "gone"},
		{"team", "share", "--scope", "gone"},
		{"team", "search"},
		{"team", "undelete", "x"},
		{"team", "grant"},
	}
	everyCommand(t, func(t *testing.T, c *cobra.Command) {
		if !ours(c) || waits.MatchString(c.CommandPath()) || !c.Runnable() {
			return
		}
		path := strings.Fields(c.CommandPath())[1:]
		for _, more := range [][]string{{"--b@d"}, {"gone"}, {"gone", "gone", "gone"}, {""}} {
			tests = append(tests, append(slices.Clone(path), more...))
		}
	})
	require.Greater(t, len(tests), 200)
	for _, args := range tests {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			m := &machine{t: t, Server: m.Server, home: m.home, work: m.work}
			if said := m.complaint(args...); said != "" {
				t.Log(said)
			}
		})
	}
}

// An empty argument is a mistake, usually a variable of the shell without a value. It is not the newest session, nor a new one.
func TestAnEmptyArgument(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved("one")
	for _, command := range []string{"dump", "export", "context", "doctor", "changes", "rewind", "move"} {
		code, stdout, stderr := m.run(command, "")
		require.Equal(t, exitUsage, code, "%s: %s", command, stdout)
		require.Equal(t, "Empty argument. Run 'xcsh-ls "+command+" --help' for usage.\n", stderr)
	}
	files, err := filepath.Glob(m.path("*"))
	require.NoError(t, err)
	require.Empty(t, files)
}

// An error about an ambiguous ID lists the sessions that it could mean.
func TestAnAmbiguousID(t *testing.T) {
	t.Parallel()
	m := newMachine(t, formats[0])
	m.saved(strings.Fields(strings.Repeat("修复\x1b[31m ", 12))...)
	code, stdout, stderr := m.run("dump", "0190")
	require.Equal(t, exitFailed, code)
	require.Empty(t, stdout)
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	require.Len(t, lines, 1+maxCandidates+1)
	require.Equal(t, `12 sessions match "0190". Pass one of their IDs:`, lines[0])
	require.Equal(t, `  0190000000000000  修复[31m`, lines[1])
	require.Equal(t, "  … and 2 more", lines[11])
}

// What changes an empty session is lost, which a note says.
func TestAnEmptySessionIsNotSaved(t *testing.T) {
	t.Parallel()
	const note = "A session without messages is not saved. To change the last session, pass --continue.\n"
	m := newMachine(t, formats[0])
	for _, test := range []struct{ flag, prompt, stderr string }{
		{"", "/plan on", note},
		{"", "/rename A title", note},
		{"", "/stats", ""},
		{"--no-session", "/plan on", ""},
		{"", "hello", "→ ls {}\n"},
		{"--continue", "/plan on", ""},
	} {
		args := []string{"run", "--model", "offline/demo"}
		if test.flag != "" {
			args = append(args, test.flag)
		}
		code, _, stderr := m.run(append(args, test.prompt)...)
		require.Zero(t, code, stderr)
		require.Equal(t, test.stderr, stderr, test.prompt)
	}
}

// Notices of a turn name the commands of the shell: about servers that are not started or that want a sign-in, and about plan mode.
func TestNoticesInAShell(t *testing.T) {
	t.Parallel()
	locked := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(locked.Close)
	m := newMachine(t, formats[0])
	m.write(filepath.Join(m.agentDir(), "mcp.json"), `{"mcpServers":{"locked":{"type":"http","url":"`+locked.URL+`"}}}`)
	m.write(m.path(".xcsh/mcp.json"), `{"mcpServers":{"left-out":{"command":"touch","args":["x"]}}}`)
	stderr := ""
	for _, args := range [][]string{{"hello"}, {"--continue", "/plan on"}, {"--continue", "hello"}} {
		code, _, printed := m.run(append([]string{"run", "--model", "offline/demo"}, args...)...)
		require.Zero(t, code, printed)
		stderr = printed
	}
	for _, want := range []string{
		`The MCP server "locked" wants a sign-in. Sign in with /mcp in xcsh, then run this command again.`,
		`The server "left-out" of .xcsh/mcp.json was not started: `, "'xcsh-ls setup' shows it. To use it, pass --trust all.",
		"Plan mode is on: the model can change only its plan file. To turn it off, run: xcsh-ls run --continue '/plan off'",
	} {
		require.Contains(t, stderr, want)
	}
	require.NotRegexp(t, foreign, names.Replace(stderr))
}
