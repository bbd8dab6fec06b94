// Package own describes the entries that this program adds to sessions for its own use: the
// start of a tool call, the description of a session, the origin of an imported one, the copy
// of a title for pi. All programs keep them and send them to no model. They belong to the
// file but not to the conversation, so that nothing shows them. Imported messages that have no
// other form are part of the conversation.
package own

import (
	"bytes"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// Description is the custom type of the entries that hold a session's description, as
// {"text": …}.
const Description = "xcsh-ls.description"

// prefix begins the custom types of this program's entries; those in messages hold
// a message of an imported conversation and are shown.
const prefix = "xcsh-ls."

var messages = [...]string{"xcsh-ls.import.tool", "xcsh-ls.import.system", "xcsh-ls.import.other"}

// longest is more than the longest of these in UTF-16 units.
const longest = 32

// TitleInHeader is the member of a session_info entry that is true if the entry repeats the
// title of the header.
const TitleInHeader = "inHeader"

// Hidden reports whether an entry is one of these. typ is its type and line its line, of
// which no more is read than necessary.
func Hidden(typ string, line []byte) bool {
	switch typ {
	case "custom":
		if !bytes.Contains(line, []byte(prefix)) {
			return false // like most of the entries of other programs, which can be large
		}
		kind, _ := rawjson.StringPrefix(rawjson.Get(line, "customType"), longest)
		return strings.HasPrefix(kind, prefix) && !slices.Contains(messages[:], kind)
	case "session_info":
		_, repeated := Title(line)
		return repeated
	}
	return false
}

// Title returns the title of a session_info entry, "" if it removes the title, and whether
// the entry repeats the title that the header had when it was written. The header may have
// another one since then; an entry that repeats nothing is newer than the header.
func Title(line []byte) (name string, repeated bool) {
	name, _ = rawjson.GetString(line, "name")
	return name, rawjson.Truthy(rawjson.Get(line, TitleInHeader))
}
