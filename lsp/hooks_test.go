package lsp_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent/hook"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

var wantsHooks = lsptest.Fields{"initializationOptions": lsptest.Fields{"ui": lsptest.Fields{"hooks": true}}}

// Proves: O-053, E-10
func TestHooksAskTheClient(t *testing.T) {
	t.Parallel()
	const (
		onSwitch = `{"cwd":"/w","reason":"resume","targetSessionFile":"/t.jsonl"}`
		onFork   = `{"cwd":"/w","entryId":"e1"}`
		onTree   = `{"cwd":"/w","entryId":"e1","oldLeafId":null,"userWantsSummary":true}`
		onRewind = `{"cwd":"/w","plan":{"files":3,"conflicts":1,"conversation":true}}`
		onShort  = `{"cwd":"/w","reason":"resume","customInstructions":"short"}`
	)
	for name, tc := range map[string]struct {
		event, method, params string
		reply                 func(lsptest.Request)
		want                  hooked
	}{
		"refused":         {"session_before_switch", "xcsh/beforeSwitch", onSwitch, func(r lsptest.Request) { r.Reply(lsptest.Fields{"cancel": true}) }, hooked{Cancel: true}},
		"allowed":         {"session_before_switch", "xcsh/beforeSwitch", onSwitch, func(r lsptest.Request) { r.Reply(lsptest.Fields{"cancel": false}) }, hooked{}},
		"no opinion":      {"session_before_fork", "xcsh/beforeFork", onFork, func(r lsptest.Request) { r.Reply(lsptest.Fields{}) }, hooked{}},
		"null":            {"session_before_fork", "xcsh/beforeFork", onFork, func(r lsptest.Request) { r.Reply(nil) }, hooked{}},
		"not supported":   {"session_before_fork", "xcsh/beforeFork", onFork, func(r lsptest.Request) { r.Fail(-32601, "no") }, hooked{}},
		"failed":          {"session_before_fork", "xcsh/beforeFork", onFork, func(r lsptest.Request) { r.Fail(-32603, "no") }, hooked{Failed: true}},
		"odd answer":      {"session_before_fork", "xcsh/beforeFork", onFork, func(r lsptest.Request) { r.Reply("yes") }, hooked{Failed: true}},
		"tree":            {"session_before_tree", "xcsh/beforeTree", onTree, func(r lsptest.Request) { r.Reply(lsptest.Fields{"cancel": true}) }, hooked{Cancel: true}},
		"older client":    {"session_before_tree", "xcsh/beforeTree", onTree, func(r lsptest.Request) { r.Fail(-32601, "no") }, hooked{}},
		"compaction":      {"session_before_compact", "xcsh/beforeCompact", onShort, func(r lsptest.Request) { r.Reply(lsptest.Fields{"cancel": true}) }, hooked{Cancel: true}},
		"rewind":          {"session_before_rewind", "xcsh/beforeRewind", onRewind, func(r lsptest.Request) { r.Reply(lsptest.Fields{"cancel": true}) }, hooked{Cancel: true}},
		"rewind allowed":  {"session_before_rewind", "xcsh/beforeRewind", onRewind, func(r lsptest.Request) { r.Fail(-32601, "no") }, hooked{}},
		"not on the wire": {event: "session_before_lunch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed := lsptest.Start(t, newFixture(t).options)
			ed.Initialize(wantsHooks)
			exec := ed.BeginExec("test.hook", lsptest.Fields{"text": tc.event})
			if tc.reply != nil {
				r := ed.WaitRequest(tc.method)
				require.JSONEq(t, tc.params, string(r.Params))
				tc.reply(r)
			}
			res, err := exec.Wait()
			require.Nil(t, err)
			require.Equal(t, tc.want, decode[hooked](t, res))
		})
	}
}

func TestClientsWithoutHooksAreNotAsked(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.start(t)
	receive(t, f.settings)
	require.Nil(t, f.hook)
}

// The client cannot be asked before initialize is answered. A backend that switches sessions while it
// opens must not wait forever.
func TestHooksWhileOpening(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	open := f.options.Open
	f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		d, err := c.Hook.Before(ctx, hook.Event{Name: hook.BeforeSwitch})
		if d.Cancel || err != nil {
			panic("refused")
		}
		return open(ctx, s, c)
	}
	ed := lsptest.Start(t, f.options)
	ed.Initialize(wantsHooks)
}
