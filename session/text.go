package session

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"
	"unsafe"
)

// ParseText reads a session from a text that an editor holds. It fails like [Store.Load]. The text is not copied: it may be a
// hundred megabytes, and changes with every keystroke. For the same reason reading stops
// when ctx ends, and then only the error of ctx is returned.
func ParseText(ctx context.Context, text string) (*Document, error) {
	// Nothing writes into a document's source, so it may share a string's memory.
	content := unsafe.Slice(unsafe.StringData(text), len(text))
	d := &Document{src: source{mem: content}}
	lines := 0
	s := lineScanner{buf: content, eof: true, emit: d.add, report: d.report, budget: spanBudget, limits: heldLimits}
	s.halt = func() bool {
		lines++
		return lines%64 == 0 && ctx.Err() != nil
	}
	d.tail, _ = s.run() // nothing is read, so nothing can fail
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	d.settle(nil)
	return d, d.headerFault()
}

// Type returns the type of entry i. It does not access the file.
func (d *Document) Type(i int) Type { return d.tree.typ(i) }

// Span returns the position of entry i in the source, in bytes. An entry that is newer than
// the source has no position in it, and neither has any other after [Log] changed the file.
func (d *Document) Span(i int) (from, to int64) {
	at := d.tree.span(i)
	return at.off, at.end
}

// HeaderSpan returns the position of the header in the source, in bytes. It is empty if
// there is no header.
func (d *Document) HeaderSpan() (from, to int64) { return d.headerAt.off, d.headerAt.end }

// EntryAt returns the entry that contains the byte at offset of the source. ok is false for
// a byte outside every entry.
func (d *Document) EntryAt(offset int64) (i int, ok bool) {
	i = sort.Search(d.Len(), func(i int) bool {
		_, to := d.Span(i)
		return to > offset
	})
	if i == d.Len() {
		return 0, false
	}
	from, _ := d.Span(i)
	return i, from <= offset
}

// Finding is a problem and its position in the source, in bytes.
type Finding struct {
	Problem
	From, To int64
}

// Findings returns at most limit problems of the bytes and the tree of a document that was
// parsed from memory, in the order of the text. Unlike [Document.Check] it decodes nothing.
// A document without a header has findings too.
func (d *Document) Findings(limit int) []Finding {
	var found []Finding
	for _, p := range d.problems {
		found = append(found, Finding{Problem: p})
	}
	d.placeLines(found)
	cycles := d.cycles()
	for i, more := 0, limit; i < d.Len() && more > 0; i++ {
		kind, format := ProblemKind(""), ""
		switch {
		case d.tree.orphan(i):
			kind, format = OrphanEntry, "The parent of entry %s is not in the file; it stands as another beginning."
		case cycles[i]:
			kind, format = ParentCycle, "The parents of entry %s lead back to it."
		default:
			continue
		}
		f := Finding{Problem: d.pathProblem(kind, i, format)}
		f.Lost = false // the entries above it cannot be shown, but none is lost
		f.From, f.To = d.Span(i)
		found = append(found, f)
		more--
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.From, b.From) })
	return found[:min(len(found), limit)]
}

// placeLines gives findings that name a line the position of that line, all others the
// position of the first line.
func (d *Document) placeLines(found []Finding) {
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	line, from, to := 1, 0, lineLength(d.src.mem)
	for i := range found {
		for ; line < found[i].Line && from+to < len(d.src.mem); line++ {
			from += to + 1
			to = lineLength(d.src.mem[from:])
		}
		found[i].From, found[i].To = int64(from), int64(from+to)
	}
}

// lineLength returns the length of the first line of b, without its newline.
func lineLength(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		return i
	}
	return len(b)
}
