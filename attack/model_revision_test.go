package attack

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// reviewed lets the model make its calls. Each question is answered by decide; a question that it does not settle is
// denied.
func (v *victim) reviewed(ed *lsptest.Editor, decide func(id, base string), calls ...[]providertest.Call) {
	v.t.Helper()
	v.does(calls...)
	_, failure := ed.BeginExec("xcsh.prompt", lsptest.Fields{"text": "go"}).WaitAnswering(func(r lsptest.Request) {
		var p struct{ ID, Base string }
		require.NoError(v.t, json.Unmarshal(r.Params, &p))
		if r.Method == "xcsh/approve" {
			decide(p.ID, p.Base)
			r.Reply(lsptest.Fields{"decision": "deny"}) // too late if the question was settled
			return
		}
		r.Reply(nil)
	})
	require.Nil(v.t, failure)
}

// The user reviews a model's edit while another program changes the file, replaces it by a link out of the folder, or
// the answer is meant for a command. The user's text is written over exactly the text that the user saw, or not at all.
func TestTheUsersTextIsWrittenOnlyOverTheTextThatWasSeen(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	v.needsSandbox()
	v.write(v.path("a"), "one\ntwo\n")
	ed := v.edit(lsptest.Fields{"ui": lsptest.Fields{"hooks": true}})
	edit := call("edit", map[string]any{"path": "a", "edits": []any{map[string]any{"oldText": "one", "newText": "1"}}})
	var failure *lsptest.Error
	revise := func(content string, more lsptest.Fields) func(id, base string) {
		return func(id, base string) {
			args := lsptest.Fields{"id": id, "decision": "once", "content": content, "base": base}
			maps.Copy(args, more)
			_, failure = ed.BeginExec("xcsh.approve", args).Wait()
		}
	}
	last := func() string {
		results := v.results()
		return results[len(results)-1]
	}

	v.reviewed(ed, func(id, base string) {
		v.write(v.path("a"), "one\ntwo, and another program's line\n")
		revise("mine\ntwo\n", nil)(id, base)
	}, edit)
	require.Nil(t, failure)
	assert.Equal(t, "one\ntwo, and another program's line\n", v.read(v.path("a")))
	assert.Contains(t, last(), "changed while the user was reviewing")

	v.write(v.path("a"), "one\ntwo\n")
	v.write(filepath.Join(v.outside, "file"), "one\ntwo\n")        // the same text
	for _, more := range []lsptest.Fields{nil, {"content": nil}} { // with the user's text, and as proposed
		v.write(v.path("a"), "one\ntwo\n")
		v.reviewed(ed, func(id, base string) {
			require.NoError(t, os.Remove(v.path("a")))
			require.NoError(t, os.Symlink(v.outside+"/file", v.path("a")))
			revise("mine\ntwo\n", more)(id, base)
		}, edit)
		require.Nil(t, failure)
		assert.Equal(t, "one\ntwo\n", v.read(v.outside+"/file"), last())
		require.NoError(t, os.Remove(v.path("a")))
	}

	v.write(v.path("a"), "one\ntwo\n")
	for _, decision := range []string{"session", "workspace", "deny"} {
		v.reviewed(ed, revise("mine\ntwo\n", lsptest.Fields{"decision": decision}), edit)
		require.NotNil(t, failure, decision)
		assert.Equal(t, "one\ntwo\n", v.read(v.path("a")))
		assert.Contains(t, last(), "The user denied this edit call.")
	}
	v.reviewed(ed, revise("echo mine", lsptest.Fields{"base": tool.Sum(nil)}), bash("echo pwned > b"))
	require.NotNil(t, failure)
	assert.NoFileExists(t, v.path("b"))

	v.reviewed(ed, revise("mine\ntwo\n", nil), edit)
	require.Nil(t, failure)
	assert.Equal(t, "mine\ntwo\n", v.read(v.path("a")))
	assert.True(t, strings.HasPrefix(last(), "The user changed your proposal for a before accepting it."), last())
	assert.Contains(t, last(), "-one\n+mine\n")
}
