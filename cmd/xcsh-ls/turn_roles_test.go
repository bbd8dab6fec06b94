package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// served is a machine whose models are those of a provider with this name.
func served(t *testing.T, api provider.API, name string, replies ...providertest.Reply) *machine {
	t.Helper()
	m := newMachine(t, api)
	path := filepath.Join(m.agentDir(), "models.json")
	text := strings.Replace(m.read(path), `"fake":`, `"`+name+`":`, 1)
	m.write(path, strings.Replace(text, `"models":[`, `"models":[{"id":"other","contextWindow":200000,"maxTokens":32000},`, 1))
	m.Script("m", replies...)
	m.Script("other", replies...)
	return m
}

// started is an editor at the machine, with these options.
func (m *machine) started(options lsptest.Fields) *lsptest.Editor {
	ed := lsptest.StartProcess(m.t, m.command("--stdio"))
	ed.Initialize(lsptest.Fields{
		"initializationOptions": options, "capabilities": lsptest.Fields{},
		"workspaceFolders": []any{lsptest.Fields{"uri": lsptest.URI(m.work), "name": "w"}},
	})
	return ed
}

// continued puts a session with one more entry on the machine, and returns its path.
func (m *machine) continued(entry string) string {
	path := filepath.Join(m.home, "0190000000000001.jsonl")
	m.write(path, strings.Join([]string{
		`{"type":"session","version":3,"id":"0190000000000001","timestamp":"2026-01-01T00:00:00.000Z","cwd":` + string(rawjson.Quote(m.work)) + `}`,
		`{"type":"message","id":"a0000000","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"one","timestamp":1}}`,
		entry, "",
	}, "\n"))
	return path
}

// The recorded service tier is sent where the service has it, in its own form, and to no other service.
func TestTheRecordedServiceTierIsSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		api            provider.API
		service, tier  string
		member, absent string
	}{
		{provider.OpenAIResponses, "openai", `"flex"`, `"service_tier":"flex"`, ""},
		{provider.OpenAICompletions, "openai", `"priority"`, `"service_tier":"priority"`, ""},
		{provider.AnthropicMessages, "anthropic", `{"anthropic":"priority"}`, `"speed":"fast"`, "service_tier"},
		{provider.AnthropicMessages, "anthropic", `"priority"`, "", `"speed"`},
		{provider.OpenAIResponses, "openai", `"auto"`, "", "service_tier"},
		{provider.OpenAIResponses, "openai", `null`, "", "service_tier"},
		{provider.OpenAIResponses, "openai", `"<script>"`, "", "service_tier"},
		{provider.OpenAIResponses, "openai", `{"openai":{"x":1}}`, "", "service_tier"},
		{provider.OpenAICompletions, "groq", `"priority"`, "", "service_tier"},
		{provider.AnthropicMessages, "proxy", `{"anthropic":"priority"}`, "", `"speed"`},
	} {
		t.Run(string(c.api)+c.service+c.tier, func(t *testing.T) {
			t.Parallel()
			m := served(t, c.api, c.service, providertest.Reply{Text: "ok"})
			path := m.continued(`{"type":"service_tier_change","id":"b0000000","parentId":"a0000000","timestamp":"2026-01-01T00:00:00.000Z","serviceTier":` + c.tier + `}`)
			ed := m.started(lsptest.Fields{"model": c.service + "/m"})
			_, failure := ed.Exec("xcsh.resume", lsptest.Fields{"target": path})
			require.Nil(t, failure)
			_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
			require.Nil(t, failure)
			body := string(m.Requests()[0].Body)
			require.Contains(t, body, c.member)
			if c.absent != "" {
				require.NotContains(t, body, c.absent)
			}
		})
	}
}

// In plan mode the model of the role plan answers; the former one comes back afterwards.
func TestThePlanRoleAnswersInPlanMode(t *testing.T) {
	t.Parallel()
	for _, api := range []provider.API{provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses} {
		t.Run(string(api), func(t *testing.T) {
			t.Parallel()
			m := served(t, api, "fake", providertest.Reply{Text: "ok"}, providertest.Reply{Text: "ok"}, providertest.Reply{Text: "ok"})
			m.write(filepath.Join(m.agentDir(), "config.yml"), "modelRoles:\n  plan: fake/other\n")
			ed := m.started(lsptest.Fields{"model": "fake/m"})
			for _, mode := range []string{"none", "plan", "plan", "none"} {
				_, failure := ed.Exec("xcsh.setMode", lsptest.Fields{"mode": mode})
				require.Nil(t, failure)
				_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
				require.Nil(t, failure)
			}
			var models []string
			for _, r := range m.Requests() {
				models = append(models, r.Model)
			}
			require.Equal(t, []string{"m", "other", "other", "m"}, models)
		})
	}
}

// A chosen model is that of future sessions, in the terminal program's own setting, unless that is turned off.
func TestAChosenModelIsRemembered(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		m := served(t, provider.OpenAIResponses, "fake", providertest.Reply{Text: "ok"})
		path := filepath.Join(m.agentDir(), "config.yml")
		m.write(path, "theme: dark # mine\n")
		ed := m.started(lsptest.Fields{"rememberModel": on})
		_, failure := ed.Exec("xcsh.setModel", lsptest.Fields{"model": "fake/other"})
		require.Nil(t, failure)
		ed = m.started(lsptest.Fields{})
		_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		if !on {
			require.NotNil(t, failure, "no model is chosen")
			require.Equal(t, "theme: dark # mine\n", string(content))
			continue
		}
		require.Nil(t, failure)
		require.Equal(t, "other", m.Requests()[0].Model)
		require.Contains(t, string(content), "theme: dark # mine\nmodelRoles:\n  default: fake/other\n")
	}
}

// The terminal programs, which have the same setting, don't know the offline demo.
func TestTheOfflineDemoIsNotRemembered(t *testing.T) {
	t.Parallel()
	m := served(t, provider.OpenAIResponses, "fake")
	ed := m.started(lsptest.Fields{})
	_, failure := ed.Exec("xcsh.setModel", lsptest.Fields{"model": "offline/demo"})
	require.Nil(t, failure)
	_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
	require.Nil(t, failure)
	require.NoFileExists(t, filepath.Join(m.agentDir(), "config.yml"))
}

// The model of the role smol names a session after its first prompt, unless the user named it.
func TestTheSmolRoleNamesASession(t *testing.T) {
	t.Parallel()
	for _, api := range []provider.API{provider.AnthropicMessages, provider.OpenAICompletions, provider.OpenAIResponses} {
		for _, c := range []struct{ name, config, answer, title, source string }{
			{"named", "modelRoles:\n  smol: fake/other\n", "<title>Mend the\u202e parser</title>", "Mend the parser", "auto"},
			{"a greeting", "modelRoles:\n  smol: fake/other\n", "<title/>", "", ""},
			{"no title", "modelRoles:\n  smol: fake/other\n", "I mended it.", "", ""},
			{"no such role", "modelRoles:\n  plan: fake/other\n", "<title>Never</title>", "", ""},
			{"named by the user", "modelRoles:\n  smol: fake/other\n", "<title>Never</title>", "Mine", "user"},
		} {
			t.Run(string(api)+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				m := served(t, api, "fake", providertest.Reply{Text: c.answer})
				m.Script("m", providertest.Reply{Text: "Done."})
				m.write(filepath.Join(m.agentDir(), "config.yml"), c.config)
				ed := m.started(lsptest.Fields{"model": "fake/m"})
				if c.source == "user" {
					_, failure := ed.Exec("xcsh.rename", lsptest.Fields{"title": c.title})
					require.Nil(t, failure)
				}
				_, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Mend the parser of the <b>config</b>"})
				require.Nil(t, failure)
				state, failure := ed.Exec("xcsh.state", nil)
				require.Nil(t, failure)
				title, _ := rawjson.GetString(state, "title")
				require.Equal(t, c.title, title)
				asked := 0
				for _, r := range m.Requests() {
					if r.Model != "other" {
						continue
					}
					asked++
					require.Contains(t, string(r.Body), "You name conversations")
					require.Contains(t, string(r.Body), "Mend the parser of the")
					require.NotContains(t, string(r.Body), `"tools"`, "it only names")
				}
				wanted := 0
				if strings.Contains(c.config, "smol") && c.source != "user" {
					wanted = 1
				}
				require.Equal(t, wanted, asked)
				file, _ := rawjson.GetString(state, "file")
				header, _, _ := strings.Cut(m.read(file), "\n")
				source, _ := rawjson.GetString([]byte(header), "titleSource")
				require.Equal(t, c.source, source)
			})
		}
	}
}

// A role can refer to another one. If its model can't be used, the session's own answers, and a notice says so.
func TestThePlanRoleRefersToAnotherOrIsReplaced(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]struct{ model, notice string }{
		"modelRoles:\n  plan: pi/slow\n  slow: fake/other:high\n": {"other", ""},
		"modelRoles:\n  plan: nowhere/gone\n":                     {"m", "There is no model nowhere/gone, which is that of the role plan. fake/m is used instead."},
		"modelRoles:\n  plan: pi/slow\n  slow: pi/plan\n":         {"m", ""},
	} {
		m := served(t, provider.OpenAICompletions, "fake", providertest.Reply{Text: "ok"})
		m.write(filepath.Join(m.agentDir(), "config.yml"), config)
		ed := m.started(lsptest.Fields{"model": "fake/m"})
		_, failure := ed.Exec("xcsh.setMode", lsptest.Fields{"mode": "plan"})
		require.Nil(t, failure)
		_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": "Hello"})
		require.Nil(t, failure)
		require.Equal(t, want.model, m.Requests()[0].Model, config)
		noticed := false
		for _, message := range ed.Messages() {
			noticed = noticed || want.notice != "" && strings.Contains(string(message.Params), want.notice)
		}
		require.Equal(t, want.notice != "", noticed, config)
	}
}
