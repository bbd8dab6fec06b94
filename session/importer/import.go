package importer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/library"
)

// Status is the result for one file.
type Status string

// The outcomes of an import. A file that could not be imported has an error instead.
const (
	Imported Status = "imported" // it is a new session
	Updated  Status = "updated"  // likewise, and continues an earlier import of the same conversation
	Skipped  Status = "skipped"  // the folder has it already, exactly so
)

// Result is the result for one file. The session is the one that was made or found; a dry
// run makes none.
type Result struct {
	Status  Status
	Session string // its id
	Path    string // its file
}

// Options configure an [Importer].
type Options struct {
	Cwd  string         // working directory of the imported sessions
	Zone *time.Location // zone of times without one; nil for that of the machine
	Try  bool           // dry run: only report the result for each file
}

// Importer imports sessions into the sessions of one folder. A source is never changed. It
// is not safe for concurrent use; make one for each call.
type Importer struct {
	store  *session.Store
	finder library.Finder
	Options
	dir   string                // directory of the folder's sessions
	bySum map[string]importHead // the imported sessions, by the checksum of their source
	byID  map[string]importHead // the newest import of a conversation, by its foreign id
	heads []importHead          // every session of the folder
	names []string              // of all session files, of every folder; nil if not read yet
}

// New reads the existing sessions of the folder: the first lines of each. The errors are
// of kind invalidArgument if cwd is not absolute, and of kind cancelled.
func New(ctx context.Context, s *session.Store, f library.Finder, o Options) (*Importer, error) {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	dir, err := s.DirFor(o.Cwd)
	if err != nil {
		return nil, err
	}
	im := &Importer{store: s, finder: f, Options: o, dir: dir, bySum: map[string]importHead{}, byID: map[string]importHead{}}
	heads, err := importHeads(ctx, f, o.Cwd)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		im.note(h)
	}
	return im, nil
}

// note records a session of the folder.
func (im *Importer) note(h importHead) {
	im.heads = append(im.heads, h)
	if !h.marked {
		return
	}
	im.bySum[h.mark.sum] = h
	if newest, ok := im.byID[h.mark.foreignID]; !ok || h.header.ID > newest.header.ID {
		im.byID[h.mark.foreignID] = h
	}
}

// Import imports the file at path: a session of agent-base or, with the extension .jsonl,
// of xcsh, pi or omp. The new session is complete or does not exist. The errors name the
// file; for one that is not a session the error is of kind damaged.
func (im *Importer) Import(path string) (Result, error) {
	if strings.EqualFold(filepath.Ext(path), ".jsonl") {
		return im.importLines(path)
	}
	return im.importConversation(path)
}

func (im *Importer) importConversation(path string) (Result, error) {
	content, info, err := im.read(path)
	if err != nil {
		return Result{}, err
	}
	sum := sha256.Sum256(content)
	mark := importMark{
		sum: hex.EncodeToString(sum[:]), foreignID: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)),
		source: path, at: session.FormatTime(im.store.Now()),
	}
	if h, ok := im.bySum[mark.sum]; ok {
		return Result{Status: Skipped, Session: h.header.ID, Path: h.path}, nil
	}
	c, err := agentbase.Read(content, mark.foreignID, im.Zone)
	if err != nil {
		return Result{}, fault.New(fault.Damaged, "%s %w; it was not imported.", path, err).With("path", path)
	}
	r := Result{Status: Imported}
	earlier, again := im.byID[mark.foreignID]
	if again {
		r.Status = Updated
	}
	if im.Try {
		return r, nil
	}
	mark.format, mark.session = string(c.Format), im.store.NewID()
	title := importedTitle(c)
	header, name := im.header(title, mark.session, createdAt(c, info), earlier.header.ID)
	r.Session, r.Path = mark.session, filepath.Join(im.dir, name)
	lines := append([][]byte{header}, importedLines(c, mark, createdAt(c, info), title)...)
	err = disk.Create(im.store.Fs, r.Path, mark.session, func(w io.Writer) error { return disk.WriteLines(w, lines) })
	if err != nil {
		return Result{}, err
	}
	im.keepTime(r.Path, lastActivity(c, info))
	h, _ := session.ParseHeader(header)
	im.note(importHead{path: r.Path, header: h, mark: mark, marked: true})
	return r, nil
}

// read returns the content of a file that is not too large to be a session of agent-base.
func (im *Importer) read(path string) ([]byte, os.FileInfo, error) {
	info, err := im.store.Fs.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe or a device might never end
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return nil, nil, disk.Fault("open", path, err)
	}
	tooLarge := func(size int64) error {
		return fault.New(fault.Damaged, "%s %w; it was not imported.", path, agentbase.TooLarge(size)).With("path", path)
	}
	if info.Size() > agentbase.MaxFile {
		return nil, nil, tooLarge(info.Size())
	}
	f, err := im.store.Fs.Open(path)
	if err != nil {
		return nil, nil, disk.Fault("open", path, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, agentbase.MaxFile+1))
	if err != nil {
		return nil, nil, disk.Fault("read", path, err)
	}
	if len(content) > agentbase.MaxFile {
		return nil, nil, tooLarge(int64(len(content)))
	}
	return content, info, nil
}

// header is the header of an imported conversation, and the name of its file.
func (im *Importer) header(title *session.Title, id string, created time.Time, parent string) (header []byte, name string) {
	at := session.FormatTime(created)
	return session.NewHeader(id, at, im.Cwd, title, parent), session.FileName(at, id)
}

// importedTitle is the title of an imported conversation, nil for none. A name that is only the id
// was given by the program, any other by the user.
func importedTitle(c agentbase.Conversation) *session.Title {
	text := session.CleanTitle(c.Name)
	if text == "" {
		return nil
	}
	title := &session.Title{Text: firstRunes(text, maxImportedTitle), Source: "user"}
	if c.Name == c.ID {
		title.Source = "auto"
	}
	return title
}

// maxImportedTitle is the length of the longest title that an import gives, in characters.
const maxImportedTitle = 200

// firstRunes is the beginning of s that has at most n characters.
func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// createdAt is the time at which the conversation began: the one in the file, else that of
// its first message, else the file's modification time.
func createdAt(c agentbase.Conversation, info os.FileInfo) time.Time {
	if !c.Created.IsZero() {
		return c.Created
	}
	for _, m := range c.Messages {
		if !m.At.IsZero() {
			return m.At
		}
	}
	return info.ModTime().UTC()
}

// lastActivity is when the conversation was changed last.
func lastActivity(c agentbase.Conversation, info os.FileInfo) time.Time {
	last := c.LastActivity
	if last.IsZero() {
		for _, m := range c.Messages {
			if m.At.After(last) {
				last = m.At
			}
		}
	}
	if last.IsZero() {
		return info.ModTime()
	}
	return last
}

// keepTime sets the time of an imported file to that of its conversation's last change, at
// most now: lists are ordered by these times, and the session to continue is the one the
// user worked in last, not the one imported last. It is best effort.
func (im *Importer) keepTime(path string, at time.Time) {
	if now := im.store.Now(); at.After(now) {
		at = now
	}
	if err := im.store.Fs.Chtimes(path, at, at); err != nil {
		im.store.Log.Warn("an imported session keeps the time of its import", zap.String("path", path), zap.Error(err))
	}
}

// safeName is a part of a file's name that is made from an id of a file, "" when the id may
// not be in one.
func safeName(id string) string {
	if agentbase.CheckID(id) != nil {
		return ""
	}
	return id
}

// timeOr converts any timestamp to the form used in file names.
func (im *Importer) timeOr(timestamp string) string {
	t, ok := session.ParseTime(timestamp)
	if !ok || t.Year() < 0 || t.Year() > 9999 {
		t = im.store.Now()
	}
	return session.FormatTime(t)
}

// nameFor is the name of the copy of a session's file.
func (im *Importer) nameFor(source string, header session.Header, id string) string {
	name := filepath.Base(source)
	taken := func() bool {
		_, err := im.store.Fs.Stat(filepath.Join(im.dir, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	if id == header.ID && library.IsSessionName(name) && !taken() {
		return name
	}
	name = session.FileName(im.timeOr(header.Timestamp), cmp.Or(safeName(id), im.store.NewID()))
	if taken() {
		name = session.FileName(session.FormatTime(im.store.Now()), im.store.NewID())
	}
	return name
}
