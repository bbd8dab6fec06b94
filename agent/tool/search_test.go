package tool_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

func searched() map[string]string {
	return map[string]string{
		".git/HEAD":          "needle",
		".gitignore":         "out/\n*.log\n",
		".hidden":            "a needle\n",
		"a.go":               "package a\n\n// needle one\nfunc A() {}\n// Needle two\n",
		"a/b.txt":            "1\n2\nneedle\r\n4\n5\nneedle\n7\n8\n",
		"a.md":               "no\n",
		"bin":                "needle\x00",
		"out/x":              "needle\n",
		"x.log":              "needle\n",
		"sub/.gitignore":     "!y.log\n",
		"sub/y.log":          "needle\n",
		"sub/deep/c.go":      "x := \"needle\"",
		"sub/wide":           strings.Repeat("é", 600) + " needle\n",
		"special/(chars)":    "f(x) [y]\n",
		"special/no-utf\xff": "caf\xe9 needle\n",
	}
}

func TestGrep(t *testing.T) {
	t.Parallel()
	w := newWorld(t, searched())
	for _, c := range []struct{ name, args, want string }{
		{"every file that is not ignored", `{"pattern":"needle","glob":"!wide"}`, `
.hidden:1: a needle
a/b.txt:3: needle
a/b.txt:6: needle
a.go:3: // needle one
special/no-utf` + "\uFFFD:1: caf\uFFFD" + ` needle
sub/deep/c.go:1: x := "needle"
sub/y.log:1: needle`},
		{"a directory", `{"pattern":"needle","path":"sub/deep"}`, "\nc.go:1: x := \"needle\""},
		{"one file", `{"pattern":"needle","path":"a/b.txt"}`, "\nb.txt:3: needle\nb.txt:6: needle"},
		{"a file that is ignored, by name", `{"pattern":"needle","path":"x.log"}`, "\nx.log:1: needle"},
		{"files by name", `{"pattern":"needle","glob":"*.go"}`, "\na.go:3: // needle one\nsub/deep/c.go:1: x := \"needle\""},
		{"files by path", `{"pattern":"needle","glob":"sub/**/*.go"}`, "\nsub/deep/c.go:1: x := \"needle\""},
		{"upper and lower case", `{"pattern":"NEEDLE","glob":"a.go","ignoreCase":true}`, "\na.go:3: // needle one\na.go:5: // Needle two"},
		{"an expression", `{"pattern":"^func \\w+\\(\\)"}`, "\na.go:4: func A() {}"},
		{"the end of a line", `{"pattern":"needle$","path":"a"}`, "\nb.txt:3: needle\nb.txt:6: needle"},
		{"a plain text", `{"pattern":"f(x) [y]","literal":true}`, "\nspecial/(chars):1: f(x) [y]"},
		{"lines around", `{"pattern":"needle","path":"a","context":1}`, "\nb.txt-2- 2\nb.txt:3: needle\nb.txt-4- 4\nb.txt-5- 5\nb.txt:6: needle\nb.txt-7- 7"},
		{"oh-my-pi's names", `{"pattern":"NEEDLE ONE","i":true,"pre":1,"post":0,"multiline":false,"gitignore":true}`, "\na.go-2- \na.go:3: // needle one\na.go-4- func A() {}"},
		{"nothing", `{"pattern":"no such thing"}`, "\nNo matches found"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want[1:], w.in(t).ok("grep", c.args))
		})
	}
}

func TestGrepReportsTruncation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, searched())
	r, err := w.call("grep", `{"pattern":"needle","path":"a","limit":1,"context":2}`)
	require.NoError(t, err)
	require.Equal(t, "b.txt-1- 1\nb.txt-2- 2\nb.txt:3: needle\nb.txt-4- 4\nb.txt-5- 5\n\n"+
		"[1 matches limit reached. Use limit=2 for more, or be more specific]", text(r))
	require.JSONEq(t, `{"matchLimitReached":1}`, string(r.Details))
	require.NotContains(t, w.ok("grep", `{"pattern":"needle","path":"a","limit":2}`), "limit reached", "exactly as many as allowed")
	require.Contains(t, w.ok("grep", `{"pattern":"needle","path":"a","limit":1,"context":3}`), "b.txt-6- needle", "a match around the last one that counts")

	r, err = w.call("grep", `{"pattern":"needle","path":"sub/wide"}`)
	require.NoError(t, err)
	require.Equal(t, "wide:1: "+strings.Repeat("é", 500)+"... [truncated]\n\n[Some lines truncated to 500 chars. Use read to see whole lines]", text(r))
	require.JSONEq(t, `{"linesTruncated":true}`, string(r.Details))

	w.write("many", strings.Repeat(strings.Repeat("needle", 50)+"\n", 1000))
	r, err = w.call("grep", `{"pattern":"needle","path":"many","limit":5000}`)
	require.NoError(t, err)
	require.LessOrEqual(t, len(text(r)), tool.MaxBytes+200)
	require.True(t, strings.HasSuffix(text(r), "[Showing 164 of 1000 lines (50.0KB limit). Choose a narrower path or pattern to see the rest]"), text(r)[50_000:])
	require.Contains(t, string(r.Details), `"totalLines":1000,"totalBytes":310892,"outputLines":164`)
}

func TestGrepRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"x": ""})
	for _, c := range []struct{ args, want string }{
		{`{"pattern":"a(?=b)"}`, "grep: the pattern has \"(?=\", which RE2 does not support: it has no lookaround and no backreferences. Search for a simpler pattern, or run `grep -P` or `rg -P` with bash."},
		{`{"pattern":"(a)\\1"}`, `grep: the pattern has "\\1", which RE2 does not support: it has no lookaround and no backreferences. Search for a simpler pattern, or run ` + "`grep -P` or `rg -P` with bash."},
		{`{"pattern":"("}`, "grep: the pattern is not a regular expression: error parsing regexp: missing closing ): `(`. Set literal to search for plain text."},
		{`{"pattern":"x","path":"nope"}`, "File not found: /w/nope"},
		{`{"pattern":"x","glob":"[a"}`, `grep: "[a" is not a glob such as *.go or src/**/*.ts.`},
		{`{"pattern":"x","limit":-1}`, "grep: limit must be at least 1."},
		{`{"pattern":"x","context":-1}`, "grep: context must not be negative."},
		{`{"pattern":"x","multiline":true}`, `grep has no parameter "multiline"; matches do not span lines.`},
		{`{"pattern":"x","gitignore":false}`, "grep omits files that .gitignore excludes; use bash to search all files."},
		{`{}`, `grep needs the parameter "pattern".`},
	} {
		require.Equal(t, c.want, w.refused("grep", c.args))
	}
}

// patterns have expressions in them that a search may treat in ways of its own.
var patterns = []string{
	"a", "ab+", "^a", "b$", "a.c", `\ba`, `b\b`, `\Bb`, `\w+`, `\d`, `[^a]b`, "(a|b)c", "a{2,3}", "A", `\Aab`, `c\z`, "é", "a|^$", `\s`, "(?i)É", "x*",
}

// randomTree has files whose lines are short and of few characters.
func randomTree(r *rand.Rand) map[string]string {
	files := map[string]string{".git/HEAD": "", ".gitignore": "*.o\n/out\n"}
	for i := range 30 {
		name := fmt.Sprintf("%s/f%d%s", []string{"a", "b", "a/c", "out"}[r.IntN(4)], i, []string{".go", ".o", ".txt"}[r.IntN(3)])
		var b strings.Builder
		for range r.IntN(12) {
			for range r.IntN(6) {
				b.WriteString([]string{"a", "b", "c", "A", " ", "é", "x", "1"}[r.IntN(8)])
			}
			b.WriteString([]string{"\n", "\n", "\r\n"}[r.IntN(3)])
		}
		if r.IntN(10) == 0 {
			b.WriteString("\x00ab")
		}
		files[name] = b.String() + []string{"", "abc"}[r.IntN(2)]
	}
	return files
}

// naiveGrep is a search without any cleverness.
func naiveGrep(files map[string]string, pattern, path string, around int) string {
	re := regexp.MustCompile("(?m:" + pattern + ")")
	var names []string
	for name, content := range files {
		rel, ok := strings.CutPrefix(name, path+"/")
		if ok && !strings.HasSuffix(name, ".o") && !strings.HasPrefix(name, "out/") && !strings.Contains(content, "\x00") {
			names = append(names, rel)
		}
	}
	slices.SortFunc(names, func(a, b string) int { // as a walk meets them
		return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
	})
	var out []string
	for _, name := range names {
		lines := strings.Split(strings.TrimSuffix(strings.ReplaceAll(files[path+"/"+name], "\r\n", "\n"), "\n"), "\n")
		if files[path+"/"+name] == "" {
			continue
		}
		for i, line := range lines {
			near := slices.ContainsFunc(lines[max(0, i-around):min(len(lines), i+around+1)], re.MatchString)
			switch {
			case re.MatchString(line):
				out = append(out, fmt.Sprintf("%s:%d: %s", name, i+1, line))
			case near:
				out = append(out, fmt.Sprintf("%s-%d- %s", name, i+1, line))
			}
		}
	}
	if out == nil {
		return "No matches found"
	}
	return strings.Join(out, "\n")
}

// ripgrepPrograms are the programs with which grep is tested: none, and the machine's if there is
// one.
func ripgrepPrograms() []string {
	programs := []string{"no-such-program"}
	if path, err := exec.LookPath("rg"); err == nil {
		programs = append(programs, path)
	}
	return programs
}

func TestEverySearcherFindsTheSame(t *testing.T) {
	t.Parallel()
	for _, program := range ripgrepPrograms() {
		for seed := range uint64(4) {
			files := randomTree(rand.New(rand.NewPCG(seed, 3)))
			w := diskWorld(t, tool.Options{Ripgrep: program}, files)
			for _, pattern := range patterns {
				for around := range 2 {
					got := w.ok("grep", object(t, "pattern", pattern, "path", "a", "context", around, "limit", 100000))
					require.Equal(t, naiveGrep(files, pattern, "a", around), got, "%s %d %q", program, seed, pattern)
				}
			}
		}
	}
}

// A search works without a working ripgrep.
func TestGrepWithoutAWorkingRipgrep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, script := range map[string]string{"fails": "exit 2", "lies": "echo not JSON; exit 0"} {
		program := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
		w := diskWorld(t, tool.Options{Ripgrep: program}, map[string]string{"x": "needle\n"})
		require.Equal(t, "x:1: needle", w.ok("grep", `{"pattern":"needle"}`))
	}
}

func TestFilesThatCannotBeReadAreLeftOut(t *testing.T) {
	t.Parallel()
	for _, program := range ripgrepPrograms() {
		w := diskWorld(t, tool.Options{Ripgrep: program}, map[string]string{"x": "needle\n"})
		require.NoError(t, os.Symlink("x", w.path("link")))
		require.NoError(t, os.Symlink(".", w.path("loop")))
		f, err := os.Create(w.path("big"))
		require.NoError(t, err)
		require.NoError(t, f.Truncate(33<<20))
		require.NoError(t, f.Close())
		require.Equal(t, "x:1: needle\n\n[1 file larger than 32.0MB not searched]", w.ok("grep", `{"pattern":"needle"}`))
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, searched())
	for _, c := range []struct{ name, args, want string }{
		{"by name at every depth", `{"pattern":"*.go"}`, "a.go\nsub/deep/c.go"},
		{"directories too", `{"pattern":"[ad]*"}`, "a/\na.go\na.md\nsub/deep/"},
		{"by path", `{"pattern":"sub/**/*.go"}`, "sub/deep/c.go"},
		{"the end of a path", `{"pattern":"deep/*"}`, "sub/deep/c.go"},
		{"from the top only", `{"pattern":"/*.go"}`, "a.go"},
		{"hidden files, not the repository", `{"pattern":".*"}`, ".gitignore\n.hidden\nsub/.gitignore"},
		{"what is ignored is not found", `{"pattern":"*.log","hidden":true}`, "sub/y.log"},
		{"in a directory", `{"pattern":"**/*.go","path":"sub"}`, "deep/c.go"},
		{"alternatives", `{"pattern":"*.{md,txt}"}`, "a/b.txt\na.md"},
		{"nothing", `{"pattern":"*.rs"}`, "No files found matching pattern"},
		{"too many", `{"pattern":"*","limit":2}`, ".gitignore\n.hidden\n\n[2 results limit reached. Use limit=4 for more, or be more specific]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, w.in(t).ok("find", c.args))
		})
	}
	r, err := w.call("find", `{"pattern":"*","limit":2}`)
	require.NoError(t, err)
	require.JSONEq(t, `{"resultLimitReached":2}`, string(r.Details))
	require.Equal(t, `find: "" is not a glob such as *.go or src/**/*.ts.`, w.refused("find", `{"pattern":""}`))
	require.Equal(t, "/w/a.go is not a directory.", w.refused("find", `{"pattern":"x","path":"a.go"}`))
}

func TestLs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"b": "", "A": "", "c/x": "", ".h": "", "a.log": "", ".gitignore": "*.log"})
	require.NoError(t, w.fs.Mkdir("/w/empty", 0o700))
	require.Equal(t, ".gitignore\n.h\nA\na.log\nb\nc/\nempty/", w.ok("ls", `{}`))
	require.Equal(t, "x", w.ok("ls", `{"path":"c"}`))
	require.Equal(t, "(empty directory)", w.ok("ls", `{"path":"empty"}`))
	r, err := w.call("ls", `{"limit":"2"}`)
	require.NoError(t, err)
	require.Equal(t, ".gitignore\n.h\n\n[2 entries limit reached. Use limit=4 for more, or be more specific]", text(r))
	require.JSONEq(t, `{"entryLimitReached":2}`, string(r.Details))
	require.Equal(t, "/w/b is not a directory.", w.refused("ls", `{"path":"b"}`))
	require.Equal(t, "File not found: /w/nope", w.refused("ls", `{"path":"nope"}`))

	for i := range 2100 {
		require.NoError(t, afero.WriteFile(w.fs, fmt.Sprintf("/w/many/%04d", i), nil, 0o600))
	}
	out := w.ok("ls", `{"path":"many","limit":5000}`)
	require.Contains(t, out, "\n1999\n\n[Showing 2000 of 2100 lines (2000 lines limit). Choose a narrower path or pattern to see the rest]")
}

func TestLsShowsLinksToDirectoriesAsDirectories(t *testing.T) {
	t.Parallel()
	w := diskWorld(t, tool.Options{}, map[string]string{"d/x": ""})
	require.NoError(t, os.Symlink("d", w.path("link")))
	require.NoError(t, os.Symlink("nowhere", w.path("broken")))
	require.Equal(t, "broken\nd/\nlink/", w.ok("ls", `{}`))
}
