package senses

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

// Editor is an editor that can be asked about code. Positions are lines from 0, and characters in the editor's own unit.
type Editor interface {
	// Actions returns the requests that the editor answers, some of [Requests]. The result may change from call to call.
	Actions() []string

	// Ask sends a request and returns the answer as it is. It returns [ErrUnsupported] for a request that the editor does
	// not answer, and [ErrNoAnswer] when limit has passed.
	Ask(ctx context.Context, action string, limit time.Duration, params any) (json.RawMessage, error)

	// URI returns the URI by which the editor knows a file.
	URI(path string) string

	// Path returns the absolute path of a file: URI; false for any other.
	Path(uri string) (string, bool)

	// Offset returns the byte offset of a position in a text. It is always a valid one.
	Offset(text string, p Position) int

	// Position is the inverse of Offset.
	Position(text string, offset int) Position
}

// The errors of [Editor.Ask].
var (
	ErrUnsupported = errors.New("the editor does not answer this request")
	ErrNoAnswer    = errors.New("the editor did not answer in time")
)

// The requests to editors. On the wire they are preceded by "xcsh/editor/".
const (
	Diagnostics    = "diagnostics"
	Definition     = "definition"
	TypeDefinition = "typeDefinition"
	Implementation = "implementation"
	References     = "references"
	Hover          = "hover"
	Symbols        = "symbols"
	Rename         = "rename"
	CodeActions    = "codeActions"
	Editors        = "editors"
	Selection      = "selection"
)

// Requests are all requests to editors.
var Requests = []string{
	Diagnostics, Definition, TypeDefinition, Implementation, References, Hover, Symbols, Rename, CodeActions, Editors, Selection,
}

// can reports whether the editor answers a request.
func (s *Senses) can(request string) bool {
	return s.o.Editor != nil && slices.Contains(s.o.Editor.Actions(), request)
}
