package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/team"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// opened is a session file, open for reading.
type opened struct {
	afero.File
	info fs.FileInfo
	head shipping.Head
	body *io.SectionReader
}

// open opens a session file. The error is of kind notFound, io or damaged.
func open(fsys afero.Fs, path string) (o *opened, err error) {
	f, err := intake.Open(fsys, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.NotFound, "%s does not exist any more, so the rest of it cannot be sent.", path).With("path", path)
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() {
		if err != nil {
			_ = f.Close() // was only read
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, unreadable(path, err)
	}
	head, err := shipping.ReadHead(io.NewSectionReader(f, 0, info.Size()))
	if err != nil {
		return nil, err
	}
	return &opened{f, info, head, io.NewSectionReader(f, head.Len(), info.Size()-head.Len())}, nil
}

func unreadable(path string, err error) error {
	return fault.New(fault.IO, "Cannot read %s: %w. Its lines are sent as soon as it can be read.", path, err).With("path", path)
}

// lines returns the next whole lines behind off, nil without one; see [shipping.Lines].
func (o *opened) lines(off int64, most int) ([]byte, error) {
	rest := o.body.Size() - off
	if rest <= 0 {
		return nil, nil
	}
	return shipping.Lines(o.body, off, int(min(int64(most), rest)), nil)
}

// fromStart returns a reader of the body.
func (o *opened) fromStart() io.Reader { return io.NewSectionReader(o.body, 0, o.body.Size()) }

// opening describes the session of the file to a store.
func (o *opened) opening(path string, project int, sid team.SID, head shipping.Head, visible consent.Visible) team.Opening {
	h := o.head.Header()
	created, err := time.Parse(time.RFC3339, h.Timestamp)
	if err != nil {
		created = o.info.ModTime()
	}
	opening := team.Opening{
		Project: project, SID: sid, HeaderID: h.ID, Dialect: o.dialect(path), FileName: fileName(path, h.ID, created),
		Head: head.Raw, Created: created, Title: head.Title().Text,
	}
	if visible == consent.Team {
		opening.Visible = team.Shared
	}
	return opening
}

// dialect returns the program that wrote the file, by its directory if it is that of a program.
func (o *opened) dialect(path string) session.Dialect {
	if d := session.DialectOfAgentDir(filepath.Dir(path)); d != session.Xcsh {
		return d
	}
	return session.GuessDialect(o.head.HasSlot(), o.head.Header(), session.DialectMarks{})
}

// fileName returns the name of the file if every store accepts it, and one that is made of its time and id otherwise.
func fileName(path, id string, created time.Time) string {
	if name := filepath.Base(path); shipping.IsFileName(name) {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return strings.Join([]string{created.UTC().Format("2006-01-02T15-04-05"), hex.EncodeToString(sum[:8])}, "_") + ".jsonl"
}
