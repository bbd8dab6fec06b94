package session

import "fmt"

// ProblemKind names what is wrong with a session file. The names are part of the
// wire protocol.
type ProblemKind string

// The problems a reader can meet. None of them keeps the rest of a file from loading.
const (
	MalformedLine    ProblemKind = "malformedLine"    // a line that is not JSON
	TornTail         ProblemKind = "tornTail"         // the last line stops in the middle
	MissingNewline   ProblemKind = "missingNewline"   // the last line is whole but not ended
	ExtraValue       ProblemKind = "extraValue"       // a second value on one line
	NotAnEntry       ProblemKind = "notAnEntry"       // JSON, but not an object with a type
	LineTooLong      ProblemKind = "lineTooLong"      // longer than maxLine, passed over
	ByteOrderMark    ProblemKind = "byteOrderMark"    // the file starts with a BOM
	ExtraHeader      ProblemKind = "extraHeader"      // a session line after the first
	MissingID        ProblemKind = "missingId"        // an entry without an id
	DuplicateID      ProblemKind = "duplicateId"      // an id met before; the later line counts
	OrphanEntry      ProblemKind = "orphanEntry"      // the parent is not in the file
	ParentCycle      ProblemKind = "parentCycle"      // the parents lead in a circle
	MissingKeptEntry ProblemKind = "missingKeptEntry" // a compaction keeps from an entry that is not before it
	MissingBlob      ProblemKind = "missingBlob"      // an image's bytes are gone
	NoHeader         ProblemKind = "noHeader"         // no readable session header
	NewerFormat      ProblemKind = "newerFormat"      // a version above ours: readable, not writable
	UnreadableFile   ProblemKind = "unreadableFile"   // the operating system would not let us read it
)

// Problem is one finding about a session file, fit for a person.
type Problem struct {
	Kind    ProblemKind `json:"kind"`
	Line    int         `json:"line,omitempty"` // 1-based physical line
	EntryID string      `json:"entryId,omitempty"`
	Message string      `json:"message"`
	Lost    bool        `json:"lost,omitempty"` // content that no reader can show
}

func problemAt(kind ProblemKind, line int, lost bool, format string, args ...any) Problem {
	return Problem{Kind: kind, Line: line, Lost: lost, Message: fmt.Sprintf(format, args...)}
}
