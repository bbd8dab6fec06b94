package capture

import (
	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Append appends a record to the session and returns the id of its entry. If it returns an id and an error, the entry could not
// be saved yet.
type Append func(r change.Record) (id string, err error)

// Ahead appends a record and then makes its change. If the change fails, a second record voids the first. If the record can't be
// saved, the change is made without it, unless required is true.
func Ahead(r change.Record, appendTo Append, required bool, write func() error) error {
	id, err := appendTo(r)
	if err != nil && (id == "" || required) {
		if id != "" {
			_, _ = appendTo(Void(id)) // the first failure is returned
		}
		return Unrecorded(err)
	}
	if err := write(); err != nil {
		_, _ = appendTo(Void(id)) // best effort: a record of a change that did not happen is harmless
		return err
	}
	return nil
}

// Unrecorded returns the error for a change that was not made because it can't be recorded. It has the kind of the cause.
func Unrecorded(err error) error {
	return fault.New(fault.KindOf(err), "The change could not be recorded, so no file was changed: %w", err)
}
