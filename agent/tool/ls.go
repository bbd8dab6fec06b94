package tool

import (
	"cmp"
	"context"
	_ "embed" // the tools' descriptions
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/tool/regular"
)

//go:embed ls.md
var lsDoc string

const lsLimit = 500

type lsArgs struct {
	Path  string `json:"path,omitzero"`
	Limit int    `json:"limit,omitzero" jsonschema:"Default: 500."`
}

// listDetails are pi's for ls and find.
type listDetails struct {
	EntryLimitReached  int         `json:"entryLimitReached,omitempty"`
	ResultLimitReached int         `json:"resultLimitReached,omitempty"`
	Truncation         *Truncation `json:"truncation,omitempty"`
}

func newLs(o Options) Tool {
	return define(definition[lsArgs]{
		name: "ls", doc: lsDoc,
		check: func(a lsArgs) error { return cmp.Or(onlyFiles("ls", a.Path), checkLimit("ls", a.Limit)) },
		run: func(ctx context.Context, env Env, a lsArgs) (Result, error) {
			dir := o.path(env, a.Path)
			if err := cmp.Or(o.mayShow(dir), statDir(o.Fs, dir)); err != nil {
				return Result{}, err
			}
			entries, err := regular.Dir(ctx, o.Fs, dir)
			switch {
			case ctx.Err() != nil:
				return Result{}, ctx.Err()
			case err != nil:
				return Result{}, ioFault("read", dir, err)
			}
			names := make([]string, len(entries))
			for i, e := range entries {
				if ctx.Err() != nil {
					return Result{}, ctx.Err()
				}
				names[i] = e.Name()
				if isDir(o.Fs, dir, e) {
					names[i] += "/"
				}
			}
			slices.SortFunc(names, func(a, b string) int {
				return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
			})
			return listResult(names, cmp.Or(a.Limit, lsLimit), "(empty directory)", "entries", func(d *listDetails, limit int) {
				d.EntryLimitReached = limit
			}), ctx.Err()
		},
	})
}

func checkLimit(tool string, limit int) error {
	if limit < 0 {
		return badArgument("limit", "%s: limit must be at least 1.", tool)
	}
	return nil
}

// isDir reports whether an entry is a directory or a link to one.
func isDir(fsys afero.Fs, dir string, e fs.FileInfo) bool {
	if e.Mode()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := fsys.Stat(filepath.Join(dir, e.Name()))
	return err == nil && info.IsDir()
}

// listResult is a result of one line for each item. reached records the limit in the details. There
// may be more items than limit.
func listResult(items []string, limit int, none, noun string, reached func(*listDetails, int)) Result {
	if len(items) == 0 {
		return TextResult(none)
	}
	var d listDetails
	var notes []string
	if len(items) > limit {
		items = items[:limit]
		reached(&d, limit)
		notes = append(notes, limitReached(limit, noun))
	}
	// Differs: the limit of lines holds too. pi has none here.
	out, cut := head(strings.Join(items, "\n"))
	if cut.Truncated {
		d.Truncation = &cut
		notes = append(notes, cutNote(cut))
	}
	r := TextResult(strings.ToValidUTF8(out, "\uFFFD") + bracketed(notes))
	if len(notes) > 0 {
		r.Details = details(d)
	}
	return r
}

// limitReached returns a note on how to get more than limit entries. noun names them.
func limitReached(limit int, noun string) string {
	return fmt.Sprintf("%d %s limit reached. Use limit=%d for more, or be more specific", limit, noun, 2*limit)
}

// cutNote returns a note about the part that was cut from a list.
func cutNote(cut Truncation) string {
	limit := fmt.Sprintf("%d lines", cut.MaxLines)
	if *cut.TruncatedBy == byBytes {
		limit = sizeText(MaxBytes)
	}
	return fmt.Sprintf("Showing %d of %d lines (%s limit). Choose a narrower path or pattern to see the rest", cut.OutputLines, cut.TotalLines, limit)
}

// bracketed formats notes at the end of a result.
func bracketed(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "\n\n[" + strings.Join(notes, ". ") + "]"
}
