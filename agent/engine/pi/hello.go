package pi

import (
	"encoding/json"
	"slices"
	"strings"
)

// bridgeVersion is the version of the bridge's messages.
const bridgeVersion = 1

// hello is the report of the bridge at the start of a session.
type hello struct {
	Version int             `json:"version"`
	Pi      string          `json:"pi"` // its version
	Reason  string          `json:"reason"`
	Permit  bool            `json:"permit"`
	File    string          `json:"file"`
	LeafID  string          `json:"leafId"`
	Files   map[string]bool `json:"files"` // the tools that go through the host
	Tools   []struct {
		Name string `json:"name"`
		Own  bool   `json:"own"` // it is pi's, not that of another extension
	} `json:"tools"`
}

// decodeHello reads a report. A part that cannot be read makes the whole unusable, because permission depends on it.
func decodeHello(raw json.RawMessage) *hello {
	h := new(hello)
	if json.Unmarshal(raw, h) != nil || h.Version != bridgeVersion {
		return nil
	}
	h.Pi = brief(h.Pi, maxTitle)
	return h
}

// gated reports whether tools ask for permission.
func (h *hello) gated() bool { return h != nil && h.Permit }

// own reports whether a tool is the program's.
func (h *hello) own(tool string) bool {
	for _, t := range h.Tools {
		if t.Name == tool {
			return t.Own
		}
	}
	return false
}

// foreignTools returns a notice about tools that another extension has replaced.
func (h *hello) foreignTools(name string, files bool) []string {
	if !files {
		return nil
	}
	var foreign []string
	for _, t := range h.Tools {
		if _, ours := h.Files[t.Name]; ours && !h.Files[t.Name] && !slices.Contains(foreign, t.Name) {
			foreign = append(foreign, t.Name)
		}
	}
	if len(foreign) == 0 {
		return nil
	}
	slices.Sort(foreign)
	return []string{"An extension of " + name + " replaces the tools " + strings.Join(foreign, ", ") + ": they do not see unsaved changes."}
}

// nextHello returns a channel that is closed with the next report.
func (e *Engine) nextHello() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.greeted
}

// greetedBy takes a report of the bridge. It is called by the reader.
func (e *Engine) greetedBy(h *hello) {
	if h == nil {
		e.log.Warn("the report of the bridge cannot be read")
		return
	}
	e.mu.Lock()
	first := e.hello == nil
	file := e.file
	e.hello = h
	e.watch.hello = h
	close(e.greeted)
	e.greeted = make(chan struct{})
	e.mu.Unlock()
	if e.at.Permit && !h.gated() {
		e.failRun(e.fault("%s cannot ask for permission any more.", e.program.Name).With("reason", "bridge"))
		return
	}
	switch {
	case first:
		e.setLeaf(h.LeafID)
	case h.File != "" && !samePath(h.File, file):
		e.backlog.add(0, func() { e.leave(h.File) })
	default:
		e.backlog.add(0, func() { e.moved(h.LeafID) })
	}
}
