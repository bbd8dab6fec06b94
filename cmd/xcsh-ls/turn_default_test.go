package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// stateOf returns the state of the folder's session.
func stateOf(t *testing.T, ed *lsptest.Editor) (state agent.State) {
	t.Helper()
	raw, failure := ed.Exec("xcsh.state", nil)
	require.Nil(t, failure)
	require.NoError(t, json.Unmarshal(raw, &state))
	return state
}

// The only provider that is ready answers without being chosen, and a notice says so once.
func TestTheOnlyProviderThatIsReadyAnswers(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	m.Script("m", providertest.Reply{Text: "one"}, providertest.Reply{Text: "title"}, providertest.Reply{Text: "two"})
	ed := m.started(nil)
	state := stateOf(t, ed)
	require.True(t, state.Ready.OK)
	require.Equal(t, "fake/m", state.Model.String())
	_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
	require.Nil(t, failure)
	require.Contains(t, string(ed.WaitEvent("notice")), `"Using fake/m, the only model that is ready to use."`)

	code, stdout, stderr := m.run("run", "Hello")
	require.Zero(t, code, stderr)
	require.NotEmpty(t, stdout)
	require.Contains(t, stderr, "Using fake/m, the only model that is ready to use.")
}

// Several ready providers or models are no choice.
func TestSeveralReadyModelsAreNoChoice(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	m.write(filepath.Join(m.agentDir(), "auth.json"), `{"groq":{"type":"api_key","key":"k"}}`)
	state := stateOf(t, m.started(nil))
	require.Equal(t, &agent.Readiness{Reason: provider.NeedsModel, Message: "Choose a model to start."}, state.Ready)
	require.Nil(t, state.Model)
}

// The default model of pi is used where the user has chosen none, if it can be.
func TestTheDefaultModelOfPi(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ settings, own, want, notice string }{
		"used":               {`{"defaultProvider":"fake","defaultModel":"m"}`, "", "fake/m", "Using fake/m, the default model of pi."},
		"without a key":      {`{"defaultProvider":"mistral","defaultModel":"m"}`, "", "", ""},
		"our own counts":     {`{"defaultProvider":"fake","defaultModel":"m"}`, "modelRoles:\n  default: groq/qwen/qwen3.8-27b\n", "groq/qwen/qwen3.8-27b", ""},
		"in our own program": {"", "modelRoles:\n  default: fake/m\n", "fake/m", ""},
		"damaged":            {`{"defaultProvider":`, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, provider.OpenAICompletions)
			m.Script("m", providertest.Reply{Text: "one"}, providertest.Reply{Text: "title"})
			m.write(filepath.Join(m.agentDir(), "auth.json"), `{"groq":{"type":"api_key","key":"k"}}`) // another one is ready
			if c.settings != "" {
				m.write(filepath.Join(m.home, ".pi/agent/settings.json"), c.settings)
			}
			if c.own != "" {
				m.write(filepath.Join(m.agentDir(), "config.yml"), c.own)
			}
			ed := m.started(nil)
			state := stateOf(t, ed)
			if c.want == "" {
				require.Nil(t, state.Model)
				require.Equal(t, provider.NeedsModel, state.Ready.Reason)
				return
			}
			require.Equal(t, c.want, state.Model.String())
			require.True(t, state.Ready.OK)
			if c.notice != "" {
				_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
				require.Nil(t, failure)
				require.Contains(t, string(ed.WaitEvent("notice")), c.notice)
			}
		})
	}
}

// A single key in the environment is enough.
func TestASingleKeyInTheEnvironment(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	require.NoError(t, os.RemoveAll(filepath.Join(m.home, ".xcsh")))
	cmd := m.command("--stdio")
	cmd.Env = append(cmd.Env, "GROQ_API_KEY=the-secret-key")
	ed := lsptest.StartProcess(t, cmd)
	ed.Initialize(lsptest.Fields{"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}}})
	state := stateOf(t, ed)
	require.True(t, state.Ready.OK)
	require.Equal(t, "groq/openai/gpt-oss-120b", state.Model.String())
	raw, failure := ed.Exec("xcsh.providers", nil)
	require.Nil(t, failure)
	require.Contains(t, string(raw), `{"id":"groq","name":"Groq","kind":"service","ready":true,"keySource":"environment","variable":"GROQ_API_KEY",`)
	require.NotContains(t, string(raw), "the-secret")
	require.NoFileExists(t, filepath.Join(m.agentDir(), "auth.json"))
}

// A chosen model is that of the next session and of the next start, also if there was no agent directory.
func TestAChosenModelIsKeptWithoutAnAgentDirectory(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	require.NoError(t, os.RemoveAll(filepath.Join(m.home, ".xcsh")))
	start := func() *lsptest.Editor {
		cmd := m.command("--stdio")
		cmd.Env = append(cmd.Env, "GROQ_API_KEY=one", "CEREBRAS_API_KEY=two")
		ed := lsptest.StartProcess(t, cmd)
		ed.Initialize(lsptest.Fields{"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}}})
		return ed
	}
	const chosen = "groq/openai/gpt-oss-120b"
	ed := start()
	require.Equal(t, provider.NeedsModel, stateOf(t, ed).Ready.Reason)
	_, failure := ed.Exec("xcsh.setModel", lsptest.Fields{"model": chosen})
	require.Nil(t, failure)
	require.JSONEq(t, `{}`, string(ed.WaitNotification("xcsh/modelsChanged")))
	_, failure = ed.Exec("xcsh.new", nil)
	require.Nil(t, failure)
	state := stateOf(t, ed)
	require.True(t, state.Ready.OK)
	require.Equal(t, chosen, state.Model.String())
	ed.Shutdown()
	ed.Exit()
	require.Equal(t, chosen, stateOf(t, start()).Model.String())
}

// A model server on this machine is listed first. One model of it answers, several are offered.
func TestALocalServerIsAWayIn(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	m.Script("m", providertest.Reply{Text: "one"}, providertest.Reply{Text: "title"})
	raw, failure := m.started(nil).Exec("xcsh.providers", nil)
	require.Nil(t, failure)
	var r struct {
		Providers []provider.Source
		AuthFile  string
	}
	require.NoError(t, json.Unmarshal(raw, &r))
	require.Equal(t, provider.Source{
		ID: "fake", Name: "fake", Kind: provider.LocalSource, Ready: true, KeySource: provider.ModelsFileKey, Models: 1, Default: "fake/m",
	}, r.Providers[0])
	require.Equal(t, "anthropic", r.Providers[1].ID)
	require.Equal(t, provider.DemoSource, r.Providers[len(r.Providers)-1].Kind)
	require.Equal(t, filepath.Join(m.agentDir(), "auth.json"), r.AuthFile)
	require.NotContains(t, string(raw), fakeKey)
}
