package session

import (
	"encoding/hex"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// idKey represents an id: two ids are equal exactly when their keys are. An id of eight hex
// digits, the form that the programs draw, is its own key; other ids are numbered.
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

// idNames assigns keys to ids.
type idNames struct {
	texts []string
	byID  map[string]uint32
}

// key returns the key of id, and assigns one if necessary.
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

// lookup returns the key of id. ok is false if the id is unknown.
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

// hexValue parses eight lower-case hex digits. It rejects capitals: the same number in
// capitals is another id.
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

// idTable finds the last entry with an id. It is a hash table with open addressing: eight
// bytes per cell where a map of strings takes forty, and no pointers for the garbage
// collector to follow. A cell holds part of a key; whole keys are compared in the index.
type idTable struct {
	cells      []idCell // a power of two of them
	used       int
	multiplier uint64 // of home; set with the first cells
}

type idCell struct {
	value uint32 // of the key
	place int32  // 1 + the entry's index, 0 if the cell is free
}

const minCells = 64

// put stores the slot at place under its key. It reports whether the key was there before.
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
	for at := home(k.value, t.multiplier, len(t.cells)); ; at = (at + 1) & mask {
		c := &t.cells[at]
		if c.place == 0 || c.value == k.value && l.at(int(c.place)-1).idKind == k.kind {
			return c
		}
	}
}

// home returns the cell, of a power of two of cells, where the search for a key begins. Ids come from the
// file, so its author must not be able to predict which of them collide. One multiplication would
// achieve that; the second one spreads sequences of numbers whatever the multiplier is.
func home(value uint32, multiplier uint64, cells int) uint32 {
	h := uint64(value) * multiplier
	h = (h ^ h>>32) * multiplier
	return uint32(h >> (uint(65-bits.Len(uint(cells))) % 64)) // as many high bits as cells take
}

// idMultiplier is odd and differs in every process.
var idMultiplier = rand.Uint64() | 1

// grow doubles the table. It reads only the cells, which are contiguous.
func (t *idTable) grow() {
	old := t.cells
	if old == nil {
		t.multiplier = idMultiplier
	}
	t.cells = make([]idCell, max(minCells, 2*len(old)))
	mask := uint32(len(t.cells) - 1)
	for _, c := range old {
		if c.place == 0 {
			continue
		}
		at := home(c.value, t.multiplier, len(t.cells))
		for t.cells[at].place != 0 {
			at = (at + 1) & mask
		}
		t.cells[at] = c
	}
}

// putAll stores the slots of l from one place to before another. It reports whether a key was there before.
func (t *idTable) putAll(l *slots, from, to int) (again bool) {
	for i := from; i < to; i++ {
		if s := l.at(i); s.idKind != noID {
			again = t.put(s.idKey(), int32(i), l) || again
		}
	}
	return again
}

func (t *idTable) clone() idTable {
	return idTable{cells: slices.Clone(t.cells), used: t.used, multiplier: t.multiplier}
}
