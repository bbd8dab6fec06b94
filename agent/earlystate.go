package agent

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/approval"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/provider/tier"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

// State describes the session as far as it is known. Pending names the other fields.
func (r *Reading) State() (State, error) {
	v, s := r.view, r.s
	file, h := v.File, v.Header
	state := State{
		Cwd: s.cwd, SessionID: h.ID, File: &file, LeafID: &v.LeafID, Persistent: true, ParentSession: h.ParentSession,
		Origin: v.Part.Dialect().String(), TerminalID: s.m.cfg.TerminalID, ApprovalMode: s.gate.Mode(), Engine: s.Engine(),
		Pending: []string{"usage"},
	}
	later := func(name string, known bool) {
		if !known {
			state.Pending = append(state.Pending, name)
		}
	}
	later("title", v.Knows("title"))
	state.Title = v.Part.Title().Text
	later("messageCount", v.Knows("messages"))
	state.MessageCount = len(v.Context.Messages)
	later("models", v.Knows("models"))
	state.Models = v.Context.Models
	later("thinkingLevel", v.Knows("thinkingLevel"))
	state.ThinkingLevel = v.Context.ThinkingLevel
	later("serviceTiers", r.takeTiers(&state))
	mode, known := r.takeMode(&state)
	later("mode", known)
	later("modeData", known)
	later("model", known && mode != PlanMode && r.takeModel(&state))
	return state, nil
}

// takeTiers sets the service tiers. It reports whether they are known.
func (r *Reading) takeTiers(state *State) (known bool) {
	e, recorded := r.view.Last(serviceTier)
	if !recorded { // the user's defaults count if there is no entry
		return false
	}
	if t := tier.Parse(rawjson.Get(e.Raw, "serviceTier"), r.view.Part.Dialect() == session.Omp); len(t) > 0 {
		state.ServiceTiers = t
	}
	return true
}

// takeMode sets the mode, by the rules of [modeOf]. known is false if an entry that was not read may determine it.
func (r *Reading) takeMode(state *State) (mode string, known bool) {
	d := r.view.Part
	e, recorded := r.view.Last(session.TypeModeChange)
	if !recorded {
		return "", false
	}
	change := e.AsModeChange()
	state.Mode, state.ModeData = change.Mode, slices.Clone(change.Data)
	if d.Dialect() == session.Omp && change.Mode != PlanMode {
		ended, err := endedInPlanMode(d, session.AtLast())
		return change.Mode, err == nil && !ended
	}
	return change.Mode, true
}

// takeModel sets the model of a session that is not in plan mode, by the rules of [beforePlan]. It reports whether the
// model is known.
func (r *Reading) takeModel(state *State) (known bool) {
	d, model := r.view.Part, r.view.Context.Models[defaultRole]
	if state.Model = splitModel(model); state.Model == nil {
		return false
	}
	answered := false
	for i, typ := range d.Recent(session.AtLast()) {
		switch typ {
		case session.TypeMessage:
			answered = answered || d.Role(i) == provider.RoleAssistant
		case session.TypeModelChange:
			e, err := d.Entry(i)
			if change := e.AsModelChange(); err == nil && change.Role == defaultRole && change.Model != "" && !answered {
				return true
			}
		case session.TypeModeChange:
			if answered {
				e, err := d.Entry(i)
				return err == nil && e.AsModeChange().Mode != PlanMode
			}
		}
	}
	return false
}

// MarshalJSON implements [json.Marshaler]. Pending fields are null, or absent if they can be.
func (s State) MarshalJSON() ([]byte, error) {
	type members State
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(members(s)); err != nil {
		return nil, err
	}
	raw := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	for _, name := range s.Pending {
		if rawjson.Get(raw, name) != nil {
			raw = rawjson.Set(raw, name, []byte("null"))
		}
	}
	return raw, nil
}

// lively are the fields of a state that are not those of its file.
var lively = []string{"approvalMode", "isStreaming", "isCompacting", "queued", "pending", "unsaved"}

// contradicts reports whether a field that is known in s has another value in now.
func (s State) contradicts(now State) bool {
	was, err := json.Marshal(s)
	is, isErr := json.Marshal(now)
	if err != nil || isErr != nil {
		return true
	}
	differs := false
	rawjson.Members(was, func(key, value []byte) bool {
		name, _ := rawjson.String(key)
		if !slices.Contains(lively, name) && !slices.Contains(s.Pending, name) {
			differs = differs || !bytes.Equal(value, rawjson.Get(is, name))
		}
		return !differs
	})
	return differs
}

// SnapshotLast is [Session.SnapshotLast] for the session as far as it is known.
func (r *Reading) SnapshotLast(last int, history bool) (Snapshot, error) {
	seq := r.s.m.lastSeq(r.view.Header.ID)
	state, err := r.State()
	if err != nil {
		return Snapshot{}, err
	}
	snap := Snapshot{
		State: state, Tools: []ToolActivity{}, Approvals: []approval.Prompt{}, Questions: r.s.Questions(), Background: r.s.background.Running(),
		Queues: Queues{Steering: []string{}, FollowUp: []string{}}, Seq: seq,
	}
	snap.Messages, snap.Older = r.Newest(paging.Limits{Items: last, Bytes: paging.MaxBytes}, history)
	if snap.Todos, err = newestTodos(r.view.Part, session.AtLast(), true); err != nil {
		return Snapshot{}, err
	}
	if snap.Todos == nil && !r.view.Knows("messages") {
		snap.Pending = append(snap.Pending, "todos")
	}
	snap.Context.pending = true // how full the window is depends on the model, which plan mode may determine
	snap.Pending = append(snap.Pending, "contextUsage")
	return snap, nil
}

// Newest returns a page of the newest messages, and what comes before it; with history also before the context.
func (r *Reading) Newest(l paging.Limits, history bool) ([]paging.Message, *paging.More) {
	return r.view.Newest(l, history)
}

// Whole reports whether all messages of the conversation are known, or with history those before it too, and their number.
func (r *Reading) Whole(history bool) (messages int, all bool) {
	return len(r.view.Context.Messages), r.view.Whole(history)
}
