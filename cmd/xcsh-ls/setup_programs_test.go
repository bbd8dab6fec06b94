package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
)

// programTrees is the directory of users' files, with the answers of the real programs beside each tree.
const programTrees = "../../agent/setup/testdata"

// shownSetup runs xcsh-ls setup for a home directory, with the folder "project" trusted.
func shownSetup(t *testing.T, tree, program string) (r setup.Resolved, home string) {
	t.Helper()
	m := newMachine(t, provider.OpenAICompletions)
	require.NoError(t, os.CopyFS(m.home, os.DirFS(filepath.Join(programTrees, tree))))
	m.work = filepath.Join(m.home, "project")
	code, out, errs := m.run("setup", "--program", program, "--trust", "all", "--json")
	require.Zero(t, code, errs)
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	return r, m.home
}

// answered returns the first groups of a pattern in the answer of a program, whose home directory was /home/dev.
func answered(t *testing.T, file, pattern, home string) (all []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(programTrees, file))
	require.NoError(t, err)
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
		all = append(all, strings.ReplaceAll(match[1], "/home/dev", home))
	}
	require.NotEmpty(t, all)
	slices.Sort(all)
	return all
}

func namesOf[T any](list []T, name func(T) string) (all []string) {
	for _, v := range list {
		if n := name(v); n != "" {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

func TestTheShownSetupIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	serverName := func(s setup.Server) string { return s.Name }
	path := func(f setup.File) string { return f.Path }
	t.Run("omp", func(t *testing.T) {
		t.Parallel()
		r, home := shownSetup(t, "omp-setup", "omp")
		const file = "omp-setup.resolved.txt"
		assert.Equal(t, answered(t, file, `(?m)^### (\S+)$`, home), namesOf(r.Servers, serverName))
		assert.Equal(t, answered(t, file, `<file path="(.*)">`, home), namesOf(r.Context, path))
		assert.Equal(t, []string{"commit", "git:commit", "probecmd"}, namesOf(r.Templates, func(x setup.Template) string { return x.Name }))
		assert.Equal(t, []string{"tools.approvalMode=yolo"}, namesOf(r.Settings, func(s setup.Setting) string { return s.Name + "=" + s.Value }))
		r, home = shownSetup(t, "omp-every-form", "omp")
		assert.Equal(t, answered(t, "omp-every-form.resolved.txt", `(?m)^### (\S+)$`, home), namesOf(r.Servers, serverName))
	})
	t.Run("pi", func(t *testing.T) {
		t.Parallel()
		r, home := shownSetup(t, "pi-setup", "pi")
		const file = "pi-setup.trusted.txt"
		assert.Equal(t, answered(t, file, `<project_instructions path="(.*)">`, home), namesOf(r.Context, path))
		assert.Equal(t, answered(t, file, `<location>(.*)</location>`, home), namesOf(r.Skills, func(s setup.Skill) string {
			if s.Hidden {
				return ""
			}
			return s.Path
		}))
		assert.Equal(t, []string{"Probe-One", "both", "pi-project"}, namesOf(r.Servers, serverName))
		require.NotNil(t, r.Append)
	})
}
