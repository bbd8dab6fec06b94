package agent

import (
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// State is the overview of a live session for an editor.
type State struct {
	Cwd           string            `json:"cwd" jsonschema:"Working directory of the session."`
	SessionID     string            `json:"sessionId"`
	File          *string           `json:"file" jsonschema:"The session's file, which may not exist yet; null for an in-memory session."`
	Title         string            `json:"title,omitempty"`
	LeafID        *string           `json:"leafId" jsonschema:"The id of the leaf, which is the parent of the next entry; null before the first entry."`
	Persistent    bool              `json:"persistent"`
	MessageCount  int               `json:"messageCount" jsonschema:"Messages in the current context."`
	IsStreaming   bool              `json:"isStreaming"`
	IsCompacting  bool              `json:"isCompacting"`
	Model         *Model            `json:"model" jsonschema:"The model in use; null if none is chosen."`
	Models        map[string]string `json:"models" jsonschema:"Model per role, as provider/id."`
	ThinkingLevel string            `json:"thinkingLevel" jsonschema:"The level that is sent to the model, which supports it. While no model can answer, the recorded one."`
	ServiceTiers  tier.Tiers        `json:"serviceTiers,omitempty" jsonschema:"The service tier per family of models: openai, anthropic or google. A family without one has that of the account."`
	ApprovalMode  approval.Mode     `json:"approvalMode" jsonschema:"The approval mode of this folder: read-only, ask, auto-edit or yolo."`
	Mode          string            `json:"mode"`
	ModeData      json.RawMessage   `json:"modeData,omitempty"`
	Queued        Queued            `json:"queued"`
	Usage         session.Usage     `json:"usage" jsonschema:"Sums over every answer in the file."`
	ParentSession string            `json:"parentSession,omitempty" jsonschema:"The session this one was made from: an id or a path."`
	TerminalID    string            `json:"terminalId,omitempty"`
	Origin        string            `json:"origin" jsonschema:"The program whose rules the file follows: xcsh, pi or omp."`
	Unsaved       string            `json:"unsaved,omitempty" jsonschema:"The reason why the session cannot be saved."`
	Engine        engine.Status     `json:"engine" jsonschema:"The program that answers in the folder."`
	Ready         *Readiness        `json:"ready,omitempty" jsonschema:"Whether a prompt could be answered; absent while that is not known."`
	Pending       []string          `json:"pending,omitempty" jsonschema:"The fields that are null or absent because the session is still being read. Only clients with the initialization option lateValues get such a state; xcsh/sessionState has the rest."`
}

// Model names a model.
type Model = provider.Ref

// Queued counts the prompts that wait for the running turn.
type Queued struct {
	Steering int `json:"steering"`
	FollowUp int `json:"followUp"`
}

// splitModel splits "provider/id"; it returns nil if s does not have this form.
func splitModel(s string) *Model {
	ref, ok := provider.ParseRef(s)
	if !ok {
		return nil
	}
	return &ref
}

// stateOf describes a session as it stands.
func stateOf(cwd string, log *session.Log) (State, error) {
	s := State{Cwd: cwd, Persistent: log.Persistent()}
	if log.Persistent() {
		path := log.Path()
		s.File = &path
	}
	if err := log.Err(); err != nil {
		s.Unsaved = err.Error()
	}
	err := log.View(func(d *session.Document, leaf session.Leaf) error {
		c, err := d.ContextState(leaf)
		if err != nil {
			return err
		}
		s.MessageCount, s.Models, s.Model = c.MessageCount, c.Models, splitModel(c.Models["default"])
		mode, err := modeOf(d, leaf)
		if err != nil {
			return err
		}
		s.ThinkingLevel, s.Mode, s.ModeData = c.ThinkingLevel, mode.name, mode.data
		h := d.Header()
		s.SessionID, s.ParentSession, s.Title, s.Origin = h.ID, h.ParentSession, d.Title().Text, d.Dialect().String()
		if id := d.LeafID(leaf); id != "" {
			s.LeafID = &id
		}
		s.Usage, err = d.Usage()
		return err
	})
	return s, err
}
