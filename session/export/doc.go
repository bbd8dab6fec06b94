// Package export renders one conversation for readers without the program: [HTML] as a page for a browser, [Markdown]
// for Markdown viewers, [JSONL] as a session file and [Text] as the plain text of a dump. A [Redactor] replaces
// secrets in the output.
//
// All of them read a [Doc] and write to an io.Writer; they open no files. The transcript is untrusted (it comes from
// models, tools and web pages), so a page runs and loads nothing of it. Values of unexpected shape are omitted or shown
// as they are; they are not errors. The only errors are those of the writer and of Doc.Entries.
//
// The page's viewer is in the directory viewer: a script that creates elements by name and never parses a string as
// HTML. Its Markdown, syntax highlighting and diffs come from viewer/rendering.gen.js, a bundle of modules shared with
// the VS Code panel; `npm run rendering` in editors/vscode writes it. The policy in the page's head allows the script
// by its hash and forbids everything else.
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
	// after the call that received it. It may be iterated several times and must yield the same each time:
	// no entry is kept, so that an export needs only the memory of its largest entry. An error ends the
	// rendering.
	Entries iter.Seq2[json.RawMessage, error]
	// LeafID is the last entry of the active path.
	LeafID string
	// Damaged is the number of lines of the file that could not be read. They are not among the entries.
	Damaged int
	// Redacted returns how often each kind of secret was replaced, once all entries were read. Nil means that
	// secrets were not searched for. [Redactor.Doc] sets it.
	Redacted func() map[string]int
	// PathIDs are the ids from the root to the leaf. Nil means that the file has no
	// branches, so that every entry is on the path. If it is empty, none is.
	PathIDs map[string]bool
	// OnPath reports, without PathIDs, whether an entry is on the active path, by its number in the order of Entries. It is only for a file
	// in which no two entries share an id, and needs no memory for the ids. It must be safe for concurrent use.
	OnPath func(n int) bool
	// Labels are the current labels by entry id.
	Labels map[string]string
	// Messages yields the active context, as a model would see it. The rules are those of Entries. Only [Text] uses
	// it.
	Messages iter.Seq2[json.RawMessage, error]
	// Model is "provider/id".
	Model         string
	ThinkingLevel string
	SystemPrompt  string
	Tools         []Tool
	// Title is the display name, FileName the base name of the session file.
	Title, FileName string
}

// entries is d.Entries, which may be nil.
func (d *Doc) entries() iter.Seq2[json.RawMessage, error] { return orNone(d.Entries) }

// messages is d.Messages, which may be nil.
func (d *Doc) messages() iter.Seq2[json.RawMessage, error] { return orNone(d.Messages) }

func orNone(lines iter.Seq2[json.RawMessage, error]) iter.Seq2[json.RawMessage, error] {
	if lines == nil {
		return func(func(json.RawMessage, error) bool) {}
	}
	return lines
}

// Empty reports whether a dump of d would show no message. It reads up to the first one that is shown.
//
// Differs: the original tests the finished text, which always has a configuration
// section and thus is never empty.
func Empty(d Doc) (bool, error) {
	for m, err := range d.messages() {
		if err != nil {
			return false, err
		}
		if _, _, ok := dumperOf(m); ok {
			return false, nil
		}
	}
	return true, nil
}
