package lsp_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/lsptest"
	"github.com/xcsh-ls/xcsh-ls/lsp"
)

// decided is the user's decision.
type decided struct {
	decision approval.Decision
	err      error
}

// startAsking starts a server and returns the function that asks the user for approval.
func startAsking(t *testing.T, params lsptest.Fields) (*lsptest.Editor, func(context.Context, agent.Approval) <-chan decided) {
	t.Helper()
	f := newFixture(t)
	asker := make(chan agent.Asker, 1)
	open := f.options.Open
	f.options.Open = func(ctx context.Context, s lsp.Settings, c lsp.Client) (lsp.Backend, error) {
		asker <- c.Approve
		return open(ctx, s, c)
	}
	ed := lsptest.Start(t, f.options)
	ed.Initialize(params)
	approve := receive(t, asker)
	return ed, func(ctx context.Context, a agent.Approval) <-chan decided {
		done := make(chan decided, 1)
		go func() {
			d, err := approve(ctx, a)
			done <- decided{d, err}
		}()
		return done
	}
}

// call returns a tool call with a pending approval.
func call(name, args string, preview tool.Preview) agent.Approval {
	return agent.Approval{Cwd: "/w", SessionID: "s1", Prompt: approval.Prompt{
		Request: approval.Request{ID: "c1", Tool: name, Args: rawJSON(args), Preview: preview},
	}}
}

// allowing returns a call that could be allowed for the session.
func allowing(a agent.Approval, rules ...approval.Rule) agent.Approval {
	a.Rules = rules
	return a
}

// ofServer returns the call of a tool of a server that says it only reads.
func ofServer(server string) agent.Approval {
	a := allowing(call("mcp_docs_find", `{}`, tool.Preview{Title: "Call find"}), approval.Rule{Server: server, Tool: "find", Digest: "d"})
	a.Wider = []approval.Rule{{Server: server, Reads: true, Digest: "d"}}
	return a
}

func TestTheClientGetsTheRulesOfTheSession(t *testing.T) {
	t.Parallel()
	ed, approve := startAsking(t, wantsHooks)
	a := allowing(call("write", `{}`, tool.Preview{Paths: []string{"/w/link"}}), approval.Rule{Command: []string{"git", "status"}, Text: "git status (reading only)"})
	a.Outside, a.Protected, a.Unsandboxed, a.Blocked = []string{"/etc/x"}, []string{".envrc"}, true, []string{"network"}
	done := approve(t.Context(), a)
	r := ed.WaitRequest("xcsh/approve")
	require.JSONEq(t, `{"cwd":"/w","sessionId":"s1","id":"c1","tool":"write","args":{},"paths":["/w/link"],"outside":["/etc/x"],"protected":[".envrc"],"unsandboxed":true,"blocked":["network"],
		"rules":[{"command":["git","status"],"text":"git status (reading only)"}]}`, string(r.Params))
	r.Reply(lsptest.Fields{"decision": "session"})
	require.Equal(t, decided{approval.Session, nil}, receive(t, done))
}

func TestTheClientIsAskedForPermission(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reply func(lsptest.Request)
		want  approval.Decision
		fails bool
	}{
		"once":                    {func(r lsptest.Request) { r.Reply(lsptest.Fields{"decision": "once"}) }, approval.Once, false},
		"for the session":         {func(r lsptest.Request) { r.Reply(lsptest.Fields{"decision": "session"}) }, approval.Session, false},
		"for the folder":          {func(r lsptest.Request) { r.Reply(lsptest.Fields{"decision": "workspace"}) }, approval.Workspace, false},
		"no":                      {func(r lsptest.Request) { r.Reply(lsptest.Fields{"decision": "deny"}) }, approval.Deny, false},
		"an unknown decision":     {func(r lsptest.Request) { r.Reply(lsptest.Fields{"decision": "Once"}) }, approval.Deny, false},
		"no word":                 {func(r lsptest.Request) { r.Reply(lsptest.Fields{}) }, approval.Deny, false},
		"null":                    {func(r lsptest.Request) { r.Reply(nil) }, approval.Deny, false},
		"an odd answer":           {func(r lsptest.Request) { r.Reply("once") }, approval.Deny, true},
		"an error is no decision": {func(r lsptest.Request) { r.Fail(-32603, "broken") }, approval.Deny, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed, approve := startAsking(t, wantsHooks)
			done := approve(t.Context(), call("bash", `{"command":"ls"}`, tool.Preview{}))
			r := ed.WaitRequest("xcsh/approve")
			require.JSONEq(t, `{"cwd":"/w","sessionId":"s1","id":"c1","tool":"bash","args":{"command":"ls"}}`, string(r.Params))
			tc.reply(r)
			got := receive(t, done)
			require.Equal(t, tc.want, got.decision)
			require.Equal(t, tc.fails, got.err != nil, got.err)
		})
	}
}

// A plan is rejected with a reason, which the model gets; a reason does not turn a permission into a denial.
func TestTheClientDeniesWithAReason(t *testing.T) {
	t.Parallel()
	ed, approve := startAsking(t, wantsHooks)
	plan := call("exit_plan_mode", `{"title":"P"}`, tool.Preview{Title: "End plan mode and carry out the plan P"})
	plan.EndsPlan = true
	done := approve(t.Context(), plan)
	ed.WaitRequest("xcsh/approve").Reply(lsptest.Fields{"decision": "deny", "reason": "Use JWT."})
	got := receive(t, done)
	require.Equal(t, approval.Deny, got.decision)
	require.Equal(t, &approval.Denial{Reason: "Use JWT."}, got.err)
	done = approve(t.Context(), plan)
	ed.WaitRequest("xcsh/approve").Reply(lsptest.Fields{"decision": "once", "reason": "Good."})
	require.Equal(t, decided{approval.Once, nil}, receive(t, done))
}

func TestAMessageBoxAsksForPermission(t *testing.T) {
	t.Parallel()
	makes := approval.Rule{Words: []string{"make"}, Exact: true}
	warned := call("write", `{}`, tool.Preview{Title: "Create link"})
	warned.Protected = []string{".envrc", ".vscode/x"}
	leaving := call("bash", `{}`, tool.Preview{Title: "Run make"})
	leaving.Unsandboxed, leaving.Blocked = true, []string{"write /etc/x", "network"}
	named := call("bash", `{}`, tool.Preview{Title: "Run rm .envrc"})
	named.Protected = []string{".envrc"}
	elsewhere := call("write", `{}`, tool.Preview{Title: "Create link"})
	elsewhere.Outside = []string{"/etc/x"}
	plan := call("exit_plan_mode", `{"title":"P"}`, tool.Preview{Title: "End plan mode and carry out the plan P", Diff: "--- local://PLAN.md\n+++ local://PLAN.md\n@@ -0,0 +1,2 @@\n+# Plan\n+One.\n\\ No newline at end of file\n"})
	plan.EndsPlan = true
	for name, tc := range map[string]struct {
		call   agent.Approval
		text   string
		answer string
		want   approval.Decision
	}{
		"a plan":           {plan, "Allow xcsh to end plan mode and carry out the plan P?\n# Plan\nOne.", "Deny", approval.Deny},
		"an approved plan": {plan, "Allow xcsh to end plan mode and carry out the plan P?\n# Plan\nOne.", "Allow", approval.Once},
		"with a title":     {call("edit", `{}`, tool.Preview{Title: "Edit main.go"}), "Allow xcsh to edit main.go?", "Allow", approval.Once},
		"without one":      {allowing(call("bash", `{"command":"make"}`, tool.Preview{}), makes, approval.Rule{Command: []string{"ls"}}), "Allow xcsh to use bash? {\"command\":\"make\"}\nFor this session: make (exactly); ls FILES inside this folder (reading only)", "Allow for this session", approval.Session},
		"a reading tool": {ofServer("docs"), "Allow xcsh to call find?\nFor this session: all calls of the tool find of the MCP server docs\n" +
			"All reading tools for this session: all tools of the MCP server docs that say they only read", "Allow all reading tools for this session", approval.SessionWider},
		"only the tool": {ofServer("docs"), "Allow xcsh to call find?\nFor this session: all calls of the tool find of the MCP server docs\n" +
			"All reading tools for this session: all tools of the MCP server docs that say they only read", "Allow for this session", approval.Session},
		"no":              {call("bash", `{}`, tool.Preview{}), `Allow xcsh to use bash? {}`, "Deny", approval.Deny},
		"closed":          {call("bash", `{}`, tool.Preview{}), `Allow xcsh to use bash? {}`, "", approval.Deny},
		"a long title":    {call("edit", `{}`, tool.Preview{Title: strings.Repeat("ä", 400)}), "Allow xcsh to " + strings.Repeat("ä", 100) + "… 400 bytes …" + strings.Repeat("ä", 100) + "?", "Deny", approval.Deny},
		"long arguments":  {call("bash", `"`+strings.Repeat("x", 500)+`"`, tool.Preview{}), `Allow xcsh to use bash? "` + strings.Repeat("x", 199) + "… 102 bytes …" + strings.Repeat("x", 199) + `"`, "Deny", approval.Deny},
		"the end of it":   {call("bash", `{}`, tool.Preview{Title: "Run echo " + strings.Repeat("ä", 400) + "x; rm -rf ~"}), "Allow xcsh to run this command? echo " + strings.Repeat("ä", 97) + "… 418 bytes …" + strings.Repeat("ä", 94) + "x; rm -rf ~", "Deny", approval.Deny},
		"elsewhere":       {elsewhere, "Allow xcsh to create link?\nOutside the folder: /etc/x", "Allow", approval.Once},
		"protected":       {warned, "Allow xcsh to create link?\nChanges a protected file: .envrc\nChanges a protected file: .vscode/x", "Deny", approval.Deny},
		"named":           {named, "Allow xcsh to run this command? rm .envrc\nNames a protected file: .envrc", "Deny", approval.Deny},
		"unsandboxed":     {leaving, "Allow xcsh to run this command? make\nRuns outside the sandbox. The sandbox blocked: write /etc/x | network", "Allow", approval.Once},
		"no arguments":    {call("bash", ``, tool.Preview{}), "Allow xcsh to use bash? ", "Deny", approval.Deny},
		"a bound reached": {call("edit", `{}`, tool.Preview{Title: strings.Repeat("x", 400)}), "Allow xcsh to " + strings.Repeat("x", 400) + "?", "Deny", approval.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed, approve := startAsking(t, nil)
			done := approve(t.Context(), tc.call)
			ed.AnswerQuestion(tc.text, tc.answer)
			require.Equal(t, decided{tc.want, nil}, receive(t, done))
		})
	}
}

// A call that is not shown completely, or that would allow nothing more, cannot be allowed for the
// session.
func TestAMessageBoxWithoutTheSession(t *testing.T) {
	t.Parallel()
	rule := approval.Rule{Line: "x"}
	cut := ofServer("docs")
	cut.Preview.Title = strings.Repeat("x", 401)
	for name, a := range map[string]agent.Approval{
		"nothing more":   call("bash", `{}`, tool.Preview{}),
		"cut":            allowing(call("bash", `{}`, tool.Preview{Title: strings.Repeat("x", 401)}), rule),
		"a long server":  ofServer(strings.Repeat("x", 401)),
		"a reading tool": cut,
		"many rules":     allowing(call("bash", `{}`, tool.Preview{}), approval.Rule{Line: strings.Repeat("x", 401)}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed, approve := startAsking(t, nil)
			done := approve(t.Context(), a)
			r := ed.WaitRequest("window/showMessageRequest")
			require.NotContains(t, string(r.Params), "session")
			require.Contains(t, string(r.Params), "Allow")
			r.Reply(nil)
			require.Equal(t, decided{approval.Deny, nil}, receive(t, done))
		})
	}
}

// A client that opted in but does not support the request, because it is older, gets a message box.
func TestAClientThatDoesNotKnowTheQuestion(t *testing.T) {
	t.Parallel()
	ed, approve := startAsking(t, wantsHooks)
	done := approve(t.Context(), call("edit", `{}`, tool.Preview{Title: "Edit a"}))
	ed.WaitRequest("xcsh/approve").Fail(-32601, "unknown method")
	ed.AnswerQuestion("Allow xcsh to edit a?", "Allow")
	require.Equal(t, decided{approval.Once, nil}, receive(t, done))
}

// A question that is answered elsewhere is cancelled, and its answer is ignored.
func TestAQuestionIsWithdrawn(t *testing.T) {
	t.Parallel()
	for name, params := range map[string]lsptest.Fields{"xcsh/approve": wantsHooks, "window/showMessageRequest": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ed, approve := startAsking(t, params)
			ctx, cancel := context.WithCancel(t.Context())
			done := approve(ctx, call("edit", `{}`, tool.Preview{}))
			r := ed.WaitRequest(name)
			cancel()
			got := receive(t, done)
			require.Equal(t, approval.Deny, got.decision)
			require.ErrorIs(t, got.err, context.Canceled)
			require.JSONEq(t, `{"id":`+string(r.ID)+`}`, string(ed.WaitNotification("$/cancelRequest")))
		})
	}
}
