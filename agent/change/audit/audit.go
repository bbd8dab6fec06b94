// Package audit checks the records of a session against its stored contents. It reads every content and writes nothing.
package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/contents"
)

// Contents are the stored contents of a session. [contents.Store] implements it.
type Contents interface {
	Get(sha256 string) ([]byte, error)
	Names() ([]string, error)
}

// Kind is a kind of finding.
type Kind string

// The kinds of findings.
const (
	Missing Kind = "missingContent"   // a record names a content that is missing: the change can't be undone
	Damaged Kind = "damagedContent"   // the same for a content whose hash differs
	Unnamed Kind = "unnamedContent"   // contents that no record names, such as those of files that a command did not change
	Unknown Kind = "unreadableRecord" // a record of a newer version, or one whose list of files is missing
)

// maxNamed is the maximum number of findings of one kind that are listed individually.
const maxNamed = 100

// Finding is a finding with a sentence for the user.
type Finding struct {
	Kind   Kind
	Record string // the first record that names the content, "" for a review and for Unnamed
	Text   string
	Lost   bool // something can't be shown or restored
}

// named is the first record and path that refer to a content.
type named struct{ record, path string }

// Check returns the problems of a session's contents. Contents that were skipped on purpose, because they are too large or because
// the budget was used up, are not findings. The error is that of listing the contents, or that of ctx.
func Check(ctx context.Context, book *change.Book, store Contents) (found []Finding, err error) {
	want := namedBy(book)
	for _, r := range book.Records {
		if r.Unreadable {
			found = append(found, Finding{
				Kind: Unknown, Record: r.ID, Lost: true,
				Text: "The record " + r.ID + " of file changes can't be read: it is from a newer version, or its list of files is missing.",
			})
		}
	}
	for _, sha := range slices.Sorted(maps.Keys(want)) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if f, ok := finding(want[sha], check(store, sha)); ok {
			found = append(found, f)
		}
	}
	names, err := store.Names()
	if err != nil {
		return limited(found), err
	}
	extra := slices.DeleteFunc(names, func(sha string) bool { _, ok := want[sha]; return ok || manifest(book, sha) })
	if n := len(extra); n > 0 {
		text := fmt.Sprintf("%d stored file contents are not used by any record, such as those of files that a command did not change. They are removed with the session.", n)
		if n == 1 {
			text = "A stored file content is not used by any record, such as that of a file that a command did not change. It is removed with the session."
		}
		found = append(found, Finding{Kind: Unnamed, Text: text})
	}
	return limited(found), nil
}

func check(store Contents, sha string) error {
	_, err := store.Get(sha)
	return err
}

// finding describes the error of a content that is named there.
func finding(at named, err error) (Finding, bool) {
	switch {
	case err == nil:
		return Finding{}, false
	case errors.Is(err, contents.ErrMissing):
		return Finding{Kind: Missing, Record: at.record, Lost: true, Text: "A content of " + at.path + " is missing, so this change can't be undone."}, true
	case errors.Is(err, contents.ErrDamaged):
		return Finding{Kind: Damaged, Record: at.record, Lost: true, Text: "A content of " + at.path + " is damaged, so this change can't be undone."}, true
	}
	return Finding{Kind: Damaged, Record: at.record, Lost: true, Text: "A content of " + at.path + " can't be read: " + err.Error()}, true
}

// namedBy returns the contents that records and reviews need.
func namedBy(book *change.Book) map[string]named {
	want := map[string]named{}
	add := func(record, path string, states ...change.State) {
		for _, s := range states {
			if (s.Kind == change.Regular || s.Kind == change.Link) && s.SHA256 != "" {
				if _, ok := want[s.SHA256]; !ok {
					want[s.SHA256] = named{record, path}
				}
			}
		}
	}
	for _, r := range book.Records {
		if book.Record(r.ID) == nil || slices.Contains(r.Limits, change.LimitBudget) {
			continue // the change did not happen, or the record says that contents are missing
		}
		for _, c := range r.Changes {
			add(r.ID, c.Path, c.Before)
			if c.After != nil {
				add(r.ID, c.Path, *c.After)
			}
		}
	}
	for _, r := range book.Reviews {
		for _, k := range r.Kept {
			add("", k.Path, k.Before, k.After)
		}
	}
	return want
}

// manifest reports whether the content is a record's list of changes, or is used by a record without findings.
func manifest(book *change.Book, sha string) bool {
	return slices.ContainsFunc(book.Records, func(r *change.Record) bool {
		return r.Manifest == sha || slices.ContainsFunc(r.Changes, func(c change.Change) bool {
			return c.Before.SHA256 == sha || c.After != nil && c.After.SHA256 == sha
		})
	})
}

// limited returns at most [maxNamed] findings of each kind.
func limited(found []Finding) []Finding {
	counts := map[Kind]int{}
	return slices.DeleteFunc(found, func(f Finding) bool {
		counts[f.Kind]++
		return counts[f.Kind] > maxNamed
	})
}
