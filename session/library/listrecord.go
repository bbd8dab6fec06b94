package library

import (
	"encoding/binary"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/rows"
)

// listRecord is what the cache of listings holds of one file. What a list needs of every file is
// in its row: the stamp, the flags, the working directory as the group, and the hash of the slug
// as the key. The rest, for those that are shown, is the row's text:
//
//	name of the file, dialect of the file
//	id, cwd, title, name, first message, created, parent session
//	messages, entries, branches, damaged lines
//
// Numbers are varints, texts have their length before them. A file without a header has no text.
type listRecord struct {
	name string
	info Info // without the fields that follow from the path, the stamp and the time of the listing
}

// recordFlags are the flags of a row. The lowest bits are the dialect of the root.
type recordFlags uint16

const (
	recordRoot     recordFlags = 1<<4 - 1
	recordHeader   recordFlags = 1 << 4 // there is a header
	recordMessages recordFlags = 1 << 5 // there are messages
)

func (f recordFlags) root() session.Dialect { return session.Dialect(f & recordRoot) }

// maxRecord is the longest text kept, in bytes. A longer one has a first message that
// is a file of its own.
const maxRecord = 64 << 10

// factsOf returns the row of a file that was described; hasHeader reports whether that
// succeeded. It is nil if it would be too long. key is the hash of the slug.
func factsOf(file *sessionFile, s disk.Stamp, i Info, key uint64, hasHeader bool) *rows.Facts {
	facts := &rows.Facts{Dir: file.dir.key(), Name: file.name, Stamp: s, Flags: uint16(file.dir.root.Dialect)}
	if !hasHeader {
		return facts
	}
	flags := recordHeader
	if i.MessageCount > 0 {
		flags |= recordMessages
	}
	facts.Flags |= uint16(flags)
	facts.Key, facts.Group = key, i.Cwd
	facts.Text = (&listRecord{name: file.name, info: i}).append(nil)
	if len(facts.Text) > maxRecord {
		return nil
	}
	return facts
}

func (r *listRecord) append(b []byte) []byte {
	i := &r.info
	origin, _ := session.ParseDialect(i.Origin)
	titled := byte(0)
	if i.HasTitle {
		titled = 1
	}
	b = append(appendText(b, r.name), byte(origin), titled)
	for _, text := range [...]string{i.ID, i.Cwd, i.Title, i.Name, i.FirstMessage, i.Created, i.ParentSession} {
		b = appendText(b, text)
	}
	for _, n := range [...]int{i.MessageCount, i.Entries, i.Branches, i.DamagedLines} {
		b = binary.AppendVarint(b, int64(n))
	}
	return b
}

// readRecord reads a record of a file of the given size. ok is false if raw is not exactly one
// record, or if its values are impossible.
func readRecord(raw string, size int64) (r listRecord, ok bool) {
	c := recordReader{rest: raw}
	r.name = c.text()
	origin, titled := session.Dialect(c.octet()), c.octet()
	i := &r.info
	i.Origin, i.HasTitle = origin.String(), titled == 1
	for _, text := range [...]*string{&i.ID, &i.Cwd, &i.Title, &i.Name, &i.FirstMessage, &i.Created, &i.ParentSession} {
		*text = c.text()
	}
	for _, n := range [...]*int{&i.MessageCount, &i.Entries, &i.Branches, &i.DamagedLines} {
		*n = c.count(size)
	}
	return r, !c.bad && c.rest == "" && origin <= session.Omp && titled <= 1 &&
		i.MessageCount <= i.Entries && i.Branches <= i.Entries
}

// fits reports whether r is the record of the file and agrees with its row.
func (r *listRecord) fits(file *sessionFile, row rows.Row) bool {
	messages := recordFlags(row.Flags())&recordMessages != 0
	return r.name == file.name && r.info.Cwd == row.Group() && messages == (r.info.MessageCount > 0)
}

// describe makes an Info of r; its times are not yet formatted.
func (r *listRecord) describe(file *sessionFile) Info {
	i := r.info
	i.Path, i.Size, i.ModTime = file.path(), file.Info.Size(), file.Info.ModTime()
	return i
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// recordReader reads the values that the functions above append. After the first missing
// value everything is zero.
type recordReader struct {
	rest string
	bad  bool
}

func (c *recordReader) fail() {
	c.rest, c.bad = "", true
}

func (c *recordReader) octet() byte {
	if c.rest == "" {
		c.fail()
		return 0
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	return b
}

func (c *recordReader) unsigned() (n uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := c.octet()
		n |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return n
		}
	}
	c.fail()
	return 0
}

// number undoes the zigzag of signed varints.
func (c *recordReader) number() int64 {
	n := c.unsigned()
	return int64(n>>1) ^ -int64(n&1)
}

// count reads a number of things of which a file holds at most limit.
func (c *recordReader) count(limit int64) int {
	n := c.number()
	if n < 0 || n > limit {
		c.fail()
		return 0
	}
	return int(n)
}

func (c *recordReader) text() string {
	n := c.unsigned()
	if n > uint64(len(c.rest)) {
		c.fail()
		return ""
	}
	s := c.rest[:n]
	c.rest = c.rest[n:]
	return s
}
