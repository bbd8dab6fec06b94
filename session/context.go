package session

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// Context is what a model is shown of a session up to one leaf, and the state that
// goes with it. Messages are as stored (unknown fields kept, blob references
// resolved); summaries and extension messages are synthesised.
type Context struct {
	Messages                     []json.RawMessage `json:"messages"`
	ThinkingLevel                string            `json:"thinkingLevel"`
	ConfiguredThinkingLevel      string            `json:"configuredThinkingLevel,omitempty"` // omp: "auto" or a level
	ServiceTier                  json.RawMessage   `json:"serviceTier,omitempty"`
	Models                       map[string]string `json:"models"` // role → "provider/id"
	ActiveContextName            string            `json:"activeContextName,omitempty"`
	ActiveContextTenant          string            `json:"activeContextTenant,omitempty"`
	InjectedTTSRRules            []string          `json:"injectedTtsrRules"`
	SelectedMCPToolNames         []string          `json:"selectedMCPToolNames"`
	HasPersistedMCPToolSelection bool              `json:"hasPersistedMCPToolSelection"`
	Mode                         string            `json:"mode"`
	ModeData                     json.RawMessage   `json:"modeData,omitempty"`

	// EntryIDs names, message by message, the entry it came from.
	EntryIDs []string `json:"-"`
	// HasThinkingLevel tells a level that was chosen from the default.
	HasThinkingLevel bool `json:"-"`
}

// BuildContext rebuilds the context of d up to leaf by the rules of the program
// that wrote the file. blobs supplies the bytes of images kept outside the file; it
// may be nil. Problems are what the context had to do without. The error is that of
// reading a large file.
//
// It changes nothing and may be called concurrently on a Document that is not part
// of a [Log].
func BuildContext(d *Document, leaf Leaf, blobs BlobSource) (Context, []Problem, error) {
	path, cycle := d.tree.path(d.tree.resolve(leaf))
	var problems []Problem
	if cycle {
		problems = append(problems, d.pathProblem(ParentCycle, path[0], "The parents of entry %s lead in a circle; the conversation before it cannot be shown."))
	} else if len(path) > 0 && d.tree.recs[path[0]].parent != "" && d.tree.recs[path[0]].parent != d.tree.recs[path[0]].id {
		problems = append(problems, d.pathProblem(OrphanEntry, path[0], "The parent of entry %s is not in the file; the conversation before it cannot be shown."))
	}
	return buildAlong(d, path, blobs, problems)
}

// buildAlong builds the context of the entries at path, which runs from the root, or
// from an entry before which nothing matters, to the leaf.
func buildAlong(d *Document, path []int, blobs BlobSource, problems []Problem) (Context, []Problem, error) {
	b := &contextBuilder{doc: d, problems: problems, compaction: -1, reset: -1, rules: map[string]bool{}, ctx: Context{
		Messages: []json.RawMessage{}, Models: map[string]string{}, InjectedTTSRRules: []string{},
		SelectedMCPToolNames: []string{}, ThinkingLevel: "off", Mode: "none",
	}}
	if err := b.scanState(path); err != nil {
		return Context{}, nil, err
	}
	var err error
	switch d.dialect {
	case Pi:
		err = b.emitPi(path)
	case Omp:
		err = b.emitOmp(path)
	default:
		err = b.emitXcsh(path)
	}
	if err != nil {
		return Context{}, nil, err
	}
	b.resolveBlobs(blobs)
	return b.ctx, b.problems, nil
}

// pathProblem is a finding about an entry of the path; format takes its id.
func (d *Document) pathProblem(kind ProblemKind, entry int, format string) Problem {
	id := d.tree.recs[entry].id
	p := problemAt(kind, 0, kind == OrphanEntry || kind == ParentCycle, format, id)
	p.EntryID = id
	return p
}

type contextBuilder struct {
	doc        *Document
	ctx        Context
	problems   []Problem
	compaction int // position on the path of the last compaction, or -1
	reset      int // position on the path of omp's last reset boundary, or -1
	rules      map[string]bool
	pinned     bool // omp: a default model was chosen explicitly
}

// scanState collects what the entries of the whole path say about model, thinking
// level, mode and so on, including entries that a compaction hides.
//
// Only entries that can say something are read: of the answers those that no later
// one of the same kind overrides, which is almost none of a long conversation.
func (b *contextBuilder) scanState(path []int) error {
	answers := b.decidingAnswers(path)
	for pos, i := range path {
		switch b.doc.tree.recs[i].typ {
		case TypeCompaction:
			b.compaction = pos
			continue
		case TypeResetBoundary:
			b.reset = pos
			continue
		case TypeMessage:
			if !answers[i] {
				continue
			}
		case TypeModelChange, TypeThinkingLevel:
		case TypeServiceTier, TypeContextChange, TypeTTSRInjection, TypeMCPToolSelection, TypeModeChange:
			if b.doc.genuinePi() {
				continue
			}
		default:
			continue
		}
		e, err := b.doc.Entry(i)
		if err != nil {
			return err
		}
		b.applyState(e)
	}
	return nil
}

// genuinePi reports that the file is pi's own, which has model and thinking level for
// state and nothing else. What another program may have put into it is not pi's to
// rebuild, and need not be looked for.
func (d *Document) genuinePi() bool { return d.dialect == Pi && d.header.Dialect == "" }

// decidingAnswers returns the answers that may say which model is in use: the last
// that names one. In omp an answer only counts while no model was chosen, so that the
// last before each choice counts.
func (b *contextBuilder) decidingAnswers(path []int) map[int]bool {
	deciding := map[int]bool{}
	open := true // no later answer is known to decide
	for _, i := range slices.Backward(path) {
		r := &b.doc.tree.recs[i]
		if r.typ == TypeModelChange {
			open = open || b.doc.dialect == Omp
		}
		if open && r.role == "assistant" && b.namesModel(i) {
			deciding[i], open = true, false
		}
	}
	return deciding
}

func (b *contextBuilder) namesModel(i int) bool {
	e, err := b.doc.Entry(i)
	return err != nil || answerModel(e.Message()) != ""
}

func (b *contextBuilder) applyState(e Entry) {
	c := &b.ctx
	switch e.Type {
	case TypeMessage:
		b.applyAssistantModel(e.Message())
	case TypeModelChange:
		if m := e.AsModelChange(); m.Model != "" {
			c.Models[m.Role] = m.Model
			b.pinned = b.pinned || m.Role == "default"
		}
	case TypeThinkingLevel:
		c.ThinkingLevel, c.HasThinkingLevel = e.AsThinkingLevel(), true
		if b.doc.dialect == Omp {
			var ok bool
			if c.ConfiguredThinkingLevel, ok = rawjson.GetString(e.Raw, "configured"); !ok {
				c.ConfiguredThinkingLevel, _ = rawjson.GetString(e.Raw, "thinkingLevel")
			}
		}
	case TypeServiceTier:
		if c.ServiceTier = rawjson.Get(e.Raw, "serviceTier"); rawjson.Kind(c.ServiceTier) == 'n' {
			c.ServiceTier = nil
		}
	case TypeContextChange:
		c.ActiveContextName, _ = rawjson.GetString(e.Raw, "contextName")
		c.ActiveContextTenant, _ = rawjson.GetString(e.Raw, "tenant")
	case TypeTTSRInjection:
		for _, rule := range e.AsInjectedRules() {
			if !b.rules[rule] {
				b.rules[rule] = true
				c.InjectedTTSRRules = append(c.InjectedTTSRRules, rule)
			}
		}
	case TypeMCPToolSelection:
		c.SelectedMCPToolNames = append([]string{}, e.AsSelectedTools()...)
		c.HasPersistedMCPToolSelection = true
	case TypeModeChange:
		m := e.AsModeChange()
		c.Mode, c.ModeData = m.Mode, m.Data
	}
}

// applyAssistantModel lets an answer say which model is in use. It overrides an
// earlier choice, except in omp, where it only fills in for a missing one.
func (b *contextBuilder) applyAssistantModel(message []byte) {
	if b.doc.dialect == Omp && b.pinned {
		return
	}
	if model := answerModel(message); model != "" {
		b.ctx.Models["default"] = model
	}
}

// answerModel is the model that gave an answer, as provider/id, or "".
func answerModel(message []byte) string {
	provider, _ := rawjson.GetString(message, "provider")
	model, _ := rawjson.GetString(message, "model")
	if provider == "" || model == "" {
		return ""
	}
	return provider + "/" + model
}

func (b *contextBuilder) emit(entryID string, message []byte) {
	if message == nil {
		return
	}
	b.ctx.Messages = append(b.ctx.Messages, message)
	b.ctx.EntryIDs = append(b.ctx.EntryIDs, entryID)
}

// kept returns the part of the path before the compaction that stays visible: from
// the entry firstKept on. An entry that is not before the compaction keeps nothing.
func (b *contextBuilder) kept(path []int, firstKept string, compaction Entry) []int {
	for pos, i := range path[:b.compaction] {
		if firstKept != "" && b.doc.tree.recs[i].id == firstKept {
			return path[pos:b.compaction]
		}
	}
	if firstKept != compaction.ID && firstKept != "" {
		b.problems = append(b.problems, b.doc.pathProblem(MissingKeptEntry, path[b.compaction],
			"Compaction %s keeps from an entry that is not before it; nothing before it is shown."))
	}
	return nil
}

// emitEntries emits the messages of the entries at path through message.
func (b *contextBuilder) emitEntries(path []int, message func(Entry) []byte) error {
	for _, i := range path {
		switch b.doc.tree.recs[i].typ {
		case TypeMessage, TypeCustomMessage, TypeBranchSummary:
		default:
			continue
		}
		e, err := b.doc.Entry(i)
		if err != nil {
			return err
		}
		b.emit(e.ID, message(e))
	}
	return nil
}

// branchSummaryMessage is the message of a branch_summary, nil for an empty one.
func branchSummaryMessage(e Entry) []byte {
	if e.AsBranchSummary().Summary == "" {
		return nil
	}
	return new(rawjson.Object).String("role", "branchSummary").
		Raw("summary", rawjson.Get(e.Raw, "summary")).Raw("fromId", rawjson.Get(e.Raw, "fromId")).
		Raw("timestamp", millis(e)).Bytes()
}
