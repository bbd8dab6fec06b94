package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

const (
	maxFixes      = 5    // how many diagnostics get an action
	maxFixTitle   = 60   // of a diagnostic in a menu, in UTF-16 units
	maxFixMessage = 2000 // of a diagnostic in a prompt, in UTF-16 units
)

const (
	kindAsk = "refactor"
	kindFix = "quickfix"
)

type codeActionParams struct {
	textDocumentParams
	Range   textRange `json:"range"`
	Context struct {
		Diagnostics []json.RawMessage `json:"diagnostics"`
		Only        []string          `json:"only"`
	} `json:"context"`
}

type codeAction struct {
	Title       string            `json:"title"`
	Kind        string            `json:"kind"`
	Diagnostics []json.RawMessage `json:"diagnostics,omitempty"`
	Command     commandRef        `json:"command"`
}

// promptArgs are the arguments of xcsh.prompt. A prompt of an action waits for the turn that
// runs: nobody asks whether one does before choosing from a menu.
type promptArgs struct {
	Cwd               string             `json:"cwd"`
	Text              string             `json:"text"`
	Attachments       []promptAttachment `json:"attachments"`
	StreamingBehavior string             `json:"streamingBehavior"`
}

type promptAttachment struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

// codeActions offers to ask about what is selected and to fix what is reported, in any text
// of a workspace folder. It is asked for whenever the cursor moves, so that it reads nothing.
func (s *server) codeActions(_ context.Context, raw json.RawMessage) (any, error) {
	var p codeActionParams
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, paramsError("textDocument/codeAction", "params", err)
	}
	actions := []codeAction{}
	path, ok := filePath(p.TextDocument.URI)
	cwd, inside := s.folderOf(path)
	if !ok || !inside {
		return encodeJSON(actions)
	}
	if p.wants(kindAsk) && p.Range.Start != p.Range.End {
		actions = append(actions, p.action(cwd, "Ask xcsh: explain this", kindAsk, "Explain the attached lines.", p.Range))
	}
	if p.wants(kindFix) {
		actions = append(actions, p.fixes(cwd)...)
	}
	if s.client.codeActionLiterals {
		return encodeJSON(actions)
	}
	refs := []commandRef{}
	for _, a := range actions {
		refs = append(refs, a.Command)
	}
	return encodeJSON(refs)
}

// wants reports whether actions of a kind are asked for: all are when none is named, and a
// kind has those that begin with it and a dot.
func (p *codeActionParams) wants(kind string) bool {
	for _, only := range p.Context.Only {
		if only == "" || only == kind {
			return true
		}
	}
	return len(p.Context.Only) == 0
}

// fixes returns an action for each of the first diagnostics but our own: a session file is not
// for a model to edit.
func (p *codeActionParams) fixes(cwd string) (actions []codeAction) {
	for _, raw := range p.Context.Diagnostics {
		var d struct {
			Range   textRange       `json:"range"`
			Source  string          `json:"source"`
			Message json.RawMessage `json:"message"`
		}
		if json.Unmarshal(raw, &d) != nil || d.Source == diagnosedBy || len(actions) == maxFixes {
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

// diagnosticMessage returns the text of a message, which may be marked up.
func diagnosticMessage(raw json.RawMessage) string {
	message := valueAt[string](raw)
	if message == "" {
		message = valueAt[string](raw, "value")
	}
	return strings.TrimSpace(message)
}

func (p *codeActionParams) action(cwd, title, kind, text string, at textRange) codeAction {
	args := promptArgs{cwd, text, []promptAttachment{{p.TextDocument.URI, at}}, "followUp"}
	return codeAction{Title: title, Kind: kind, Command: commandRef{title, "xcsh.prompt", []any{args}}}
}
