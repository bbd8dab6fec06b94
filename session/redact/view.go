package redact

import (
	"slices"
	"unsafe"
)

// view is a text in another form, with a mapping back: the position of each part in the text
// it was made from.
type view struct {
	text   string
	parts  []part // by at; nil: the text itself
	seams  []int  // where something was left out between two bytes
	soft   []int  // those of them that may be only the end of a line
	parent *view  // that it was made of; nil: the text that is scanned
}

// part is a piece of a view. It is either the same bytes as in the origin, or represents a
// sequence there.
type part struct {
	at, origin int // where it begins
	size       int // in the origin, of a part that represents a sequence; 0: the same bytes
}

// span returns the range of v.text[from:to], which is not empty, in the text that is scanned.
func (v *view) span(from, to int) (int, int) {
	from, to = v.inOrigin(from, to)
	if v.parent == nil {
		return from, to
	}
	return v.parent.span(from, to)
}

func (v *view) inOrigin(from, to int) (int, int) {
	if v.parts == nil {
		return from, to
	}
	first, last := v.parts[v.partAt(from)], v.parts[v.partAt(to-1)]
	start, end := first.origin, last.origin+last.size
	if first.size == 0 {
		start += from - first.at
	}
	if last.size == 0 {
		end += to - last.at
	}
	return start, end
}

func (v *view) partAt(i int) int {
	at, found := slices.BinarySearchFunc(v.parts, i, func(p part, i int) int { return p.at - i })
	if !found {
		at--
	}
	return at
}

// crosses reports whether something was left out inside of v.text[from:to].
func (v *view) crosses(from, to int) bool { return v.firstSeam(from) < to }

// firstSeam is the first position after v.text[from] at which text was left out.
func (v *view) firstSeam(from int) int {
	if at, _ := slices.BinarySearch(v.seams, from+1); at < len(v.seams) {
		return v.seams[at]
	}
	return len(v.text)
}

// isSoft reports whether the seam at i may be only the end of a line.
func (v *view) isSoft(i int) bool {
	_, found := slices.BinarySearch(v.soft, i)
	return found
}

// viewer builds a view. It is used again for later views, whose memory is that of the earlier ones.
type viewer struct {
	text  []byte
	parts []part
	seams []int
	soft  []int
	done  int // of the origin
	made  view
}

// mostViewed is the size of a text whose memory is used again, in bytes.
const mostViewed = 64 << 10

// reset forgets the view that was built.
func (w *viewer) reset() {
	if cap(w.text) > mostViewed {
		w.text, w.parts = nil, nil
	}
	w.text, w.parts, w.seams, w.soft, w.done = w.text[:0], w.parts[:0], w.seams[:0], w.soft[:0], 0
}

// same copies the origin up to end.
func (w *viewer) same(origin string, end int) {
	if w.done < end {
		w.parts = append(w.parts, part{at: len(w.text), origin: w.done})
		w.text = append(w.text, origin[w.done:end]...)
		w.done = end
	}
}

// put writes c for the next size bytes of the origin.
func (w *viewer) put(c byte, size int) {
	w.parts = append(w.parts, part{at: len(w.text), origin: w.done, size: size})
	w.text = append(w.text, c)
	w.done += size
}

// drop leaves out the origin up to end.
func (w *viewer) drop(end int) {
	w.seams = append(w.seams, len(w.text))
	w.done = end
}

func (w *viewer) view(of *view) *view {
	w.same(of.text, len(of.text))
	text := unsafe.String(unsafe.SliceData(w.text), len(w.text)) // it changes only when the view is not used any more
	w.made = view{text: text, parts: w.parts, seams: w.seams, soft: w.soft, parent: of}
	return &w.made
}
