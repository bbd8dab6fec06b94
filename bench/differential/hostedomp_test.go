//go:build peers

package differential

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// A session goes through all engines, each continuing what the others said.
func TestEnginesTakeTurnsOnASession(t *testing.T) {
	t.Parallel()
	u := newUser(t, providertest.Reply{Text: "By pi."}, providertest.Reply{Text: "By omp."}, providertest.Reply{Text: "By omp again."})
	u.install(ompProgram)
	ed := u.editor()
	say := func(engine, text, answer string) {
		t.Helper()
		_, failure := ed.Exec("xcsh.setEngine", lsptest.Fields{"engine": engine, "fork": true})
		require.Nil(t, failure, "%v", failure)
		raw, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": text})
		require.Nil(t, failure, "%v", failure)
		assert.Contains(t, string(raw), answer)
	}
	say("pi", "one", "By pi.")
	say("omp", "two", "By omp.")
	say("omp", "three", "By omp again.")
	requests := u.service.Requests()
	assert.Len(t, requests[len(requests)-1].Messages, 5, "omp continues the conversation with pi")
	var state struct{ File string }
	raw, failure := ed.Exec("xcsh.state", lsptest.Fields{})
	require.Nil(t, failure, "%v", failure)
	require.NoError(t, json.Unmarshal(raw, &state))
	assert.True(t, strings.HasPrefix(state.File, filepath.Join(u.home, ".omp", "agent", "sessions")), state.File)
	ed.Shutdown()
}

// A new session of omp has the id that the editor knows.
func TestOmpInAnEditorBeginsASession(t *testing.T) {
	t.Parallel()
	u := newUser(t, providertest.Reply{Text: "Hello."}, providertest.Reply{Text: "Bye."})
	u.install(ompProgram)
	ed := u.editor()
	_, failure := ed.Exec("xcsh.setEngine", lsptest.Fields{"engine": "omp"})
	require.Nil(t, failure, "%v", failure)
	id := u.sessionID(ed)
	for _, text := range []string{"one", "two"} {
		_, failure = ed.Exec("xcsh.prompt", lsptest.Fields{"text": text})
		require.Nil(t, failure, "%v", failure)
	}
	assert.Equal(t, id, u.sessionID(ed))
	for _, m := range ed.Messages() {
		assert.NotContains(t, string(m.Params), "persistence_error")
	}
	ed.Shutdown()
}

func (u *user) sessionID(ed *lsptest.Editor) string {
	u.t.Helper()
	var state struct{ SessionID string }
	raw, failure := ed.Exec("xcsh.state", lsptest.Fields{})
	require.Nil(u.t, failure, "%v", failure)
	require.NoError(u.t, json.Unmarshal(raw, &state))
	return state.SessionID
}

// install puts a program on the user's PATH.
func (u *user) install(p program) {
	u.t.Helper()
	line := p.command(u.t)[:2]
	for i := range line {
		path, err := filepath.Abs(line[i])
		require.NoError(u.t, err)
		line[i] = path
	}
	script := "#!/bin/sh\nexec '" + strings.Join(line, "' '") + "' \"$@\"\n"
	require.NoError(u.t, os.WriteFile(filepath.Join(filepath.Dir(u.home), "bin", p.name), []byte(script), 0o700))
	startProgram(u.t, p, u.service, u.home, u.work, "").stop() // writes its settings
}
