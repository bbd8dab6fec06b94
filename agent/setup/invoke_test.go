package setup_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// What the programs recorded for the same words.
func TestTemplatesOfTheRecordedTrees(t *testing.T) {
	t.Parallel()
	const args = `alpha "be ta" gamma`
	got, err := tree(t, "pi-setup").resolve(session.Pi).InvokeTemplate("probecmd", args)
	require.NoError(t, err)
	assert.Equal(t, "Review 1=alpha 2=be ta 3=gamma all=alpha be ta gamma args=alpha be ta gamma slice=be ta gamma slice2=alpha be ta [[say:reviewed]]", got.Text)
	assert.Equal(t, home+"/.pi/agent/prompts/probecmd.md", got.Path)
	got, err = tree(t, "omp-setup").trusted(session.Omp).InvokeTemplate("probecmd", args)
	require.NoError(t, err)
	assert.Equal(t, "Review. 1=alpha 2=be ta all=alpha be ta gamma args=alpha be ta gamma slice=be ta gamma end. [[say:reviewed]]", got.Text)
}

func TestTemplateArguments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ program, body, args, want string }{
		// pi
		{"pi", "a=$1 b=$2", "x", "a=x b="},
		{"pi", "${1:-d}|${2:-e}|${@:-f}", "x", "x|e|x"},
		{"pi", "${@:-none}", "", "none"},
		{"pi", "${@:2}|${@:1:2}|${@:9}|${@:0:1}", "a b c", "b c|a b||a"},
		{"pi", "$@[2]", "a b", "a b[2]"},
		{"pi", "no placeholder", "dropped", "no placeholder"},
		{"pi", "\n no front matter\r\n\n", "", "\n no front matter\n\n"},
		{"pi", "---\ndescription: d\n---\n\nfront matter\n\n", "", "front matter"},
		{"pi", "$1 $2", `"$2" b`, "$2 b"},
		{"pi", "$1|$2", `"a\"b" c`, `a"b|c`},
		{"pi", "$1|$2", `a"b c"`, `a"b|c"`},
		{"pi", "$1|$2", `"a b`, `"a|b`},
		{"pi", "$1|$2", `'a b' c`, "a b|c"},
		{"pi", "{{args}} $1", "a", "{{args}} a"},
		{"pi", "$10", "1 2 3 4 5 6 7 8 9 ten", "ten"},
		{"pi", "$0 $99999999999999999999", "a", " "},
		// oh-my-pi
		{"omp", "a=$1 b=$2", "x", "a=x b="},
		{"omp", "$@[2]|$@[1:2]|$@[9]", "a b c", "b c|a b|"},
		{"omp", "${1:-d}", "x", "${1:-d}\n\nx"},
		{"omp", "no placeholder", "appended \"without  quotes\"", "no placeholder\n\nappended without  quotes"},
		{"omp", "no placeholder", `""`, "no placeholder"},
		{"omp", "", "alone", "alone"},
		{"omp", "\n no front matter\n\n", "", "no front matter"},
		{"omp", "$1 $2", `"$2" b`, "$2 b"},
		{"omp", "$1|$2", `a"b c"d e`, "ab cd|e"},
		{"omp", "$1|$2", `"a b`, "a b|"},
		{"omp", "$1|$2", `'a\' b`, `a\|b`},
		{"omp", "$ARGUMENTS", `"a b" c`, "a b c"},
		{"xcsh", "$1 $@[2]", "a b c", "a b c"},
	} {
		program, _ := session.ParseDialect(c.program)
		dir := map[string]string{"pi": "~/.pi/agent/prompts/", "omp": "~/.omp/agent/commands/", "xcsh": "~/.xcsh/agent/commands/"}[c.program]
		got, err := newWorld(t).file(dir+"x.md", c.body).resolve(program).InvokeTemplate("x", c.args)
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Text, "%s: %s with %s", c.program, c.body, c.args)
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("~/.omp/agent/commands/deploy.md", "Deploy {{args}}").file("~/.omp/agent/commands/large.md", strings.Repeat("$@ ", 20_000))
	r := w.resolve(session.Omp)
	_, err := r.InvokeTemplate("deploy", "x")
	require.EqualError(t, err, "/deploy is a template that oh-my-pi computes ({{…}}). Run it in oh-my-pi.")
	assert.True(t, r.Templates[0].Computed)
	_, err = r.InvokeTemplate("none", "")
	assert.True(t, fault.Is(err, fault.NotFound))
	_, err = r.InvokeTemplate("large", strings.Repeat("x", 100_000))
	require.ErrorContains(t, err, "becomes longer than")
}

func TestTemplateDescriptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t).file("~/.pi/agent/prompts/a.md", "\n"+strings.Repeat("ä", 61)).file("~/.pi/agent/prompts/b.md", "---\ndescription: D\nargument-hint: <file>\n---\nx").
		file("~/.pi/agent/prompts/not a name.md", "x").file("~/.pi/agent/prompts/sub/deep.md", "x")
	r := w.resolve(session.Pi)
	assert.Equal(t, []string{"a", "b"}, templates(r))
	assert.Equal(t, strings.Repeat("ä", 60)+"...", r.Templates[0].Description)
	assert.Equal(t, "<file>", r.Templates[1].Hint)
	// The project's takes precedence.
	w.file(".pi/prompts/b.md", "the project's")
	r = w.trusted(session.Pi)
	b, _ := r.Template("b")
	assert.Equal(t, setup.Project, b.Scope)
	assert.Contains(t, why(r, setup.KindTemplate, "b"), "takes precedence")
}

func TestInvokedSkills(t *testing.T) {
	t.Parallel()
	pi := tree(t, "pi-setup").resolve(session.Pi)
	got, err := pi.InvokeSkill("pdf-tools", " extract a.pdf [[say:skilled]]")
	require.NoError(t, err)
	assert.Equal(t, "<skill name=\"pdf-tools\" location=\"/home/dev/.pi/agent/skills/pdf-tools/SKILL.md\">\nReferences are relative to /home/dev/.pi/agent/skills/pdf-tools.\n\n# PDF tools\nRead references/formats.md first.\n</skill>\n\nextract a.pdf [[say:skilled]]", got.Text)
	omp := tree(t, "omp-setup").trusted(session.Omp)
	got, err = omp.InvokeSkill("pdf-tools", "extract a.pdf [[say:skilled]]")
	require.NoError(t, err)
	assert.Equal(t, "[IMPORTANT: User invoked the \"pdf-tools\" skill; follow its instructions. Full skill below.]\n\n# PDF tools\nRead references/formats.md first.\n\n---\n\n[Skill directory: /home/dev/project/.omp/skills/pdf-tools]\nResolve relative paths in this skill (e.g. `scripts/foo.js`, `templates/config.yaml`) against this absolute directory; read referenced assets and templates; run scripts with the terminal tool when skill instructions call for it.\nUser: extract a.pdf [[say:skilled]]", got.Text)
	_, err = omp.InvokeSkill("hidden-skill", "")
	require.NoError(t, err, "the user can invoke a hidden skill")
	_, err = pi.InvokeSkill("none", "")
	require.EqualError(t, err, `There is no skill "none". The skills are: hidden-one, pdf-tools.`)
}
