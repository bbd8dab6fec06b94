package merge

import (
	"bytes"
	"slices"
)

// Range is a range of lines of a text. Start counts from 1; a range without lines lies before Start.
type Range struct{ Start, Lines int }

// Overlap is a place where both sides changed the same or adjacent lines in different ways.
type Overlap struct{ Base, Ours, Theirs Range }

// Result is the result of a merge.
type Result struct {
	Text     []byte
	Overlaps []Overlap // the conflicts; not empty if not OK
	OK       bool
	Agreed   bool // ours already had a part of the changes of theirs
}

// Three applies the changes from base to theirs to ours. Line ends are content, but if one side changed the line ends of the whole text,
// the others are converted first. Changes of the two sides must be the same, or separated by at least one line that neither changed.
// The result is OK only if the reverse merge, which applies the changes from theirs to base, gives ours again. Otherwise the overlaps
// are the ambiguous places in ours.
//
// Where ours already has a change of theirs, the reverse merge makes it like base.
func Three(base, ours, theirs []byte) Result {
	mine := Lines(ours)
	r := combine(alignEnds(Lines(base), mine, Lines(theirs)))
	if len(r.overlaps) > 0 {
		return Result{Overlaps: r.overlaps}
	}
	merged := join(r.merged)
	if e := endsOf(mine); e == lf || e == crlf {
		r.back = withEnds(r.back, e)
	}
	if back, ok := again(theirs, merged, base); !ok || !bytes.Equal(back, join(r.back)) {
		if len(r.touched) == 0 { // all line ends were changed
			r.touched = []Overlap{{Base: Range{1, len(Lines(base))}, Ours: Range{1, len(mine)}, Theirs: Range{1, len(Lines(theirs))}}}
		}
		return Result{Overlaps: r.touched}
	}
	return Result{Text: merged, OK: true, Agreed: r.agreed}
}

// Merge is [Three] with fewer results.
func Merge(base, ours, theirs []byte) (merged []byte, overlaps []Overlap, ok bool) {
	r := Three(base, ours, theirs)
	return r.Text, r.Overlaps, r.OK
}

func again(base, ours, theirs []byte) ([]byte, bool) {
	r := combine(alignEnds(Lines(base), Lines(ours), Lines(theirs)))
	return join(r.merged), len(r.overlaps) == 0
}

// Favor is Merge with each overlap resolved in favor of theirs. It never fails.
func Favor(base, ours, theirs []byte) (merged []byte, overlaps []Overlap) {
	r := combine(alignEnds(Lines(base), Lines(ours), Lines(theirs)))
	return join(r.merged), r.overlaps
}

// combined is the result of a three-way merge.
type combined struct {
	merged   [][]byte  // with theirs where they overlap
	back     [][]byte  // the result of the reverse merge
	overlaps []Overlap // conflicts
	touched  []Overlap // every change of ours
	agreed   bool
}

// cursor walks through the hunks of one side.
type cursor struct {
	hunks []Hunk
	next  int
	shift int // from a line of base to one of the side, after the hunks that were passed
}

// combine merges line by line, in runs of adjacent changes.
func combine(base, ours, theirs [][]byte) combined {
	r := combined{}
	o, t := cursor{hunks: diffLines(base, ours)}, cursor{hunks: diffLines(base, theirs)}
	at := 0 // the first line of base that is not in the result
	for o.more() || t.more() {
		start := min(o.start(), t.start())
		r.keep(base[at:start])
		end := start
		bo, bt := o, t
		for grew := true; grew; {
			grew = o.take(&end)
			grew = t.take(&end) || grew
		}
		g := group{
			base: base[start:end], ours: ours[start+bo.shift : end+o.shift], theirs: theirs[start+bt.shift : end+t.shift],
			at: Overlap{
				Base: Range{start + 1, end - start}, Ours: Range{start + bo.shift + 1, end + o.shift - start - bo.shift},
				Theirs: Range{start + bt.shift + 1, end + t.shift - start - bt.shift},
			},
			mine: o.next > bo.next, yours: t.next > bt.next,
		}
		r.add(g)
		at = end
	}
	r.keep(base[at:])
	return r
}

func (c *cursor) more() bool { return c.next < len(c.hunks) }

// start returns where in base the next hunk begins, counted from 0.
func (c *cursor) start() int {
	if !c.more() {
		return 1 << 62
	}
	return c.hunks[c.next].OldStart - 1
}

// take passes the hunks that begin at or before end, and moves end after them. A hunk of the other side that begins directly after one
// touches it.
func (c *cursor) take(end *int) (took bool) {
	for c.more() && c.start() <= *end {
		h := c.hunks[c.next]
		*end = max(*end, h.OldStart-1+h.OldLines)
		c.shift += h.NewLines - h.OldLines
		c.next++
		took = true
	}
	return took
}

// group is a run of changes that touch each other.
type group struct {
	base, ours, theirs [][]byte
	at                 Overlap
	mine, yours        bool // who changed something
}

func (r *combined) keep(lines [][]byte) {
	r.merged = append(r.merged, lines...)
	r.back = append(r.back, lines...)
}

func (r *combined) add(g group) {
	if g.mine {
		r.touched = append(r.touched, g.at)
	}
	switch {
	case !g.yours:
		r.keep(g.ours)
	case !g.mine:
		r.merged = append(r.merged, g.theirs...)
		r.back = append(r.back, g.base...)
	case slices.EqualFunc(g.ours, g.theirs, bytes.Equal):
		r.agreed = true
		r.merged = append(r.merged, g.theirs...)
		r.back = append(r.back, g.base...)
	default:
		r.overlaps = append(r.overlaps, g.at)
		r.merged = append(r.merged, g.theirs...)
	}
}
