package importer

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// importHead is the information an import needs of an existing session: that of its first
// lines.
type importHead struct {
	path   string
	header session.Header // without Raw
	mark   importMark
	marked bool // it was made by an import, and is not a copy of an imported session
}

// importHeadSteps are the lengths in bytes of the beginning that is read, the next one when
// the one before does not reach far enough into the first entry.
var importHeadSteps = [...]int64{8 << 10, 128 << 10, 4 << 20}

// importMarkLength is the length of the part of a line that contains everything
// [parseImportMark] reads.
const importMarkLength = 4 << 10

// importHeads returns the heads of our own sessions of cwd. An unreadable file is skipped.
// The error is that of cwd, or of kind cancelled.
func importHeads(ctx context.Context, f library.Finder, cwd string) ([]importHead, error) {
	f.Roots = ownRoots(f)
	files, err := f.Files(ctx, cwd)
	if err != nil {
		return nil, err
	}
	found := make([]*importHead, len(files))
	err = library.InParallel(ctx, len(files), func() func(int) {
		buf := make([]byte, 0, importHeadSteps[0])
		return func(i int) {
			h, ok := readImportHead(f, files[i], &buf)
			if ok && (h.header.Cwd == "" || f.SameCwd(cwd, h.header.Cwd)) {
				found[i] = &h
			}
		}
	})
	heads := make([]importHead, 0, len(found))
	for _, h := range found {
		if h != nil {
			heads = append(heads, *h)
		}
	}
	return heads, err
}

func ownRoots(f library.Finder) []library.Root {
	return slices.DeleteFunc(slices.Clone(f.Roots), func(r library.Root) bool { return !r.Own })
}

// readImportHead reads the head of one file. buf is memory that it may use and keeps.
func readImportHead(f library.Finder, path string, buf *[]byte) (h importHead, ok bool) {
	file, err := f.Fs.Open(path)
	if err != nil {
		return h, false
	}
	defer file.Close()
	h.path = path
	*buf = (*buf)[:0]
	for _, length := range importHeadSteps {
		was := len(*buf)
		*buf = slices.Grow(*buf, int(length)-was)[:length]
		n, err := io.ReadFull(file, (*buf)[was:])
		*buf = (*buf)[:was+n]
		if done := h.parse(*buf); done || err != nil {
			break
		}
	}
	return h, h.header.ID != ""
}

// parse reads the beginning of a file and reports whether it was long enough for that.
func (h *importHead) parse(text []byte) (done bool) {
	h.header = session.Header{}
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		text = rest
		switch {
		case h.header.ID == "" && !whole:
			return false
		case h.header.ID == "":
			h.header, _ = session.ParseHeader(line)
			h.header.Raw = nil
		default:
			mark, ok := parseImportMark(line)
			h.mark, h.marked = mark, ok && mark.session == h.header.ID
			return whole || len(line) >= importMarkLength
		}
	}
	return false
}

// sessionNames returns the names of all of our own sessions' files, of every folder,
// without their extension.
func sessionNames(f library.Finder) []string {
	f.Roots = ownRoots(f)
	names := f.AllFiles()
	for i, path := range names {
		names[i] = strings.TrimSuffix(filepath.Base(path), ".jsonl")
	}
	return names
}
