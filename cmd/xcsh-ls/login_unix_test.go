//go:build unix

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/engine/enginetest"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
)

// On a terminal the ways are listed, and the key is not shown.
func TestLoginOnATerminal(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	r := m.terminal(usual, nil, "login")
	r.await("Number (1-")
	require.Regexp(t, `(?m)^1 +fake +runs on this machine, 1 model`, r.said.String())
	number := regexp.MustCompile(`(?m)^(\d+) +Groq +needs an API key`).FindStringSubmatch(r.said.String())
	require.NotNil(t, number, r.said.String())
	require.Contains(t, r.said.String(), "Other services: xcsh-ls login NAME")
	r.press("0\r")
	r.await(`"0" is not a number from 1 to`)
	r.press(number[1], "\r")
	r.await("API key of Groq (not shown): ")
	require.Contains(t, r.said.String(), "Create an API key at https://console.groq.com/keys")
	r.press("the-secret-key\r")
	code, said := r.end()
	require.Zero(t, code, said)
	require.NotContains(t, said, "the-secret-key")
	require.Contains(t, said, "Stored the API key of Groq in "+filepath.Join(m.agentDir(), "auth.json"))
	require.Contains(t, said, "Try: xcsh-ls run --model groq/openai/gpt-oss-120b")
	require.Contains(t, m.read(filepath.Join(m.agentDir(), "auth.json")), `"groq": {"type":"api_key","key": "the-secret-key"}`)
}

// Nothing, an empty line and an interrupt change nothing; the terminal is restored.
func TestLoginIsLeftWithoutAChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		await  string
		keys   string
		status int
	}{
		"no number":            {[]string{"login"}, "Number (1-", "\r", 1},
		"interrupt of numbers": {[]string{"login"}, "Number (1-", keyCtrlC, 130},
		"no key":               {[]string{"login", "groq"}, "not shown): ", "\r", 1},
		"interrupt of the key": {[]string{"login", "groq"}, "not shown): ", "the-sec" + keyCtrlC, 1},
		"the end":              {[]string{"login", "groq"}, "not shown): ", "\x04", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t, provider.OpenAICompletions)
			r := m.terminal(usual, nil, c.args...)
			r.await(c.await)
			r.press(c.keys)
			code, said := r.end()
			require.Equal(t, c.status, code, said)
			require.Contains(t, said, "Nothing was changed.")
			require.NotContains(t, said, "the-sec")
			require.NoFileExists(t, filepath.Join(m.agentDir(), "auth.json"))
		})
	}
}

// The login of an agent runs in the terminal.
func TestLoginToAnAgent(t *testing.T) {
	t.Parallel()
	m := newMachine(t, provider.OpenAICompletions)
	double := enginetest.Build(t, "pi")
	withDouble := func(r *onTerminal) {
		r.Env = append(r.Env, "PATH="+filepath.Dir(double)+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	r := m.terminal(usual, withDouble, "login")
	r.await("Number (1-")
	require.Regexp(t, `(?m)^1 +pi [0-9.]+ +an agent on this machine, with its own login`, r.said.String())
	r.press("1\r")
	_, said := r.end()
	require.Contains(t, said, "Starting "+double+".\r\nEnter /login in it, and leave it when you are logged in.\r\n")
	require.Contains(t, said, "the double supports only --mode rpc", "it has run")
}
