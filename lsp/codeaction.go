package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/sessiondoc"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	maxFixes      = 5    // of one request
	maxFixTitle   = 60   // of a diagnostic in a menu, in UTF-16 units
	maxFixMessage = 2000 // of a diagnostic in a prompt, in UTF-16 units
)

const (
	kindAsk = "refactor"
	kindFix = "quickfix"
)

type codeActionParams struct {
	TextDocument struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Range   textdoc.Range `json:"range"`
	Context struct {
		Diagnostics []json.RawMessage `json:"diagnostics"`
		Only        []string          `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string             `json:"title"`
	Kind        string             `json:"kind"`
	Diagnostics []json.RawMessage  `json:"diagnostics,omitempty"`
	Command     sessiondoc.Command `json:"command"`
}

// promptArgs are the arguments of xcsh.prompt. The prompt of an action is queued until the running
// turn ends, because users do not check for one before they choose from a menu.
type promptArgs struct {
	Cwd               string             `json:"cwd"`
	Text              string             `json:"text"`
	Literal           bool               `json:"literal"` // a message of a compiler may contain anything
	Attachments       []promptAttachment `json:"attachments"`
	StreamingBehavior string             `json:"streamingBehavior"`
}

type promptAttachment struct {
	URI   string        `json:"uri"`
	Range textdoc.Range `json:"range"`
}

// codeActions returns actions to explain the selection, to fix diagnostics, and to keep or undo changes of the session, in any text
// of a workspace folder. Clients send the request whenever the cursor moves, so it only reads files of a session that changed the text.
func (s *server) codeActions(ctx context.Context, raw json.RawMessage) (any, error) {
	var p codeActionParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, conn.ParamsError("textDocument/codeAction", "params", err)
	}
	actions := []codeAction{}
	path, ok := textdoc.Path(p.TextDocument.URI)
	cwd, inside := s.files().FolderOf(path)
	if !ok || !inside {
		return conn.EncodeJSON(actions)
	}
	if p.wants(kindAsk) && p.Range.Start != p.Range.End {
		actions = append(actions, p.action(cwd, "Ask xcsh: explain this", kindAsk, "Explain the attached lines.", p.Range))
	}
	if p.wants(kindFix) {
		actions = append(actions, p.fixes(cwd)...)
		actions = append(actions, s.changeActions(ctx, cwd, path, p.Range)...)
	}
	if s.client.codeActionLiterals {
		return conn.EncodeJSON(actions)
	}
	refs := []sessiondoc.Command{}
	for _, a := range actions {
		refs = append(refs, a.Command)
	}
	return conn.EncodeJSON(refs)
}

// wants reports whether the client wants actions of a kind. It wants all if it names none.
func (p *codeActionParams) wants(kind string) bool {
	for _, only := range p.Context.Only {
		if only == "" || only == kind {
			return true
		}
	}
	return len(p.Context.Only) == 0
}

// fixes returns an action for each of the first maxFixes diagnostics of other sources. The server's
// own are about session files, which models must not edit.
func (p *codeActionParams) fixes(cwd string) (actions []codeAction) {
	for _, raw := range p.Context.Diagnostics {
		var d struct {
			Range   textdoc.Range   `json:"range"`
			Source  string          `json:"source"`
			Message json.RawMessage `json:"message"`
		}
		if json.Unmarshal(raw, &d) != nil || d.Source == sessiondoc.Source || len(actions) == maxFixes {
			continue
		}
		message := diagnosticMessage(d.Message)
		if message == "" {
			continue
		}
		title := session.CleanTitle(message)
		if short := rawjson.UTF16Prefix(title, maxFixTitle); short != title {
			title = short + "…"
		}
		text := fmt.Sprintf("Fix this problem in the attached lines: %s", rawjson.UTF16Prefix(message, maxFixMessage))
		if d.Source != "" {
			text += fmt.Sprintf("\n(reported by %s)", session.CleanTitle(rawjson.UTF16Prefix(d.Source, maxFixTitle)))
		}
		a := p.action(cwd, "Fix with xcsh: "+title, kindFix, text, d.Range)
		a.Diagnostics = []json.RawMessage{raw}
		actions = append(actions, a)
	}
	return actions
}

// diagnosticMessage returns the text of a message, which may be a string or MarkupContent.
func diagnosticMessage(raw json.RawMessage) string {
	message := valueAt[string](raw)
	if message == "" {
		message = valueAt[string](raw, "value")
	}
	return strings.TrimSpace(message)
}

func (p *codeActionParams) action(cwd, title, kind, text string, at textdoc.Range) codeAction {
	args := promptArgs{cwd, text, true, []promptAttachment{{p.TextDocument.URI, at}}, "followUp"}
	title = visible.Line(title)
	return codeAction{Title: title, Kind: kind, Command: sessiondoc.Command{Title: title, Command: "xcsh.prompt", Arguments: []any{args}}}
}
