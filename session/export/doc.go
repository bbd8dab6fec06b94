// Package export renders one conversation for people who do not have the program: [HTML] as a page for a browser,
// [Markdown] for everything that shows Markdown, [JSONL] as a session file and [Text] as the plain text of a dump.
// A [Redactor] replaces secrets on the way.
//
// All read a [Doc] and write to an io.Writer; they know nothing of files. Whatever the transcript holds is data from
// strangers (models, tools, web pages), so a page runs nothing of it and loads nothing, and odd shapes are left
// out or shown as they are, never an error. The only errors are those of the writer and of Doc.Entries.
//
// The page's viewer is in the directory viewer: a script without dependencies that makes elements by name and
// never reads a text as HTML. It is allowed by hash, everything else is forbidden by the policy in the page's head.
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
	// Entries yields every entry of the file in file order, raw and each one JSON value, which may be reused
	// after the call that got it. It may be iterated several times and must yield the same each time: no
	// entry is kept, so that an export costs the memory of its largest entry. An error ends the rendering.
	Entries iter.Seq2[json.RawMessage, error]
	// LeafID is the last entry of the active path.
	LeafID string
	// Damaged is how many lines of the file could not be read and so are not among the entries.
	Damaged int
	// Redacted tells, once all entries were seen, how often each kind of secret was replaced. Nil means that
	// nothing was looked for. [Redactor.Doc] sets it.
	Redacted func() map[string]int
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

// entries is d.Entries, which may be nil.
func (d *Doc) entries() iter.Seq2[json.RawMessage, error] {
	if d.Entries == nil {
		return func(func(json.RawMessage, error) bool) {}
	}
	return d.Entries
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
