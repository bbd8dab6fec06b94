package team

import (
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// Visibility says who can see a session.
type Visibility int

// The visibilities.
const (
	Private Visibility = 0 // only its owner
	Shared  Visibility = 1 // the members of the team
)

// Opening describes the session of a file, to find it in a store or to create it there.
type Opening struct {
	Project  int
	SID      SID    // of the session if it has to be created
	HeaderID string // the id in the header of the file
	Dialect  session.Dialect
	FileName string // at most 157 characters of A-Z a-z 0-9 . _ -, ending in .jsonl; else an InvalidArgument error
	Head     []byte
	Created  time.Time // the header's timestamp; shown, never compared
	Visible  Visibility
	Title    string
}

// Known is a session of a store that has the header id of a file.
type Known struct {
	SID     SID
	Variant int // 0, or the number of a fork
	Visible Visibility
	Owner   int // see Hello.User
}

// Head is the beginning of a session file, and what lists show about the session.
type Head struct {
	Bytes []byte // the title slot, if there is one, and the header line
	Rev   int    // grows when Bytes change

	// Only Head returns these.
	FileName string
	Dialect  session.Dialect
	Variant  int
	HeaderID string

	// Only SetHead uses these.
	Title       string
	FirstPrompt string // a store keeps the first 200 characters
	Messages    int
	Cost        float64 // in US dollars; a store keeps four digits after the point
}
