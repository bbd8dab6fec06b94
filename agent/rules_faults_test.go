package agent_test

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
	"github.com/xcsh-ls/xcsh-ls/internal/sessiontest/kit"
)

// Whichever step of writing fails or is the last one before a crash: the rule stops one answer of the
// turn at most, nothing that was in the file changes, and in the next process the rule counts as given
// if, and only if, the file has it.
func TestARuleWithAFaultAtEveryStep(t *testing.T) {
	t.Parallel()
	for mode, name := range map[sessiontest.Mode]string{sessiontest.Once: "once", sessiontest.Short: "short", sessiontest.Dead: "crash"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps := 0
			for at := 1; ruleWithFault(t, mode, at); at++ {
				steps = at
			}
			assert.Greater(t, steps, 20, "the faults were not reached")
		})
	}
}

// ruleWithFault runs a turn with a fault at one step. It reports whether the fault was reached.
func ruleWithFault(t *testing.T, mode sessiontest.Mode, at int) bool {
	t.Helper()
	base := afero.NewMemMapFs()
	rules := withRules(t, base, "no-panic", rule(`condition: "panic\\("`, "Return errors."))
	path := subagent(t, base, "sub", scout)
	before := kit.Content(t, base, path)
	faulty := &sessiontest.FaultFs{Fs: base, At: at, Mode: mode}
	m := scripted(providertest.Reply{Text: "panic(1)"}, providertest.Reply{Text: "return err"})
	w := newWorld(t, faulty, withModel(m), rules)
	live := w.live(t, "/w")
	if _, err := live.Switch(t.Context(), path); err == nil {
		_, _ = live.Prompt(t.Context(), agent.Input{Text: "go"}) // the file shows the result
		assert.LessOrEqual(t, len(m.Requests()), 2, "step %d", at)
	}
	_ = w.Close(t.Context())

	now := kit.Content(t, base, path)
	require.True(t, strings.HasPrefix(now, before), "step %d", at)
	given := strings.Contains(now, `"details":{"rules":["no-panic"]}`) && !strings.Contains(now[strings.LastIndexByte(now, '\n')+1:], "ttsr-injection")
	assert.LessOrEqual(t, strings.Count(now, `"type":"ttsr_injection"`), 1, "step %d", at)
	if mode == sessiontest.Dead { // the locks of a process that has ended count as stale
		require.NoError(t, afero.Walk(base, root, func(path string, _ os.FileInfo, err error) error {
			if err == nil && strings.HasSuffix(path, ".lock") {
				require.NoError(t, base.RemoveAll(path))
			}
			return nil
		}))
	}
	again := scripted(providertest.Reply{Text: "panic(2)"}, providertest.Reply{Text: "return err"})
	next := newWorld(t, base, withModel(again), rules)
	live = next.live(t, "/w")
	_, err := live.Switch(t.Context(), path)
	require.NoError(t, err)
	prompt(t, live, "and now?")
	want := 2
	if given {
		want = 1
	}
	assert.Len(t, again.Requests(), want, "step %d, the file was:\n%s", at, now)
	assert.True(t, strings.HasPrefix(kit.Content(t, base, path), strings.TrimSuffix(now, "\n")), "step %d", at)
	require.NoError(t, next.Close(t.Context()))
	return faulty.Fired()
}

// The stopped answer and the rule are on disk before the request with the rule leaves.
func TestARuleIsDurableBeforeTheRequestLeaves(t *testing.T) {
	t.Parallel()
	power := sessiontest.NewPowerFs()
	requests, path := 0, ""
	m := &inspected{leaves: func() {
		if requests++; requests != 2 {
			return
		}
		kit.EveryLoss(t, power, func(t *testing.T, disk afero.Fs) {
			text := kit.Content(t, disk, path)
			for _, part := range []string{"TTSR matched rule: no-panic", `"customType":"ttsr-injection"`, `"injectedRules":["no-panic"]`} {
				assert.True(t, strings.Contains(text, part), part) //nolint:testifylint // the text is long
			}
		})
	}}
	m.Script("m", providertest.Reply{Text: "panic(1)"}, providertest.Reply{Text: "return err"})
	w := newWorld(t, power, withJournal(t, power), withRules(t, power, "no-panic", rule(`condition: "panic\\("`, "Return errors.")), func(c *agent.Config) {
		c.Models, c.Defaults.Model = m, "p/m"
	})
	live := w.live(t, "/w")
	path = live.File()
	prompt(t, live, "go")
	assert.Equal(t, 2, requests)
	require.NoError(t, w.Close(t.Context()))
}
