package paging

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Kind is the list of which a cursor marks a place.
type Kind byte

// The kinds of a cursor. They are part of its text.
const (
	Older   Kind = 'o' // the messages before a place
	Newer   Kind = 'n' // the messages from a place on
	Search  Kind = 'q' // the search in the messages before a place
	Entries Kind = 'e' // the entries from a place on
	Nodes   Kind = 't' // the tree from an entry on
	Folded  Kind = 'f' // the folded tree from an entry on
	Context Kind = 'c' // the messages of a context from a place on
)

// Cursor is a place in one list of a session as it was when the first page was made.
type Cursor struct {
	Kind    Kind
	Session string // id
	Entries int    // the number of entries then
	Place   int    // where the next page begins or ends
	Of      string // the leaf of a conversation, or the entry above a tree; "" for none

	settled int
	stamp   uint32
}

// Begin returns a cursor of a kind at place 0 for the session as it is now.
func Begin(d *session.Document, kind Kind, of string) Cursor {
	c := Cursor{Kind: kind, Session: d.Header().ID, Entries: d.Len(), Of: of}
	c.stamp, c.settled = d.Stamp(c.Entries, -1)
	return c
}

// At returns the cursor for another place in the same list, or in another one of the same entries.
func (c Cursor) At(kind Kind, place int) Cursor {
	c.Kind, c.Place = kind, place
	return c
}

// check returns a Stale error if the entries of c are no longer those of d.
func (c Cursor) check(d *session.Document) error {
	if c.Session == d.Header().ID && c.Entries <= d.Len() {
		if stamp, settled := d.Stamp(c.Entries, c.settled); stamp == c.stamp && settled == c.settled {
			return nil
		}
	}
	if c.Session != d.Header().ID {
		return fault.New(fault.Stale, "The cursor belongs to another session; request the first page again.")
	}
	return stale()
}

func stale() error {
	return fault.New(fault.Stale, "The session was rewritten since the first page; request the first page again.")
}

var checksums = crc32.MakeTable(crc32.Castagnoli)

// maxText limits the length of a cursor's text in bytes. A session's id and an entry's come from a file and may be long.
const maxText = 64 << 10

// String returns the text of a cursor, which [Parse] reads.
func (c Cursor) String() string {
	b := []byte{byte(c.Kind)}
	for _, n := range []int{c.Entries, c.settled, c.Place} {
		b = binary.AppendUvarint(b, uint64(n)) //nolint:gosec // none is negative
	}
	b = binary.LittleEndian.AppendUint32(b, c.stamp)
	for _, text := range []string{c.Session, c.Of} {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, checksums))
	return base64.RawURLEncoding.EncodeToString(b)
}

// Parse reads the text of a cursor of one of the kinds and checks that its entries are still those of d. Another text is an
// InvalidArgument error, and a cursor of another session or of one that was rewritten a Stale error.
func Parse(text string, d *session.Document, kinds ...Kind) (Cursor, error) {
	c, ok := decode(text)
	if !ok {
		return c, notACursor("The cursor is damaged; pass it as it was returned.")
	}
	for _, kind := range kinds {
		if c.Kind == kind {
			return c, c.check(d)
		}
	}
	return c, notACursor("The cursor is from another list; pass it to the command that returned it, with the same arguments.")
}

func notACursor(why string) error {
	return fault.New(fault.InvalidArgument, "%s", why).With("field", "cursor")
}

func decode(text string) (c Cursor, ok bool) {
	if len(text) > maxText {
		return c, false
	}
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) < 5 {
		return c, false
	}
	b, sum := b[:len(b)-4], b[len(b)-4:]
	if crc32.Checksum(b, checksums) != binary.LittleEndian.Uint32(sum) {
		return c, false
	}
	r := reader{rest: b[1:]}
	c.Kind = Kind(b[0])
	c.Entries, c.settled, c.Place = r.number(), r.number(), r.number()
	c.stamp = r.fixed()
	c.Session, c.Of = r.text(), r.text()
	// A context may have a summary and a system message from one entry.
	return c, !r.bad && len(r.rest) == 0 && c.settled <= c.Entries && c.Place <= c.Entries+1
}

// reader reads the parts of a cursor.
type reader struct {
	rest []byte
	bad  bool
}

// number reads a number of entries, which fits into 31 bits.
func (r *reader) number() int {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > 1<<31-1 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[n:]
	return int(v)
}

func (r *reader) fixed() uint32 {
	if len(r.rest) < 4 {
		r.rest, r.bad = nil, true
		return 0
	}
	v := binary.LittleEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return v
}

func (r *reader) text() string {
	n := r.number()
	if n > len(r.rest) {
		r.rest, r.bad = nil, true
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}
