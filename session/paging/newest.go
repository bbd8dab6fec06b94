package paging

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// beforePrefix begins the cursors of [Newest]. No other cursor has a point.
const beforePrefix = "before."

// Newest returns a page of the newest messages of the conversation of the session called id, before that is known
// as a whole, and what comes before the page. messages are its newest messages, whose entries are entryIDs, or all of them
// if all is set; there is at least one. The number of older messages is 0 if it is not known.
func Newest(id string, entryIDs []string, messages []json.RawMessage, all bool, l Limits) ([]Message, *More) {
	r, from := l.Room(), len(messages)
	for from > 0 && r.Take(len(messages[from-1])+len(entryIDs[from-1])) {
		from--
	}
	// A cursor names an entry, so that the messages of one entry stay together.
	for at := from; at > 0 && at < len(messages); at++ {
		if entryIDs[at] != entryIDs[at-1] {
			from = at
			break
		}
	}
	page := make([]Message, 0, len(messages)-from)
	for i, m := range messages[from:] {
		page = append(page, Message{EntryID: entryIDs[from+i], Message: m})
	}
	if from == 0 && all {
		return page, nil
	}
	older := &More{Cursor: before(id, entryIDs[from])}
	if all {
		older.Count = from
	}
	return page, older
}

// before returns the cursor of the messages before that of an entry.
func before(id, entryID string) string {
	b := binary.LittleEndian.AppendUint32(nil, crc32.Checksum([]byte(id), checksums))
	b = append(b, entryID...)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, checksums))
	return beforePrefix + base64.RawURLEncoding.EncodeToString(b)
}

// NamesEntry reports whether a cursor is one of [Newest], which [OpenBefore] takes.
func NamesEntry(cursor string) bool { return strings.HasPrefix(cursor, beforePrefix) }

// OpenBefore returns the conversation up to leaf, or its history, and the place of a cursor of [Newest] for a page of a kind. The
// errors are those of [Reopen].
func OpenBefore(d *session.Document, leaf session.Leaf, blobs session.BlobSource, cursor string, kind Kind, history bool) (*Conversation, Cursor, error) {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(cursor, beforePrefix))
	if err != nil || len(b) < 8 {
		return nil, Cursor{}, notACursor("The cursor is damaged; pass it as it was returned.")
	}
	b, sum := b[:len(b)-4], b[len(b)-4:]
	if crc32.Checksum(b, checksums) != binary.LittleEndian.Uint32(sum) {
		return nil, Cursor{}, notACursor("The cursor is damaged; pass it as it was returned.")
	}
	c, err := open(d, leaf, blobs, history)
	if err != nil {
		return nil, Cursor{}, err
	}
	at := c.cursor.At(kind, c.Len())
	if at.session != binary.LittleEndian.Uint32(b) {
		return nil, at, fault.New(fault.Stale, "The cursor belongs to another session; request the first page again.")
	}
	i, err := d.Index(string(b[4:]))
	if err == nil {
		at.Place = slices.Index(c.Places, i)
	}
	if err != nil || at.Place < 0 {
		return nil, at, stale()
	}
	return c, at, nil
}
