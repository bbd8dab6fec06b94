package recorded

import (
	"sync"
	"weak"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Memory is the setup of the conversation that was asked about last, so that a step of a turn looks at its new
// entries only and not at the whole path, which has hundreds of thousands in a large session. The zero value is empty.
// It is safe for concurrent use.
type Memory struct {
	mu   sync.Mutex
	doc  weak.Pointer[session.Document] // guarded by mu, like all below
	leaf int
	own  Setup
}

// maxNew is how many new entries are looked at one by one. A setup is otherwise read like an unknown one.
const maxNew = 4096

// Of is the function [Of].
func (m *Memory) Of(d *session.Document, leaf session.Leaf) (Setup, error) {
	at := -1
	for i := range d.Recent(leaf) {
		at = i
		break
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if at >= 0 && m.doc == weak.Make(d) && m.sameSetup(d, at) {
		m.leaf = at
		return m.own, nil
	}
	path := d.PathTo(leaf)
	own, err := of(d, path)
	m.doc = weak.Pointer[session.Document]{}
	if err == nil && at >= 0 && rooted(d, path) {
		m.doc, m.leaf, m.own = weak.Make(d), at, own
	}
	return own, err
}

// rooted reports whether a path begins at a root. A parent that is missing may be found later.
func rooted(d *session.Document, path []int) bool {
	if len(path) == 0 {
		return false
	}
	e, err := d.Entry(path[0])
	return err == nil && e.ParentID == ""
}

// sameSetup reports whether the entry at is the known leaf or below it, without an entry between them that changes a setup.
func (m *Memory) sameSetup(d *session.Document, at int) bool {
	for range maxNew {
		switch {
		case at == m.leaf:
			return true
		case at < m.leaf, d.Type(at) == session.TypeSessionInit, d.Dialect() == session.Pi && d.Role(at) == "system":
			return false
		}
		at = d.Parent(at)
	}
	return false
}
