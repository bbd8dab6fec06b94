package capture

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// MaxEntry is the maximum size of an entry's data in bytes. A longer list of changes is stored as a content that the entry names.
const MaxEntry = 64 << 10

// Origin is the call that changes files.
type Origin struct {
	PromptID   string // the entry of the turn's prompt; "" for a command of the user
	ToolCallID string
	Tool       string
	Folder     string // absolute
}

// Record returns a record of changes at absolute paths, sorted by path. It omits changes with equal states, and paths that JSON can't
// represent; the limit budget then marks the record as incomplete.
func (o Origin) Record(changes []change.Change) change.Record {
	r := change.Record{V: change.Version, PromptID: o.PromptID, ToolCallID: o.ToolCallID, Tool: o.Tool, Root: change.RootURI(o.Folder)}
	for _, c := range changes {
		switch {
		case c.After != nil && c.Before.Same(*c.After):
			continue
		case !utf8.ValidString(c.Path) || strings.ContainsRune(c.Path, 0):
			r.Limits = AddLimits(r.Limits, change.LimitBudget)
			continue
		}
		if filepath.IsAbs(c.Path) {
			c.Path = change.RelativePath(o.Folder, c.Path)
		}
		r.Changes = append(r.Changes, c)
	}
	slices.SortStableFunc(r.Changes, func(a, b change.Change) int { return strings.Compare(a.Path, b.Path) })
	return r
}

// AddLimits returns the union of limits and more, sorted and without duplicates.
func AddLimits(limits []string, more ...string) []string {
	limits = append(slices.Clone(limits), more...)
	slices.Sort(limits)
	return slices.Compact(limits)
}

// Void returns the record that voids the record of a change that did not happen.
func Void(id string) change.Record { return change.Record{V: change.Version, Void: id} }

// Encode returns the data of a record's entry. If it is too long, put stores the changes and the entry names them.
func Encode(r change.Record, put func(content []byte) (sha256 string, err error)) (json.RawMessage, error) {
	data, err := encode(r)
	if err != nil || len(data) <= MaxEntry {
		return data, err
	}
	changes, err := encode(r.Changes)
	if err != nil {
		return nil, err
	}
	sum, err := put(changes)
	if err != nil {
		return nil, err
	}
	r.Manifest, r.Changes = sum, nil
	if data, err = encode(r); err == nil && len(data) > MaxEntry {
		err = fault.New(fault.TooLarge, "The record of the change would have %d bytes, which is too long for an entry of the session.", len(data))
	}
	return data, err
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
