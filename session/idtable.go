package session

import (
	"encoding/hex"
	"math/bits"
	"math/rand/v2"
)

// idKey stands for an id: two ids are equal exactly when their keys are. The programs
// draw ids of eight hex digits, which are their own keys; others are numbered.
type idKey struct {
	value uint32
	kind  idKind
}

type idKind uint8

const (
	noID    idKind = iota
	hexID          // value is the number that eight lower-case hex digits stand for
	namedID        // value is a place in idNames.texts
)

// idNames gives keys to ids.
type idNames struct {
	texts []string
	byID  map[string]uint32
}

// key returns the key of id, and makes one if need be.
func (n *idNames) key(id string) idKey {
	if k, ok := n.lookup(id); ok {
		return k
	}
	if n.byID == nil {
		n.byID = map[string]uint32{}
	}
	place := uint32(len(n.texts))
	n.texts = append(n.texts, id)
	n.byID[id] = place
	return idKey{place, namedID}
}

// lookup returns the key of id. ok is false when nothing has that id.
func (n *idNames) lookup(id string) (k idKey, ok bool) {
	if id == "" {
		return idKey{}, true
	}
	if v, ok := hexValue(id); ok {
		return idKey{v, hexID}, true
	}
	v, ok := n.byID[id]
	return idKey{v, namedID}, ok
}

// text returns the id a key stands for.
func (n *idNames) text(k idKey) string {
	switch k.kind {
	case hexID:
		b := [4]byte{byte(k.value >> 24), byte(k.value >> 16), byte(k.value >> 8), byte(k.value)}
		return hex.EncodeToString(b[:])
	case namedID:
		return n.texts[k.value]
	default:
		return ""
	}
}

// hexValue reads eight lower-case hex digits. Others are not taken: the same number
// in capitals is another id.
func hexValue[T string | []byte](id T) (v uint32, ok bool) {
	if len(id) != 8 {
		return 0, false
	}
	for i := range 8 {
		d := hexDigits[id[i]]
		if d == 0 {
			return 0, false
		}
		v = v<<4 | uint32(d-1)
	}
	return v, true
}

// hexDigits is 1 + the value of each lower-case hex digit, 0 for every other byte.
var hexDigits = func() (t [256]uint8) {
	for i, c := range "0123456789abcdef" {
		t[c] = uint8(i) + 1
	}
	return t
}()

// idTable finds the last entry of an id. It is a hash table with open addressing: eight
// bytes per cell where a map of strings takes forty, and nothing for the garbage
// collector to follow. Keys are compared in the index, of which a cell has a part.
type idTable struct {
	cells []idCell // a power of two of them
	used  int
}

type idCell struct {
	value uint32 // of the key
	place int32  // 1 + the entry's place, 0 where the cell is free
}

const minCells = 64

// put enters the slot at place under its key. It reports whether an earlier one was.
func (t *idTable) put(k idKey, place int32, l *slots) (again bool) {
	if t.used >= len(t.cells)/4*3 {
		t.grow()
	}
	cell := t.cell(k, l)
	if again = cell.place != 0; !again {
		t.used++
	}
	*cell = idCell{k.value, place + 1}
	return again
}

// find returns the place of the last entry with the key.
func (t *idTable) find(k idKey, l *slots) (place int, ok bool) {
	if t.used == 0 || k.kind == noID {
		return 0, false
	}
	c := t.cell(k, l)
	return int(c.place) - 1, c.place != 0
}

// cell returns the cell of the key, or the free one where it belongs.
func (t *idTable) cell(k idKey, l *slots) *idCell {
	mask := uint32(len(t.cells) - 1)
	for at := t.home(k.value); ; at = (at + 1) & mask {
		c := &t.cells[at]
		if c.place == 0 || c.value == k.value && l.at(int(c.place)-1).idKind == k.kind {
			return c
		}
	}
}

// home is the place of the cell where the search for a key begins. Ids are what a file
// says, so that its author must not be able to work out which of them meet. One product
// would do for that; it takes two for rows of numbers to be spread whatever the
// multiplier is.
func (t *idTable) home(value uint32) uint32 {
	h := uint64(value) * idMultiplier
	h = (h ^ h>>32) * idMultiplier
	return uint32(h >> (uint(65-bits.Len(uint(len(t.cells)))) % 64)) // as many high bits as cells take
}

// idMultiplier is odd, and another one in every process.
var idMultiplier = rand.Uint64() | 1

// grow doubles the table. It looks at cells only, which lie in a row.
func (t *idTable) grow() {
	old := t.cells
	t.cells = make([]idCell, max(minCells, 2*len(old)))
	mask := uint32(len(t.cells) - 1)
	for _, c := range old {
		if c.place == 0 {
			continue
		}
		at := t.home(c.value)
		for t.cells[at].place != 0 {
			at = (at + 1) & mask
		}
		t.cells[at] = c
	}
}
