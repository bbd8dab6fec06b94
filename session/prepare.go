package session

import (
	"bytes"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// maxPersistChars is the longest string kept in a session line, in UTF-16 code units
// (JavaScript's length of a string, not bytes). A longer one is cut and ends with
// [truncationNotice], which counts toward the limit.
const maxPersistChars = 500_000

// truncationNotice ends a text that was cut. It is 47 characters long. The programs
// look for it, so it is part of the format.
const truncationNotice = "\n\n[Session persistence truncated large content]"

// maxPrepareDepth is how deep in a line strings are cut and members removed. A file
// controls its nesting depth; deeper values are written unchanged.
const maxPrepareDepth = 1000

// limits are the lengths that prepare works with, in UTF-16 units. They are parameters so
// that tests can reach every rule with short lines.
type limits struct {
	text  int // longest string
	image int // shortest image in a message that gets a file of its own
}

// prepare returns the line in the form to be written: over-long texts cut, images moved to
// blobs, members that only matter while a program runs removed. The line is an entry or a
// header, one JSON object; it is never modified, because memory keeps the full text. If
// nothing has to change, out is line itself.
//
// All other bytes are copied: numbers keep their spelling, objects the order of their keys,
// strings their lone surrogates. prepare is idempotent.
//
// The first failure to store an image is returned with the line, which then holds that
// image inline: err means that the line is larger than it should be, never that content is
// missing. Without blobs (nil) every image stays inline, which is not an error.
func prepare(line []byte, blobs blobSink) (out []byte, err error) {
	return prepareWithin(line, blobs, limits{text: maxPersistChars, image: minBlobChars})
}

func prepareWithin(line []byte, blobs blobSink, lim limits) (out []byte, err error) {
	if ordinary(line, lim) {
		return line, nil
	}
	p := preparer{line: line, lim: lim, blobs: blobs}
	p.value(skipBlank(line, 0), place{})
	return p.result(), p.err
}

// plain reports whether prepare leaves line unchanged, as far as that is known without
// parsing it: it is too short for a text to be cut or an image to be moved, and contains no
// word, in any spelling, that another rule concerns. Most lines are plain, and this check
// costs a fraction of [ordinary].
func plain(line []byte) bool {
	if len(line) > minBlobChars {
		return false
	}
	for _, word := range [][]byte{[]byte("partialJson"), []byte("jsonlEvents"), []byte("image_url"), []byte(`\u`)} {
		if bytes.Contains(line, word) {
			return false
		}
	}
	return true
}

// ordinary reports whether no rule can apply to line. It looks only at strings, so that a
// line costs little more than finding its quotes; false means that the line must be parsed.
func ordinary(line []byte, lim limits) bool {
	for i := quoteFrom(line, 0); i < len(line); {
		end := stringEnd(line, i)
		if end-i-2 >= lim.text { // a unit takes at least a byte
			return false
		}
		if next := skipBlank(line, end); next < len(line) && line[next] == ':' {
			if !ordinaryMember(line, line[i+1:end-1], skipBlank(line, next+1), lim) {
				return false
			}
		}
		i = quoteFrom(line, end)
	}
	return true
}

// ordinaryMember reports whether the key and the beginning of the value at val, if it is a
// string, require no change.
func ordinaryMember(line, key []byte, val int, lim limits) bool {
	switch string(key) {
	case "partialJson", "jsonlEvents":
		return false
	case "image_url": // "data:…" or something that begins with an escape
		return val+1 >= len(line) || line[val] != '"' || line[val+1] != 'd' && line[val+1] != '\\'
	case "data":
		return val >= len(line) || line[val] != '"' || stringEnd(line, val)-val-2 < lim.image
	}
	return bytes.IndexByte(key, '\\') < 0
}

// preparer collects the changes to one line.
type preparer struct {
	line  []byte
	lim   limits
	blobs blobSink
	edits []edit // in no particular order; they do not overlap
	err   error  // the first failure to store an image
}

func (p *preparer) replace(from, to int, text []byte) {
	p.edits = append(p.edits, edit{span{int64(from), int64(to)}, text})
}

// result returns the line with the edits applied, in new memory if there are any.
func (p *preparer) result() []byte {
	if len(p.edits) == 0 {
		return p.line
	}
	slices.SortFunc(p.edits, func(a, b edit) int { return int(a.off - b.off) })
	size := len(p.line)
	for _, e := range p.edits {
		size += len(e.text) - int(e.end-e.off)
	}
	out, at := make([]byte, 0, size), int64(0)
	for _, e := range p.edits {
		out = append(append(out, p.line[at:e.off]...), e.text...)
		at = e.end
	}
	return append(out, p.line[at:]...)
}

// role is the meaning of a member's key to prepare.
type role uint8

const (
	roleOther role = iota
	roleTransient
	roleSignature
	roleContent
	roleLineCount
	roleType
	roleMimeType
	roleData
	roleResult
	roleImageURL
)

// roleOf returns the role of a key, which is given with its quotes.
func roleOf(key []byte) role {
	name := inside(key)
	if bytes.IndexByte(name, '\\') >= 0 {
		s, _ := rawjson.String(key)
		name = []byte(s)
	}
	switch string(name) {
	case "partialJson", "jsonlEvents":
		return roleTransient
	case "thinkingSignature", "thoughtSignature", "textSignature":
		return roleSignature
	case "content":
		return roleContent
	case "lineCount":
		return roleLineCount
	case "type":
		return roleType
	case "mimeType":
		return roleMimeType
	case "data":
		return roleData
	case "result":
		return roleResult
	case "image_url":
		return roleImageURL
	}
	return roleOther
}
