package look

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
)

// The modes of entries of an index.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
	modeProgram   = "100755"
)

// staged is an entry of an index.
type staged struct {
	mode, hash, rel string
	out             bool  // excluded by a sparse checkout
	size            int64 // of the file when git last checked it, -1 if unknown
}

// blobs returns the states that clean files had, by absolute path: git would check them out from the copied index, with the index's
// attributes. A content whose size differs from the one that git recorded is not that of the file, and is not stored.
func (r *root) blobs(ctx context.Context, l *Look, rels []string) (map[string]change.State, error) {
	states := map[string]change.State{}
	entries, err := r.staged(ctx, rels)
	if err != nil || len(entries) == 0 {
		return states, err
	}
	if err := r.attributes(ctx); err != nil {
		return nil, err
	}
	filtered, err := r.filtered(ctx, entries)
	if err != nil {
		return nil, err
	}
	var files, again []staged
	for _, e := range entries {
		abs, ok := r.inside(e.rel)
		if !ok || e.mode == modeSubmodule {
			continue
		}
		if e.out {
			states[abs] = change.State{Kind: change.Absent} // otherwise its content would have been stored
			continue
		}
		states[abs] = change.State{Kind: change.Large, Mode: uint32(r.modeOf(abs, e).Perm()), Size: max(e.size, 0)} // until the content is read
		if !filtered[e.rel] {
			files = append(files, e)
		}
	}
	keep := func(e staged, content []byte) {
		abs, _ := r.inside(e.rel)
		states[abs] = l.keep(abs, r.modeOf(abs, e), content)
	}
	fits := func(e staged, content []byte) bool { return e.size < 0 || e.size == int64(len(content)) }
	if err := r.apart().contents(ctx, files, true, func(e staged, content []byte) {
		if fits(e, content) {
			keep(e, content)
		} else {
			again = append(again, e)
		}
	}); err != nil {
		return nil, err
	}
	// An editor may have changed the line ends of a file to those of the repository, regardless of the attributes.
	if err := r.apart().contents(ctx, again, false, func(e staged, content []byte) {
		if fits(e, content) {
			keep(e, content)
		}
	}); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if abs, ok := r.inside(e.rel); ok && states[abs].Kind == change.Large && states[abs].SHA256 == "" {
			l.limit(change.LimitBudget)
		}
	}
	return states, nil
}

// modeOf returns the mode that a clean file had. The index only records the executable bit: the other bits are those of the present
// file, or those that git gives to new files.
func (r *root) modeOf(abs string, e staged) fs.FileMode {
	if e.mode == modeLink {
		return fs.ModeSymlink
	}
	mode := r.own.Mode
	if info, err := disk.Lstat(r.fs, abs); err == nil && info.Mode().IsRegular() {
		mode = info.Mode().Perm()
	}
	switch program := mode&0o111 != 0; {
	case program == (e.mode == modeProgram):
		return mode
	case program:
		return mode &^ 0o111
	}
	return mode | mode>>2&0o111 // executable for everyone with read permission
}

// apart returns git for the empty work tree.
func (r *root) apart() git {
	g := r.git
	g.dir = filepath.Join(r.own.Dir, emptyTree)
	return g
}

// attributes checks out the .gitattributes files of the index, so that contents are converted as they were before the command.
func (r *root) attributes(ctx context.Context) error {
	rels, err := r.apart().names(ctx, "ls-files", "-z", "--", ":(glob)**/.gitattributes")
	rels = slices.DeleteFunc(rels, func(rel string) bool {
		_, ok := r.inside(rel)
		return !ok
	})
	if err != nil || len(rels) == 0 {
		return err
	}
	cmd := r.apart().command(ctx, "checkout-index", "--force", "--quiet", "-z", "--stdin")
	cmd.Stdin = strings.NewReader(strings.Join(rels, "\x00") + "\x00")
	if err := cmd.Run(); err != nil && ctx.Err() == nil && !exitedWith(err, 1) { // 1: some could not be checked out
		return err
	}
	return ctx.Err()
}

// staged lists the entries of the copied index at and below some paths, without those in a conflict.
func (r *root) staged(ctx context.Context, rels []string) (entries []staged, err error) {
	at := map[string]int{}
	for chunk := range chunks(rels) {
		out, err := r.apart().read(ctx, append([]string{"--literal-pathspecs", "ls-files", "-z", "-v", "--stage", "--debug", "--"}, chunk...)...)
		if err != nil {
			return nil, err
		}
		for rest := string(out); rest != ""; {
			var line string
			line, rest, _ = strings.Cut(rest, "\x00") // "tag mode hash stage\tpath", then five lines about the file
			head, rel, ok := strings.Cut(line, "\t")
			fields := strings.Fields(head)
			if !ok || len(fields) != 4 {
				break
			}
			e := staged{mode: fields[1], hash: fields[2], rel: rel, out: strings.EqualFold(fields[0], "S"), size: -1}
			for range 5 {
				var about string
				about, rest, _ = strings.Cut(rest, "\n")
				if text, ok := strings.CutPrefix(about, "  size: "); ok {
					text, _, _ = strings.Cut(text, "\t")
					if size, err := strconv.ParseInt(text, 10, 64); err == nil && size > 0 { // 0: git has to check the file again
						e.size = size
					}
				}
			}
			if _, ok := at[rel]; !ok && fields[3] == "0" {
				at[rel] = len(entries)
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// filtered returns the entries whose attributes name a filter of the settings: their contents are unknown unless the filter is run.
func (r *root) filtered(ctx context.Context, entries []staged) (map[string]bool, error) {
	found := map[string]bool{}
	if len(r.own.Filters) == 0 {
		return found, nil
	}
	cmd := r.apart().command(ctx, "check-attr", "-z", "--stdin", "filter")
	var ask, out bytes.Buffer
	for _, e := range entries {
		ask.WriteString(e.rel + "\x00")
	}
	cmd.Stdin, cmd.Stdout = &ask, &limited{&out, maxList}
	if err := cmd.Run(); err != nil {
		return nil, err
	}
	fields := strings.Split(out.String(), "\x00")
	for i := 0; i+2 < len(fields); i += 3 { // path, attribute, value
		found[fields[i]] = slices.Contains(r.own.Filters, fields[i+2])
	}
	return found, nil
}

// chunks splits paths into parts that fit into a command line.
func chunks(paths []string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		size, from := 0, 0
		for i, p := range paths {
			if size += len(p) + 1; size > 30_000 && i > from {
				if !yield(paths[from:i]) {
					return
				}
				size, from = len(p)+1, i
			}
		}
		if from < len(paths) {
			yield(paths[from:])
		}
	}
}
