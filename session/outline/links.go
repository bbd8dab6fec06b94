package outline

import (
	"bytes"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

// LinkKind is the kind of a link's target.
type LinkKind int

// The kinds of links.
const (
	LinkParent LinkKind = iota // the session this one was made from; an id or a path
	LinkBlob                   // bytes kept outside the file; their SHA-256
	LinkFile                   // a file that a tool call names; a path as the model wrote it
)

// Link is a place in the text that names something elsewhere.
type Link struct {
	Kind     LinkKind
	From, To int64 // bytes of the text, without the quotes
	Target   string
}

const (
	maxLinks     = 1000    // of one kind
	maxLineLinks = 20      // files on one line
	linkBytes    = 8 << 20 // how much of the text is searched for files
)

// Links returns the links of the text: the parent session, blobs, and files, each in the
// order of the text. Nothing is checked on disk.
func (v View) Links() []Link {
	links := v.parentLink()
	links = append(links, v.blobLinks()...)
	return append(links, v.fileLinks()...)
}

func (v View) parentLink() []Link {
	from, to := v.Doc.HeaderSpan()
	header := []byte(v.Text[from:to])
	return linkTo(nil, LinkParent, from, header, rawjson.Get(header, "parentSession"))
}

// blobPrefix begins a reference; 64 hex digits follow it.
const blobPrefix = `"blob:sha256:`

func (v View) blobLinks() (links []Link) {
	for at := 0; len(links) < maxLinks; {
		i := strings.Index(v.Text[at:], blobPrefix)
		if i < 0 {
			break
		}
		from := at + i + 1
		at += i + len(blobPrefix)
		rest := v.Text[at:]
		if len(rest) <= 64 || rest[64] != '"' || strings.Trim(rest[:64], "0123456789abcdef") != "" {
			continue
		}
		links = append(links, Link{Kind: LinkBlob, From: int64(from), To: int64(at + 64), Target: rest[:64]})
		at += 64
	}
	return links
}

// fileLinks searches tool calls and mentions of files.
func (v View) fileLinks() (links []Link) {
	left := linkBytes
	for i := 0; i < v.Doc.Len() && len(links) < maxLinks; i++ {
		role := v.Doc.Role(i)
		if role != "assistant" && role != "fileMention" {
			continue
		}
		from, to := v.Doc.Span(i)
		if left -= int(to - from); left < 0 {
			break
		}
		raw := v.raw(i)
		message := session.Entry{Type: session.TypeMessage, Raw: raw}.Message()
		found := 0
		each := func(object []byte) bool {
			for _, name := range []string{"path", "file_path", "filePath"} {
				before := len(links)
				links = linkTo(links, LinkFile, from, raw, rawjson.Get(object, name))
				found += len(links) - before
			}
			return found < maxLineLinks
		}
		rawjson.Elements(rawjson.Get(message, "files"), each)
		rawjson.Elements(rawjson.Get(message, "content"), func(block []byte) bool {
			if typ, _ := rawjson.GetString(block, "type"); typ != "toolCall" {
				return true
			}
			return each(rawjson.Get(block, "arguments"))
		})
	}
	return links
}

// linkTo appends a link at value, a JSON text within raw, which begins at offset. An empty
// text, or a value of another type, is not a link.
func linkTo(links []Link, kind LinkKind, offset int64, raw, value []byte) []Link {
	target, ok := rawjson.String(value)
	if !ok || target == "" {
		return links
	}
	// The same text may occur earlier in the line; then that position is linked as well.
	from := offset + int64(bytes.Index(raw, value)) + 1
	return append(links, Link{Kind: kind, From: from, To: from + int64(len(value)) - 2, Target: target})
}
