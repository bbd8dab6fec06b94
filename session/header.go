package session

import (
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// CurrentVersion is the format version that is written.
const CurrentVersion = 3

// Header is the view of a session's first line. Raw is the line itself.
type Header struct {
	Raw           []byte
	Version       int // 1 when the line has none
	ID            string
	Title         string
	HasTitle      bool   // the title is present, even if empty
	TitleSource   string // "auto", "user" or ""
	Timestamp     string // ISO 8601, as written; may be unparsable
	Cwd           string // "" in old files
	ParentSession string // an id or a path, opaque
	Dialect       string // dialect of the conversation, only in copies made by this package
}

// ParseHeader views raw as a header. ok is false when it is not one: not an object
// of type session with a string id.
func ParseHeader(raw []byte) (h Header, ok bool) {
	if typ, _ := rawjson.GetString(raw, "type"); typ != "session" {
		return Header{}, false
	}
	id, ok := rawjson.GetString(raw, "id")
	if !ok {
		return Header{}, false
	}
	h = Header{Raw: raw, ID: id, Version: headerVersion(rawjson.Get(raw, "version"))}
	h.Title, h.HasTitle = rawjson.GetString(raw, "title")
	h.TitleSource, _ = rawjson.GetString(raw, "titleSource")
	h.Timestamp, _ = rawjson.GetString(raw, "timestamp")
	h.Cwd, _ = rawjson.GetString(raw, "cwd")
	h.ParentSession, _ = rawjson.GetString(raw, "parentSession")
	h.Dialect, _ = rawjson.GetString(raw, "dialect")
	return h, true
}

// headerVersion reads a version as the originals compare it: a numeric string counts as its
// number, any other value that is not a number as version 1.
func headerVersion(v []byte) int {
	if s, ok := rawjson.String(v); ok {
		v = []byte(s)
		if !rawjson.Valid(v) {
			return 1
		}
	}
	f, ok := rawjson.Float(v)
	switch {
	case !ok && rawjson.Kind(v) != '0', f < 1:
		return 1
	case !ok || f > 1<<20: // also a number that overflows
		return 1 << 20
	}
	return int(f)
}

// NewHeader builds the line of a new session. Key order is that of the programs.
func NewHeader(id, timestamp, cwd string, title *Title, parent string) []byte {
	o := new(rawjson.Object).String("type", "session").Raw("version", []byte("3")).String("id", id)
	if title != nil {
		o.String("title", title.Text)
		if title.Source != "" {
			o.String("titleSource", title.Source)
		}
	}
	o.String("timestamp", timestamp).String("cwd", cwd)
	if parent != "" {
		o.String("parentSession", parent)
	}
	return o.Bytes()
}

// Title is a session's display name and its source: "auto", "user" or "".
type Title struct{ Text, Source string }

// titleSlotSize is the length in bytes, newline included, of the line that newer
// omp files begin with. Its fixed size lets a rename overwrite it in place.
const titleSlotSize = 256

// ParseTitleSlot views raw as omp's title slot.
func ParseTitleSlot(raw []byte) (t Title, ok bool) {
	typ, _ := rawjson.GetString(raw, "type")
	v, _ := rawjson.Float(rawjson.Get(raw, "v"))
	if typ != "title" || v != 1 {
		return Title{}, false
	}
	text, okText := rawjson.GetString(raw, "title")
	_, okUpdated := rawjson.GetString(raw, "updatedAt")
	_, okPad := rawjson.GetString(raw, "pad")
	source, okSource := rawjson.GetString(raw, "source")
	if rawjson.Get(raw, "source") != nil && (!okSource || source != "auto" && source != "user") {
		return Title{}, false
	}
	return Title{Text: text, Source: source}, okText && okUpdated && okPad
}
