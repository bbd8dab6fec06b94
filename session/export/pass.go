package export

import (
	"fmt"
)

// passes reads the entries of a document several times, knowing which of them are on the active path.
type passes struct {
	doc   Doc
	owner map[string]int // id → ordinal of the entry that has it; nil if no id is used twice
	total totals
}

// entry is one entry during a pass.
type entry struct {
	object
	raw     []byte
	ordinal int // place in the file, from 0
	id, typ string
	onPath  bool
	label   string
}

// readFault is the error for an entry that cannot be read.
func readFault(n int, err error) error { return fmt.Errorf("export: read entry %d: %w", n, err) }

// entry reads the entry in raw into e, whose memory it uses again.
func (p *passes) entry(e *entry, raw []byte, ordinal int) {
	*e = entry{object: appendObject(e.object[:0], raw), raw: raw, ordinal: ordinal}
	e.id, e.typ = e.str("id"), e.str("type")
	owns := p.owns(e.id, ordinal)
	e.onPath = p.isOnPath(e.id, ordinal, owns)
	if owns {
		e.label = p.doc.Labels[e.id]
	}
}

// owns reports whether id is that of the entry with the ordinal, rather than of a later one.
func (p *passes) owns(id string, ordinal int) bool {
	if p.owner == nil {
		return id != ""
	}
	owner, known := p.owner[id]
	return known && owner == ordinal && id != ""
}

func (p *passes) isOnPath(id string, ordinal int, owns bool) bool {
	switch {
	case p.doc.PathIDs != nil:
		return owns && p.doc.PathIDs[id]
	case p.doc.OnPath != nil:
		return p.doc.OnPath(ordinal)
	}
	return true
}
