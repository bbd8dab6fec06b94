package paging

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"slices"

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

// The kinds of a cursor in a history, by those of one in a conversation.
var historyKinds = map[Kind]Kind{Older: 'O', Newer: 'N', Search: 'Q'}

// plain returns the kind of a cursor, and whether its place is in a history.
func (k Kind) plain() (kind Kind, history bool) {
	for kind, of := range historyKinds {
		if of == k {
			return kind, true
		}
	}
	return k, false
}

// withHistory returns kinds and those of the same lists in a history.
func withHistory(kinds []Kind) []Kind {
	all := slices.Clone(kinds)
	for _, k := range kinds {
		if of, ok := historyKinds[k]; ok {
			all = append(all, of)
		}
	}
	return all
}

// Cursor is a place in one list of a session as it was when the first page was made.
type Cursor struct {
	Kind    Kind
	Entries int // the number of entries then
	Place   int // where the next page begins or ends
	Of      int // 1 + the leaf of a conversation, or the entry above a tree; 0 for none

	session uint32 // checksum of its id
	settled int
	stamp   uint32
}

// Begin returns a cursor of a kind at place 0 for the session as it is now.
func Begin(d *session.Document, kind Kind) Cursor {
	c := Cursor{Kind: kind, Entries: d.Len(), session: idOf(d)}
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
	if c.session != idOf(d) {
		return fault.New(fault.Stale, "The cursor belongs to another session; request the first page again.")
	}
	if c.Entries <= d.Len() {
		if stamp, settled := d.Stamp(c.Entries, c.settled); stamp == c.stamp && settled == c.settled {
			return nil
		}
	}
	return stale()
}

// idOf returns a checksum of a session's id, which may be long.
func idOf(d *session.Document) uint32 { return crc32.Checksum([]byte(d.Header().ID), checksums) }

func stale() error {
	return fault.New(fault.Stale, "The session was rewritten since the first page; request the first page again.")
}

var checksums = crc32.MakeTable(crc32.Castagnoli)

// maxText is longer than the text of any cursor, in bytes.
const maxText = 100

// String returns the text of a cursor, which [Parse] reads.
func (c Cursor) String() string {
	b := []byte{byte(c.Kind)}
	for _, n := range []int{c.Entries, c.settled, c.Place, c.Of} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, c.stamp)
	b = binary.LittleEndian.AppendUint32(b, c.session)
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
	if slices.Contains(kinds, c.Kind) {
		return c, c.check(d)
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
	c.Entries, c.settled, c.Place, c.Of = r.number(), r.number(), r.number(), r.number()
	c.stamp, c.session = r.fixed(), r.fixed()
	// A context may have a summary and a system message from one entry.
	return c, !r.bad && len(r.rest) == 0 && c.settled <= c.Entries && c.Of <= c.Entries && c.Place <= c.Entries+1
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
