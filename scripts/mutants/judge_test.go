package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerdicts builds and runs tests of a small module, which no mutant changes.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	root := small(t)
	w, err := newWorkshop(root)
	require.NoError(t, err)
	t.Cleanup(w.close)
	before, err := os.ReadFile(filepath.Join(root, "a", "a.go"))
	require.NoError(t, err)
	for name, c := range map[string]struct {
		mutant  mutant
		verdict verdict
		log     string
	}{
		"a test that fails":              {bug, killed, ""},
		"a test that panics":             {with(func(m *mutant) { m.new = "a / (b - 3)" }), killed, ""},
		"a test that passes":             {with(func(m *mutant) { m.new = "b + a" }), survived, "a.TestSum passes"},
		"one of two tests that passes":   {with(func(m *mutant) { m.tests = []string{"a.TestSum", "a.TestLoop"} }), survived, "a.TestLoop passes"},
		"a mutant that does not compile": {with(func(m *mutant) { m.new = "a + c" }), unusable, "undefined: c"},
		"a mutant that is stale":         {with(func(m *mutant) { m.old = "b + a" }), unusable, "does not contain"},
		"a test that always fails":       {with(func(m *mutant) { m.tests = []string{"a.TestBroken"} }), unusable, "fails without a mutant"},
		"a test that is skipped":         {with(func(m *mutant) { m.tests = []string{"a.TestSkipped"} }), unusable, "was skipped"},
		"a test that does not exist":     {with(func(m *mutant) { m.tests = []string{"a.TestGone"} }), unusable, "did not run"},
		"a test without a package":       {with(func(m *mutant) { m.tests = []string{"TestGone"} }), unusable, "want package.TestName"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := w.judge(t.Context(), c.mutant)
			require.Equal(t, c.verdict.String(), r.verdict.String(), r.log)
			require.Contains(t, r.log, c.log)
		})
	}
	t.Cleanup(func() {
		after, err := os.ReadFile(filepath.Join(root, "a", "a.go"))
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "the files of the repository stay as they are")
	})
}

// TestAMutantThatHangs: only the list says whether that is the failure that was meant.
func TestAMutantThatHangs(t *testing.T) {
	t.Parallel()
	w, err := newWorkshop(small(t))
	require.NoError(t, err)
	t.Cleanup(w.close)
	w.base = 0 // the time that a test takes without the mutant is enough
	hanging := with(func(m *mutant) {
		m.row, m.tests, m.old, m.new = "F-02", []string{"a.TestLoop"}, "i < 1", "i < 1 || Sum(i, 0) != -1"
	})
	r := w.judge(t.Context(), hanging)
	require.Equal(t, stuck, r.verdict, r.log)
	require.Contains(t, r.log, "a.TestLoop hangs")
	hanging.hangs = true
	r = w.judge(t.Context(), hanging)
	require.Equal(t, killed, r.verdict, r.log)
}

func TestOverlaysReachNestedBuilds(t *testing.T) {
	t.Setenv("GOFLAGS", "-buildvcs=false")
	require.Contains(t, environment("/tmp/o.json"), "GOFLAGS=-buildvcs=false -overlay=/tmp/o.json")
	require.NotContains(t, environment(""), "GOFLAGS= -overlay=")
	t.Setenv("GOFLAGS", "")
	require.Contains(t, environment("/tmp/o.json"), "GOFLAGS=-overlay=/tmp/o.json")
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for test, want := range map[string][2]string{
		"session/library.TestSlugs": {"session/library", "^TestSlugs$"},
		"TestConversations/a.b":     {"cmd/xcsh-ls", `^TestConversations$/^a\.b$`},
		"TestScripts/run":           {"cmd/xcsh-ls", "^TestScripts$/^run$"},
	} {
		dir, pattern, err := target(test)
		require.NoError(t, err)
		require.Equal(t, want, [2]string{dir, pattern})
	}
}
