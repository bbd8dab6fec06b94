package session

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

	"github.com/xcsh-ls/xcsh-ls/session/agentbase"
	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// ImportStatus says what became of one file.
type ImportStatus string

// The outcomes of an import. A file that could not be imported has an error instead.
const (
	Imported ImportStatus = "imported" // it is a new session
	Updated  ImportStatus = "updated"  // likewise, and continues an earlier import of the same conversation
	Skipped  ImportStatus = "skipped"  // the folder has it already, exactly so
)

// Import is what became of one file. The session is the one that was made or found; a trial
// makes none.
type Import struct {
	Status  ImportStatus
	Session string // its id
	Path    string // its file
}

// ImportOptions say how an [Importer] works.
type ImportOptions struct {
	Cwd  string         // whose sessions the imported ones become
	Zone *time.Location // what times without a zone are in; nil for that of the machine
	Try  bool           // change nothing, only say what would become of each file
}

// Importer brings sessions from elsewhere into the sessions of one folder. A source is never
// changed. It is not safe for concurrent use; make one for each call.
type Importer struct {
	store  *Store
	finder Finder
	ImportOptions
	dir   string                // where the folder's sessions are filed
	bySum map[string]importHead // what was imported, by the checksum of its source
	byID  map[string]importHead // the newest import of a conversation, by its foreign id
	heads []importHead          // every session of the folder
	names []string              // of all files of sessions, of every folder; nil when not looked at yet
}

// NewImporter looks at what the folder has already: the first lines of each of its sessions.
// The errors are kind invalidArgument when cwd is not absolute, and kind cancelled.
func NewImporter(ctx context.Context, s *Store, f Finder, o ImportOptions) (*Importer, error) {
	if o.Zone == nil {
		o.Zone = time.Local
	}
	dir, err := s.DirFor(o.Cwd)
	if err != nil {
		return nil, err
	}
	im := &Importer{store: s, finder: f, ImportOptions: o, dir: dir, bySum: map[string]importHead{}, byID: map[string]importHead{}}
	heads, err := f.importHeads(ctx, o.Cwd)
	if err != nil {
		return nil, err
	}
	for _, h := range heads {
		im.note(h)
	}
	return im, nil
}

// note makes a session of the folder known.
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

// Import imports the file at path: a session of agent-base or, with the ending .jsonl, of
// xcsh, pi or omp. The new session is there whole or not at all. The errors name the file;
// one that is no session is kind damaged.
func (im *Importer) Import(path string) (Import, error) {
	if strings.EqualFold(filepath.Ext(path), ".jsonl") {
		return im.importLines(path)
	}
	return im.importConversation(path)
}

func (im *Importer) importConversation(path string) (Import, error) {
	content, info, err := im.read(path)
	if err != nil {
		return Import{}, err
	}
	sum := sha256.Sum256(content)
	mark := importMark{
		sum: hex.EncodeToString(sum[:]), foreignID: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)),
		source: path, at: FormatTime(im.store.now()),
	}
	if h, ok := im.bySum[mark.sum]; ok {
		return Import{Status: Skipped, Session: h.header.ID, Path: h.path}, nil
	}
	c, err := agentbase.Read(content, mark.foreignID, im.Zone)
	if err != nil {
		return Import{}, fault.New(fault.Damaged, "%s %w; it was not imported.", path, err).With("path", path)
	}
	r := Import{Status: Imported}
	earlier, again := im.byID[mark.foreignID]
	if again {
		r.Status = Updated
	}
	if im.Try {
		return r, nil
	}
	mark.format, mark.session = string(c.Format), im.store.ids.Session()
	header, name := im.header(c, mark.session, createdAt(c, info), earlier.header.ID)
	r.Session, r.Path = mark.session, filepath.Join(im.dir, name)
	lines := append([][]byte{header}, importedLines(c, mark, createdAt(c, info))...)
	err = createFile(im.store.Fs, r.Path, mark.session, func(w io.Writer) error { return writeLines(w, lines) })
	if err != nil {
		return Import{}, err
	}
	im.keepTime(r.Path, lastActivity(c, info))
	h, _ := parseHeader(header)
	im.note(importHead{path: r.Path, header: h, mark: mark, marked: true})
	return r, nil
}

// read returns what is in a file that is not too large to be a session of agent-base.
func (im *Importer) read(path string) ([]byte, os.FileInfo, error) {
	info, err := im.store.Fs.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // a pipe or a device might never end
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return nil, nil, ioFault("open", path, err)
	}
	tooLarge := func(size int64) error {
		return fault.New(fault.Damaged, "%s %w; it was not imported.", path, agentbase.TooLarge(size)).With("path", path)
	}
	if info.Size() > agentbase.MaxFile {
		return nil, nil, tooLarge(info.Size())
	}
	f, err := im.store.Fs.Open(path)
	if err != nil {
		return nil, nil, ioFault("open", path, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, agentbase.MaxFile+1))
	if err != nil {
		return nil, nil, ioFault("read", path, err)
	}
	if len(content) > agentbase.MaxFile {
		return nil, nil, tooLarge(int64(len(content)))
	}
	return content, info, nil
}

// header is the header of an imported conversation, and the name of its file. A name that
// is only the id was given by the program, any other by the person.
func (im *Importer) header(c agentbase.Conversation, id string, created time.Time, parent string) (header []byte, name string) {
	at := FormatTime(created)
	var title *Title
	if text := CleanTitle(c.Name); text != "" {
		title = &Title{Text: firstRunes(text, maxImportedTitle), Source: "user"}
		if c.Name == c.ID {
			title.Source = "auto"
		}
	}
	return newHeader(id, at, im.Cwd, title, parent), FileName(at, id)
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

// createdAt is when the conversation began: what the file says, else its first message,
// else when the file was changed last.
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

// keepTime gives an imported file the time at which its conversation was last changed, at
// most now: lists are in the order of these times, and what is continued is what the person
// did last, not what they imported last. It is best effort.
func (im *Importer) keepTime(path string, at time.Time) {
	if now := im.store.now(); at.After(now) {
		at = now
	}
	if err := im.store.Fs.Chtimes(path, at, at); err != nil {
		im.store.log.Warn("an imported session keeps the time of its import", zapPath(path), zapError(err))
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

// timeOr is a timestamp in the form that names of files have, from one that may be anything.
func (im *Importer) timeOr(timestamp string) string {
	t, ok := ParseTime(timestamp)
	if !ok || t.Year() < 0 || t.Year() > 9999 {
		t = im.store.now()
	}
	return FormatTime(t)
}

// nameFor is the name that the copy of a session's file gets.
func (im *Importer) nameFor(source string, header Header, id string) string {
	name := filepath.Base(source)
	taken := func() bool {
		_, err := im.store.Fs.Stat(filepath.Join(im.dir, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	if id == header.ID && isSessionName(name) && !taken() {
		return name
	}
	name = FileName(im.timeOr(header.Timestamp), cmp.Or(safeName(id), im.store.ids.Session()))
	if taken() {
		name = FileName(FormatTime(im.store.now()), im.store.ids.Session())
	}
	return name
}
