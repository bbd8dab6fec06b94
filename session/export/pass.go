package export

import (
	"encoding/json"
	"fmt"
)

// passes reads the entries of a document several times, knowing which of them are on the active path.
type passes struct {
	doc   Doc
	owner map[string]int // id → ordinal of the entry that has it
	total totals
}

// entry is one entry during a pass.
type entry struct {
	object
	raw     json.RawMessage
	ordinal int // place in the file, from 0
	id, typ string
	onPath  bool
	label   string
}

// each calls f with every entry in file order. The entry is valid during the call.
func (p *passes) each(f func(*entry) error) error {
	n := 0
	for raw, err := range p.doc.entries() {
		if err != nil {
			return fmt.Errorf("export: read entry %d: %w", n, err)
		}
		if err := f(p.entry(raw, n)); err != nil {
			return err
		}
		n++
	}
	return nil
}

// eachOnPath is [passes.each] for the entries of the active path.
func (p *passes) eachOnPath(f func(*entry) error) error {
	return p.each(func(e *entry) error {
		if !e.onPath {
			return nil
		}
		return f(e)
	})
}

func (p *passes) entry(raw json.RawMessage, ordinal int) *entry {
	e := &entry{object: parseObject(raw), raw: raw, ordinal: ordinal}
	e.id, e.typ = e.str("id"), e.str("type")
	owner, known := p.owner[e.id]
	owns := known && owner == ordinal && e.id != ""
	e.onPath = p.doc.PathIDs == nil || owns && p.doc.PathIDs[e.id]
	if owns {
		e.label = p.doc.Labels[e.id]
	}
	return e
}
