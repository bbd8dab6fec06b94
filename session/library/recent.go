package library

import (
	"cmp"
	"context"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// defaultRecent is the default number of recent sessions.
const defaultRecent = 3

// headSteps are the lengths in bytes of the beginning that is read to name a session: the
// shorter one, unless the header or the first prompt does not end in it.
//
// Differs: the originals read 4096 bytes, do not see a session whose header is longer and
// name one whose first prompt is longer by its id.
var headSteps = [...]int64{64 << 10, 1<<20 + 64<<10}

// RecentInfo is a session in the list of recent ones.
type RecentInfo struct {
	Path     string    `json:"path"`
	Name     string    `json:"name"` // at most 40 UTF-16 units
	FullName string    `json:"fullName"`
	TimeAgo  string    `json:"timeAgo"`
	ID       string    `json:"id"`
	ModTime  time.Time `json:"-"`
}

// Recent returns the sessions of cwd that were changed last, newest first; files changed
// at the same moment are in reverse order of their names. limit 0 means three. Only the
// beginning and the end of a file are read, and of no more files than necessary. Unreadable
// files are skipped; [Finder.List] reports their problems.
func (f Finder) Recent(ctx context.Context, cwd string, limit int) ([]RecentInfo, error) {
	if limit <= 0 {
		limit = defaultRecent
	}
	recent := []RecentInfo{}
	err := f.newest(ctx, cwd, f.Roots, func(file sessionFile, s *survey) bool {
		title := s.newestTitle(f.Fs, file.path())
		name := fullName(title, s.prompt, s.header.ID, filepath.Base(file.path()))
		mod := file.Info.ModTime()
		recent = append(recent, RecentInfo{
			Path: file.path(), Name: shortName(name), FullName: name,
			TimeAgo: timeAgo(mod, f.now()), ID: s.header.ID, ModTime: mod,
		})
		return len(recent) < limit
	})
	return recent, err
}

// MostRecent returns the session file of cwd that was changed last, which is the one to
// continue. Sessions without messages count. ok is false if there is none. Only the roots of the program that
// answers are searched, and for xcsh our own: another program's session is continued only if it is given by name.
func (f Finder) MostRecent(ctx context.Context, cwd string, of session.Dialect) (path string, ok bool, err error) {
	var roots []Root
	for _, r := range f.Roots {
		if r.Own && of == session.Xcsh || !r.Own && of != session.Xcsh && r.Dialect == of {
			roots = append(roots, r)
		}
	}
	err = f.newest(ctx, cwd, roots, func(file sessionFile, _ *survey) bool {
		path, ok = file.path(), true
		return false
	})
	return path, ok, err
}

// newest calls use with the beginning of each session of cwd, newest first, until it
// returns false.
func (f Finder) newest(ctx context.Context, cwd string, roots []Root, use func(sessionFile, *survey) bool) error {
	folders, own, err := f.foldersOf(cwd, roots, "")
	if err != nil {
		return err
	}
	files, _, err := f.regularIn(ctx, folders, nil)
	if err != nil {
		return err
	}
	for _, file := range sorted(files) {
		if err := cancelled(ctx); err != nil {
			return err
		}
		s, err := readHead(f.Fs, file.path())
		if err != nil || !s.found || !own.has(s.header.Cwd) {
			continue
		}
		if !use(file, s) {
			return nil
		}
	}
	return nil
}

// Headline describes a session whose file isn't read whole.
type Headline struct {
	ID, Cwd string
	Name    string // at most 40 UTF-16 units
}

// Headline reads the beginning and the end of the session file at path, which may be anywhere. ok is false if the header
// isn't in its beginning.
func (f Finder) Headline(path string) (h Headline, ok bool, err error) {
	s, err := readHead(f.Fs, path)
	if err != nil || !s.found {
		return Headline{}, false, err
	}
	name := fullName(s.newestTitle(f.Fs, path), s.prompt, s.header.ID, filepath.Base(path))
	return Headline{ID: s.header.ID, Cwd: s.header.Cwd, Name: shortName(name)}, true, nil
}

// ReadHeader reads the header of the session file at path, if it is in the file's beginning;
// ok is false if it is not.
func ReadHeader(fsys afero.Fs, path string) (h session.Header, ok bool, err error) {
	s, err := readHead(fsys, path)
	if err != nil {
		return session.Header{}, false, err
	}
	return s.header, s.found, nil
}

// readHead surveys the beginning of a file: the header and, as far as they are within the
// steps, the title or else the first prompt.
func readHead(fsys afero.Fs, path string) (*survey, error) { return readHeadUntil(fsys, path, true) }

// readHeadUntil is [readHead]; unless titleEnough is set, it reads up to the first prompt.
func readHeadUntil(fsys afero.Fs, path string, titleEnough bool) (*survey, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, disk.Fault("open", path, err)
	}
	defer file.Close()
	for step, length := range headSteps {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return nil, disk.Fault("read", path, err)
		}
		s := &survey{}
		titled := func() bool { return titleEnough && s.found && (s.slot != "" || !s.hasSlot && s.header.Title != "") }
		size, err := s.scan(io.LimitReader(file, length), titled, s.add)
		if err != nil {
			return nil, disk.Fault("read", path, err)
		}
		if titled() || s.prompt != "" || size < length || step == len(headSteps)-1 {
			return s, nil
		}
	}
	return nil, nil // not reached: the last step returns
}

// scratch is memory for reading one file after the other: without it most of the time of a
// listing goes into clearing fresh buffers.
type scratch struct {
	Store []byte
	Nodes map[uint64]byte
}

// scratches holds values of type *[scratch] for reuse.
var scratches = sync.Pool{New: func() any {
	return &scratch{Store: make([]byte, 2<<20), Nodes: map[uint64]byte{}}
}}

// mostNodes is the number of nodes up to which a map is used again: one never becomes smaller.
const mostNodes = 1 << 15

func (m *scratch) putBack() {
	if len(m.Nodes) <= mostNodes {
		scratches.Put(m)
	}
}

// scan passes the values of src to emit, which adds them, until halt returns true, which is
// called before each line. It returns the number of bytes read.
func (s *survey) scan(src io.Reader, halt func() bool, emit func(session.Value)) (int64, error) {
	memory, _ := scratches.Get().(*scratch) // the pool holds nothing else
	defer memory.putBack()
	clear(memory.Nodes)
	s.links.Nodes = memory.Nodes
	report := func(p session.Problem) {
		if p.Lost {
			s.lost++
		}
	}
	size, err := session.Scan(src, session.ScanOptions{Store: memory.Store, Halt: halt, Emit: emit, Report: report})
	if err != nil {
		return 0, err
	}
	s.leaves = s.links.leaves()
	return size, nil
}

// TextOf returns the text of a message's content, as lists show and search it.
func TextOf(content []byte) string {
	text, _ := textOf(content)
	return text
}

// textOf returns the text of a message's content, blocks joined by a space, and the
// first block that is not empty. Thinking, tool calls and images are no text.
func textOf(content []byte) (text, first string) {
	if s, ok := rawjson.String(content); ok {
		return s, s
	}
	var parts []string
	rawjson.Elements(content, func(block []byte) bool {
		var text []byte
		typed, isText := false, false
		rawjson.Members(block, func(key, val []byte) bool {
			switch string(key) {
			case `"type"`:
				typed, isText = true, string(val) == `"text"`
			case `"text"`:
				text = val
			}
			return isText || !typed
		})
		if t, ok := rawjson.String(text); ok && isText {
			parts = append(parts, t)
			first = cmp.Or(first, t)
		}
		return true
	})
	return strings.Join(parts, " "), first
}

// fullName chooses the display name of a session: its title, the user's first message, its
// id, or its file. A title that is nothing but control characters is a title all the same:
// the name is then the id, not the prompt.
func fullName(title, prompt, id, file string) string {
	name := oneLine(title)
	if title == "" {
		name = oneLine(prompt)
	}
	return cmp.Or(name, oneLine(id), oneLine(strings.TrimSuffix(file, ".jsonl")), "Unknown")
}

// oneLine returns the first line of s without control characters and outer space.
func oneLine(s string) string {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7F && r <= 0x9F || own.Reorders(r) {
			return -1
		}
		return r
	}, s)
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
}

// maxName is the length of a short name in UTF-16 units, the ellipsis included.
const maxName = 40

// shortName cuts a name to the length of a row.
//
// Differs: the originals may cut a character in half.
func shortName(name string) string {
	if rawjson.UTF16Len(name) <= maxName {
		return name
	}
	return rawjson.UTF16Prefix(name, maxName-1) + "…"
}

// timeAgo describes in words how long before now t was. A future time is "just now"; after
// a week it is the date, in now's time zone.
func timeAgo(t, now time.Time) string {
	const day = 24 * time.Hour
	switch ago := now.Sub(t); {
	case ago < time.Minute:
		return "just now"
	case ago < time.Hour:
		return strconv.Itoa(int(ago/time.Minute)) + "m ago"
	case ago < day:
		return strconv.Itoa(int(ago/time.Hour)) + "h ago"
	case ago < 7*day:
		return strconv.Itoa(int(ago/day)) + "d ago"
	default:
		year, month, day := t.In(now.Location()).Date()
		if year < 1000 { // Format fills up with zeros
			return t.In(now.Location()).Format("1/2/2006")
		}
		return strconv.Itoa(int(month)) + "/" + strconv.Itoa(day) + "/" + strconv.Itoa(year)
	}
}
