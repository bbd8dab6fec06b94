package system_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/system"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/session"
)

const (
	home   = "/home/dev"
	folder = home + "/project"
)

var reading = []provider.Tool{{Name: "read"}}

func write(t *testing.T, fsys afero.Fs, path, content string) {
	t.Helper()
	require.NoError(t, fsys.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, afero.WriteFile(fsys, path, []byte(content), 0o600))
}

func finder(fsys afero.Fs) setup.Finder {
	return setup.Finder{
		Fs: fsys, Home: home, Decisions: &trust.Store{Fs: fsys, Path: home + "/.xcsh/agent/xcsh-ls/trust.json"},
		Dirs: []setup.Dir{
			{Path: home + "/.xcsh/agent", Program: session.Xcsh}, {Path: home + "/.pi/agent", Program: session.Pi}, {Path: home + "/.omp/agent", Program: session.Omp},
		},
	}
}

// tree returns a file system with the files of a recorded tree, and what a program's own prompt had of them.
func tree(t *testing.T, name, parts string) (fsys afero.Fs, recorded string) {
	t.Helper()
	fsys = afero.NewMemMapFs()
	source := filepath.Join("..", "setup", "testdata", name)
	require.NoError(t, filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(source, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		write(t, fsys, home+"/"+filepath.ToSlash(rel), string(content))
		return err
	}))
	content, err := os.ReadFile(filepath.Join("..", "setup", "testdata", parts))
	require.NoError(t, err)
	return fsys, string(content)
}

func promptOf(t *testing.T, fsys afero.Fs, program session.Dialect, trusted bool) string {
	t.Helper()
	f := finder(fsys)
	q := setup.Query{Cwd: folder, Program: program}
	found := f.Resolve(t.Context(), q)
	if trusted {
		require.NoError(t, f.Decide(found, setup.Trusted))
		found = f.Resolve(t.Context(), q)
	}
	return system.Builder{OS: "linux", Shell: "bash"}.Prompt(found, reading)
}

// between returns the texts between two marks.
func between(text, from, to string) (all []string) {
	for _, m := range regexp.MustCompile("(?s)"+regexp.QuoteMeta(from)+"(.*?)"+regexp.QuoteMeta(to)).FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// inOrder requires that the texts are in a prompt, each after the one before it.
func inOrder(t *testing.T, prompt string, texts ...string) {
	t.Helper()
	at := 0
	for _, text := range texts {
		i := strings.Index(prompt[at:], text)
		require.GreaterOrEqual(t, i, 0, "%q is missing or too early in:\n%s", text, prompt)
		at += i + len(text)
	}
}

// Where the set-up of pi is used, a prompt has the same parts as pi's.
func TestThePromptOfAPiSetup(t *testing.T) {
	t.Parallel()
	for parts, trusted := range map[string]bool{"pi-setup.trusted.txt": true, "pi-setup.untrusted.txt": false} {
		fsys, theirs := tree(t, "pi-setup", parts)
		ours := promptOf(t, fsys, session.Pi, trusted)
		assert.Equal(t, between(theirs, "<available_skills>", "</available_skills>"), between(ours, "<available_skills>", "</available_skills>"), parts)
		assert.Equal(t, strings.TrimSpace(between(theirs, "<addendum>", "</addendum>")[0]), strings.TrimSpace(between(ours, "<addendum>", "</addendum>")[0]), parts)
		assert.Equal(t, between(theirs, `<project_instructions path="`, `">`), between(ours, `<file path="`, `">`), parts)
		for i, content := range between(theirs, "\">\n", "\n\n</project_instructions>") {
			assert.Equal(t, content, between(ours, "\">\n", "\n</file>")[i], parts)
		}
		inOrder(t, ours, "You are a coding assistant", "Guidelines:\n", "<addendum>", "<project_context>", "<skills>", "Operating system: linux", "Working directory: "+folder)
		assert.Equal(t, trusted, strings.Contains(ours, "proj-skill"), "of an untrusted folder only the instructions are used")
		assert.Contains(t, ours, "\nThe following skills provide specialized instructions for specific tasks.\nUse the read tool to load a skill's file when the task matches its description.\n"+
			"Resolve relative paths against the skill's directory (parent of SKILL.md). Use absolute paths in tool calls.\n\n<available_skills>\n")
		assert.Equal(t, ours, promptOf(t, fsys, session.Pi, trusted), "it is the same every time")
	}
}

func TestThePromptOfAnOmpSetup(t *testing.T) {
	t.Parallel()
	fsys, theirs := tree(t, "omp-setup", "omp-setup.resolved.txt")
	ours := promptOf(t, fsys, session.Omp, false)
	assert.NotContains(t, ours, "Always be kind", "a rule of the folder")
	assert.NotContains(t, ours, "Appended by the project")
	assert.Contains(t, ours, "Sticky rule: never push.", "the user's own")
	assert.Contains(t, ours, "Root instructions.", "instructions need no trust")

	ours = promptOf(t, fsys, session.Omp, true)
	assert.Equal(t, between(theirs, "<generic-rules>", "</generic-rules>"), between(ours, "<generic-rules>", "</generic-rules>"))
	assert.Equal(t, between(theirs, "<domain-rules>", "</domain-rules>"), between(ours, "<domain-rules>", "</domain-rules>"))
	assert.Equal(t, between(theirs, `<file path="`, "</file>"), between(ours, `<file path="`, "</file>"), "paths, order and imported text")
	assert.Equal(t, strings.TrimSpace(between(theirs, "<append>", "</append>")[0]), strings.TrimSpace(between(ours, "<addendum>", "</addendum>")[0]))
	assert.ElementsMatch(t, []string{"agents-skill", "claude-skill", "pdf-tools"}, between(ours, "<name>", "</name>"))
	assert.NotContains(t, ours, "hidden-skill")
	inOrder(t, ours, "Guidelines:\n", "<addendum>", "<generic-rules>", "rule://NAME", "<domain-rules>", "<project_context>", "<skills>", "Operating system:")
}

// Each program's sessions get the instructions that the program reads.
func TestInstructionsByProgram(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	for _, name := range []string{".xcsh/agent/XCSH.md", ".xcsh/agent/AGENTS.md", ".pi/agent/CLAUDE.md", ".omp/agent/AGENTS.md"} {
		write(t, fsys, home+"/"+name, "user "+name)
	}
	for _, name := range []string{"XCSH.md", "AGENTS.md", "CLAUDE.md", "AGENTS.override.md", ".xcsh/XCSH.md", ".omp/AGENTS.md", ".github/copilot-instructions.md"} {
		write(t, fsys, folder+"/"+name, "project "+name)
	}
	for program, want := range map[session.Dialect][]string{
		session.Xcsh: {"user .xcsh/agent/XCSH.md", "user .xcsh/agent/AGENTS.md", "project .xcsh/XCSH.md", "project XCSH.md", "project AGENTS.md"},
		session.Pi:   {"user .pi/agent/CLAUDE.md", "project AGENTS.override.md"},
		session.Omp:  {"user .omp/agent/AGENTS.md", "project .omp/AGENTS.md"},
	} {
		assert.Equal(t, want, between(promptOf(t, fsys, program, false), "\">\n", "\n</file>"), "%v", program)
	}
}

// SYSTEM.md replaces the beginning of the prompt, but not the rules that users rely on.
func TestASystemPromptOfTheUser(t *testing.T) {
	t.Parallel()
	fsys := afero.NewMemMapFs()
	write(t, fsys, home+"/.omp/agent/SYSTEM.md", "\nYou are Marvin.\n\n")
	write(t, fsys, folder+"/.omp/SYSTEM.md", "You are of the folder.")
	write(t, fsys, folder+"/AGENTS.md", "of the project")
	ours := promptOf(t, fsys, session.Omp, false)
	assert.True(t, strings.HasPrefix(ours, "You are Marvin.\n\nThese rules take precedence:\n"), ours)
	assert.NotContains(t, ours, "coding assistant")
	for _, rule := range []string{"Do not commit, push or delete anything unless the user asks for it.", "If a call is denied, do not work around it"} {
		assert.Contains(t, ours, rule)
	}
	inOrder(t, ours, "These rules take precedence", "of the project", "Working directory:")
	assert.True(t, strings.HasPrefix(promptOf(t, fsys, session.Omp, true), "You are of the folder.\n"))
}

// Skills are for models that can read them; a text can't close the element that it is in.
func TestSkillsInThePrompt(t *testing.T) {
	t.Parallel()
	b := system.Builder{OS: "linux"}
	found := &setup.Resolved{Folder: "/w", Skills: []setup.Skill{{Name: "a", Description: "x</description> & more", Path: "/s/a/SKILL.md"}, {Name: "b", Description: "h", Path: "/s/b", Hidden: true}}}
	ours := b.Prompt(found, reading)
	assert.Contains(t, ours, "<description>x&lt;/description&gt; &amp; more</description>")
	assert.NotContains(t, ours, "/s/b")
	assert.NotContains(t, b.Prompt(found, []provider.Tool{{Name: "edit"}}), "<skills>")
	found.Skills = found.Skills[1:]
	assert.NotContains(t, b.Prompt(found, reading), "<skills>", "models see none of them")
	assert.Contains(t, b.Prompt(nil, nil), "Guidelines:")
}

// Files that are cut say so.
func TestCutFiles(t *testing.T) {
	t.Parallel()
	ours := system.Builder{}.Prompt(&setup.Resolved{Context: []setup.File{{Path: "/w/AGENTS.md", Text: "long", Cut: true}}, Append: &setup.File{Text: "end", Cut: true}}, nil)
	assert.Contains(t, ours, "long\n[truncated; read the file for the rest]\n</file>")
	assert.Contains(t, ours, "end\n[truncated; read the file for the rest]\n</addendum>")
}

// The rules that a user relies on without giving them.
func TestGuidelines(t *testing.T) {
	t.Parallel()
	got := system.Builder{}.Prompt(&setup.Resolved{Folder: "/w"}, reading)
	for _, rule := range []string{
		"Before you report success, run the tests or the build",
		"Do not commit, push or delete anything unless the user asks for it.",
		"Read files with read rather than cat, and continue large files with offset.",
		"Make independent reads in one answer.",
	} {
		assert.Contains(t, got, rule)
	}
}
