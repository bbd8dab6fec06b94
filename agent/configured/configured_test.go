package configured_test

import (
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/compaction"
	"github.com/xcsh-ls/xcsh-ls/agent/configured"
	"github.com/xcsh-ls/xcsh-ls/agent/loop"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// found resolves a set-up with the user's settings file of a program.
func found(t *testing.T, program session.Dialect, content string) *setup.Resolved {
	t.Helper()
	fsys := afero.NewMemMapFs()
	path := "/a/config.yml"
	if program == session.Pi {
		path = "/a/settings.json"
	}
	require.NoError(t, afero.WriteFile(fsys, path, []byte(content), 0o600))
	r := setup.Finder{Fs: fsys, Dirs: []setup.Dir{{Path: "/a", Program: program}}}.Resolve(t.Context(), setup.Query{Cwd: "/w", Program: program})
	require.Empty(t, r.Problems)
	return r
}

func TestRetries(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]loop.Retry{
		`{}`:                                    {},
		`{"retry":{"enabled":false}}`:           {Disabled: true},
		`{"retry":{"maxRetries":0}}`:            {Disabled: true},
		`{"retry":{"maxRetries":7}}`:            {Attempts: 7},
		`{"retry":{"maxRetries":1e9}}`:          {Attempts: 50},
		`{"retry":{"maxRetries":-1}}`:           {},
		`{"retry":{"baseDelayMs":500}}`:         {Base: 500 * time.Millisecond},
		`{"retry":{"maxAgentDelayMs":90000}}`:   {Limit: 90 * time.Second},
		`{"retry":{"maxAgentDelayMs":9999999}}`: {Limit: 10 * time.Minute},
	} {
		assert.Equal(t, want, configured.Retry(found(t, session.Pi, content), loop.Retry{}), content)
	}
	omp := found(t, session.Omp, "retry: {maxRetries: 10, baseDelayMs: 500, maxDelayMs: 300000}")
	assert.Equal(t, loop.Retry{Attempts: 10, Base: 500 * time.Millisecond, Limit: 5 * time.Minute}, configured.Retry(omp, loop.Retry{}))

	// What the editor or a flag sets takes precedence.
	editor := loop.Retry{Attempts: 2, Limit: time.Second}
	assert.Equal(t, loop.Retry{Attempts: 2, Base: 500 * time.Millisecond, Limit: time.Second}, configured.Retry(omp, editor))
	assert.True(t, configured.Retry(omp, loop.Retry{Disabled: true}).Disabled)
	assert.False(t, configured.Retry(found(t, session.Pi, `{"retry":{"enabled":false}}`), loop.Retry{Attempts: 1}).Disabled)
}

func TestCompactions(t *testing.T) {
	t.Parallel()
	model := provider.Ref{Provider: "p", ID: "m.1"}
	of := func(program session.Dialect, content string) compaction.Settings {
		return configured.Compaction(found(t, program, content), compaction.Settings{}, model)
	}
	assert.Equal(t, compaction.Settings{}, of(session.Pi, `{}`))
	assert.Equal(t, compaction.Settings{Disabled: true, Reserve: 9, KeepRecent: 8}, of(session.Pi, `{"compaction":{"enabled":false,"reserveTokens":9,"keepRecentTokens":8}}`))
	assert.Equal(t, compaction.Settings{Reserve: 7}, of(session.Pi, `{"compaction":{"reserveTokens":9,"modelOverrides":{"p/m.1":{"reserveTokens":7},"p/m":{"reserveTokens":5}}}}`))
	assert.Equal(t, compaction.Settings{ThresholdPercent: 60, ReservePercent: 15}, of(session.Omp, "compaction: {thresholdPercent: 60, thresholdTokens: -1}"))
	assert.Equal(t, compaction.Settings{ThresholdTokens: 60_000}, of(session.Xcsh, "compaction: {thresholdPercent: -1, thresholdTokens: 60000}"))

	window := 200_000
	assert.False(t, of(session.Xcsh, "").Due(window-17_000, window))
	assert.True(t, of(session.Omp, "").Due(window-17_000, window), "15 % of the window are kept free")
	assert.False(t, of(session.Omp, "").Due(window-31_000, window))
	assert.True(t, of(session.Xcsh, "compaction: {thresholdTokens: 60000}").Due(60_001, window))
	assert.False(t, of(session.Xcsh, "compaction: {thresholdTokens: 60000}").Due(60_000, window))
	assert.True(t, of(session.Xcsh, "compaction: {thresholdPercent: 50}").Due(100_001, window))
	assert.True(t, of(session.Xcsh, "compaction: {thresholdPercent: 500}").Due(window-16_000, window), "never beyond the window")
	assert.False(t, of(session.Xcsh, "compaction: {thresholdTokens: 1}").Due(39_000, window), "not after every turn")
	assert.False(t, of(session.Xcsh, "compaction: {enabled: false, thresholdTokens: 1}").Due(window, window))
}

func TestBudgetsAndQueues(t *testing.T) {
	t.Parallel()
	r := found(t, session.Pi, `{"thinkingBudgets":{"low":4000,"high":0,"medium":-3},"steeringMode":"all","followUpMode":"one-at-a-time","images":{"blockImages":true}}`)
	assert.Equal(t, map[provider.Level]int{provider.Low: 4000}, configured.Budgets(r))
	req := provider.Request{Budgets: configured.Budgets(r)}
	assert.Equal(t, 4000, req.Budget(provider.Low, 1))
	assert.Equal(t, 1, req.Budget(provider.High, 1))
	assert.True(t, configured.Together(r, loop.Steering))
	assert.False(t, configured.Together(r, loop.FollowUp))
	assert.True(t, configured.BlocksImages(r))
	assert.False(t, configured.BlocksImages(&setup.Resolved{}))
}

func TestTools(t *testing.T) {
	t.Parallel()
	for content, want := range map[string][]string{
		`{}`:                                       {"read", "bash", "edit", "find", "todo"},
		`{"defaultTools":["+grep","-bash"]}`:       {"read", "edit", "find", "todo"},
		`{"defaultTools":["read","bash"]}`:         {"read", "bash"},
		`{"defaultTools":["read","+edit"]}`:        {"read", "edit"},
		`{"defaultTools":["read","bash","-bash"]}`: {"read"},
		`{"defaultTools":[]}`:                      {"read", "bash", "edit", "find", "todo"},
		"bash: {enabled: false}\nglob: {enabled: false}\ntodo: {enabled: true}": {"read", "edit", "todo"},
	} {
		program := session.Pi
		if content[0] != '{' {
			program = session.Omp
		}
		var on []string
		for _, name := range []string{"read", "bash", "edit", "find", "todo"} {
			if configured.HasTool(found(t, program, content), name) {
				on = append(on, name)
			}
		}
		assert.Equal(t, want, on, content)
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	r := found(t, session.Omp, "tools:\n  approvalMode: yolo\n  approval: {bash: deny, edit: prompt, glob: allow, write: other}\n")
	for name, want := range map[string]configured.Approval{
		"bash": configured.Deny, "edit": configured.Prompt, "find": configured.Allow, "write": configured.NoApproval, "read": configured.NoApproval,
	} {
		a, path := configured.ToolApproval(r, name)
		assert.Equal(t, want, a, name)
		assert.Equal(t, want != configured.NoApproval, path == "/a/config.yml", name)
	}
	project := &setup.Resolved{Settings: []setup.Setting{r.Settings[2]}}
	require.Equal(t, "tools.approval.glob", project.Settings[0].Name)
	project.Settings[0].Scope = setup.Project
	a, _ := configured.ToolApproval(project, "find")
	assert.Equal(t, configured.NoApproval, a, "only the user's own file allows something")
}

func TestShells(t *testing.T) {
	t.Parallel()
	program, prefix := configured.Shell(found(t, session.Pi, `{"shellPath":" /bin/zsh ","shellCommandPrefix":"source https://x.y/?key=abc"}`))
	assert.Equal(t, "/bin/zsh", program)
	assert.Equal(t, "source https://x.y/?key=abc", prefix, "as the file has it")
}

func TestModels(t *testing.T) {
	t.Parallel()
	var all []provider.Info
	for _, ref := range []provider.Ref{{Provider: "anthropic", ID: "claude-opus-5"}, {Provider: "anthropic", ID: "claude-haiku-5"}, {Provider: "openai", ID: "gpt-5.2"}, {Provider: "router", ID: "openai/gpt-5.2"}} {
		all = append(all, provider.Info{Model: provider.Model{Provider: ref.Provider, ID: ref.ID}})
	}
	for content, want := range map[string][]string{
		"":                               {"claude-opus-5", "claude-haiku-5", "gpt-5.2", "openai/gpt-5.2"},
		"enabledModels: ['anthropic/*']": {"claude-opus-5", "claude-haiku-5"},
		"enabledModels: ['*OPUS*:high', gpt-5.2]": {"claude-opus-5", "gpt-5.2", "openai/gpt-5.2"},
		"enabledModels: [openai/gpt-5.2]":         {"gpt-5.2", "openai/gpt-5.2"},
		"enabledModels: ['[', nothing, '']":       {"claude-opus-5", "claude-haiku-5", "gpt-5.2", "openai/gpt-5.2"},
		"disabledProviders: [anthropic]":          {"gpt-5.2", "openai/gpt-5.2"},
	} {
		var ids []string
		for _, m := range configured.Models(found(t, session.Omp, content), all) {
			ids = append(ids, m.ID)
		}
		assert.Equal(t, want, ids, content)
	}
	assert.Len(t, all, 4)
}
