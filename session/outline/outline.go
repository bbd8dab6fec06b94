// Package outline presents a session file as an editor presents a program: its turns and
// branches, a summary of each line, and the targets that its lines name. Everything is found
// from the index of a [session.Document] and by byte offsets; of a large file only the shown
// parts are decoded.
//
// A text may come from anywhere, so that every function accepts any text, reads no more of
// it than its limits allow and shows nothing that would load something.
package outline

import (
	"github.com/xcsh-ls/xcsh-ls/session"
)

// View is a session and the text it was parsed from with [session.ParseText]. It is safe for
// concurrent use.
type View struct {
	Doc  *session.Document
	Text string
}

// Branch is a range of the file in which every entry is the child of the one before it, apart
// from hidden ones. A file without branches is one.
type Branch struct {
	From        int // the entry it continues from, -1 for a root
	First, Last int // its entries
	Turns       []Turn
}

// Turn is a prompt and the entries up to the next prompt.
type Turn struct {
	Prompt, Last int // its entries
	Answer       int // the last answer of a model, -1 for none
}

// Branches returns the branches in the order of the file, as if hidden entries were not there.
// It reads no entry.
func (v View) Branches() []Branch {
	var branches []Branch
	last := -1
	for i, parent := range v.Doc.ShownParents() {
		if v.Doc.Hidden(i) {
			continue
		}
		if len(branches) == 0 || parent != last {
			branches = append(branches, Branch{From: parent, First: i})
		}
		last = i
		b := &branches[len(branches)-1]
		b.Last = i
		switch v.Doc.Role(i) {
		case "user":
			b.Turns = append(b.Turns, Turn{Prompt: i, Answer: -1})
		case "assistant":
			if n := len(b.Turns); n > 0 {
				b.Turns[n-1].Answer = i
			}
		}
		if n := len(b.Turns); n > 0 {
			b.Turns[n-1].Last = i
		}
	}
	return branches
}

// raw returns the bytes of entry i as they are in the text.
func (v View) raw(i int) []byte {
	from, to := v.Doc.Span(i)
	return []byte(v.Text[from:to])
}
