package pi

import (
	"bytes"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// field is a member of a record.
type field int

// The members that are read.
const (
	fID field = iota
	fCommand
	fSuccess
	fError
	fData
	fMessage
	fMethod
	fUpdate
	fToolCallID
	fToolName
	fArgs
	fParent
	fPartial
	fResult
	fIsError
	fToolResults
	fAttempt
	fMaxAttempts
	fDelay
	fErrorMessage
	fFinalError
	fReason
	fAborted
	fWillRetry
	fSteering
	fFollowUp
	fLevel
	fName
	fDelta
	fExtension
	fEvent
	fTitle
	fOptions
	fPlaceholder
	fPrefill
	fTimeout
	fStatusKey
	fStatusText
	fWidgetKey
	fWidgetLines
	fText
	fType
	fChunkID
	fIndex
	fCount
	fByteLength
	fVersions
	fAgentInvoked
	fThinkingLevel
	fTargetID
	fURL
	fields // their number
)

// fieldNames are the names of the members, by field.
var fieldNames = []string{
	"id", "command", "success", "error", "data", "message", "method", "assistantMessageEvent", "toolCallId",
	"toolName", "args", "parentToolCallId", "partialResult", "result", "isError", "toolResults", "attempt", "maxAttempts",
	"delayMs", "errorMessage", "finalError", "reason", "aborted", "willRetry", "steering", "followUp", "level", "name",
	"delta", "extensionPath", "event", "title", "options", "placeholder", "prefill", "timeout", "statusKey",
	"statusText", "widgetKey", "widgetLines", "text", "type", "chunkId", "index", "count", "byteLength",
	"supportedProtocolVersions", "agentInvoked", "thinkingLevel", "targetId", "url",
}

// record is a line of pi. Its values are parts of the line; those that are missing or have another type
// than expected are zero.
type record struct {
	typ    string
	size   int // of the line
	values [fields][]byte
}

// parse reads a line. It reports false for a line that is not a record: an object with a type. The record keeps
// no part of the line.
func parse(line []byte) (r record, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || !rawjson.Valid(line) || tooDeep(line) {
		return record{}, false
	}
	r.size = len(line)
	rawjson.GetEach(bytes.Clone(line), fieldNames, r.values[:])
	r.typ, ok = rawjson.String(r.values[fType])
	return r, ok && r.typ != ""
}

// tooDeep reports whether values are nested so deeply that encoding/json would not take them.
func tooDeep(line []byte) bool {
	const enough = 5000 // half of the limit there
	return bytes.Count(line, []byte{'['})+bytes.Count(line, []byte{'{'}) > enough && !json.Valid(line)
}

// salvage reads a record at the end of a line that something else begins: an extension, or a program that it started,
// has written to pi's output.
func salvage(line []byte) (record, bool) {
	at := len(line)
	for _, start := range []string{`{"type":`, `{"id":`} {
		if i := bytes.Index(line, []byte(start)); i > 0 {
			at = min(at, i)
		}
	}
	return parse(line[at:])
}

// raw returns a member as JSON, nil if it is missing or null.
func (r *record) raw(f field) json.RawMessage {
	if v := r.values[f]; rawjson.Kind(v) != 'n' {
		return v
	}
	return nil
}

// object returns a member that is an object, else nil.
func (r *record) object(f field) json.RawMessage {
	if v := r.values[f]; rawjson.Kind(v) == '{' {
		return v
	}
	return nil
}

func (r *record) string(f field) string {
	s, _ := rawjson.String(r.values[f])
	return s
}

func (r *record) number(f field) float64 {
	n, _ := rawjson.Float(r.values[f])
	return n
}

func (r *record) isTrue(f field) bool { return string(r.values[f]) == "true" }

// strings returns a member that is an array of strings, at most limit of them.
func (r *record) strings(f field, limit int) []string { return stringsOf(r.values[f], limit) }

// elements returns the elements of a member that is an array.
func (r *record) elements(f field) []json.RawMessage {
	list := []json.RawMessage{}
	rawjson.Elements(r.values[f], func(v []byte) bool {
		list = append(list, v)
		return true
	})
	return list
}

func stringsOf(v []byte, limit int) (list []string) {
	rawjson.Elements(v, func(v []byte) bool {
		if s, ok := rawjson.String(v); ok {
			list = append(list, s)
		}
		return len(list) < limit
	})
	return list
}
