package rows

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"sort"
)

// The beginning of a block.
const (
	blockWord   = 0x53574F52 // "ROWS"
	atBlockSum  = 4
	atNames     = 8
	atTexts     = 12
	atRows      = 16
	blockHead   = 20
	summedFrom  = 8
	maxVarint32 = 1 << 32
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// block is a block that was read, except perhaps for its texts.
type block struct {
	dirs   map[string]span
	paths  []string // of dirs, in the order of the rows
	firsts []int    // the first row of each path
	groups []string
	rows   []byte
	loaded bool // texts were read
	texts  string
	textAt int64 // place of the texts in the file
}

// span is a range of rows.
type span struct{ from, n int }

// sizes are the lengths that the beginning of a block names, in bytes.
type sizes struct{ names, rows, texts int64 }

// parseHead reads the beginning of a block, of which at most limit bytes can follow. ok is false if
// it is none.
func parseHead(head []byte, limit int64) (s sizes, ok bool) {
	if len(head) < blockHead || binary.LittleEndian.Uint32(head) != blockWord {
		return sizes{}, false
	}
	number := func(at int) int64 { return int64(binary.LittleEndian.Uint32(head[at:])) }
	s = sizes{names: number(atNames), rows: number(atRows) * rowSize, texts: number(atTexts)}
	return s, s.names+s.rows+s.texts <= limit
}

// parseBlock reads a block from its beginning up to its texts. ok is false unless its checksum and
// its numbers are right. The block refers to raw.
func parseBlock(raw []byte, s sizes) (b *block, ok bool) {
	if crc32.Checksum(raw[summedFrom:], castagnoli) != binary.LittleEndian.Uint32(raw[atBlockSum:]) {
		return nil, false
	}
	names := raw[blockHead : blockHead+s.names]
	b = &block{rows: raw[blockHead+s.names:], dirs: map[string]span{}}
	r := reader{rest: string(names)}
	rows := 0
	for left := r.count(); left > 0 && !r.bad; left-- {
		dir := r.text()
		n := r.count()
		if n > len(b.rows)/rowSize-rows {
			return nil, false
		}
		b.dirs[dir] = span{rows, n}
		b.paths, b.firsts = append(b.paths, dir), append(b.firsts, rows)
		rows += n
	}
	for left := r.count(); left > 0 && !r.bad; left-- {
		b.groups = append(b.groups, r.text())
	}
	return b, !r.bad && r.rest == "" && rows*rowSize == len(b.rows)
}

// find returns the row of the name with the hash in a directory of the block.
func (b *block) find(in span, hash uint64) Row {
	i := in.from + sort.Search(in.n, func(i int) bool { return b.hashAt(in.from+i) >= hash })
	if i == in.from+in.n || b.hashAt(i) != hash {
		return Row{}
	}
	return Row{b, i}
}

func (b *block) hashAt(i int) uint64 { return binary.LittleEndian.Uint64(b.rows[i*rowSize:]) }

// dirOf returns the directory of row i.
func (b *block) dirOf(i int) string {
	return b.paths[sort.SearchInts(b.firsts, i+1)-1]
}

// encode returns the block of entries, which it sorts. The texts are in the order of the unsorted
// entries, so that those which are read together are together. ok is false if they are too long.
func encode(entries []entry) (raw []byte, ok bool) {
	place := 0
	for i := range entries {
		binary.LittleEndian.PutUint32(entries[i].row[atPlace:], uint32(place&(maxVarint32-1))) // #nosec G115 -- checked below
		place += len(entries[i].text)
	}
	if place > maxFile {
		return nil, false
	}
	texts := make([]byte, 0, place)
	for i := range entries {
		texts = append(texts, entries[i].text...)
	}
	slices.SortStableFunc(entries, compareEntries)
	names := appendNames(nil, entries)
	raw = make([]byte, blockHead, blockHead+len(names)+len(entries)*rowSize+len(texts))
	raw = append(raw, names...)
	for i := range entries {
		raw = append(raw, entries[i].row[:]...)
	}
	put := func(at, n int) { binary.LittleEndian.PutUint32(raw[at:], uint32(n)) } // #nosec G115 -- bounded by maxFile
	put(0, blockWord)
	put(atNames, len(names))
	put(atTexts, len(texts))
	put(atRows, len(entries))
	binary.LittleEndian.PutUint32(raw[atBlockSum:], crc32.Checksum(raw[summedFrom:], castagnoli))
	raw = append(raw, texts...)
	return raw, len(raw) <= maxFile
}

// appendNames appends the directories and groups of sorted entries, and numbers the groups.
func appendNames(b []byte, entries []entry) []byte {
	var dirs []byte
	groups, n := map[string]int{}, 0
	var texts []byte
	for from := 0; from < len(entries); n++ {
		to := from
		for ; to < len(entries) && entries[to].dir == entries[from].dir; to++ {
			number, known := groups[entries[to].group]
			if !known {
				number = len(groups)
				groups[entries[to].group] = number
				texts = appendText(texts, entries[to].group)
			}
			binary.LittleEndian.PutUint32(entries[to].row[atGroup:], uint32(number)) // #nosec G115 -- below the number of rows
		}
		dirs = binary.AppendUvarint(appendText(dirs, entries[from].dir), uint64(to-from)) // #nosec G115 -- not negative
		from = to
	}
	b = append(binary.AppendUvarint(b, uint64(n)), dirs...) // #nosec G115 -- not negative
	return append(binary.AppendUvarint(b, uint64(len(groups))), texts...)
}

func compareEntries(a, b entry) int {
	switch {
	case a.dir < b.dir:
		return -1
	case a.dir > b.dir:
		return 1
	}
	x, y := binary.LittleEndian.Uint64(a.row[:]), binary.LittleEndian.Uint64(b.row[:])
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// reader reads the names of a block. After the first missing value everything is zero.
type reader struct {
	rest string
	bad  bool
}

// count reads a number of things that each take at least one byte, or of rows.
func (r *reader) count() int {
	n := uint64(0)
	for shift := 0; shift < 35 && r.rest != ""; shift += 7 {
		c := r.rest[0]
		r.rest = r.rest[1:]
		if n |= uint64(c&0x7F) << shift; c < 0x80 {
			return int(n) // #nosec G115 -- 35 bits
		}
	}
	r.rest, r.bad = "", true
	return 0
}

func (r *reader) text() string {
	n := r.count()
	if n > len(r.rest) {
		r.rest, r.bad = "", true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}
