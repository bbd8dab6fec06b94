package session

import "iter"

// slot is the form in which the index keeps a record: 32 bytes without pointers, because a
// file has hundreds of thousands of entries and the garbage collector need not scan them.
// Texts are numbers (see idKey, typeCodes); rare fields are in separate maps.
type slot struct {
	off        int64
	n, ord     int32
	id, parent uint32
	idKind     idKind
	parentKind idKind
	typ, role  uint8
	has        slotFlags
}

type slotFlags uint8

const (
	slotMem    slotFlags = 1 << iota // index.lines has the line
	slotFresh                        // record.fresh
	slotHidden                       // record.hidden
)

func (s *slot) idKey() idKey     { return idKey{s.id, s.idKind} }
func (s *slot) parentKey() idKey { return idKey{s.parent, s.parentKind} }

// ownParent reports whether the entry names itself as its parent.
func (s *slot) ownParent() bool { return s.idKind != noID && s.idKey() == s.parentKey() }

func (s *slot) setIDs(id, parent idKey) {
	s.id, s.idKind, s.parent, s.parentKind = id.value, id.kind, parent.value, parent.kind
}

// pack makes the slot of a line in which everything is as the programs write it. ok is
// false for any other line; [index.record] and [index.add] accept all lines.
func pack(v Value) (s slot, ok bool) {
	s = slot{off: v.off, n: int32(v.length())}
	if s.typ = typeCodes.rawCode(v.Env.Type); s.typ == otherCode {
		return s, false
	}
	if s.typ == messageCode && v.Env.Role != nil {
		if s.role = roleCodes.rawCode(v.Env.Role); s.role == otherCode {
			return s, false
		}
	}
	id, parent := idKey{kind: hexID}, idKey{kind: hexID}
	if id.value, ok = hexValue(unquoted(v.Env.ID)); !ok {
		return s, false
	}
	if string(v.Env.ParentID) == "null" {
		parent = idKey{}
	} else if parent.value, ok = hexValue(unquoted(v.Env.ParentID)); !ok {
		return s, false
	}
	s.setIDs(id, parent)
	return s, true
}

// unquoted returns the raw text of a string, and nil for any other value.
func unquoted(raw []byte) []byte {
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// slots is a list of slots in pages, so that a long one grows without being copied.
type slots struct {
	pages [][]slot // nil for a page that lazy has
	n     int
	lazy  *lazyPages // has the first pages; nil if all are in pages
}

// pageBits is the logarithm of the number of slots of a page. Only tests change it.
var pageBits = uint(12)

func pageLen() int { return 1 << (pageBits & 31) }

// pageSize is the size of a page in bytes.
func pageSize() int64 { return int64(pageLen()) * slotSize }

func (l *slots) at(i int) *slot { return &l.page(i >> (pageBits & 31))[i&(pageLen()-1)] }

func (l *slots) page(n int) []slot {
	if p := l.pages[n]; p != nil {
		return p
	}
	return l.lazy.page(n)
}

// append appends a slot and returns its index.
func (l *slots) append(s slot) (place int32) {
	if l.n&(pageLen()-1) == 0 {
		l.pages = append(l.pages, make([]slot, 0, min(l.n, pageLen()))) // the first one grows from nothing
	}
	page := &l.pages[l.n>>(pageBits&31)]
	*page = append(*page, s)
	l.n++
	return int32(l.n - 1)
}

// upTo returns a copy of the first n slots.
func (l *slots) upTo(n int) slots {
	c := slots{n: n}
	for i := 0; i < n; i += pageLen() {
		page := make([]slot, min(n-i, pageLen()), pageLen())
		copy(page, l.page(i>>(pageBits&31)))
		c.pages = append(c.pages, page)
	}
	return c
}

func (l *slots) any(is func(*slot) bool) bool {
	for _, s := range l.each(l.n) {
		if is(s) {
			return true
		}
	}
	return false
}

// each yields the first n slots. Pages that are not in memory are not kept there, so that a walk over all entries needs
// the memory of one page. A slot must not be changed, and is valid until the next one is requested.
func (l *slots) each(n int) iter.Seq2[int, *slot] {
	return func(yield func(int, *slot) bool) {
		var buf []slot
		for from := 0; from < n; from += pageLen() {
			var page []slot
			page, buf = l.borrow(from>>(pageBits&31), buf)
			for i := range page[:min(len(page), n-from)] {
				if !yield(from+i, &page[i]) {
					return
				}
			}
		}
	}
}

// peek returns a slot. Its page is not kept in memory.
func (l *slots) peek(i int) (s slot) {
	n := i >> (pageBits & 31)
	if l.held(n) != nil {
		return *l.at(i)
	}
	at := (i & (pageLen() - 1)) * slotSize
	if l.lazy.block(n, func(b []byte) bool { s = getSlot(b[at:]); return l.lazy.plausible(&s) }) != nil {
		return *l.at(i) // which makes a damaged page again
	}
	return s
}

// held returns a page that is in memory, else nil.
func (l *slots) held(n int) []slot {
	if p := l.pages[n]; p != nil {
		return p
	}
	return l.lazy.seen(n)
}

// borrow returns a page: the one in memory, or else one that is read into buf. The memory for the next call is buf again.
func (l *slots) borrow(n int, buf []slot) (page, next []slot) {
	if p := l.held(n); p != nil {
		return p, buf
	}
	if buf == nil {
		buf = make([]slot, 0, pageLen())
	}
	if l.lazy.block(n, func(b []byte) (ok bool) { buf, ok = l.lazy.decode(b, buf[:0]); return ok }) != nil {
		return l.page(n), buf // which makes a damaged page again
	}
	return buf, buf
}
