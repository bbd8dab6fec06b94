package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/providertest"
)

// changing is a tool that needs permission and counts its runs.
func changing(ran *int) tool.Tool {
	return tool.Tool{Tool: provider.Tool{Name: "change"}, Changes: true, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
		*ran++
		return tool.TextResult("ok"), nil
	}}
}

// Services use the ids of calls again: a late answer to the first one allows no other.
func TestALateAnswerAllowsNoOtherCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		reply := func(args string) providertest.Reply {
			return providertest.Reply{ToolCalls: []providertest.Call{{Name: "change", ID: "call_0", Args: json.RawMessage(args)}}}
		}
		m := scripted(reply(`{"a":"harmless"}`), reply(`{"a":"evil"}`), providertest.Reply{Text: "Done."})
		w := newWorld(t, afero.NewMemMapFs(), withModel(m), withTools(changing(&ran)))
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		require.NoError(t, s.Approve("call_0", approval.Once))
		synctest.Wait() // the second call asks now
		require.True(t, fault.Is(s.Approve("call_0", approval.Once), fault.NotFound))
		synctest.Wait()
		require.Equal(t, 1, ran)
		require.NoError(t, s.Approve("call_0#2", approval.Once))
		<-done
		require.Equal(t, 2, ran)
		require.NoError(t, w.Close(t.Context()))
	})
}

// After a question has failed once, the next one still reaches the user.
func TestTheUserIsAskedAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran := 0
		call := providertest.Reply{ToolCalls: []providertest.Call{{Name: "change"}}}
		m := scripted(call, call, providertest.Reply{Text: "Done."})
		asked := 0
		w := newWorld(t, afero.NewMemMapFs(), withModel(m), withTools(changing(&ran)), func(c *agent.Config) {
			c.Ask = func(context.Context, agent.Approval) (approval.Decision, error) {
				if asked++; asked == 1 {
					return approval.Deny, errors.New("the client's handler threw")
				}
				return approval.Once, nil
			}
		})
		s := w.live(t, "/w")
		done := promptInBackground(t, s, "hi")
		synctest.Wait()
		_, _, err := s.Abort(t.Context())
		require.NoError(t, err)
		<-done
		<-promptInBackground(t, s, "again")
		require.Equal(t, 2, asked)
		require.Equal(t, 1, ran)
		require.NoError(t, w.Close(t.Context()))
	})
}
