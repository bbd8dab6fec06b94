// Package export renders one conversation for people who do not have the program:
// [HTML] as a single page for a browser, [Text] as the plain text of a dump.
//
// Both read a [Doc] and write to an io.Writer; they know nothing of files. Whatever
// the transcript holds is data from strangers (models, tools, web pages), so a page
// executes nothing and loads nothing, and odd shapes are left out or shown as they
// are, never an error. The only errors are those of the writer and of Doc.Entries.
//
// A page has no script at all. Its one style sheet is allowed by hash, everything
// else is forbidden by the content security policy in its head.
package export

import (
	"encoding/json"
	"iter"
)

// Tool is a tool that the model may call.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage // JSON schema; nil prints no parameters
}

// Doc is the conversation to render. The zero value of every field means "none".
type Doc struct {
	// Header is the session header line.
	Header json.RawMessage
	// Entries yields every entry of the file in file order, raw and each one JSON
	// value. It is iterated several times and must yield the same each time: HTML
	// keeps no entry, so that a page costs the memory of its largest entry. An
	// error ends the rendering.
	Entries iter.Seq2[json.RawMessage, error]
	// LeafID is the last entry of the active path.
	LeafID string
	// PathIDs are the ids from the root to the leaf. Nil means that the file has no
	// branches: every entry is on the path. A map without ids means that none is.
	PathIDs map[string]bool
	// Labels are the current labels by entry id.
	Labels map[string]string
	// Messages is the active context: what the model would see. Only [Text] uses it.
	Messages []json.RawMessage
	// Model is "provider/id".
	Model         string
	ThinkingLevel string
	SystemPrompt  string
	Tools         []Tool
	// Title is the display name, FileName the base name of the session file.
	Title, FileName string
}

// Empty reports whether a dump of d would show no message, so that the caller says
// so instead of writing one.
//
// Differs: the original tests the finished text, which always has a configuration
// section and thus is never empty.
func Empty(d Doc) bool {
	for _, m := range d.Messages {
		if _, _, ok := dumperOf(m); ok {
			return false
		}
	}
	return true
}
