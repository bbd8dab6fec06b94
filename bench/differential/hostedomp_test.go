//go:build peers

package differential

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
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

// One session goes through our own loop, pi, omp, our own loop and pi: each continues what the others said. omp finds a session only in a
// directory of its own, so that there it is a copy; our loop and pi continue that copy in its file.
func TestASessionGoesThroughAllEnginesAndBack(t *testing.T) {
	t.Parallel()
	var replies []providertest.Reply
	for _, name := range []string{"own", "pi", "omp", "own again", "pi again"} {
		replies = append(replies, providertest.Reply{Text: "By " + name + "."})
	}
	u := newUser(t, replies...)
	u.install(ompProgram)
	u.models(filepath.Join(u.home, ".xcsh", "agent"), u.service.URL(provider.AnthropicMessages))
	ed := u.editorWith(lsptest.Fields{"model": "fake/theirs"})
	var said []string
	var file string
	say := func(engine, text, answer string, copied bool) {
		t.Helper()
		set := ed.BeginExec("xcsh.setEngine", lsptest.Fields{"engine": engine})
		if copied {
			question := ed.WaitRequest("window/showMessageRequest")
			require.Contains(t, string(question.Params), engine+" cannot continue this session in its file.")
			var q struct{ Actions []json.RawMessage }
			require.NoError(t, json.Unmarshal(question.Params, &q))
			question.Reply(q.Actions[0])
		}
		_, failure := set.Wait()
		require.Nil(t, failure, "%v", failure)
		var before []byte
		if file != "" && !copied {
			var err error
			before, err = os.ReadFile(file)
			require.NoError(t, err)
		}
		raw, failure := ed.Exec("xcsh.prompt", lsptest.Fields{"text": text})
		require.Nil(t, failure, "%s: %v", engine, failure)
		require.Contains(t, string(raw), answer)
		var state struct{ File string }
		raw, failure = ed.Exec("xcsh.state", lsptest.Fields{})
		require.Nil(t, failure, "%v", failure)
		require.NoError(t, json.Unmarshal(raw, &state))
		if file != "" && !copied {
			require.Equal(t, file, state.File, "%s continues in place", engine)
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(body(after), body(before)), "%s only appends", engine)
		}
		file = state.File
		said = append(said, text)
		requests := u.service.Requests()
		var heard []string
		for _, m := range requests[len(requests)-1].Messages {
			for _, s := range said {
				if strings.Contains(m.PlainText(), s) {
					heard = append(heard, s)
				}
			}
		}
		said = append(said, answer)
		require.Equal(t, said[:len(said)-1], heard, "%s goes on with what the others said", engine)
	}
	say("own", "one,", "By own.", false)
	say("pi", "two,", "By pi.", false)
	say("omp", "three,", "By omp.", true)
	say("own", "four,", "By own again.", false)
	say("pi", "five,", "By pi again.", false)
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

// body is a session file without the title slot, which omp rewrites in place.
func body(file []byte) []byte {
	if bytes.HasPrefix(file, []byte(`{"type":"title"`)) {
		_, file, _ = bytes.Cut(file, []byte("\n"))
	}
	return file
}

func (u *user) sessionID(ed *lsptest.Editor) string {
	u.t.Helper()
	var state struct{ SessionID string }
	raw, failure := ed.Exec("xcsh.state", lsptest.Fields{})
	require.Nil(u.t, failure, "%v", failure)
	require.NoError(u.t, json.Unmarshal(raw, &state))
	return state.SessionID
}

// install puts a program on the user's PATH and writes its settings.
func (u *user) install(p program) {
	u.t.Helper()
	line := p.command(u.t)
	u.link(p.name, line[0], line[1])
	startProgram(u.t, p, u.service, u.home, u.work, "").stop()
}

// link installs a script and its runtime as npm does, so that the version is known even if the program is slow to print it.
func (u *user) link(name, runtime, script string) {
	u.t.Helper()
	runtime, err := exec.LookPath(runtime)
	require.NoError(u.t, err)
	for link, target := range map[string]string{name: script, filepath.Base(runtime): runtime} {
		link = filepath.Join(filepath.Dir(u.home), "bin", link)
		target, err := filepath.Abs(target)
		require.NoError(u.t, err)
		if _, err := os.Lstat(link); err != nil {
			require.NoError(u.t, os.Symlink(target, link))
		}
	}
}
