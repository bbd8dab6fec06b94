package session

import (
	"maps"
	"slices"
	"sort"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// record is one entry of the index in full: its envelope, and the position of its bytes.
type record struct {
	off    int64 // in the file
	n      int32 // bytes; maxValue fits
	ord    int32 // how many JSON values came before it in the file, the header being 0
	id     string
	parent string
	typ    Type
	role   string // of a message
	mem    []byte // the line, if the source does not have it in full
	fresh  bool   // the entry is newer than the source
	hidden bool   // see Document.Hidden
}

// index holds every entry of a session in file order, and by id. It does not hold payloads.
type index struct {
	slots    slots
	ids      idTable
	names    idNames
	lines    map[int32][]byte // record.mem, by place
	oddTypes map[int32]Type   // types that have no code, by place
	oddRoles map[int32]string
	twice    bool    // an id is that of several entries
	base     *idBase // finds the ids of the entries that an index file has; nil: all are in ids
}

// nearby is how far back a parent is searched before the table of ids is, if that is not in memory.
const nearby = 256

func (x *index) len() int { return x.slots.n }

// add appends an entry. If several entries share an id, a lookup finds the last one; again
// reports that there is an earlier one.
func (x *index) add(r record) (again bool) {
	place := int32(x.len())
	s := slot{off: r.off, n: r.n, ord: r.ord}
	s.setIDs(x.names.key(r.id), x.names.key(r.parent))
	if s.typ = typeCodes.code(r.typ); s.typ == otherCode {
		put(&x.oddTypes, place, r.typ)
	}
	if s.role = roleCodes.code(r.role); s.role == otherCode {
		put(&x.oddRoles, place, r.role)
	}
	if r.mem != nil {
		s.has |= slotMem
		put(&x.lines, place, r.mem)
	}
	if r.fresh {
		s.has |= slotFresh
	}
	if r.hidden {
		s.has |= slotHidden
	}
	return x.append(s)
}

// append is [index.add] for the result of [pack].
func (x *index) append(s slot) (again bool) {
	place := x.slots.append(s)
	if s.idKind == noID {
		return false
	}
	again = x.ids.put(s.idKey(), place, &x.slots)
	if !again && x.base != nil {
		_, again = x.base.find(s.idKey())
	}
	x.twice = x.twice || again
	return again
}

// record extracts the envelope of v. ok is false if it has no type.
func (x *index) record(v Value) (r record, ok bool) {
	r = record{off: v.off, n: int32(v.length())}
	typ, _ := rawjson.String(v.Env.Type)
	r.typ = Type(typ)
	r.id, _ = rawjson.String(v.Env.ID)
	r.parent, _ = rawjson.String(v.Env.ParentID)
	if r.typ == TypeMessage {
		r.role, _ = rawjson.String(v.Env.Role)
	}
	r.hidden = own.Hidden(typ, v.Raw)
	return r, typ != ""
}

// at returns the record of entry i. For a single field the methods below are cheaper.
func (x *index) at(i int) record {
	s := x.slots.at(i)
	return record{
		off: s.off, n: s.n, ord: s.ord, id: x.id(i), parent: x.parentID(i),
		typ: x.typ(i), role: x.role(i), mem: x.mem(i), fresh: x.fresh(i), hidden: x.hidden(i),
	}
}

// id returns the id of entry i, "" when it has none.
func (x *index) id(i int) string { return x.names.text(x.slots.at(i).idKey()) }

// parentID returns the parent id that entry i names, or "".
func (x *index) parentID(i int) string { return x.names.text(x.slots.at(i).parentKey()) }

// typ returns the type of entry i.
func (x *index) typ(i int) Type { return x.typOf(i, x.slots.at(i)) }

// typOf returns the type of entry i, whose slot is s.
func (x *index) typOf(i int, s *slot) Type {
	if s.typ != otherCode {
		return typeCodes[s.typ]
	}
	return x.oddTypes[int32(i)]
}

// role returns the role of entry i, "" for an entry that is not a message.
func (x *index) role(i int) string {
	if c := x.slots.at(i).role; c != otherCode {
		return roleCodes[c]
	}
	return x.oddRoles[int32(i)]
}

// mem returns the line of entry i if the source does not have it in full, else nil.
func (x *index) mem(i int) []byte {
	if x.slots.at(i).has&slotMem == 0 {
		return nil
	}
	return x.lines[int32(i)]
}

// setMem keeps the line of entry i in memory.
func (x *index) setMem(i int, line []byte) {
	x.slots.at(i).has |= slotMem
	put(&x.lines, int32(i), line)
}

// fresh reports whether entry i is newer than the source.
func (x *index) fresh(i int) bool { return x.slots.at(i).has&slotFresh != 0 }

// hidden reports whether entry i is not shown.
func (x *index) hidden(i int) bool { return x.slots.at(i).has&slotHidden != 0 }

// span returns the position of entry i's bytes in the source.
func (x *index) span(i int) span {
	s := x.slots.at(i)
	return span{s.off, s.off + int64(s.n)}
}

// find returns the index of the last entry called id.
func (x *index) find(id string) (place int, ok bool) {
	k, ok := x.names.lookup(id)
	if !ok {
		return 0, false
	}
	return x.findKey(k)
}

// findKey returns the index of the last entry with the key.
func (x *index) findKey(k idKey) (place int, ok bool) {
	if place, ok = x.ids.find(k, &x.slots); !ok && x.base != nil {
		return x.base.find(k)
	}
	return place, ok
}

// parentOf returns the index of i's parent, or -1 when i is a root: its parent is
// null, itself or not in the file.
func (x *index) parentOf(i int) int {
	s := x.slots.at(i)
	if s.parentKind == noID || s.ownParent() {
		return -1
	}
	if !x.twice {
		near := 1
		if x.base != nil {
			near = nearby
		}
		for j := i - 1; j >= max(0, i-near); j-- {
			if x.slots.at(j).idKey() == s.parentKey() {
				return j
			}
		}
	}
	if p, ok := x.findKey(s.parentKey()); ok {
		return p
	}
	return -1
}

// orphan reports whether entry i names a parent that is not in the file.
func (x *index) orphan(i int) bool {
	s := x.slots.at(i)
	return s.parentKind != noID && !s.ownParent() && x.parentOf(i) < 0
}

// shadowed reports whether a later entry has the id of entry i.
func (x *index) shadowed(i int) bool {
	s := x.slots.at(i)
	if s.idKind == noID || !x.twice {
		return false
	}
	last, _ := x.findKey(s.idKey())
	return last != i
}

// anyRole reports whether there is a message with the role, which must be a common one.
func (x *index) anyRole(role string) bool {
	c := roleCodes.code(role)
	return x.slots.any(func(s *slot) bool { return s.role == c })
}

// anyType reports whether there is an entry of the type, which must be a common one.
func (x *index) anyType(t Type) bool {
	c := typeCodes.code(t)
	return x.slots.any(func(s *slot) bool { return s.typ == c })
}

// anyID reports whether any entry has an id.
func (x *index) anyID() bool {
	return x.slots.any(func(s *slot) bool { return s.idKind != noID })
}

// byOrd returns the index of the entry that ord JSON values precede, searching the entries
// before end.
func (x *index) byOrd(ord float64, end int) (place int, ok bool) {
	place = sort.Search(end, func(i int) bool { return float64(x.slots.at(i).ord) >= ord })
	return place, place < end && float64(x.slots.at(place).ord) == ord
}

// chain gives every entry the id that newID returns for its index, and the entry before it
// as parent. newID is called in order and may check which ids are already assigned.
func (x *index) chain(newID func(i int) string) {
	x.ids, x.twice = idTable{}, false
	var parent idKey
	for i := range x.len() {
		id := x.names.key(newID(i))
		x.slots.at(i).setIDs(id, parent)
		x.twice = x.ids.put(id, int32(i), &x.slots) || x.twice
		parent = id
	}
}

// upTo returns a copy of the index of the first n entries, none of them in memory, for a
// file in which their offsets are larger by further.
func (x *index) upTo(n int, further int64) index {
	y := index{
		slots:    x.slots.upTo(n),
		names:    idNames{texts: slices.Clip(x.names.texts), byID: maps.Clone(x.names.byID)},
		oddTypes: maps.Clone(x.oddTypes),
		oddRoles: maps.Clone(x.oddRoles),
	}
	for i := range n {
		s := y.slots.at(i)
		s.off += further
		s.has &= slotHidden
	}
	if n == x.len() {
		y.ids, y.twice = x.allIDs(), x.twice
	} else {
		y.twice = y.ids.putAll(&y.slots, 0, n)
	}
	return y
}

func put[V any](m *map[int32]V, place int32, v V) {
	if *m == nil {
		*m = map[int32]V{}
	}
	(*m)[place] = v
}
