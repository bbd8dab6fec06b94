package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

var contextOf = New(Spec{
	Name: "xcsh.context", Title: "Session Context", Flags: ReadOnly, Arg: "source",
	Doc: "What a model would be shown of a session, rebuilt by the rules of the program that wrote it.",
}, runContext)

var entries = New(Spec{
	Name: "xcsh.entries", Title: "Session Entries", Flags: ReadOnly, Arg: "source",
	Doc: "The raw entries of a session in file order.",
}, runEntries)

// ContextArgs are the arguments of xcsh.context.
type ContextArgs struct {
	Subject
	LeafID EntryRef `json:"leafId,omitzero" jsonschema:"Up to which entry. Absent or unknown: the newest. null: an empty context."`
}

// EntryRef is an entry id, null, or absent.
type EntryRef struct {
	Set  bool // the member was there
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

// MarshalJSON gives back what UnmarshalJSON took.
func (r EntryRef) MarshalJSON() ([]byte, error) {
	if r.Null {
		return []byte("null"), nil
	}
	return json.Marshal(r.ID)
}

// leaf is the leaf a reference stands for; absent means current.
func (r EntryRef) leaf(current session.Leaf) session.Leaf {
	switch {
	case !r.Set:
		return current
	case r.Null:
		return session.AtRoot()
	}
	return session.At(r.ID)
}

// ContextResult is a rebuilt context and where it came from.
type ContextResult struct {
	Header   json.RawMessage   `json:"header" jsonschema:"The session's first line."`
	File     *string           `json:"file"`
	LeafID   *string           `json:"leafId" jsonschema:"The entry the context ends with."`
	Context  session.Context   `json:"context"`
	Problems []session.Problem `json:"problems"`
}

func runContext(ctx context.Context, env *Env, a ContextArgs) (r ContextResult, err error) {
	if a.Source != "" {
		cwd, err := env.cwd(ctx, a.Folder)
		if err != nil {
			return r, err
		}
		// Found once: from here on the session is named by its path.
		if a.Source, err = env.find(ctx, cwd, a.Source); err != nil {
			return r, err
		}
		if r, ok, err := env.newestContext(a); ok || err != nil {
			return r, err
		}
	}
	err = env.withSource(ctx, a.Subject, func(_ string, sub subject) error {
		leaf := a.LeafID.leaf(sub.leaf)
		built, problems, err := session.BuildContext(sub.doc, leaf, env.Store.BlobsFor(sub.path))
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

// newestContext answers for a large session that is not live, named by its path,
// without reading all of it.
func (env *Env) newestContext(a ContextArgs) (r ContextResult, ok bool, err error) {
	path := a.Source
	if _, live := env.Sessions.LiveIn(path); live || a.LeafID.Set {
		return r, false, nil
	}
	tail, ok, err := env.Store.Newest(path)
	if !ok || err != nil {
		return r, false, err
	}
	return ContextResult{
		Header: tail.Header.Raw, File: &path, LeafID: &tail.LeafID, Context: tail.Context,
		Problems: append([]session.Problem{}, tail.Problems...),
	}, true, nil
}

// optional is null for an empty string.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// EntriesArgs are the arguments of xcsh.entries.
type EntriesArgs struct {
	Subject
	Since string `json:"since,omitempty" jsonschema:"Only the entries behind this one."`
}

// EntriesResult holds raw entries.
type EntriesResult struct {
	Header  json.RawMessage   `json:"header"`
	Entries []json.RawMessage `json:"entries" jsonschema:"As they are in the file, or as the current format has them if the file is older."`
}

func runEntries(ctx context.Context, env *Env, a EntriesArgs) (r EntriesResult, err error) {
	err = env.withSource(ctx, a.Subject, func(_ string, sub subject) error {
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

// Previews returns a line for each message of a context: its role and the beginning of
// its text.
func Previews(c session.Context) []string {
	lines := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		role, _ := rawjson.GetString(m, "role")
		lines[i] = fmt.Sprintf("%-17s  %s", role, messagePreview(m))
	}
	return lines
}
