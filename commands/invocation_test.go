package commands_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/trust"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/history"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// ofProgram is an environment whose live session is one of a program.
type ofProgram struct {
	*commands.Env
	fs   afero.Fs
	file string
}

// withSetup opens a session of a program in a world with these files. The demo model answers.
func withSetup(t *testing.T, program string, files map[string]string) ofProgram {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for path, content := range files {
		require.NoError(t, afero.WriteFile(fsys, path, []byte(content), 0o600))
	}
	o := ofProgram{fs: fsys, file: "/home/u/." + program + "/agent/sessions/--w--/2026-01-01T00-00-00-000Z_" + id1 + ".jsonl"}
	write(t, fsys, o.file, talk(id1)...)
	o.Env = newEnv(fsys, withDemo(fsys), func(c *agent.Config) {
		c.Setups = &setup.Finder{
			Fs: fsys, Home: "/home/u", Memory: &setup.Memory{}, Decisions: &trust.Store{Fs: fsys, Path: agentDir + "/xcsh-ls/trust.json"},
			Dirs: []setup.Dir{
				{Path: agentDir, Program: session.Xcsh}, {Path: "/home/u/.pi/agent", Program: session.Pi}, {Path: "/home/u/.omp/agent", Program: session.Omp},
			},
		}
		c.History = history.Open(history.Config{Path: filepath.Join(t.TempDir(), "history.db"), Fs: fsys})
		t.Cleanup(func() { _ = c.History.Close(context.Background()) }) // its directory is temporary
	})
	do(t, o.Env, "xcsh.resume", args{"target": o.file})
	return o
}

// lastPrompt returns the newest entry of the file that is no answer.
func (o ofProgram) lastPrompt(t *testing.T) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(read(t, o.fs, o.file)), "\n")
	for _, line := range slices.Backward(lines) {
		if strings.Contains(line, `"custom_message"`) || strings.Contains(line, `"role":"user"`) {
			return line
		}
	}
	return ""
}

const pdfSkill = "---\nname: pdf-tools\ndescription: Extract text from PDF files.\n---\n\n# PDF tools\nRead references/formats.md first.\n"

// The entries are those that the programs themselves record for the same words.
func TestInvokedSkillsAreRecordedAsTheProgramsDo(t *testing.T) {
	t.Parallel()
	const hidden = "---\ndescription: H\ndisable-model-invocation: true\n---\nHidden."
	for program, want := range map[string]string{
		"omp":  `{"type":"custom_message","customType":"skill-prompt","content":"[IMPORTANT: User invoked the \"pdf-tools\" skill; follow its instructions. Full skill below.]\n\n# PDF tools\nRead references/formats.md first.\n\n---\n\n[Skill directory: /home/u/.omp/agent/skills/pdf-tools]\nResolve relative paths in this skill (e.g. ` + "`scripts/foo.js`, `templates/config.yaml`" + `) against this absolute directory; read referenced assets and templates; run scripts with the terminal tool when skill instructions call for it.\nUser: extract a.pdf [[say:skilled]]","display":true,"details":{"name":"pdf-tools","path":"/home/u/.omp/agent/skills/pdf-tools/SKILL.md","args":"extract a.pdf [[say:skilled]]","prompt":"/skill:pdf-tools extract a.pdf [[say:skilled]]","lineCount":2},"attribution":"user","id":`,
		"xcsh": `"display":true,"details":{"name":"pdf-tools","path":"/home/u/.xcsh/agent/skills/pdf-tools/SKILL.md","args":"extract a.pdf [[say:skilled]]","lineCount":2},"attribution":"user","id":`,
		"pi":   `"message":{"role":"user","content":[{"type":"text","text":"<skill name=\"pdf-tools\" location=\"/home/u/.pi/agent/skills/pdf-tools/SKILL.md\">\nReferences are relative to /home/u/.pi/agent/skills/pdf-tools.\n\n# PDF tools\nRead references/formats.md first.\n</skill>\n\nextract a.pdf [[say:skilled]]"}],"timestamp":`,
	} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			dir := "/home/u/." + program + "/agent/skills/"
			o := withSetup(t, program, map[string]string{dir + "pdf-tools/SKILL.md": pdfSkill, dir + "hidden/SKILL.md": hidden})
			r := do(t, o.Env, "xcsh.prompt", args{"text": "/skill:pdf-tools extract a.pdf [[say:skilled]]"})
			require.Equal(t, map[string]any{"name": "skill:pdf-tools", "path": dir + "pdf-tools/SKILL.md"}, r["expanded"])
			entry := o.lastPrompt(t)
			require.Contains(t, entry, want)
			require.Contains(t, entry, `"parentId":"`)

			// The model has it, behind the conversation so far.
			raw, err := run(t.Context(), o.Env, "xcsh.context", nil)
			require.NoError(t, err)
			require.Contains(t, string(raw), "Read references/formats.md first.")

			// The history has the typed words.
			require.NoError(t, o.Sessions.History().Flush(t.Context()))
			past := do(t, o.Env, "xcsh.history", nil)["prompts"].([]any)
			require.Len(t, past, 1)
			require.Equal(t, "/skill:pdf-tools extract a.pdf [[say:skilled]]", past[0].(map[string]any)["prompt"])

			require.NotNil(t, do(t, o.Env, "xcsh.prompt", args{"text": "/skill:hidden"})["expanded"])
			require.Contains(t, o.lastPrompt(t), "Hidden.")
			require.NotContains(t, o.lastPrompt(t), `"args"`)

			before := read(t, o.fs, o.file)
			_, err = run(t.Context(), o.Env, "xcsh.prompt", args{"text": "/skill:none x"})
			requireKind(t, fault.NotFound, err)
			require.EqualError(t, err, `There is no skill "none". The skills are: hidden, pdf-tools.`)
			require.Equal(t, before, read(t, o.fs, o.file), "nothing was sent")
		})
	}
}

func TestTemplatesInPrompts(t *testing.T) {
	t.Parallel()
	const words = `alpha "be ta" gamma`
	for _, c := range []struct{ program, dir, body, typed, want string }{
		{
			"pi", "prompts", "1=$1 2=$2 all=$@ args=$ARGUMENTS slice=${@:2} slice2=${@:1:2} d=${4:-none}", "/t " + words,
			"1=alpha 2=be ta all=alpha be ta gamma args=alpha be ta gamma slice=be ta gamma slice2=alpha be ta d=none",
		},
		{"pi", "prompts", "no placeholder", "/t dropped", "no placeholder"},
		{"pi", "prompts", "{{args}} $1", "/t a", "{{args}} a"},
		{"omp", "commands", "1=$1 2=$2 all=$@ slice=$@[2] slice2=$@[1:2]", "/t " + words, "1=alpha 2=be ta all=alpha be ta gamma slice=be ta gamma slice2=alpha be ta"},
		{"omp", "commands", "no placeholder", `/t as "typed"`, "no placeholder\n\nas typed"},
		{"xcsh", "commands", "$1|$@[2]", "/t a b c", "a|b c"},
		{"xcsh", "commands", "See @x.go and $1", "/t @y.go", "See @x.go and @y.go"},
	} {
		o := withSetup(t, c.program, map[string]string{"/home/u/." + c.program + "/agent/" + c.dir + "/t.md": c.body, "/w/x.go": "package x"})
		r := do(t, o.Env, "xcsh.prompt", args{"text": c.typed})
		require.Equal(t, "t", r["expanded"].(map[string]any)["name"], c.typed)
		text, _ := rawjson.GetString([]byte(o.lastPrompt(t)), "message", "content", "0", "text")
		if text == "" {
			text = session.MessageText(rawjson.Get([]byte(o.lastPrompt(t)), "message"))
		}
		assert.Equal(t, c.want, text, "%s: %s", c.program, c.body)
	}
}

func TestPromptsThatAreNotExpanded(t *testing.T) {
	t.Parallel()
	o := withSetup(t, "omp", map[string]string{
		"/home/u/.omp/agent/commands/stats.md": "ours comes first", "/home/u/.omp/agent/commands/computed.md": "Deploy {{args}}", "/home/u/.omp/agent/commands/t.md": "T.",
		"/home/u/.omp/agent/commands/lint.md": "the extension comes first", "/home/u/.omp/agent/extensions/lint.ts": "",
	})
	for text, want := range map[string]string{
		"/computed x": "/computed is a template that oh-my-pi computes ({{…}}). Run it in oh-my-pi.",
		"/lint":       "/lint is an extension of oh-my-pi and runs there only.",
		"/skill:x":    `There is no skill "x". This folder has no skills.`,
	} {
		before := read(t, o.fs, o.file)
		_, err := run(t.Context(), o.Env, "xcsh.prompt", args{"text": text})
		require.EqualError(t, err, want)
		require.Equal(t, before, read(t, o.fs, o.file))
	}
	require.Equal(t, "stats", do(t, o.Env, "xcsh.prompt", args{"text": "/stats"})["command"])
	for _, a := range []args{
		{"text": "/unknown x"}, {"text": "/usr/bin/t"}, {"text": "not /t"}, {"text": "/t", "literal": true}, {"text": "/skill:x", "literal": true}, {"text": "/t", "instruction": "Change it."},
	} {
		require.NotContains(t, do(t, o.Env, "xcsh.prompt", a), "expanded", a)
		require.Contains(t, o.lastPrompt(t), a["text"])
	}
}

func TestCommandsList(t *testing.T) {
	t.Parallel()
	o := withSetup(t, "pi", map[string]string{
		"/home/u/.pi/agent/skills/pdf-tools/SKILL.md": pdfSkill, "/home/u/.pi/agent/prompts/review.md": "---\ndescription: Review it\nargument-hint: <file>\n---\nReview $1",
		"/home/u/.pi/agent/prompts/export.md": "the slash command comes first", "/w/.pi/prompts/project.md": "P", "/w/.pi/skills/s/SKILL.md": "---\ndescription: S\n---\nS",
	})
	list := func() (all []map[string]any) {
		raw, err := run(t.Context(), o.Env, "xcsh.commandsList", nil)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &all))
		return all
	}
	users := []map[string]any{
		{"name": "review", "description": "Review it", "hint": "<file>", "source": "template", "path": "/home/u/.pi/agent/prompts/review.md", "scope": "user"},
		{"name": "skill:pdf-tools", "description": "Extract text from PDF files.", "hint": "arguments", "source": "skill", "path": "/home/u/.pi/agent/skills/pdf-tools/SKILL.md", "scope": "user"},
	}
	require.Equal(t, users, list())
	changes := 0
	defer o.Sessions.Subscribe(func(e agent.Event) {
		if run, ok := e.(agent.RunEvent); ok && run.Event == (event.CommandsChanged{}) {
			changes++
		}
	})()
	require.Equal(t, users, list())
	require.Zero(t, changes)

	do(t, o.Env, "xcsh.trust", args{"decision": "all"})
	require.Equal(t, 1, changes)
	all := list()
	require.Len(t, all, 4)
	require.Equal(t, map[string]any{"name": "project", "description": "P", "source": "template", "path": "/w/.pi/prompts/project.md", "scope": "project"}, all[0])

	require.NoError(t, afero.WriteFile(o.fs, "/home/u/.pi/agent/prompts/new.md", []byte("New."), 0o600))
	do(t, o.Env, "xcsh.prompt", args{"text": "hello"})
	require.Equal(t, 2, changes, "noticed with the next prompt")

	// Both lists have them, with the slash commands of this program.
	var names []string
	for _, c := range do(t, o.Env, "xcsh.commands", nil)["commands"].([]any) {
		names = append(names, c.(map[string]any)["name"].(string))
	}
	require.Subset(t, names, []string{"compact", "export", "review", "new", "project", "skill:pdf-tools", "skill:s"})
	require.Len(t, names, len(commands.Slashes())+5)
}
