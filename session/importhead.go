package session

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// importHead is what an import has to know of a session that is there: what its first lines
// say.
type importHead struct {
	path   string
	header Header // without Raw
	mark   importMark
	marked bool // it was made by an import, and is not a copy of one that was
}

// importHeadSteps are the lengths in bytes of the beginning that is read, the next one when
// the one before does not reach far enough into the first entry.
var importHeadSteps = [...]int64{8 << 10, 128 << 10, 4 << 20}

// importMarkLength is how far into its line everything is that [parseImportMark] looks for.
const importMarkLength = 4 << 10

// importHeads returns the heads of our own sessions of cwd. A file that cannot be read is
// none of them. The error is that of cwd, or kind cancelled.
func (f Finder) importHeads(ctx context.Context, cwd string) ([]importHead, error) {
	folders, _, err := f.foldersOf(cwd, f.ownRoots(), "")
	if err != nil {
		return nil, err
	}
	files, err := f.regularFiles(ctx, f.namesIn(folders))
	if err != nil {
		return nil, err
	}
	own := f.ownerOf(cwd)
	found := make([]*importHead, len(files))
	inParallel(ctx, len(files), func() func(int) {
		buf := make([]byte, 0, importHeadSteps[0])
		return func(i int) {
			if h, ok := f.importHead(files[i].path, &buf); ok && own.has(h.header.Cwd) {
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
	return heads, cancelled(ctx)
}

func (f Finder) ownRoots() []Root {
	return slices.DeleteFunc(slices.Clone(f.Roots), func(r Root) bool { return !r.Own })
}

// importHead reads the head of one file. buf is memory that it may use and keeps.
func (f Finder) importHead(path string, buf *[]byte) (h importHead, ok bool) {
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
	h.header = Header{}
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte{'\n'})
		text = rest
		switch {
		case h.header.ID == "" && !whole:
			return false
		case h.header.ID == "":
			h.header, _ = parseHeader(line)
			h.header.Raw = nil
		default:
			mark, ok := parseImportMark(line)
			h.mark, h.marked = mark, ok && mark.session == h.header.ID
			return whole || len(line) >= importMarkLength
		}
	}
	return false
}

// sessionNames returns the names of all of our own sessions' files, of whatever folder,
// without their ending.
func (f Finder) sessionNames() []string {
	f.Roots = f.ownRoots()
	files := f.namesIn(f.allFolders(""))
	names := make([]string, len(files))
	for i, file := range files {
		names[i] = strings.TrimSuffix(filepath.Base(file.path), ".jsonl")
	}
	return names
}
