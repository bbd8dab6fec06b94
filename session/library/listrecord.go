package library

import (
	"encoding/binary"
	"path/filepath"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// listRecord is what the cache of listings holds of one file: its description, and its
// stamp at that time.
//
//	name, size, mtime, ctime, inode          which file, as it was
//	dialect of the root, dialect of the file
//	flags                                    1: there is a header, 2: there is a title
//	id, cwd, title, name, first message, created, parent session
//	messages, entries, branches, damaged lines
//
// Numbers are varints, texts have their length before them. A file without a header
// ends with its flags.
type listRecord struct {
	name   string
	stamp  disk.Stamp
	root   session.Dialect
	header bool
	info   Info // without the fields that follow from the path, the stamp and the time of the listing
}

const (
	recordHeader = 1 << iota
	recordTitle
)

// maxRecord is the longest record kept, in bytes. A longer one has a first message that
// is a file of its own.
const maxRecord = 64 << 10

func (r *listRecord) append(b []byte) []byte {
	b = appendText(b, r.name)
	b = binary.AppendVarint(b, r.stamp.Size)
	b = binary.AppendVarint(b, r.stamp.Mtime)
	b = binary.AppendVarint(b, r.stamp.Ctime)
	b = binary.AppendUvarint(b, r.stamp.Inode)
	origin, _ := session.ParseDialect(r.info.Origin)
	flags := byte(0)
	if r.header {
		flags |= recordHeader
	}
	if r.info.HasTitle {
		flags |= recordTitle
	}
	b = append(b, byte(r.root), byte(origin), flags)
	if !r.header {
		return b
	}
	i := &r.info
	for _, text := range [...]string{i.ID, i.Cwd, i.Title, i.Name, i.FirstMessage, i.Created, i.ParentSession} {
		b = appendText(b, text)
	}
	for _, n := range [...]int{i.MessageCount, i.Entries, i.Branches, i.DamagedLines} {
		b = binary.AppendVarint(b, int64(n))
	}
	return b
}

// readRecord reads a record. ok is false if raw is not exactly one record, or if its
// values are impossible.
func readRecord(raw string) (r listRecord, ok bool) {
	c := recordReader{rest: raw}
	r.name = c.text()
	r.stamp = disk.Stamp{Size: c.number(), Mtime: c.number(), Ctime: c.number(), Inode: c.unsigned()}
	var origin session.Dialect
	r.root, origin = session.Dialect(c.octet()), session.Dialect(c.octet())
	flags := c.octet()
	r.header, r.info.HasTitle = flags&recordHeader != 0, flags&recordTitle != 0
	r.info.Origin = origin.String()
	if r.header {
		i := &r.info
		for _, text := range [...]*string{&i.ID, &i.Cwd, &i.Title, &i.Name, &i.FirstMessage, &i.Created, &i.ParentSession} {
			*text = c.text()
		}
		for _, n := range [...]*int{&i.MessageCount, &i.Entries, &i.Branches, &i.DamagedLines} {
			*n = c.count(r.stamp.Size)
		}
	}
	return r, !c.bad && c.rest == "" && r.root <= session.Omp && origin <= session.Omp &&
		r.info.MessageCount <= r.info.Entries && r.info.Branches <= r.info.Entries
}

// describe makes an Info of r; its times are not yet formatted.
func (r *listRecord) describe(file sessionFile) Info {
	i := r.info
	i.Path, i.Size, i.ModTime = file.Path, r.stamp.Size, file.Info.ModTime()
	return i
}

// recordOf is the record of a file that was described; hasHeader reports whether that
// succeeded.
func recordOf(file sessionFile, s disk.Stamp, i Info, hasHeader bool) listRecord {
	return listRecord{name: filepath.Base(file.Path), stamp: s, root: file.Root.Dialect, header: hasHeader, info: i}
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
