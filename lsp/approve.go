package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/jsonrpc2"

	"github.com/xcsh-ls/xcsh-ls/agent"
	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/commands"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// ApproveParams are the parameters of xcsh/approve: the user is asked to approve a tool call.
type ApproveParams struct {
	Cwd       string          `json:"cwd"`
	SessionID string          `json:"sessionId"`
	ID        string          `json:"id"` // of the prompt, see [approval.Prompt]
	Tool      string          `json:"tool"`
	Args      json.RawMessage `json:"args"`
	Title     string          `json:"title,omitempty"`
	Diff      string          `json:"diff,omitempty"`  // unified
	Paths     []string        `json:"paths,omitempty"` // files that would be changed

	// Base is the SHA-256 of the file's text before the change, in hex. It is present if the user may
	// change the proposed text: xcsh.approve then accepts content.
	Base string `json:"base,omitempty"`

	// Outside are those of Paths that are not in the folder, with links resolved.
	Outside []string `json:"outside,omitempty"`

	// Protected are the files that control other programs, such as an editor's settings, which
	// would be changed or are named by a command.
	Protected []string `json:"protected,omitempty"`

	// Unsandboxed asks to run a command outside of the sandbox, in which it failed. Blocked lists the
	// accesses that the sandbox denied.
	Unsandboxed bool     `json:"unsandboxed,omitzero"`
	Blocked     []string `json:"blocked,omitempty"`

	// Task is the name of the subagent that makes the call. It is absent for calls of the main agent.
	Task string `json:"task,omitempty"`

	// Hosted is the name of the engine that makes the call, and runs it outside of any sandbox. It is absent for calls
	// of the server's own loop.
	Hosted string `json:"hosted,omitempty"`

	// Changed asks whether to keep the command's changes of protected files. Denying undoes them.
	Changed bool `json:"changed,omitzero"`

	// Rules are the rules that the decisions session and workspace would add. The text of each
	// describes it exactly.
	Rules []approval.Rule `json:"rules,omitempty"`

	// Wider are the rules that the decisions session-wider and workspace-wider would add. It is absent for most calls.
	Wider []approval.Rule `json:"wider,omitempty"`

	// MCP is the origin of a tool of an MCP server, absent for other tools.
	MCP *tool.Remote `json:"mcp,omitempty"`
}

// ApproveResult is the answer to xcsh/approve.
type ApproveResult struct {
	Decision approval.Decision `json:"decision"`         // once, session, workspace or deny
	Reason   string            `json:"reason,omitempty"` // why the call is denied, for the model
}

// approve asks the user to approve a tool call: with xcsh/approve if the client opted in with
// ui.hooks, else in a message box. No answer means no.
func (s *server) approve(ctx context.Context, r agent.Approval, hooks bool) (approval.Decision, error) {
	if hooks {
		decision, err := s.approveByClient(ctx, r)
		var wire *jsonrpc2.Error
		if !errors.As(err, &wire) || wire.Code != jsonrpc2.MethodNotFound {
			return decision, err
		}
	}
	return s.approveByMessage(ctx, r)
}

func (s *server) approveByClient(ctx context.Context, r agent.Approval) (approval.Decision, error) {
	raw, err := conn.EncodeJSON(ApproveParams{
		Cwd: r.Cwd, SessionID: r.SessionID, ID: r.ID, Tool: r.Tool, Args: r.Args,
		Title: visible.Text(r.Preview.Title), Diff: r.Preview.Diff, Paths: r.Preview.Paths, Base: r.Preview.Base,
		Outside: r.Outside, Rules: r.Rules, Protected: r.Protected, Unsandboxed: r.Unsandboxed, Blocked: r.Blocked,
		Changed: r.Changed, Hosted: r.Hosted, Task: r.Task, Wider: r.Wider, MCP: r.MCP,
	})
	if err != nil {
		return approval.Deny, err
	}
	var result *ApproveResult
	if err := s.ask(ctx, MethodApprove, raw, &result); err != nil {
		return approval.Deny, err
	}
	if result == nil {
		return approval.Deny, nil
	}
	switch result.Decision {
	case approval.Once, approval.Session, approval.Workspace, approval.SessionWider, approval.WorkspaceWider:
		return result.Decision, nil
	}
	if result.Reason != "" {
		return approval.Deny, &approval.Denial{Reason: result.Reason}
	}
	return approval.Deny, nil
}

// maxQuestion bounds the text of a tool call in a message box, in bytes.
const maxQuestion = 400

// maxPlan bounds the text of a plan there, in bytes.
const maxPlan = 4000

func (s *server) approveByMessage(ctx context.Context, r agent.Approval) (approval.Decision, error) {
	text, choices := question(r)
	titles := make([]string, len(choices))
	for i, c := range choices {
		titles[i] = answerTitles[c]
	}
	diff, remove := s.showProposal(ctx, r)
	defer remove()
	i, err := clientUI{s}.Ask(ctx, commands.Question{Text: text + diff, Choices: titles})
	if err != nil || i < 0 {
		return approval.Deny, err
	}
	return choices[i], nil
}

var answerTitles = map[approval.Decision]string{
	approval.Once: "Allow", approval.Session: "Allow for this session", approval.Deny: "Deny",
	approval.SessionWider: "Allow all reading tools for this session",
}

// question returns the text and the answers of a message box. A call that is not shown completely, or
// that would allow nothing more, cannot be allowed for the session.
func question(r agent.Approval) (text string, choices []approval.Decision) {
	what, text := wish(r)
	if r.Task != "" {
		text = "In task " + visible.Line(r.Task) + ": " + text
	}
	if r.EndsPlan { // nothing else shows the plan
		text += "\n" + visible.Text(clip(added(r.Preview.Diff), maxPlan))
	}
	for _, warning := range r.Warnings() {
		text += "\n" + clip(warning, maxQuestion)
	}
	choices = []approval.Decision{approval.Once}
	for _, later := range []struct {
		decision   approval.Decision
		is, allows string
	}{
		{approval.Session, "For this session: ", r.Allows()},
		{approval.SessionWider, "All reading tools for this session: ", r.AllowsWider()},
	} {
		if later.allows != "" && len(what) <= maxQuestion && len(later.allows) <= maxQuestion {
			text += "\n" + later.is + later.allows
			choices = append(choices, later.decision)
		}
	}
	return text, append(choices, approval.Deny)
}

// added returns the text of a new file from its diff.
func added(diff string) string {
	var b strings.Builder
	_, hunk, _ := strings.Cut(diff, "\n@@ ")
	for line := range strings.Lines(hunk) {
		if text, ok := strings.CutPrefix(line, "+"); ok {
			b.WriteString(text)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// wish returns what the model wants to do, and the question about it. A command comes after the
// question mark, which would look like a part of it.
func wish(r agent.Approval) (what, question string) {
	title := r.Preview.Title
	command, runs := strings.CutPrefix(title, "Run ")
	switch {
	case title == "":
		what = string(r.Args)
		return what, "Allow xcsh to use " + r.Tool + "? " + clip(what, maxQuestion)
	case runs:
		return command, "Allow xcsh to run this command? " + clip(command, maxQuestion)
	default:
		return title, "Allow xcsh to " + uncapitalized(clip(title, maxQuestion)) + "?"
	}
}

// uncapitalized converts "Edit a.go" to "edit a.go", for use inside a sentence.
func uncapitalized(title string) string {
	if len(title) > 1 && 'A' <= title[0] && title[0] <= 'Z' && 'a' <= title[1] && title[1] <= 'z' {
		return strings.ToLower(title[:1]) + title[1:]
	}
	return title
}

// clip omits the middle of a text of more than n bytes, never a part of a character. The end of a
// command matters as much as its beginning.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := n/2, len(s)-n/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return fmt.Sprintf("%s… %d bytes …%s", s[:head], tail-head, s[tail:])
}
