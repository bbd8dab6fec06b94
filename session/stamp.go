package session

import (
	"encoding/binary"
	"hash/crc32"
)

// Entries that a stamp looks at: the newest ones, which a removed or inserted line moves, and others spread over the file.
const (
	stampNewest = 8
	stampSpread = 48
)

// Stamp returns a checksum of the first n entries, n ≤ Len, for a reader that returns later and wants to know whether they
// are still the same: it changes if lines were removed, inserted, re-ordered or got another length, but not if the title
// changed or entries were added. It looks at a few entries only, whatever n is.
//
// settled is the number of them that are in the source, whose positions count too. A returning reader passes that
// number, since entries that were newer than the source may be in it by now; the first time it is -1.
func (d *Document) Stamp(n, settled int) (stamp uint32, settledThen int) {
	known := n
	for known > 0 && d.tree.fresh(known-1) { // these come last
		known--
	}
	if settled < 0 || settled > known {
		settled = known
	}
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	put := func(numbers ...int64) {
		var b [8]byte
		for _, v := range numbers {
			binary.LittleEndian.PutUint64(b[:], uint64(v))
			sum.Write(b[:])
		}
	}
	text := func(s string) {
		put(int64(len(s)))
		sum.Write([]byte(s))
	}
	put(int64(n), int64(settled))
	look := func(i int) {
		s := d.tree.slots.peek(i) // most pages are needed for this only
		text(d.tree.names.text(s.idKey()))
		text(d.tree.names.text(s.parentKey()))
		text(string(d.tree.typOf(i, &s)))
	}
	for k := range min(n, stampSpread) {
		look(k * (n - 1) / max(min(n, stampSpread)-1, 1))
	}
	for i := max(0, n-stampNewest); i < n; i++ {
		look(i)
	}
	if settled > 0 {
		// Relative to the first entry, because a title in front of it may change its length.
		put(d.tree.span(settled-1).end - d.tree.slots.peek(0).off)
	}
	return sum.Sum32(), settled
}
