package rewind

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// Step is the change of one path. The contents of both states are in the store; those of a document are its text in UTF-8.
type Step struct {
	Path     string       `json:"path"`           // absolute, without links above it
	Name     string       `json:"name,omitempty"` // the path in error messages, as the user knows it; "" is Path
	Old      change.State `json:"old"`            // the present state; of kind special: a directory that will be empty
	New      change.State `json:"new"`
	Document bool         `json:"document,omitempty"` // in the editor, not on disk
	Version  int64        `json:"version,omitempty"`  // of the document

	Temp string `json:"temp,omitempty"` // the staged file, in the directory of the target or the nearest existing parent
}

// Job is a rewind to carry out.
type Job struct {
	Label string          // of the undo step of documents
	Steps []Step          // in any order, at most one of each path
	Gone  []string        // directories that a record created: removed if they are empty afterwards
	Entry json.RawMessage // passed to Commit, which appends the record
}

// Contents returns the stored contents of states.
type Contents interface {
	// Get returns a content whose hash was verified.
	Get(sha256 string) ([]byte, error)

	// Has reports whether a content is stored.
	Has(sha256 string) bool
}

// Runner carries out the rewinds of one session, one at a time.
type Runner struct {
	Fs        afero.Fs
	Contents  Contents
	Dir       string // for the journal: the session's directory of contents
	Pointers  string // the directory of the pointers of all sessions
	Session   string // the path of the session file
	Documents change.Documents
	Log       *zap.Logger

	// Commit appends the record of a rewind and moves the leaf. key identifies the rewind and is part of the record: if the session
	// already has a record with this key, it is not appended again. Commit returns the id of the entry.
	Commit func(ctx context.Context, key string, entry json.RawMessage) (id string, err error)

	// Recorded returns the id of the record with a key, "" if the session has none. A nil Recorded finds none.
	Recorded func(key string) (id string)

	late []change.DocumentEdit // the edits without an answer, which the editor may still apply

	// at is called before each step that writes, for tests.
	at func(step string)
}

// Done is the result of a rewind.
type Done struct {
	ID      string   // of the record
	Unsaved []string // documents that are not saved
}

func (s *Step) name() string { return cmp.Or(s.Name, s.Path) }

func (r *Runner) step(name string) {
	if r.at != nil {
		r.at(name)
	}
}
