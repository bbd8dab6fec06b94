package plan

import (
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// Now is the present state of a path.
type Now struct {
	State   change.State
	Content []byte // of a file or a link, in its form on disk; nil for other kinds

	Document bool   // it is an open document
	Text     string // of the document; it has no byte order mark
	Version  int64  // of the document
	Dirty    bool   // the document has unsaved changes

	Dir    bool   // the special file is a directory
	Parent string // the parent that exists but is not a directory, "" if there is none

	Real    string // the path with the links of its directories resolved, "" if it is the path itself
	Same    string // equal for two names of one directory entry, as on a disk that ignores case; "" for the path itself
	Unknown bool   // it can't be read, so State equals nothing

	Block string // the reason why it can't be changed: wire.Denied, wire.Locked or wire.ReadOnly
	Why   string // the reason as a sentence
}

// Chain is the changes of a path that are undone, oldest first.
type Chain struct {
	Path  string // absolute
	Steps []change.Step
}

// Selection is the set of changes to undo.
type Selection struct {
	Chains  []Chain
	Records []*change.Record // those of the steps, in file order
	Newer   []*change.Record // unreadable records, which are not undone
	Redoes  string           // the rewind that is undone
	Later   map[string]bool  // the paths with a later active change that is not undone
	Hunks   []change.HunkRef // the pending hunks that are undone, instead of whole records
	Wants   map[string]Want  // the wanted states of paths of which only some hunks are undone

	Derived map[string]Derived // the paths with steps whose states are computed from patches
}

// Derived is a path with steps whose states are computed from its present one. Its content is not in the store.
type Derived struct {
	Reason, Text string // why they could not be computed, "" if they could
}

// Want is the wanted state of a path. Content is that of a file.
type Want struct {
	State   change.State
	Content []byte
}

// Input is the input of [Make].
type Input struct {
	Selection

	Present func(abs string) (Now, error)               // its errors have a kind
	Content func(sha256 string) ([]byte, error)         // contents.ErrMissing, contents.ErrDamaged
	Under   func(dir string) (paths []string, ok bool)  // the files below a directory; ok is false if there are too many
	Find    func(s change.State, was string) (p string) // a renamed file with this content; nil: no search
	Missing func(error) bool                            // whether an error of Content means missing rather than damaged; nil: all errors do

	Named  []string // paths that the user named; alsoEditor is no conflict for them
	Except []string // paths that are left out

	Head       string // the commit of HEAD, "" if unknown
	Branch     string // "" if unknown or detached
	AcrossHead bool   // the user accepted that HEAD moved
}

// Path is the planned change of one path.
type Path struct {
	Path    string
	Action  string // of package wire
	Now     Now
	Want    change.State
	Content []byte // of Want if the store does not have it, as after a merge

	By             []string // the records, in file order
	Added, Removed int      // lines
	Yours          []wire.Range
	Reason, Text   string // of a conflict
	Places         []wire.Range
	Hint           string

	merged bool
	hidden bool // a later change that stays has already undone it
}

// Plan is the planned changes of all paths, sorted by path.
type Plan struct {
	Paths     []Path
	Records   []string // that are undone, in file order
	Redoes    string
	Hunks     []change.HunkRef // instead of Records
	Except    []string
	HeadMoved bool
	Commits   []string // that the records made, which stay
	Conflicts int
	Limits    []wire.Limit
}
