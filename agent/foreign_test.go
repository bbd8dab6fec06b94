package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
	st "github.com/xcsh-ls/xcsh-ls/internal/sessiontest"
)

// Another program continues from an earlier entry while a tool runs: the model still gets the prompt, its call and
// the result, and so it does with the next prompt.
func TestAnotherProgramsLineDuringATool(t *testing.T) {
	t.Parallel()
	fs := afero.NewMemMapFs()
	path := put(t, fs, "a", "0123456789abcdef", "/w")
	foreign := tool.Tool{Tool: provider.Tool{Name: "look"}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		f, err := fs.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(st.User("ffffffff", "bbbbbbbb", "foreign") + "\n")
			_ = f.Close()
		}
		return tool.TextResult("the tool's result"), err
	}}
	m := scripted(
		providertest.Reply{ToolCalls: []providertest.Call{{Name: "look"}}}, providertest.Reply{Text: "Done."}, providertest.Reply{Text: "Yes."},
	)
	w := newWorld(t, fs, withModel(m), withTools(foreign))
	s := w.live(t, "/w")
	_, err := s.Switch(t.Context(), path)
	require.NoError(t, err)
	for _, text := range []string{"my words", "more words"} {
		prompt(t, s, text)
		reqs := m.Requests()
		sent := fmt.Sprint(reqs[len(reqs)-1].Messages)
		assert.Contains(t, sent, "my words")
		assert.Contains(t, sent, "the tool's result")
		assert.NotContains(t, sent, "foreign", "it is on a branch of its own")
	}
	require.NoError(t, w.Close(t.Context()))
}
