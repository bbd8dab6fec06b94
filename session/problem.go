package session

import "fmt"

// ProblemKind is a kind of problem in a session file. The names are part of the wire
// protocol.
type ProblemKind string

// The problems that a reader can find. None of them keeps the rest of a file from loading.
const (
	malformedLine    ProblemKind = "malformedLine"    // a line that is not JSON
	tornTail         ProblemKind = "tornTail"         // the last line stops in the middle
	missingNewline   ProblemKind = "missingNewline"   // the last line is whole but not ended
	extraValue       ProblemKind = "extraValue"       // a second value on one line
	NotAnEntry       ProblemKind = "notAnEntry"       // JSON, but not an object with a type
	lineTooLong      ProblemKind = "lineTooLong"      // a value, or an id in it, that is too long
	byteOrderMark    ProblemKind = "byteOrderMark"    // the file starts with a BOM
	ExtraHeader      ProblemKind = "extraHeader"      // a session line after the first
	MissingID        ProblemKind = "missingId"        // an entry without an id
	DuplicateID      ProblemKind = "duplicateId"      // an id that occurred before; the later line counts
	OrphanEntry      ProblemKind = "orphanEntry"      // the parent is not in the file
	ParentCycle      ProblemKind = "parentCycle"      // the parents form a cycle
	missingKeptEntry ProblemKind = "missingKeptEntry" // a compaction keeps from an entry that is not before it
	missingBlob      ProblemKind = "missingBlob"      // an image's bytes are missing
	NoHeader         ProblemKind = "noHeader"         // no readable session header
	newerFormat      ProblemKind = "newerFormat"      // a version above CurrentVersion: readable, not writable
	UnreadableFile   ProblemKind = "unreadableFile"   // the operating system refused to read it
	UnfinishedTask   ProblemKind = "unfinishedTask"   // a subagent's transcript without a result
)

// Problem is one finding about a session file, with a message for the user.
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
