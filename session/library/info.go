package library

import (
	"bytes"
	"cmp"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session"
	"github.com/xcsh-ls/xcsh-ls/session/attached"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/internal/own"
)

// noMessages stands for the first message of a session without a message of the user.
const noMessages = "(no messages)"

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
	Branches      int    `json:"branches"`     // entries that no other entry names as its parent
	DamagedLines  int    `json:"damagedLines"` // lines that no reader can show
	Live          bool   `json:"live"`         // open in this server; set by the caller
	LockedBy      string `json:"lockedBy,omitempty"`
	Origin        string `json:"origin"` // the program whose rules the file follows

	Fits    string   `json:"match,omitempty" jsonschema:"How it fits the query: exact, or fuzzy if it only contains something similar to a word. Absent without a query."`
	Snippet *Snippet `json:"snippet,omitempty" jsonschema:"Why it fits the query; absent without one."`
	EntryID string   `json:"entryId,omitempty" jsonschema:"The entry of the message that the snippet is from; absent if it is from no message."`

	Team *Team `json:"team,omitempty" jsonschema:"The session in the team store; absent if it is not there, or no store is set up."`

	HasTitle bool      `json:"-"` // there is a title, even if it is empty
	AllText  string    `json:"-"` // the messages of the user and the model, if requested
	ModTime  time.Time `json:"-"` // Modified with all its digits
	Match    Match     `json:"-"` // how it fits the query of the list
}

// describeFile reads the session file at path once, from beginning to end, without keeping it.
// root is the root it was found in, the zero Root when it is in none. Only another
// program's root determines whose rules the file follows; elsewhere the content does. now
// is what TimeAgo counts from.
//
// The error is of kind notFound for a missing file, and of kind damaged for one without a
// readable header. Problems after the header are counted, never an error.
func describeFile(fsys afero.Fs, path string, root Root, now time.Time, text bool) (Info, error) {
	stat, err := fsys.Stat(path)
	if err == nil && !stat.Mode().IsRegular() { // a pipe or a device might never end
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a file")}
	}
	if err != nil {
		return Info{}, disk.Fault("open", path, err)
	}
	d := describer{fs: fsys, text: text}
	i, err := d.describe(fileAt(path, root, stat), nil)
	if err == nil {
		i.wordTimes(now)
	}
	return i, err
}

// describer describes files.
type describer struct {
	fs   afero.Fs
	text bool        // fill Info.AllText
	stop func() bool // checked once per line; nil for never

	indexes *indexes // for large files; nil to read every file by lines
}

// sessionFile is a file of a listing before it is opened.
type sessionFile struct {
	dir  *folder
	name string
	at   string // the path as it was given; "" for the name in dir
	Info os.FileInfo
}

// fileAt is the session file at path in a root.
func fileAt(path string, root Root, info os.FileInfo) sessionFile {
	return sessionFile{dir: &folder{root: root}, name: filepath.Base(path), at: path, Info: info}
}

func (f *sessionFile) path() string {
	if f.at != "" || f.dir.path == "" {
		return f.at
	}
	return f.dir.join(f.name)
}

// errNotWanted is the error of describe for a file that keep rejected.
var errNotWanted = errors.New("session: not wanted")

// describe describes one file; its times are not yet formatted. keep, if not nil, decides from the header whether
// the rest is worth reading.
func (d *describer) describe(file sessionFile, keep func(session.Header) bool) (Info, error) {
	if !d.text {
		s, ok, err := d.indexes.describe(file, keep)
		switch {
		case err != nil:
			return Info{}, err
		case ok:
			return d.info(file, s), nil
		}
	}
	f, err := d.fs.Open(file.path())
	if err != nil {
		return Info{}, disk.Fault("open", file.path(), err)
	}
	defer f.Close()
	s := survey{guess: file.dir.root.Dialect == session.Xcsh}
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
	size, err := s.scan(f, halt, s.add)
	switch {
	case err != nil:
		return Info{}, disk.Fault("read", file.path(), err)
	case !wanted:
		return Info{}, errNotWanted
	case !s.found:
		return Info{}, NoHeaderFault(file.path(), size)
	}
	i := d.info(file, &s)
	i.AllText = strings.Join(texts, " ")
	return i, nil
}

// DescribeOpen describes a session that has no file yet, in its current state. path is where
// its file will be, "" for one in memory; now is what TimeAgo counts from. An error can only
// come from reading a large file.
func DescribeOpen(d *session.Document, path string, now time.Time) (Info, error) {
	s := survey{header: d.Header(), found: true}
	s.links.Nodes = map[uint64]byte{}
	for line, err := range d.Lines(nil) {
		if err != nil {
			return Info{}, err
		}
		env, _, _ := rawjson.ScanEnvelope(line)
		s.add(session.Value{Raw: line, Env: env})
	}
	s.leaves = s.links.leaves()
	i := (&describer{}).info(fileAt(path, Root{Dialect: d.Dialect()}, nil), &s)
	at, err := d.LastActivity()
	if err != nil {
		return Info{}, err
	}
	i.ModTime, _ = session.ParseTime(at)
	i.wordTimes(now)
	return i, nil
}

// wordTimes sets the fields of i that depend on the time of the listing.
func (i *Info) wordTimes(now time.Time) {
	i.Modified, i.TimeAgo = session.FormatTime(i.ModTime), timeAgo(i.ModTime, now)
}

func (d *describer) info(file sessionFile, s *survey) Info {
	h := s.header
	i := Info{
		Path: file.path(), ID: h.ID, Cwd: h.Cwd, ParentSession: h.ParentSession,
		FirstMessage: s.first, MessageCount: s.messages, Entries: s.entries,
		Branches: s.branches(), DamagedLines: s.lost,
		Created: session.ISOTime(h.Timestamp),
	}
	if file.Info != nil {
		i.Size, i.ModTime = file.Info.Size(), file.Info.ModTime()
	}
	origin := s.origin(file.dir.root.Dialect)
	i.Origin = origin.String()
	i.Title, i.HasTitle = s.title(origin)
	i.Name = shortName(fullName(i.Title, s.prompt, h.ID, filepath.Base(file.path())))
	if i.FirstMessage == "" {
		i.FirstMessage = noMessages
	}
	return i
}

// survey holds the results of one pass over the values of a file.
type survey struct {
	guess bool                                 // gather marks
	known func(session.Header) session.Dialect // what the marks say; nil if they were gathered here
	say   func(text string)                    // called with each text of the conversation; may be nil
	entry []byte                               // during say: the JSON of the id of the message's entry

	header       session.Header // without Raw
	found        bool           // there is a header
	begun        bool           // there was an entry
	hasSlot      bool
	slot         string // the title in omp's title slot
	named        bool   // pi's newest session_info is newer than the header's title
	sessionName  string // of that session_info
	shortSummary string // of the newest compaction that has one
	prompt       string // the first user text, for the name
	first        string // the first user message that has text, whole
	firstEntry   string // its entry
	messages     int
	entries      int // without the hidden ones
	lost         int // lines
	marks        session.DialectMarks
	links        links // only during scan
	leaves       int
}

// add adds the next value of the file. The rules for header and entries are those of
// [session.Store.Load].
func (s *survey) add(v session.Value) {
	name, _ := rawjson.String(v.Env.Type)
	typ := session.InternType(name)
	if typ == "" || !s.found && !s.begun && s.addFirst(typ, v.Raw) || typ == session.TypeSession {
		return
	}
	s.begun = true
	if own.Hidden(name, v.Raw) {
		s.links.addHidden(v.Env.ID, v.Env.ParentID)
	} else {
		s.entries++
		s.links.add(v.Env.ID, v.Env.ParentID)
	}
	if s.guess {
		s.marks.See(typ, v.Raw)
	}
	switch typ {
	case session.TypeMessage:
		if rawjson.Truthy(v.Env.Message) {
			s.messages++
			s.addMessage(v.Env)
		}
	case session.TypeCompaction:
		if short, _ := rawjson.GetString(v.Raw, "shortSummary"); short != "" {
			s.shortSummary = short
		}
	case session.TypeSessionInfo:
		s.addName(v.Raw)
	default:
	}
}

// addFirst handles the values that may come before the first entry: the header and omp's
// slot.
func (s *survey) addFirst(typ session.Type, raw []byte) bool {
	if typ == "title" && !s.hasSlot {
		t, ok := session.ParseTitleSlot(raw)
		s.hasSlot, s.slot = ok, t.Text
		return ok
	}
	if typ != session.TypeSession {
		return false
	}
	s.header, s.found = session.ParseHeader(raw)
	s.header.Raw = nil // it is only valid during this call
	return true
}

// addMessage adds the text of a user or assistant message. Content that is neither text
// nor a list of blocks has none.
//
// Differs: the originals leave a session out of the list if any message in it has content
// of another shape, a null block for instance; and they name one that begins with an attached
// file by that file's content.
func (s *survey) addMessage(env rawjson.Envelope) {
	role, _ := rawjson.String(env.Role)
	user := role == "user" && (s.first == "" || s.prompt == "" || s.say != nil)
	if !user && (role != "assistant" || s.say == nil) {
		return // so that most of a file need not be parsed again
	}
	content := rawjson.Get(env.Message, "content")
	text, firstPart := textOf(content)
	if user && (s.prompt == "" || s.first == "") {
		words := attached.Words(text)
		if words != text {
			firstPart = words
		}
		if s.first == "" && words != "" {
			s.first = words
			s.firstEntry, _ = rawjson.String(env.ID)
		}
		s.prompt = cmp.Or(s.prompt, firstPart)
	}
	if text != "" && s.say != nil {
		s.entry = env.ID
		s.say(text)
	}
}

// origin returns the program whose rules a file in a root of the dialect follows.
func (s *survey) origin(root session.Dialect) session.Dialect {
	switch {
	case s.guess && s.known != nil:
		return s.known(s.header)
	case s.guess:
		return session.GuessDialect(s.hasSlot, s.header, s.marks)
	}
	return root
}

// addName records the title of a session_info entry.
func (s *survey) addName(raw []byte) {
	name, repeated := own.Title(raw)
	s.sessionName, s.named = name, !repeated || !s.header.HasTitle
}

// title returns the display name and whether there is one; origin is the program whose rules
// the file follows. An empty slot says that there is none, and so does the empty title of a
// header.
//
// Differs: omp lists a session without a title by the short summary of a compaction. omp
// writes one into every compaction, so that a session would change its name with each.
func (s *survey) title(origin session.Dialect) (string, bool) {
	if title, ok := s.givenTitle(); ok {
		return title, true
	}
	if origin == session.Omp {
		return "", false
	}
	return s.shortSummary, s.shortSummary != ""
}

// givenTitle is the title without the summary of a compaction, which is not in the
// beginning of a file: that of omp's slot, or else the newer one of pi's newest session_info
// and the header's title.
//
// Differs: xcsh ignores pi's session_info. It is a name given by a user.
func (s *survey) givenTitle() (string, bool) {
	switch {
	case s.hasSlot:
		return s.slot, s.slot != ""
	case s.named:
		return s.sessionName, s.sessionName != ""
	}
	return s.header.Title, s.header.HasTitle
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

// links counts the entries that no other names as its parent. It keeps 64-bit hashes of
// the ids, because a listing needs no ids and a file can have a million. The children of a
// hidden entry count as those of its parent.
type links struct {
	Nodes     map[uint64]byte
	anonymous int // entries without id, which none can name
	hidden    []hiddenLink
}

// hiddenLink is a hidden entry and its parent.
type hiddenLink struct{ self, parent uint64 }

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
		l.Nodes[self] |= linkExists
	} else {
		l.anonymous++
	}
	if p, named := linkKey(parent); named && (!ok || p != self) {
		l.Nodes[p] |= linkNamed
	}
}

func (l *links) addHidden(id, parent []byte) {
	self, ok := linkKey(id)
	above, named := linkKey(parent)
	if ok && named {
		l.hidden = append(l.hidden, hiddenLink{self, above})
	}
}

func (l *links) leaves() int {
	n := l.anonymous
	// Parents come before their children, so that the last ones decide for those above them.
	for _, h := range slices.Backward(l.hidden) {
		if l.Nodes[h.self]&linkNamed != 0 {
			l.Nodes[h.parent] |= linkNamed
		}
	}
	for _, state := range l.Nodes {
		if state == linkExists {
			n++
		}
	}
	return n
}
