package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
)

var contextOf = New(Spec{
	Name: "xcsh.context", Title: "Session Context", Flags: ReadOnly, Arg: "source",
	Doc: "Return the messages that a model would get, rebuilt by the rules of the program that wrote the session.",
}, runContext)

var entries = New(Spec{
	Name: "xcsh.entries", Title: "Session Entries", Flags: ReadOnly, Arg: "source",
	Doc: "Return the raw entries of a session in file order.",
}, runEntries)

// ContextArgs are the arguments of xcsh.context.
type ContextArgs struct {
	Subject
	LeafID EntryRef `json:"leafId,omitzero" jsonschema:"The last entry of the context. Default, and if unknown: the newest entry. null: an empty context."`
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
	Problems []session.Problem `json:"problems"`
}

func runContext(ctx context.Context, env *Env, a ContextArgs) (r ContextResult, err error) {
	resolver := env.resolver()
	of, err := resolver.locate(ctx, a.Subject)
	if err != nil {
		return r, err
	}
	if of.live == nil && !a.LeafID.Set {
		if r, ok, err := newestContext(env.Store, of.path); ok || err != nil {
			return r, err
		}
	}
	err = resolver.open(of, func(sub subject) error {
		leaf := a.LeafID.leaf(sub.leaf)
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

// newestContext returns the context of a large session that is not live without reading
// all of it. ok is false if all of it must be read.
func newestContext(store *session.Store, path string) (r ContextResult, ok bool, err error) {
	tail, ok, err := store.Newest(path)
	if !ok || err != nil {
		return r, false, err
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

// EntriesArgs are the arguments of xcsh.entries.
type EntriesArgs struct {
	Subject
	Since string `json:"since,omitempty" jsonschema:"Only the entries after this one."`
}

// EntriesResult holds raw entries.
type EntriesResult struct {
	Header  json.RawMessage   `json:"header"`
	Entries []json.RawMessage `json:"entries" jsonschema:"As they are in the file; those of an older version are converted to the current format."`
}

func runEntries(ctx context.Context, env *Env, a EntriesArgs) (r EntriesResult, err error) {
	err = env.withSource(ctx, a.Subject, func(sub subject) error {
		from := 0
		if a.Since != "" {
			i, err := sub.doc.Index(a.Since)
			if err != nil {
				return err
			}
			from = i + 1
		}
		r = EntriesResult{Header: sub.doc.HeaderLine(), Entries: []json.RawMessage{}}
		for i := from; i < sub.doc.Len(); i++ {
			e, err := sub.doc.Entry(i)
			if err != nil {
				return err
			}
			r.Entries = append(r.Entries, e.Raw)
		}
		return nil
	})
	return r, err
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
