package paging

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// Hit is a message that holds the searched text.
type Hit struct {
	EntryID string `json:"entryId"`
	Role    string `json:"role"`
	Excerpt string `json:"excerpt" jsonschema:"The text around the first match, on one line."`
	Index   int    `json:"index" jsonschema:"The place of the message in the conversation; that of the oldest is 0."`
}

// searchBytes is how much of a session one search reads.
const searchBytes = 64 << 20

// Lengths of an excerpt in bytes, around the match.
const (
	excerptBefore = 60
	excerptAfter  = 120
)

// Search returns the messages before a place that hold a text, newest first, at most limit, and the place to which it has
// searched: the beginning, unless there are more messages than one search reads or returns. Letters match in either case,
// and any white space matches a space.
func (c *Conversation) Search(place, limit int, text string) (hits []Hit, from int, err error) {
	wanted := searchable(text)
	part := needleOf(wanted)
	hits = []Hit{}
	read := 0
	for from = place; from > 0 && len(hits) < limit && read < searchBytes; {
		m, err := c.Message(from - 1)
		if err != nil {
			return nil, 0, err
		}
		from--
		read += len(m)
		if !part.mayBeIn(m) {
			continue
		}
		at, found := find(m, wanted)
		if !found {
			continue
		}
		role, _ := rawjson.GetString(m, "role")
		hit := Hit{Role: role, Excerpt: at, Index: from}
		if i := c.Places[from]; i >= 0 {
			hit.EntryID = c.doc.ID(i)
		}
		hits = append(hits, hit)
	}
	return hits, from, nil
}

// find returns the text around the first occurrence of wanted in what a message shows.
func find(m []byte, wanted string) (excerpt string, found bool) {
	eachShown(m, func(text string) bool {
		text = oneLine(text)
		at := strings.Index(lower(text), wanted)
		if found = at >= 0; found {
			excerpt = around(text, at, len(wanted))
		}
		return !found
	})
	return excerpt, found
}

// shownNames are the members of a message, and of a block of its content, whose text is shown. A message has a content too.
var shownNames = []string{"text", "thinking", "name", "command", "code", "output", "summary", "toolName"}

// eachShown calls f with each text that a panel shows of a message, until f returns false.
func eachShown(m []byte, f func(text string) bool) bool {
	content := rawjson.Get(m, "content")
	if s, isText := rawjson.String(content); isText && !f(s) {
		return false
	}
	return eachBlock(content, f) && eachNamed(m, f)
}

// eachNamed calls f with the values of shownNames.
func eachNamed(v []byte, f func(text string) bool) bool {
	values := make([][]byte, len(shownNames))
	rawjson.GetEach(v, shownNames, values)
	for _, v := range values {
		if s, isText := rawjson.String(v); isText && !f(s) {
			return false
		}
	}
	return true
}

// eachBlock is [eachShown] for the blocks of a message's content.
func eachBlock(content []byte, f func(text string) bool) bool {
	more := true
	rawjson.Elements(content, func(block []byte) bool {
		if rawjson.Kind(block) == '{' {
			more = eachNamed(block, f) && eachArgument(rawjson.Get(block, "arguments"), 0, f)
		}
		return more
	})
	return more
}

// maxArguments is how deep the arguments of a tool call are searched.
const maxArguments = 8

// eachArgument calls f with each text in the arguments of a tool call.
func eachArgument(v []byte, depth int, f func(text string) bool) bool {
	more := true
	switch {
	case depth > maxArguments:
	case rawjson.Kind(v) == '"':
		s, _ := rawjson.String(v)
		more = f(s)
	case rawjson.Kind(v) == '[':
		rawjson.Elements(v, func(el []byte) bool {
			more = eachArgument(el, depth+1, f)
			return more
		})
	case rawjson.Kind(v) == '{':
		rawjson.Members(v, func(_, el []byte) bool {
			more = eachArgument(el, depth+1, f)
			return more
		})
	}
	return more
}

// searchable returns the form in which a text is searched for.
func searchable(text string) string { return lower(strings.TrimSpace(oneLine(text))) }

// oneLine replaces white space with spaces, byte for byte where it is ASCII.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)
}

// lower is strings.ToLower for letters whose lower case takes as many bytes, so that places stay the same.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
			return l
		}
		return r
	}, s)
}

// around returns the part of s around n bytes at a place, without cutting a character.
func around(s string, at, n int) string {
	from, to := max(0, at-excerptBefore), min(len(s), at+min(n, excerptAfter)+excerptAfter)
	for from < at && !utf8.RuneStart(s[from]) {
		from++
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to--
	}
	out := session.CleanTitle(s[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(s) {
		out += "…"
	}
	return out
}
