package session

import (
	"encoding/json"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Context is the part of a session up to one leaf that is sent to a model, with the state
// that belongs to it. Messages are as stored (unknown fields kept, blob references
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

	// EntryIDs holds, for each message, the id of the entry it came from.
	EntryIDs []string `json:"-"`
	// HasThinkingLevel distinguishes a chosen level from the default.
	HasThinkingLevel bool `json:"-"`
}

// BuildContext rebuilds the context of d up to leaf by the rules of the program that wrote
// the file. blobs supplies the bytes of images kept outside the file; it may be nil. The
// returned problems describe the missing parts of the context. BuildContext fails only if a
// large file cannot be read.
//
// It changes nothing and may be called concurrently on a Document that is not part of a
// [Log].
func BuildContext(d *Document, leaf Leaf, blobs BlobSource) (Context, []Problem, error) {
	path, problems := d.contextPath(d.tree.resolve(leaf))
	return buildAlong(d, path, blobs, problems)
}

// contextPath returns the entries from the root to leaf, as far as a context depends on them, and a problem if
// the path ends early.
func (d *Document) contextPath(leaf int) (path []int, problems []Problem) {
	if path, ok := d.spinePath(leaf); ok {
		return path, nil
	}
	path, cycle := d.tree.path(leaf)
	if cycle {
		problems = append(problems, d.pathProblem(ParentCycle, path[0], "The parents of entry %s lead in a circle; the conversation before it cannot be shown."))
	} else if len(path) > 0 && d.tree.orphan(path[0]) {
		problems = append(problems, d.pathProblem(OrphanEntry, path[0], "The parent of entry %s is not in the file; the conversation before it cannot be shown."))
	}
	return path, problems
}

// buildAlong builds the context of path, which ends at the leaf and begins at the root or
// at an entry before which nothing matters.
func buildAlong(d *Document, path []int, blobs BlobSource, problems []Problem) (Context, []Problem, error) {
	b := newContextBuilder(d, problems)
	if err := b.build(path); err != nil {
		return Context{}, nil, err
	}
	b.resolveBlobs(blobs)
	return b.ctx, b.problems, nil
}

// pathProblem returns a problem of an entry on the path; format takes the entry's id.
func (d *Document) pathProblem(kind ProblemKind, entry int, format string) Problem {
	id := d.tree.id(entry)
	p := problemAt(kind, 0, kind == OrphanEntry || kind == ParentCycle, format, id)
	p.EntryID = id
	return p
}

type contextBuilder struct {
	doc        *Document
	ctx        Context
	roles      []string // of the messages
	problems   []Problem
	compaction int // position on the path of the last compaction, or -1
	reset      int // position on the path of omp's last reset boundary, or -1
	rules      map[string]bool
	pinned     bool // omp: a default model was chosen explicitly

	// send, if not nil, takes the messages, which are then not kept. A message is valid during the call. role is "" for
	// a synthesised message.
	send    func(role string, message []byte) error
	sendErr error // the error of send, after which no message is sent

	outlining  bool // long lines are not held
	namesBlobs bool // a message that is not held may reference images outside the file
	long       longMessages
}

func newContextBuilder(d *Document, problems []Problem) *contextBuilder {
	return &contextBuilder{doc: d, problems: problems, compaction: -1, reset: -1, rules: map[string]bool{}, ctx: Context{
		Messages: []json.RawMessage{}, Models: map[string]string{}, InjectedTTSRRules: []string{},
		SelectedMCPToolNames: []string{}, ThinkingLevel: "off", Mode: "none",
	}}
}

// build builds the context of the entries at path, without resolving images outside the
// file.
func (b *contextBuilder) build(path []int) error {
	if err := b.scanState(path); err != nil {
		return err
	}
	return b.emitAll(path)
}

// emitAll emits the messages of the entries at path, once the state is known.
func (b *contextBuilder) emitAll(path []int) (err error) {
	switch {
	case b.doc.dialect == Pi:
		err = b.emitPi(path)
	case b.doc.dialect == Omp && b.send != nil:
		err = b.streamOmp(path)
	case b.doc.dialect == Omp:
		err = b.emitOmp(path)
	default:
		err = b.emitXcsh(path)
	}
	if err == nil {
		err = b.sendErr
	}
	return err
}

// scanState collects the state (model, thinking level, mode and so on) from the entries of
// the whole path, including those that a compaction hides.
func (b *contextBuilder) scanState(path []int) error {
	entries := b.stateEntries(path)
	if err := b.doc.src.failed(); err != nil {
		return err // the path may lack entries
	}
	r := lineReader{doc: b.doc, long: b.digestOfMessage}
	return r.each(entries, func(i int, raw []byte) error {
		b.applyState(b.entry(i, raw))
		return nil
	})
}

// entry returns the entry at index i, whose line is raw, without the parent and the
// timestamp. Where those are needed, see [Document.Entry].
func (b *contextBuilder) entry(i int, raw []byte) Entry {
	return Entry{ID: b.doc.tree.id(i), Type: b.doc.tree.typ(i), Raw: raw}
}

// stateEntries returns, in path order, the entries that can set state which no later entry
// overrides; in a long conversation these are few. It also finds the last compaction and
// the last reset boundary.
//
// An answer may name the model in use: the last one that does so counts. In omp an answer
// counts only while no model is chosen, so the last one before each choice is returned.
func (b *contextBuilder) stateEntries(path []int) []int {
	var entries []int
	found := map[Type]bool{}
	open := true // no later answer is known to name the model
	for pos, i := range slices.Backward(path) {
		switch typ := b.doc.tree.typ(i); typ {
		case TypeMessage:
			if !open || b.doc.tree.role(i) != "assistant" || !b.namesModel(i) {
				continue
			}
			open = false
		case TypeCompaction:
			b.compaction = max(b.compaction, pos)
			continue
		case typeResetBoundary:
			b.reset = max(b.reset, pos)
			continue
		case TypeModelChange: // each may set another role
			open = open || b.doc.dialect == Omp
		case typeTTSRInjection:
			if b.doc.genuinePi() {
				continue
			}
		case TypeThinkingLevel, typeServiceTier, typeContextChange, typeMCPToolSelection, TypeModeChange:
			if found[typ] || typ != TypeThinkingLevel && b.doc.genuinePi() {
				continue
			}
			found[typ] = true
		default:
			continue
		}
		entries = append(entries, i)
	}
	slices.Reverse(entries)
	return entries
}

// genuinePi reports whether the file was written by pi itself. Its only state is model and
// thinking level; any other that another program may have added is ignored.
func (d *Document) genuinePi() bool { return d.dialect == Pi && d.header.Dialect == "" }

func (b *contextBuilder) namesModel(i int) bool {
	if b.doc.long(i) {
		line, _, err := b.doc.digest(i)
		return err != nil || answerModel(b.entry(i, line).Message()) != ""
	}
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
	case typeServiceTier:
		if c.ServiceTier = rawjson.Get(e.Raw, "serviceTier"); rawjson.Kind(c.ServiceTier) == 'n' {
			c.ServiceTier = nil
		}
	case typeContextChange:
		c.ActiveContextName, _ = rawjson.GetString(e.Raw, "contextName")
		c.ActiveContextTenant, _ = rawjson.GetString(e.Raw, "tenant")
	case typeTTSRInjection:
		for _, rule := range e.asInjectedRules() {
			if !b.rules[rule] {
				b.rules[rule] = true
				c.InjectedTTSRRules = append(c.InjectedTTSRRules, rule)
			}
		}
	case typeMCPToolSelection:
		c.SelectedMCPToolNames = append([]string{}, e.asSelectedTools()...)
		c.HasPersistedMCPToolSelection = true
	case TypeModeChange:
		m := e.AsModeChange()
		c.Mode, c.ModeData = m.Mode, m.Data
	}
}

// applyAssistantModel takes the model from an answer. It overrides an earlier choice,
// except in omp, where it applies only if no model was chosen.
func (b *contextBuilder) applyAssistantModel(message []byte) {
	if b.doc.dialect == Omp && b.pinned {
		return
	}
	if model := answerModel(message); model != "" {
		b.ctx.Models["default"] = model
	}
}

// answerModel returns the model that gave an answer, as provider/id, or "".
func answerModel(message []byte) string {
	provider, _ := rawjson.GetString(message, "provider")
	model, _ := rawjson.GetString(message, "model")
	if provider == "" || model == "" {
		return ""
	}
	return provider + "/" + model
}

// emit adds the message of an entry, which is not modified. role is "" for a synthesised
// message.
func (b *contextBuilder) emit(entryID, role string, message []byte) {
	switch {
	case message == nil, b.sendErr != nil:
	case b.send != nil:
		b.sendErr = b.send(role, message)
	default:
		b.ctx.Messages = append(b.ctx.Messages, message)
		b.ctx.EntryIDs = append(b.ctx.EntryIDs, entryID)
		b.roles = append(b.roles, role)
	}
}

// kept returns the part of the path before the compaction that stays visible: the entries
// from firstKept on. It returns nothing if firstKept is not before the compaction.
func (b *contextBuilder) kept(path []int, firstKept string, compaction Entry) []int {
	if pos := b.beforeCompaction(path, firstKept); pos >= 0 {
		return path[pos:b.compaction]
	}
	if firstKept != compaction.ID && firstKept != "" {
		b.problems = append(b.problems, b.doc.pathProblem(missingKeptEntry, path[b.compaction],
			"Compaction %s keeps from an entry that is not before it; nothing before it is shown."))
	}
	return nil
}

// beforeCompaction returns the position, on the path before the compaction, of the entry
// called id, or -1. If several entries share an id, only the last one can be a parent.
func (b *contextBuilder) beforeCompaction(path []int, id string) int {
	t := &b.doc.tree
	if t.twice {
		i, ok := t.find(id)
		if !ok {
			return -1
		}
		return slices.Index(path[:b.compaction], i)
	}
	// Without the table of ids, which need not be in memory.
	key, ok := t.names.lookup(id)
	if !ok || key.kind == noID {
		return -1
	}
	for pos, i := range slices.Backward(path[:b.compaction]) {
		if t.slots.at(i).idKey() == key {
			return pos
		}
	}
	return -1
}

// emitEntries emits the messages that message returns for the entries at path.
func (b *contextBuilder) emitEntries(path []int, message func(Entry) []byte) error {
	shown := make([]int, 0, len(path))
	for _, i := range path {
		switch b.doc.tree.typ(i) {
		case TypeMessage, TypeCustomMessage, TypeBranchSummary:
			shown = append(shown, i)
		}
	}
	if b.send == nil {
		b.ctx.Messages = slices.Grow(b.ctx.Messages, len(shown))
		b.ctx.EntryIDs = slices.Grow(b.ctx.EntryIDs, len(shown))
		b.roles = slices.Grow(b.roles, len(shown))
	}
	r := lineReader{doc: b.doc, reuse: b.send != nil}
	if b.outlining {
		r.long = b.digestForOutline
	}
	return r.each(shown, func(i int, raw []byte) error {
		e := b.entry(i, raw)
		if e.Type != TypeMessage {
			e.Timestamp, _ = rawjson.GetString(raw, "timestamp")
		}
		b.emit(e.ID, b.doc.tree.role(i), message(e))
		return b.sendErr
	})
}

// branchSummaryMessage returns the message of a branch_summary, or nil if the summary is
// empty.
func branchSummaryMessage(e Entry) []byte {
	if e.AsBranchSummary().Summary == "" {
		return nil
	}
	return new(rawjson.Object).String("role", "branchSummary").
		Raw("summary", rawjson.Get(e.Raw, "summary")).Raw("fromId", rawjson.Get(e.Raw, "fromId")).
		Raw("timestamp", millis(e)).Bytes()
}
