package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/paging"
)

var contextOf = New(Spec{
	Name: "xcsh.context", Title: "Session Context", Flags: ReadOnly, Arg: "source",
	Doc: "Return the messages that a model would get, rebuilt by the rules of the program that wrote the session.",
}, runContext)

// ContextArgs are the arguments of xcsh.context.
type ContextArgs struct {
	Subject
	LeafID   EntryRef `json:"leafId,omitzero" jsonschema:"The last entry of the context. Default, and if unknown: the newest entry. null: an empty context."`
	Cursor   string   `json:"cursor,omitempty" jsonschema:"The cursor of an earlier result, for the next page; pass source as for the first one."`
	MaxBytes *int     `json:"maxBytes,omitempty" jsonschema:"Return a page of the messages: at most this many bytes, 1 to 4194304. A larger message comes alone. Without maxBytes and cursor the result is complete."`
}

func (a ContextArgs) check() error {
	if a.Cursor != "" && a.LeafID.Set {
		return fault.New(fault.InvalidArgument, "\"leafId\" cannot be combined with \"cursor\".").With("field", "leafId")
	}
	return checkRange("maxBytes", a.MaxBytes, paging.MaxBytes)
}

// EntryRef is an entry ID, null, or absent.
type EntryRef struct {
	Set  bool // the member was present
	Null bool // and was null
	ID   string
}

// IsZero reports whether the member was absent.
func (r EntryRef) IsZero() bool { return !r.Set }

// UnmarshalJSON takes a string or null.
func (r *EntryRef) UnmarshalJSON(b []byte) error {
	r.Set = true
	if r.Null = bytes.Equal(b, []byte("null")); r.Null {
		return nil
	}
	return json.Unmarshal(b, &r.ID)
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (r EntryRef) MarshalJSON() ([]byte, error) {
	if r.Null {
		return []byte("null"), nil
	}
	return json.Marshal(r.ID)
}

// leaf returns the leaf that a reference stands for, current if it is absent.
func (r EntryRef) leaf(current session.Leaf) session.Leaf {
	switch {
	case !r.Set:
		return current
	case r.Null:
		return session.AtRoot()
	}
	return session.At(r.ID)
}

// ContextResult is a rebuilt context and its source.
type ContextResult struct {
	Header   json.RawMessage   `json:"header" jsonschema:"The session's first line."`
	File     *string           `json:"file"`
	LeafID   *string           `json:"leafId" jsonschema:"The last entry of the context."`
	Context  session.Context   `json:"context"`
	Problems []session.Problem `json:"problems" jsonschema:"Of the file and the context; missing images are reported in a complete result only."`
	Next     string            `json:"next,omitempty" jsonschema:"The cursor of the next page; absent if this is the last one."`
}

func runContext(ctx context.Context, env *Env, a ContextArgs) (r ContextResult, err error) {
	resolver := env.resolver()
	of, err := resolver.locate(ctx, a.Subject)
	if err != nil {
		return r, err
	}
	if a.Cursor != "" || a.MaxBytes != nil {
		err = resolver.open(of, func(sub subject) (err error) {
			r, err = a.page(sub)
			return err
		})
		return r, err
	}
	if of.live == nil && !a.LeafID.Set {
		if r, ok, err := newestContext(env.Store, of.path); ok || err != nil {
			return r, err
		}
	}
	err = resolver.open(of, func(sub subject) error {
		leaf := a.LeafID.leaf(sub.leaf)
		if err := paging.CheckContext(sub.doc, leaf, "maxBytes"); err != nil {
			return err
		}
		built, problems, err := session.BuildContext(sub.doc, leaf, sub.blobs())
		if err != nil {
			return err
		}
		r = ContextResult{
			Header: sub.doc.HeaderLine(), File: optional(sub.path), LeafID: optional(sub.doc.LeafID(leaf)),
			Context: built, Problems: append(append([]session.Problem{}, sub.doc.Problems()...), problems...),
		}
		return nil
	})
	return r, err
}

// page returns a page of a context, whose state is that of the whole context.
func (a ContextArgs) page(sub subject) (r ContextResult, err error) {
	leaf := a.LeafID.leaf(sub.leaf)
	var c *paging.Conversation
	var at paging.Cursor
	if a.Cursor == "" {
		c, err = paging.Open(sub.doc, leaf, sub.blobs())
	} else {
		c, at, err = paging.Reopen(sub.doc, a.Cursor, sub.blobs(), paging.Context)
	}
	if err != nil {
		return r, err
	}
	if a.Cursor != "" {
		leaf = at.Leaf(sub.doc)
	}
	part, err := c.From(at.Place, paging.Limits{Items: math.MaxInt, Bytes: valueOr(a.MaxBytes, paging.MaxBytes)})
	if err != nil {
		return r, err
	}
	r = ContextResult{
		Header: sub.doc.HeaderLine(), File: optional(sub.path), LeafID: optional(sub.doc.LeafID(leaf)),
		Context: c.State, Problems: append(append([]session.Problem{}, sub.doc.Problems()...), c.Problems...), Next: c.Next(part.To),
	}
	for _, m := range part.Messages {
		r.Context.Messages = append(r.Context.Messages, m.Message)
	}
	return r, nil
}

// newestContext returns the context of a large session that is not live without reading
// all of it. ok is false if all of it must be read.
func newestContext(store *session.Store, path string) (r ContextResult, ok bool, err error) {
	tail, ok, err := store.Newest(path, false)
	if !ok || err != nil {
		return r, false, err
	}
	size := 0
	for _, m := range tail.Context.Messages {
		if size += len(m); size > paging.MaxAnswer {
			return r, false, paging.TooLarge("maxBytes")
		}
	}
	return ContextResult{
		Header: tail.Header.Raw, File: &path, LeafID: &tail.LeafID, Context: tail.Context,
		Problems: append([]session.Problem{}, tail.Problems...),
	}, true, nil
}

// optional returns nil for an empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Previews returns one line per message of a context: its role and the beginning of its
// text.
func Previews(c session.Context) []string {
	lines := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		role, _ := rawjson.GetString(m, "role")
		lines[i] = fmt.Sprintf("%-17s  %s", role, messagePreview(m))
	}
	return lines
}
