package agent

import (
	"slices"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/patched"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// sourcePatch is the source of changes that come from the results of edits.
const sourcePatch = change.LimitPatch

// patchReader reads the edits and writes of a session incrementally. It is not safe for concurrent use.
type patchReader struct {
	read  int    // entries
	last  string // the id of the last one that was read
	at    int    // its index
	args  map[string][]patched.Call
	calls []patched.Call // of turns without records, and of those whose records came later
}

// update returns the calls of turns without records, in the order of the file. absolute makes a path of the arguments absolute.
func (r *patchReader) update(d *session.Document, book *change.Book, absolute func(string) string) ([]patched.Call, error) {
	n := d.Len()
	if n < r.read || r.read > 0 && d.ID(r.at) != r.last {
		*r = patchReader{}
	}
	if r.args == nil {
		r.args = map[string][]patched.Call{}
	}
	known := coverageOf(d, book)
	for i := r.read; i < n; i++ {
		role := d.Role(i)
		if role != "assistant" && role != "toolResult" {
			continue
		}
		e, err := d.Entry(i)
		if err != nil {
			return nil, err
		}
		if role == "assistant" {
			patched.Collect(e.Message(), r.args)
			continue
		}
		calls, err := r.result(d, i, e, absolute)
		if err != nil {
			return nil, err
		}
		r.calls = append(r.calls, known.without(calls)...)
	}
	if r.read = n; n > 0 {
		r.at, r.last = n-1, d.ID(n-1)
	}
	return known.without(r.calls), nil
}

// result returns what the call of a result changed: nothing if it failed, or if it is none of an edit or a write.
func (r *patchReader) result(d *session.Document, i int, e session.Entry, absolute func(string) string) (calls []patched.Call, err error) {
	message := e.Message()
	id, _ := rawjson.GetString(message, "toolCallId")
	parts, ok := r.args[id]
	if !ok {
		return nil, nil
	}
	delete(r.args, id)
	if rawjson.Truthy(rawjson.Get(message, "isError")) {
		return nil, nil
	}
	prompt, err := promptOf(d, i)
	if err != nil {
		return nil, err
	}
	patch, _ := rawjson.GetString(message, "details", "patch")
	at, _ := time.Parse(time.RFC3339, e.Timestamp)
	for _, c := range parts {
		c.ID, c.Entry, c.Seq, c.Time, c.Prompt = id, e.ID, i, at, prompt
		if len(parts) == 1 && c.Wrote == nil { // the patch of a call for several files does not say which
			c.Patch = patch
			c.Opaque = c.Opaque || patch == "" && len(c.Edits) == 0
		}
		if c.Path = absolute(c.Path); c.Path != "" {
			calls = append(calls, c)
		}
	}
	return calls, nil
}

// promptOf returns the prompt of the turn of an entry, "" if there is none.
func promptOf(d *session.Document, i int) (string, error) {
	for i >= 0 {
		prompt, err := isPrompt(d, i)
		if err != nil {
			return "", err
		}
		if prompt {
			return d.ID(i), nil
		}
		parent := d.Parent(i)
		if parent >= i {
			return "", nil // a damaged tree
		}
		i = parent
	}
	return "", nil
}

// coverage is which calls have records.
type coverage struct {
	prompts map[string]bool // the turns that were recorded
	ids     map[string]bool // the calls with records
	loose   map[string]bool // those whose records name no prompt
	hosted  []hostedSpan
}

// hostedSpan is a turn of another program whose changes were recorded by a look.
type hostedSpan struct {
	from, to int      // places in the file
	only     []string // the paths that are known, if not all are; nil: all
}

func coverageOf(d *session.Document, book *change.Book) (c coverage) {
	c = coverage{map[string]bool{}, map[string]bool{}, map[string]bool{}, nil}
	for _, r := range book.Records {
		if r.ToolCallID != "" {
			c.ids[r.ToolCallID] = true
			c.loose[r.ToolCallID] = c.loose[r.ToolCallID] || r.PromptID == ""
		}
		if r.PromptID == "" {
			continue
		}
		if r.Tool != hostedTool {
			c.prompts[r.PromptID] = true
			continue
		}
		if from, err := d.Index(r.PromptID); err == nil {
			span := hostedSpan{from: from, to: r.Seq}
			if slices.ContainsFunc(r.Limits, func(l string) bool {
				return l == change.LimitNoGit || l == change.LimitBudget || l == change.LimitLarge
			}) {
				span.only = append([]string{}, r.Paths()...)
			}
			c.hosted = append(c.hosted, span)
		}
	}
	return c
}

// without returns the calls that have no records.
func (c coverage) without(calls []patched.Call) (rest []patched.Call) {
	for _, call := range calls {
		if !c.covers(call) {
			rest = append(rest, call)
		}
	}
	return rest
}

func (c coverage) covers(call patched.Call) bool {
	return c.prompts[call.Prompt] || c.loose[call.ID] || call.Prompt == "" && c.ids[call.ID] ||
		slices.ContainsFunc(c.hosted, func(h hostedSpan) bool {
			return h.from < call.Seq && call.Seq < h.to && (h.only == nil || slices.Contains(h.only, call.Path))
		})
}

// takeCalls adds the calls of turns without records to what is known about a session.
func (r *reviewing) takeCalls(m *Manager, d *session.Document, reader *patchReader) (err error) {
	r.calls, err = reader.update(d, r.book, func(path string) string { return tool.AbsolutePath(m.disk(), m.cfg.Finder.Home, r.folder, path) })
	if len(r.calls) > 0 {
		r.all = r.book.With(patched.Records(r.calls, r.folder))
	}
	return err
}

// withCalls is [Session.reviewing] with the calls of turns without records.
func (s *Session) withCalls(log *session.Log) (r reviewing, err error) {
	if r, err = s.reviewing(log); err != nil {
		return r, err
	}
	l := s.ledgerOf(log)
	l.mu.Lock()
	defer l.mu.Unlock()
	err = log.View(func(d *session.Document, _ session.Leaf) error { return r.takeCalls(s.m, d, &l.patches) })
	return r, err
}
