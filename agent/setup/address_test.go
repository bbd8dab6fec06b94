package setup_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// The address of a skill leads to files of the skill only, whatever its links and its path are.
func TestAddressesOfSkills(t *testing.T) {
	t.Parallel()
	f, cwd := onDisk(t)
	skills := filepath.Join(f.Home, ".pi/agent/skills")
	put(t, filepath.Join(skills, "pdf/SKILL.md"), "---\ndescription: d\n---\nbody")
	put(t, filepath.Join(skills, "pdf/references/x.md"), "x")
	put(t, filepath.Join(skills, "other/SKILL.md"), "---\ndescription: d\n---\nbody")
	link(t, filepath.Join(f.Home, "secret.md"), filepath.Join(skills, "pdf/link.md"))
	link(t, f.Home, filepath.Join(skills, "pdf/home"))
	link(t, "references", filepath.Join(skills, "pdf/within"))
	r := f.Resolve(t.Context(), setup.Query{Cwd: cwd, Program: session.Pi})
	for address, want := range map[string]string{
		"pdf": "pdf/SKILL.md", "pdf/": "pdf/SKILL.md", "other": "other/SKILL.md", "pdf/references/x.md": "pdf/references/x.md",
		"pdf/within/x.md": "pdf/references/x.md", "pdf/missing.md": "pdf/missing.md", "pdf/references/../SKILL.md": "pdf/SKILL.md",
	} {
		path, err := f.SkillFile(r, address)
		require.NoError(t, err, address)
		assert.Equal(t, filepath.Join(skills, want), path, address)
	}
	for _, address := range []string{
		"pdf/../other/SKILL.md", "pdf/../../../../secret.md", "pdf//etc/passwd", "pdf/link.md", "pdf/home/secret.md", "pdf/within/../../other/SKILL.md", `pdf/..\secret.md`, "pdf/a\x00b",
	} {
		_, err := f.SkillFile(r, address)
		assert.True(t, fault.Is(err, fault.OutsideRoot), "%s: %v", address, err)
	}
	for _, address := range []string{"", "/", "..", "../pdf", "PDF", "nope/SKILL.md"} {
		_, err := f.SkillFile(r, address)
		assert.True(t, fault.Is(err, fault.NotFound), "%s: %v", address, err)
		require.ErrorContains(t, err, "The skills are: other, pdf.")
	}
	_, err := r.RuleFile("x/../y")
	require.EqualError(t, err, `There is no rule "x/../y". This folder has no rules.`)
	require.NoError(t, os.RemoveAll(skills))
	_, err = f.SkillFile(f.Resolve(t.Context(), setup.Query{Cwd: cwd, Program: session.Pi}), "pdf")
	require.EqualError(t, err, `There is no skill "pdf". This folder has no skills.`)
}

func TestAddressesOfRules(t *testing.T) {
	t.Parallel()
	w := tree(t, "omp-setup")
	path, err := w.trusted(session.Omp).RuleFile("go")
	require.NoError(t, err)
	assert.Equal(t, folder+"/.cursor/rules/go.mdc", path)
	_, err = w.resolve(session.Omp).RuleFile("gone")
	assert.EqualError(t, err, `There is no rule "gone". The rules are: RULES, always, go.`)
}
