package artifact

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Part is a piece of an artifact.
type Part struct {
	Artifact
	Text   string
	Offset int64 // of Text in the file, in bytes
	Next   int64 // where to read on, 0 when Text is the end
	Binary bool  // the file holds bytes that are not characters, so that Text differs from it
}

// Read reads up to limit bytes at offset of an artifact. The part ends after a line if possible, and never within a character; an offset within a
// character moves behind it. id is an [Artifact]'s ID or name, or an address: it is looked
// up, so that it cannot refer to anything outside of the directory.
func (d Dir) Read(id string, offset, limit int64) (Part, error) {
	a, err := d.find(strings.TrimPrefix(id, "artifact://"))
	if err != nil {
		return Part{}, err
	}
	dir, _ := d.path()
	file := filepath.Join(dir, a.Name)
	f, err := open(d.Fs, file)
	if err != nil {
		return Part{}, err
	}
	part := Part{Artifact: a}
	err = part.read(f, offset, limit)
	if err = errors.Join(err, f.Close()); err != nil {
		return Part{}, disk.Fault("read", file, err)
	}
	return part, nil
}

func (d Dir) find(id string) (Artifact, error) {
	if id == "" || id == "." || id == ".." || strings.ContainsAny(id, "/\\\x00") {
		return Artifact{}, fault.New(fault.InvalidArgument, "%q is no id of an artifact.", id).With("field", "id")
	}
	list, err := d.List()
	if err != nil {
		return Artifact{}, err
	}
	i := slices.IndexFunc(list, func(a Artifact) bool { return a.ID == id })
	if i < 0 {
		i = slices.IndexFunc(list, func(a Artifact) bool { return a.Name == id })
	}
	if i < 0 {
		return Artifact{}, fault.New(fault.NotFound, "Artifact %q not found.", id)
	}
	return list[i], nil
}

// open opens a file that is neither a link nor able to block.
func open(fsys afero.Fs, path string) (afero.File, error) {
	was, err := disk.Regular(fsys, path)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(path)
	if err != nil {
		return nil, disk.Fault("open", path, err)
	}
	info, err := f.Stat()
	if err == nil && !disk.SameFile(info, was.Info) {
		err = fault.New(fault.Stale, "%s was replaced while it was being opened.", path).With("path", path)
	}
	if err != nil {
		return nil, errors.Join(disk.Fault("open", path, err), f.Close())
	}
	return f, nil
}

// read fills the part from f.
func (p *Part) read(f afero.File, offset, limit int64) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	p.Bytes, p.Modified = info.Size(), info.ModTime()
	p.Offset = min(offset, p.Bytes)
	before := min(p.Offset, utf8.UTFMax-1)
	limit = max(limit, utf8.UTFMax) // or a character might not fit
	buf := make([]byte, before+min(limit, p.Bytes-p.Offset))
	n, err := f.ReadAt(buf, p.Offset-before)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	ended := n < len(buf) // it was shortened meanwhile
	skip := min(int(before)+torn(buf[:n], int(before)), n)
	p.Offset += int64(skip) - before
	text := buf[skip:n]
	if !ended && p.Offset+int64(len(text)) < p.Bytes {
		text = wholeEnd(text)
		p.Next = p.Offset + int64(len(text))
	}
	p.Binary = !utf8.Valid(text) || slices.Contains(text, 0)
	p.Text = strings.ToValidUTF8(string(text), "\uFFFD")
	return nil
}

// torn is the number of bytes from at on that belong to a character that began before.
func torn(b []byte, at int) int {
	for back := 1; back < utf8.UTFMax && back <= at && at <= len(b); back++ {
		if !utf8.RuneStart(b[at-back]) {
			continue
		}
		if _, size := utf8.DecodeRune(b[at-back:]); size > back {
			return size - back
		}
		return 0
	}
	return 0
}

// wholeEnd is b up to the end of its last line, or of its last character if it has no
// complete line.
func wholeEnd(b []byte) []byte {
	if i := bytes.LastIndexByte(b, '\n'); i >= 0 {
		return b[:i+1]
	}
	for back := 1; back < utf8.UTFMax && back < len(b); back++ {
		if last := b[len(b)-back:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return b[:len(b)-back]
			}
			break
		}
	}
	return b
}
