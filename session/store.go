package session

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/internal/sizes"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// StoreConfig configures a [Store]. Fs and DirFor are required.
type StoreConfig struct {
	Fs afero.Fs

	// DirFor returns the directory for a new session of cwd. It need not exist.
	DirFor func(cwd string) (string, error)

	// RootFor returns the root that a session file belongs to, which determines the file's
	// dialect and where its images are. ok is false for a file outside every root; nil
	// means that there are none.
	RootFor func(path string) (root FileRoot, ok bool)

	// RealPath resolves symbolic links, so that a rewrite replaces the file and not
	// the link to it. Nil means that there are none.
	RealPath func(path string) (string, error)

	// IndexDir is where the indexes of large sessions are kept, so that the next reading is not of the whole
	// file. "" keeps none. Its files are disposable.
	IndexDir string

	// CompareFirst is how many bytes of a session that changed are compared with its index before it is used. Of a larger
	// one, a few places are, and a [Log] has the rest compared in the background. 0 means 128 MiB.
	CompareFirst int64
	// IndexMax limits the files in IndexDir, in bytes. The ones used least recently are removed first. 0 means
	// 256 MiB; with a negative number there are none.
	IndexMax int64

	// LockDir is where a server records which sessions it writes to. "" disables that.
	LockDir string

	Now    func() time.Time // time.Now when nil
	Random io.Reader        // of ids; crypto/rand's reader when nil
	Log    *zap.Logger      // silent when nil

	// Halt is called before each part of a file that is read whole. Its error ends the reading, which then returns it. Nil
	// never ends it. A copy of a Store may have a Halt of its own.
	Halt func() error
}

// FileRoot describes the root that a session file is in.
type FileRoot struct {
	Dialect Dialect
	Blobs   string // directory of content-addressed images; none are written to one of pi's
}

// Store makes and opens session files. It is safe for concurrent use.
type Store struct {
	StoreConfig
	Locks *lock.Locker
	ids   *ids

	// replacesClosed says that the system replaces only files that are not open, as Windows does. What a program without
	// locks appends to a file in the moment before it is replaced is then lost; elsewhere it is carried over.
	replacesClosed bool
}

// indexDir is the IndexDir of a store whose configuration has none. Only tests change it.
var indexDir string

func init() {
	sizes.Session = sizes.Variables{SmallFile: &smallFile, IndexFrom: &indexFrom, PageBits: &pageBits, SpineFrom: &spineFrom, IndexDir: &indexDir}
}

// NewStore returns a store over c.
func NewStore(c StoreConfig) *Store {
	s := &Store{StoreConfig: c, replacesClosed: runtime.GOOS == "windows"}
	s.IndexDir = cmp.Or(s.IndexDir, indexDir)
	if s.IndexMax < 0 {
		s.IndexDir = ""
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.ids = newIDs(s.Now, s.Random)
	if s.Log == nil {
		s.Log = zap.NewNop()
	}
	s.Locks = lock.New(s.Fs, lock.Options{Now: c.Now})
	return s
}

// NewID returns a new session id. Later ones compare greater as text.
func (s *Store) NewID() string { return s.ids.session() }

func (s *Store) realPath(path string) (string, error) {
	if s.RealPath == nil {
		return path, nil
	}
	return s.RealPath(path)
}

// RootOf returns the root that the session at path belongs to. It reports false for a path outside
// every root.
func (s *Store) RootOf(path string) (FileRoot, bool) {
	if s.RootFor == nil {
		return FileRoot{}, false
	}
	return s.RootFor(path)
}

// rootOr returns the root that the session at path is in, because its program reads it
// there. Outside every root the dialect of the file itself applies.
func (s *Store) rootOr(path string, dialect Dialect) FileRoot {
	if root, ok := s.RootOf(path); ok {
		return root
	}
	return FileRoot{Dialect: dialect}
}

// BlobsFor returns the image store of the session at path, or nil.
func (s *Store) BlobsFor(path string) BlobSource {
	if s.RootFor == nil {
		return nil
	}
	root, ok := s.RootFor(path)
	if !ok || root.Blobs == "" {
		return nil
	}
	return blobDir{Fs: s.Fs, Dir: root.Blobs}
}

// Load reads the session at path, not for writing. It opens the file read-only and closes it
// again; a large file stays open until [Document.Close].
//
// A missing file is a NotFound error. A file without a readable header is a Damaged error
// and comes with a Document of the entries that can be read, for salvage. An empty file is
// a Damaged error too; the caller decides how to handle it.
func (s *Store) Load(path string) (*Document, error) {
	return s.load(path, s.dialectAt(path))
}

// dialectAt returns the dialect that a file's location determines, nil for none. Only
// another program's root does, because xcsh's own directory also holds copies of the
// others' sessions.
func (s *Store) dialectAt(path string) *Dialect {
	if s.RootFor != nil {
		if root, ok := s.RootFor(path); ok && root.Dialect != Xcsh {
			return &root.Dialect
		}
	}
	return nil
}

// Newest is [LoadTail] for a session of this store that is too large to be read whole for
// its newest context. ok is false for any other.
//
// With part, a part of the context suffices, for a session of any dialect and size: all that Tail.Pending does not name is
// what reading the whole file gives. It costs a few megabytes at the end of the file. ok is also false for a session
// that has an index file, with which the whole session is read as fast, and for one with problems in reach.
func (s *Store) Newest(path string, part bool) (t Tail, ok bool, err error) {
	o := tailOptions{limits: fileLimits, block: tailBlock, part: part, reach: partReach}
	info, err := s.Fs.Stat(path)
	if err != nil || !part && info.Size() <= smallFile || part && s.indexed(path, info) {
		return Tail{}, false, nil
	}
	return loadTail(s.Fs, path, s.dialectAt(path), s.BlobsFor(path), o)
}

// Open opens an existing session for appending. Opening changes nothing on disk.
//
// If a large session changed since it was indexed, its bytes are compared with the index after Open has returned.
// Until then [Log.View] shows what the index says, and everything that writes or looks for an entry waits; see
// [Log.Settled].
func (s *Store) Open(path string) (*Log, error) {
	doc, err := s.loadFor(path, s.dialectAt(path), inBackground)
	if err != nil {
		return nil, Closing(err, doc)
	}
	return newLog(s, doc, path, false), nil
}

// NewOptions are optional properties of a new session.
type NewOptions struct {
	Title  string
	Parent string  // an id or a path, opaque; "" for none
	For    Dialect // the program that continues the session, which has ids of its own form
}

// Create makes a new session of cwd. Its file appears with the first answer of a model.
func (s *Store) Create(cwd string, o NewOptions) (*Log, error) {
	dir, err := s.DirFor(cwd)
	if err != nil {
		return nil, err
	}
	doc, name := s.newDocument(cwd, o)
	path := filepath.Join(dir, name)
	doc.path = path
	l := newLog(s, doc, path, true)
	l.titleForPi()
	return l, nil
}

// CreateSubagent makes a new session of cwd at exactly path, for a subagent of the session o.Parent. Its file
// appears as one of [Store.Create] does, and is never one that exists. One of oh-my-pi begins with a title slot.
func (s *Store) CreateSubagent(path, cwd string, o NewOptions) *Log {
	doc, _ := s.newDocument(cwd, o)
	doc.path, doc.dialect, doc.hasSlot = path, o.For, o.For == Omp
	return newLog(s, doc, path, true)
}

// CreateAt makes a new session of cwd at exactly path, which must be missing or an empty
// file; its header is written at once. Any other existing file is a FileExists error and is
// not changed.
func (s *Store) CreateAt(path, cwd string) (*Log, error) {
	doc, _ := s.newDocument(cwd, NewOptions{})
	content := func(w io.Writer) error { return disk.WriteLines(w, [][]byte{doc.header.Raw}) }
	info, err := s.Fs.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = disk.Create(s.Fs, path, s.NewID(), content)
	case err != nil:
		err = disk.Fault("open", path, err)
	case info.Size() > 0 || !info.Mode().IsRegular():
		err = fault.New(fault.FileExists, "%s exists already.", path).With("path", path)
	default:
		err = disk.Replace(s.Fs, path, s.NewID(), disk.FileMode, content, func() error { return disk.StillEmpty(s.Fs, path, info) })
	}
	if err != nil {
		return nil, err
	}
	return s.Open(path)
}

// Memory makes a session of cwd that never has a file.
func (s *Store) Memory(cwd string, o NewOptions) *Log {
	doc, _ := s.newDocument(cwd, o)
	l := newLog(s, doc, "", true)
	l.titleForPi()
	return l
}

// newDocument returns an empty session and the name of its file.
func (s *Store) newDocument(cwd string, o NewOptions) (doc *Document, name string) {
	id, at := s.ids.sessionOf(o.For), FormatTime(s.Now())
	var title *Title
	if text := CleanTitle(o.Title); text != "" {
		title = &Title{Text: text, Source: "user"}
	}
	return documentOf(NewHeader(id, at, cwd, title, o.Parent)), FileName(at, id)
}

func documentOf(header []byte) *Document {
	doc := &Document{tail: tail{newline: true}}
	doc.header, _ = ParseHeader(header)
	doc.title = Title{Text: doc.header.Title, Source: doc.header.TitleSource}
	return doc
}

// FileName is the name of a session's file: its creation time and id.
func FileName(timestamp, id string) string {
	return strings.NewReplacer(":", "-", ".", "-").Replace(timestamp) + "_" + id + ".jsonl"
}

// Salvage writes the readable entries of a damaged session into a new file at out, with a
// new header that names the damaged session as its parent. It returns the number of entries
// saved. The damaged file is not changed; an existing out is a FileExists error.
func (s *Store) Salvage(path, out, cwd string) (entries int, err error) {
	doc, err := s.Load(path)
	if doc == nil {
		return 0, err
	}
	defer func() { err = Closing(err, doc) }()
	if err != nil && !fault.Is(err, fault.Damaged) {
		return 0, err
	}
	if doc.header.Raw == nil {
		doc.settleHeadless()
	}
	header := NewHeader(s.NewID(), FormatTime(s.Now()), cmp.Or(doc.header.Cwd, cwd), nil, path)
	if doc.dialect != Xcsh {
		header = rawjson.SetString(header, "dialect", doc.dialect.String())
	}
	err = disk.Create(s.Fs, out, s.NewID(), func(w io.Writer) error {
		return doc.writeEntries(w, s.forDisk(out, doc.dialect), header, allEntries(doc))
	})
	return doc.Len(), err
}

// WriteFile writes content to path, whole or not at all, readable by its owner only. An
// existing file is a FileExists error unless overwrite is set; a missing directory is a
// NotFound error.
func (s *Store) WriteFile(path string, overwrite bool, content func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if ok, err := afero.DirExists(s.Fs, dir); err != nil {
		return disk.Fault("write", path, err)
	} else if !ok {
		return fault.New(fault.NotFound, "Directory not found: %s", dir).With("path", dir)
	}
	if !overwrite {
		return disk.Create(s.Fs, path, s.NewID(), content)
	}
	target := path
	if info, err := s.Fs.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return fault.New(fault.FileExists, "%s is not a file that can be replaced.", path).With("path", path)
		}
		if target, err = s.realPath(path); err != nil {
			return disk.Fault("write", path, err)
		}
	}
	return disk.Replace(s.Fs, target, s.NewID(), disk.FileMode, content, func() error { return nil })
}

// Closing closes doc, if there is one, and returns the first error.
func Closing(err error, doc *Document) error {
	if doc == nil {
		return err
	}
	if closeErr := doc.Close(); err == nil {
		return closeErr
	}
	return err
}
