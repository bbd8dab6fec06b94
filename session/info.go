package session

import (
	"bytes"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// NoMessages stands for the first message of a session in which the person has not
// said anything yet.
const NoMessages = "(no messages)"

// Info describes one session in a list. Its JSON is the SessionInfo of the protocol.
type Info struct {
	Path          string `json:"path"`
	ID            string `json:"id"`
	Slug          string `json:"slug,omitempty"` // see [Slug]; "" where not all sessions of the folder were looked at
	Cwd           string `json:"cwd"`            // "" when the header has none
	Title         string `json:"title,omitempty"`
	Name          string `json:"name"` // at most 40 UTF-16 units, never empty
	FirstMessage  string `json:"firstMessage"`
	MessageCount  int    `json:"messageCount"` // messages of every role on every branch
	Created       string `json:"created"`      // ISO 8601; as written when it cannot be read
	Modified      string `json:"modified"`     // ISO 8601, of the file
	TimeAgo       string `json:"timeAgo"`
	ParentSession string `json:"parentSession,omitempty"` // an id or a path, as written
	Size          int64  `json:"size"`                    // bytes
	Entries       int    `json:"entries"`
	Branches      int    `json:"branches"`     // entries that none names as its parent
	DamagedLines  int    `json:"damagedLines"` // lines that no reader can show
	Live          bool   `json:"live"`         // open in this server; set by the caller
	LockedBy      string `json:"lockedBy,omitempty"`
	Origin        string `json:"origin"` // the program whose rules the file follows

	HasTitle bool      `json:"-"` // there is a title, even if it is empty
	AllText  string    `json:"-"` // what the person and the model said, where it was asked for
	ModTime  time.Time `json:"-"` // Modified with all its digits
	Match    Match     `json:"-"` // how it fits the query of the list
}

// Describe reads the session file at path once, from beginning to end, without
// keeping it. root is the root it was found in, the zero Root when it is in none. Only
// another program's root settles whose rules the file follows; elsewhere the content
// tells. now is what TimeAgo counts from.
//
// A missing file is kind notFound, one without a readable header kind damaged. What
// is wrong behind the header is counted, never an error.
func Describe(fsys afero.Fs, path string, root Root, now time.Time) (Info, error) {
	return describeFile(fsys, path, root, now, true)
}

func describeFile(fsys afero.Fs, path string, root Root, now time.Time, text bool) (Info, error) {
	stat, err := fsys.Stat(path)
	if err == nil && !stat.Mode().IsRegular() { // a pipe or a device might never end
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return Info{}, ioFault("open", path, err)
	}
	d := describer{fs: fsys, text: text}
	i, err := d.describe(sessionFile{path: path, info: stat, root: root}, nil)
	if err == nil {
		i.wordTimes(now)
	}
	return i, err
}

// describer describes files.
type describer struct {
	fs   afero.Fs
	text bool        // fill Info.AllText
	stop func() bool // asked once per line; nil for never
}

// sessionFile is a file of a listing before it is opened.
type sessionFile struct {
	path string
	info os.FileInfo
	root Root
}

// errNotWanted is what describe returns for a file that keep turned down.
var errNotWanted = errors.New("session: not wanted")

// describe describes one file; its times are still to be worded. keep, when not nil, looks at the header and decides
// whether the rest is worth reading.
func (d *describer) describe(file sessionFile, keep func(Header) bool) (Info, error) {
	f, err := d.fs.Open(file.path)
	if err != nil {
		return Info{}, ioFault("open", file.path, err)
	}
	defer f.Close()
	s := survey{guess: file.root.Dialect == Xcsh}
	var texts []string
	if d.text {
		s.say = func(text string) { texts = append(texts, text) }
	}
	asked, wanted := false, true
	halt := func() bool {
		if s.found && !asked && keep != nil {
			asked, wanted = true, keep(s.header)
		}
		return !wanted || d.stop != nil && d.stop()
	}
	size, err := s.scan(f, halt)
	switch {
	case err != nil:
		return Info{}, ioFault("read", file.path, err)
	case !wanted:
		return Info{}, errNotWanted
	case !s.found:
		return Info{}, noHeaderFault(file.path, size)
	}
	i := d.info(file, &s)
	i.AllText = strings.Join(texts, " ")
	return i, nil
}

// Describe describes a session that has no file yet, as it stands. path is where its file
// will be, "" for one in memory; now is what TimeAgo counts from. The error is that of
// reading a large file.
func (d *Document) Describe(path string, now time.Time) (Info, error) {
	s := survey{header: d.header, found: true, hasSlot: d.hasSlot, slot: d.title.Text}
	s.links.nodes = map[uint64]byte{}
	for line, err := range d.Lines(nil) {
		if err != nil {
			return Info{}, err
		}
		env, _, _ := rawjson.ScanEnvelope(line)
		s.add(value{raw: line, env: env})
	}
	s.leaves = s.links.leaves()
	i := (&describer{}).info(sessionFile{path: path, root: Root{Dialect: d.dialect}}, &s)
	at, err := d.LastActivity()
	if err != nil {
		return Info{}, err
	}
	i.ModTime, _ = ParseTime(at)
	i.wordTimes(now)
	return i, nil
}

// wordTimes completes i with what depends on the time of the listing.
func (i *Info) wordTimes(now time.Time) {
	i.Modified, i.TimeAgo = FormatTime(i.ModTime), timeAgo(i.ModTime, now)
}

func (d *describer) info(file sessionFile, s *survey) Info {
	h := s.header
	i := Info{
		Path: file.path, ID: h.ID, Cwd: h.Cwd, ParentSession: h.ParentSession,
		FirstMessage: s.first, MessageCount: s.messages, Entries: s.entries,
		Branches: s.branches(), DamagedLines: s.lost,
		Created: isoTime(h.Timestamp), Origin: file.root.Dialect.String(),
	}
	if file.info != nil {
		i.Size, i.ModTime = file.info.Size(), file.info.ModTime()
	}
	i.Title, i.HasTitle = s.title()
	i.Name = shortName(fullName(i.Title, s.prompt, h.ID, filepath.Base(file.path)))
	if i.FirstMessage == "" {
		i.FirstMessage = NoMessages
	}
	if s.guess {
		i.Origin = guessDialect(s.hasSlot, h, s.marks).String()
	}
	return i
}

// isoTime brings a header's timestamp into the one form, where it can be read.
func isoTime(s string) string {
	if t, ok := ParseTime(s); ok {
		return FormatTime(t)
	}
	return s
}

// survey is what one pass over the values of a file gathers.
type survey struct {
	guess bool              // gather marks
	say   func(text string) // called with each text of the conversation; nil when nobody asks

	header       Header // without Raw
	found        bool   // there is a header
	hasSlot      bool
	slot         string // the title in omp's title slot
	sessionName  string // of pi's newest session_info
	shortSummary string // of the newest compaction that has one
	prompt       string // the first user text, for the name
	first        string // the first user message that has text, whole
	messages     int
	entries      int
	lost         int // lines
	marks        dialectMarks
	links        links // only during scan
	leaves       int
}

// add takes the next value of the file. What counts as header and as entry is what
// [Load] makes of it.
func (s *survey) add(v value) {
	name, _ := rawjson.String(v.env.Type)
	typ := internType(name)
	if typ == "" || !s.found && s.entries == 0 && s.addFirst(typ, v.raw) || typ == typeSession {
		return
	}
	s.entries++
	s.links.add(v.env.ID, v.env.ParentID)
	if s.guess {
		s.marks.see(typ, v.raw)
	}
	switch typ {
	case TypeMessage:
		if rawjson.Truthy(v.env.Message) {
			s.messages++
			s.addMessage(v.env)
		}
	case TypeCompaction:
		if short, _ := rawjson.GetString(v.raw, "shortSummary"); short != "" {
			s.shortSummary = short
		}
	case TypeSessionInfo:
		s.sessionName, _ = rawjson.GetString(v.raw, "name")
	default:
	}
}

// addFirst takes what may come before the first entry: the header and omp's slot.
func (s *survey) addFirst(typ Type, raw []byte) bool {
	if typ == "title" && !s.hasSlot {
		t, ok := parseTitleSlot(raw)
		s.hasSlot, s.slot = ok, t.Text
		return ok
	}
	if typ != typeSession {
		return false
	}
	s.header, s.found = parseHeader(raw)
	s.header.Raw = nil // it is only valid during this call
	return true
}

// addMessage takes the words of a user or assistant message. Content that is neither
// text nor a list of blocks has none.
//
// Differs: the originals leave a session out of the list when any message in it has
// content of another shape, a null block for instance.
func (s *survey) addMessage(env rawjson.Envelope) {
	role, _ := rawjson.String(env.Role)
	user := role == "user" && (s.first == "" || s.prompt == "" || s.say != nil)
	if !user && (role != "assistant" || s.say == nil) {
		return // so that most of a file need not be looked at again
	}
	content := rawjson.Get(env.Message, "content")
	text, firstPart := textOf(content)
	if user && s.prompt == "" {
		s.prompt = firstPart
	}
	if user && s.first == "" {
		s.first = text
	}
	if text != "" && s.say != nil {
		s.say(text)
	}
}

// title returns the display name and whether there is one. A header's title counts
// even if it is empty; an empty slot says that there is none.
//
// Differs: xcsh ignores pi's session_info. It is a name that a person gave, so that
// it goes before the summary of a compaction.
func (s *survey) title() (string, bool) {
	if title, ok := s.givenTitle(); ok {
		return title, true
	}
	return s.shortSummary, s.shortSummary != ""
}

// givenTitle is the title without the summary of a compaction, which is not in the
// beginning of a file.
func (s *survey) givenTitle() (string, bool) {
	switch {
	case s.hasSlot:
		return s.slot, s.slot != ""
	case s.header.HasTitle:
		return s.header.Title, true
	}
	return s.sessionName, s.sessionName != ""
}

// branches returns the number of leaves. Entries of the first format version have
// no parents; they are one line, like those of a file in which all parents lead in
// circles.
func (s *survey) branches() int {
	if s.entries == 0 {
		return 0
	}
	if s.header.Version < 2 {
		return 1
	}
	return max(1, s.leaves)
}

// links counts the entries that no other names as its parent. It keeps 64-bit hashes
// of the ids, because a listing needs no ids and a file can have a million.
type links struct {
	nodes     map[uint64]byte
	anonymous int // entries without id, which none can name
}

const (
	linkExists byte = 1 << iota
	linkNamed
)

// linkSeed makes the hashes unpredictable, so that no file can be made to collide.
var linkSeed = maphash.MakeSeed()

func linkKey(id []byte) (key uint64, ok bool) {
	if len(id) < 3 || id[0] != '"' {
		return 0, false
	}
	if bytes.IndexByte(id, '\\') >= 0 {
		s, _ := rawjson.String(id)
		return maphash.String(linkSeed, s), true
	}
	return maphash.Bytes(linkSeed, id[1:len(id)-1]), true
}

func (l *links) add(id, parent []byte) {
	self, ok := linkKey(id)
	if ok {
		l.nodes[self] |= linkExists
	} else {
		l.anonymous++
	}
	if p, named := linkKey(parent); named && (!ok || p != self) {
		l.nodes[p] |= linkNamed
	}
}

func (l *links) leaves() int {
	n := l.anonymous
	for _, state := range l.nodes {
		if state == linkExists {
			n++
		}
	}
	return n
}
