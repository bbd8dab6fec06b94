// Package fault is the one shape every error of xcsh-ls takes before a user sees it: a kind that a
// program can branch on, one sentence that names the file or argument, and data for the editor. It
// imports nothing of the project but session/visible, so that every layer can use it and only the
// wire has to translate it.
package fault

import (
	"errors"
	"fmt"
	"maps"

	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

// Kind names a class of failure. The names are part of the wire protocol
// (docs/protocol.md, "Errors") and never change their meaning.
type Kind string

// The kinds of the wire protocol.
const (
	InvalidArgument Kind = "invalidArgument" // wrong type or unknown field; data: field
	ArgumentNeeded  Kind = "argumentNeeded"  // a picker must supply an argument; data: input, choices
	NotFound        Kind = "notFound"        // no such session, entry or file
	Ambiguous       Kind = "ambiguous"       // several sessions match; data: candidates
	OtherProject    Kind = "otherProject"    // the session belongs to another folder; data: path, cwd
	Damaged         Kind = "damaged"         // no readable header, nothing was changed; data: problems, salvageable
	NewerVersion    Kind = "newerVersion"    // readable, not writable; data: version
	NotPersistent   Kind = "notPersistent"   // the session lives in memory only
	Busy            Kind = "busy"            // a turn runs, or another live process writes; data: pid
	Stale           Kind = "stale"           // the file or document changed under us
	Conflict        Kind = "conflict"        // files can't be undone, nothing was changed; data: paths
	Denied          Kind = "denied"          // denied by a permission prompt or an approval mode
	IO              Kind = "io"              // refused by the operating system; data: path
	TooLarge        Kind = "tooLarge"        // the answer would exceed a limit; data: field, the argument to use instead
	NoSpace         Kind = "noSpace"         // the disk is full; data: path
	ReadOnly        Kind = "readOnly"        // the place cannot be written; data: path
	FileExists      Kind = "fileExists"      // the target exists; data: path
	NameInUse       Kind = "nameInUse"       // another session of the folder has the title; data: id, path
	OutsideRoot     Kind = "outsideRoot"     // the target is not where it may be; data: path
	Provider        Kind = "provider"        // the model's service failed; data: status, retryAfterMs
	Limit           Kind = "limit"           // a limit of the server ended the turn; data: limit
	Cancelled       Kind = "cancelled"       // the user or the client cancelled
	Offline         Kind = "offline"         // the team store cannot be reached
	Refused         Kind = "refused"         // the team store rejects the login, the connection or the version
	Internal        Kind = "internal"        // a bug
)

// Error is a failure that can be shown to users. Message is one sentence; Err, when set, is the
// cause and is not repeated in the message unless it helps.
type Error struct {
	Kind    Kind
	Message string
	Data    map[string]any
	Err     error
}

// Error returns the sentence.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error of kind with a formatted sentence. A %w verb wraps a cause.
func New(kind Kind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: OneLine(err.Error()), Err: errors.Unwrap(err)}
}

// OneLine returns s as one line in which nothing is hidden: a file may have any name, and its name
// must neither end a sentence nor control a terminal.
func OneLine(s string) string { return visible.Line(s) }

// With returns a copy of e that also carries key in its data.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Data = maps.Clone(e.Data)
	if c.Data == nil {
		c.Data = map[string]any{}
	}
	c.Data[key] = value
	return &c
}

// KindOf returns the kind of the first [Error] in err's chain, or [Internal] when
// there is none. A nil error has no kind: KindOf returns "".
func KindOf(err error) Kind {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// Is reports whether err's chain holds an [Error] of kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }
