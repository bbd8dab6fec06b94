package commands

import (
	"context"
	"encoding/json"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

var entries = New(Spec{
	Name: "xcsh.entries", Title: "Session Entries", Flags: ReadOnly, Arg: "source",
	Doc: "Return the raw entries of a session in file order.",
}, runEntries)

// EntriesArgs are the arguments of xcsh.entries.
type EntriesArgs struct {
	Subject
	Since    string `json:"since,omitempty" jsonschema:"Only the entries after this one."`
	Cursor   string `json:"cursor,omitempty" jsonschema:"The cursor of an earlier result, for the next page; pass source as for the first one."`
	Limit    *int   `json:"limit,omitempty" jsonschema:"The largest number of entries, 1 to 5000. Without limit, maxBytes and cursor the result is complete."`
	MaxBytes *int   `json:"maxBytes,omitempty" jsonschema:"The largest size of the entries in bytes, 1 to 4194304. A larger entry comes alone."`
}

func (a EntriesArgs) check() error {
	if a.Cursor != "" && a.Since != "" {
		return fault.New(fault.InvalidArgument, "\"since\" cannot be combined with \"cursor\".").With("field", "since")
	}
	return checkPage(a.Limit, a.MaxBytes, paging.MaxItems)
}

// EntriesResult holds raw entries.
type EntriesResult struct {
	Header  json.RawMessage   `json:"header"`
	Entries []json.RawMessage `json:"entries" jsonschema:"As they are in the file; those of an older version are converted to the current format."`
	Next    string            `json:"next,omitempty" jsonschema:"The cursor of the next page; absent if this is the last one. The pages speak of the entries that there were at the first one."`
}

func runEntries(ctx context.Context, env *Env, a EntriesArgs) (r EntriesResult, err error) {
	err = env.withSource(ctx, a.Subject, func(sub subject) error {
		at, err := a.cursor(sub)
		if err != nil {
			return err
		}
		r = EntriesResult{Header: sub.doc.HeaderLine(), Entries: []json.RawMessage{}}
		room := limits(a.Limit, a.MaxBytes, paging.MaxItems).Room()
		paged := a.Cursor != "" || a.Limit != nil || a.MaxBytes != nil
		if !paged {
			err = paging.CheckEntries(sub.doc, at.Place, "limit")
		}
		for i := at.Place; i < at.Entries && err == nil; i++ {
			if paged && room.Full() {
				r.Next = at.At(at.Kind, i).String()
				return nil
			}
			e, err := sub.doc.Entry(i)
			if err != nil {
				return err
			}
			if paged && !room.Take(len(e.Raw)) {
				r.Next = at.At(at.Kind, i).String()
				return nil
			}
			r.Entries = append(r.Entries, e.Raw)
		}
		return err
	})
	return r, err
}

// cursor returns where the entries of the result begin.
func (a EntriesArgs) cursor(sub subject) (paging.Cursor, error) {
	if a.Cursor != "" {
		return paging.Parse(a.Cursor, sub.doc, paging.Entries)
	}
	at := paging.Begin(sub.doc, paging.Entries)
	if a.Since != "" {
		i, err := sub.doc.Index(a.Since)
		if err != nil {
			return at, err
		}
		at.Place = i + 1
	}
	return at, nil
}
