package rows

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"

	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// The limits of a row.
const (
	MaxText = 1<<textBits - 1 // length of a text, in bytes
	MaxFlag = 1 << 11         // the highest flag

	textBits = 20
)

// The places of a row's values.
const (
	rowSize  = 64
	atSize   = 8
	atMtime  = 16
	atCtime  = 24
	atInode  = 32
	atKey    = 40
	atPlace  = 48
	atSum    = 52
	atLength = 56
	atGroup  = 60
)

// Row is the stored data of one file. The zero value is that of a file without stored data.
type Row struct {
	b  *block
	at int // number in its block
}

// Facts are the content of a new row.
type Facts struct {
	Dir, Name string
	Stamp     disk.Stamp
	Key       uint64
	Flags     uint16 // up to MaxFlag
	Group     string // a text that many rows share
	Text      []byte // at most MaxText bytes
}

// Found reports whether there is something stored.
func (r Row) Found() bool { return r.b != nil }

// Stamp returns the stamp that the file had.
func (r Row) Stamp() disk.Stamp {
	raw := r.raw()
	return disk.Stamp{
		Size: signed(raw[atSize:]), Mtime: signed(raw[atMtime:]), Ctime: signed(raw[atCtime:]),
		Inode: binary.LittleEndian.Uint64(raw[atInode:]),
	}
}

// Key returns Facts.Key.
func (r Row) Key() uint64 { return binary.LittleEndian.Uint64(r.raw()[atKey:]) }

// Flags returns Facts.Flags.
func (r Row) Flags() uint16 {
	return uint16(binary.LittleEndian.Uint32(r.raw()[atLength:]) >> textBits) // #nosec G115 -- 12 bits are left
}

// Group returns Facts.Group. Equal texts of one block share their memory.
func (r Row) Group() string {
	n := binary.LittleEndian.Uint32(r.raw()[atGroup:])
	if uint64(n) >= uint64(len(r.b.groups)) {
		return "" // not written by this package
	}
	return r.b.groups[n]
}

func (r Row) raw() []byte { return r.b.rows[r.at*rowSize:][:rowSize] }

// place returns where the text is within those of its block, and its checksum.
func (r Row) place() (from, length int64, sum uint32) {
	raw := r.raw()
	return int64(binary.LittleEndian.Uint32(raw[atPlace:])), int64(binary.LittleEndian.Uint32(raw[atLength:]) & MaxText),
		binary.LittleEndian.Uint32(raw[atSum:])
}

func signed(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) } // #nosec G115 -- it was one

// entry is a row that is to be written.
type entry struct {
	dir, group string
	row        [rowSize]byte // without place and group
	text       string
}

func newEntry(f Facts) entry {
	e := entry{dir: f.Dir, group: f.Group, text: string(f.Text)}
	put := func(at int, n uint64) { binary.LittleEndian.PutUint64(e.row[at:], n) }
	put(0, Hash(f.Name))
	put(atSize, uint64(f.Stamp.Size))   // #nosec G115 -- signed undoes it
	put(atMtime, uint64(f.Stamp.Mtime)) // #nosec G115
	put(atCtime, uint64(f.Stamp.Ctime)) // #nosec G115
	put(atInode, f.Stamp.Inode)
	put(atKey, f.Key)
	binary.LittleEndian.PutUint32(e.row[atSum:], crc32.Checksum(f.Text, castagnoli))
	binary.LittleEndian.PutUint32(e.row[atLength:], uint32(len(f.Text)&MaxText)|uint32(f.Flags)<<textBits) // #nosec G115 -- bounded
	return e
}

// copyOf returns the entry for an existing row.
func copyOf(r Row, dir, text string) entry {
	return entry{dir: dir, group: r.Group(), row: [rowSize]byte(r.raw()), text: text}
}

// Hash returns a number for a text, the same in every run. It is spread evenly, but anyone can
// make two texts with the same number: compare the texts before relying on it.
func Hash(s string) uint64 {
	const prime, basis = 0x9E3779B97F4A7C15, 0xCBF29CE484222325
	h := mix(basis^uint64(len(s)), prime)
	for ; len(s) >= 8; s = s[8:] {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56 // one load
		h = mix(h^word, prime)
	}
	var rest [8]byte
	copy(rest[:], s)
	return mix(h^binary.LittleEndian.Uint64(rest[:]), prime^basis)
}

// mix folds the product of two numbers.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}
