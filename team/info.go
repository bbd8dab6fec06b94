package team

import (
	"time"

	"github.com/xcsh-ls/xcsh-ls/session"
)

// ListQuery selects a page of a list. For the next page, Before and BeforeSID are those of the last
// session of the page before.
type ListQuery struct {
	Project   int
	Before    time.Time // the zero time for the first page
	BeforeSID SID
	Limit     int
}

// Info is a session as lists show it.
type Info struct {
	SID         SID
	Project     int
	Owner       string
	Visible     Visibility
	HeaderID    string
	Variant     int
	Dialect     session.Dialect
	Title       string
	FirstPrompt string
	Messages    int
	Cost        float64
	Bytes       int64 // of the body
	Created     time.Time
	Modified    time.Time     // by the store's clock; an append changes it at most once a minute
	Writer      string        // the label of the device that has the lease; empty without one
	WriterLeft  time.Duration // until the lease ends
	Deleted     bool
}

// TextKind is the kind of a filed text.
type TextKind int

// The kinds. Their values are part of the protocol.
const (
	PromptText  TextKind = 0
	AnswerText  TextKind = 1
	TitleText   TextKind = 2
	SummaryText TextKind = 3 // of a compaction
)

// TitleOff is the offset of the text of a title that is in the head.
const TitleOff = -1

// Text is a text of a session that a search can find.
type Text struct {
	Off   int64 // of its line in the body, or TitleOff
	Kind  TextKind
	Entry string // the entry's id
	Body  string // after redaction, and cut by the caller
}

// Hit is a text that a search found.
type Hit struct {
	SID     SID
	Off     int64
	Kind    TextKind
	Entry   string
	Excerpt string // the matched words are between <b> and </b>; the text around them is not escaped
}
