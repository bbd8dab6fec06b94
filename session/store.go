package session

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
	"github.com/xcsh-ls/xcsh-ls/session/rawjson"
)

// StoreConfig is what a [Store] works with. Fs and DirFor are required.
type StoreConfig struct {
	Fs afero.Fs

	// DirFor returns the directory in which a new session of cwd is filed. It need
	// not exist.
	DirFor func(cwd string) (string, error)

	// RootFor returns the root that a session file belongs to, which says whose
	// dialect the file follows and where its images are. ok is false for a file
	// outside every root; nil means that there are none.
	RootFor func(path string) (root FileRoot, ok bool)

	// RealPath resolves symbolic links, so that a rewrite replaces the file and not
	// the link to it. Nil means that there are none.
	RealPath func(path string) (string, error)

	// LockDir is where a server says which sessions it writes to. "" says nothing.
	LockDir string

	Now func() time.Time // time.Now when nil
	IDs *IDs             // random ones when nil
	Log *zap.Logger      // silent when nil

	// AfterFunc calls f once d has passed, unless stop is called first; time.AfterFunc
	// when nil. A session that was written to gives up its lock and its file that way.
	AfterFunc func(d time.Duration, f func()) (stop func() bool)
}

// FileRoot is what a session file's place says about it.
type FileRoot struct {
	Dialect Dialect
	Blobs   string // directory of content-addressed images; nothing is put into one of pi's
}

// Store makes and opens session files. It is safe for concurrent use.
type Store struct {
	StoreConfig
	now   func() time.Time
	ids   *IDs
	log   *zap.Logger
	locks *locker
}

// NewStore returns a store over c.
func NewStore(c StoreConfig) *Store {
	s := &Store{StoreConfig: c, now: c.Now, ids: c.IDs, log: c.Log}
	if s.now == nil {
		s.now = time.Now
	}
	if s.ids == nil {
		s.ids = NewIDs(s.now, nil)
	}
	if s.log == nil {
		s.log = zap.NewNop()
	}
	s.locks = newLocker(s.Fs, lockOptions{now: c.Now, after: c.AfterFunc})
	return s
}

func (s *Store) realPath(path string) (string, error) {
	if s.RealPath == nil {
		return path, nil
	}
	return s.RealPath(path)
}

func (s *Store) root(path string) (FileRoot, bool) {
	if s.RootFor == nil {
		return FileRoot{}, false
	}
	return s.RootFor(path)
}

// rootOr is the root that the session at path is in, because its program reads it there;
// outside every root what the file itself says counts, which is dialect.
func (s *Store) rootOr(path string, dialect Dialect) FileRoot {
	if root, ok := s.root(path); ok {
		return root
	}
	return FileRoot{Dialect: dialect}
}

// BlobsFor returns where the images of the session at path are, or nil.
func (s *Store) BlobsFor(path string) BlobSource {
	if s.RootFor == nil {
		return nil
	}
	root, ok := s.RootFor(path)
	if !ok || root.Blobs == "" {
		return nil
	}
	return BlobDir{Fs: s.Fs, Dir: root.Blobs}
}

// Load reads the session at path without a thought of writing; see [Load].
func (s *Store) Load(path string) (*Document, error) {
	return LoadAs(s.Fs, path, s.dialectAt(path))
}

// dialectAt is the dialect that a file's place settles, nil for none. xcsh's own
// directory holds copies of the others' sessions too, so only a foreign root does.
func (s *Store) dialectAt(path string) *Dialect {
	if s.RootFor != nil {
		if root, ok := s.RootFor(path); ok && root.Dialect != Xcsh {
			return &root.Dialect
		}
	}
	return nil
}

// Newest is [LoadTail] for a session of this store that is too large to be read whole
// for its newest context. ok is false for any other.
func (s *Store) Newest(path string) (t Tail, ok bool, err error) {
	if info, err := s.Fs.Stat(path); err != nil || info.Size() <= smallFile {
		return Tail{}, false, nil
	}
	return LoadTail(s.Fs, path, s.dialectAt(path), s.BlobsFor(path))
}

// Open opens an existing session for appending. Opening changes nothing on disk.
func (s *Store) Open(path string) (*Log, error) {
	doc, err := s.Load(path)
	if err != nil {
		return nil, closing(err, doc)
	}
	return newLog(s, doc, path, false), nil
}

// NewOptions says more about a new session.
type NewOptions struct {
	Title  string
	Parent string // an id or a path, opaque; "" for none
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
	return newLog(s, doc, path, true), nil
}

// CreateAt makes a new session of cwd at exactly path, which must be missing or an
// empty file; its header is written at once. Anything else there is kind fileExists
// and stays as it is.
func (s *Store) CreateAt(path, cwd string) (*Log, error) {
	doc, _ := s.newDocument(cwd, NewOptions{})
	content := func(w io.Writer) error { return writeLines(w, [][]byte{doc.header.Raw}) }
	info, err := s.Fs.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = createFile(s.Fs, path, s.ids.Session(), content)
	case err != nil:
		err = ioFault("open", path, err)
	case info.Size() > 0 || !info.Mode().IsRegular():
		err = fault.New(fault.FileExists, "%s exists already.", path).With("path", path)
	default:
		err = replaceFile(s.Fs, path, s.ids.Session(), fileMode, content, func() error { return stillEmpty(s.Fs, path, info) })
	}
	if err != nil {
		return nil, err
	}
	return s.Open(path)
}

// Memory makes a session of cwd that never has a file.
func (s *Store) Memory(cwd string, o NewOptions) *Log {
	doc, _ := s.newDocument(cwd, o)
	return newLog(s, doc, "", true)
}

// newDocument returns an empty session and the name of its file.
func (s *Store) newDocument(cwd string, o NewOptions) (doc *Document, name string) {
	id, at := s.ids.Session(), FormatTime(s.now())
	var title *Title
	if text := CleanTitle(o.Title); text != "" {
		title = &Title{Text: text, Source: "user"}
	}
	return documentOf(newHeader(id, at, cwd, title, o.Parent)), FileName(at, id)
}

func documentOf(header []byte) *Document {
	doc := &Document{tail: tail{newline: true}}
	doc.header, _ = parseHeader(header)
	doc.title = Title{Text: doc.header.Title, Source: doc.header.TitleSource}
	return doc
}

// FileName is the name of a session's file: its creation time and id.
func FileName(timestamp, id string) string {
	return strings.NewReplacer(":", "-", ".", "-").Replace(timestamp) + "_" + id + ".jsonl"
}

// Salvage writes what can be read of a damaged session into a new file at out, with
// a header of its own that names the damaged one as its parent. It returns how many
// entries it saved. The damaged file is not touched; an existing out is kind fileExists.
func (s *Store) Salvage(path, out, cwd string) (entries int, err error) {
	doc, err := s.Load(path)
	if doc == nil {
		return 0, err
	}
	defer func() { err = closing(err, doc) }()
	if err != nil && !fault.Is(err, fault.Damaged) {
		return 0, err
	}
	if doc.header.Raw == nil {
		doc.settleHeadless()
	}
	header := newHeader(s.ids.Session(), FormatTime(s.now()), cmp.Or(doc.header.Cwd, cwd), nil, path)
	if doc.dialect != Xcsh {
		header = rawjson.SetString(header, "dialect", doc.dialect.String())
	}
	err = createFile(s.Fs, out, s.ids.Session(), func(w io.Writer) error {
		return doc.writeEntries(w, s.forDisk(out, doc.dialect), header, allEntries(doc))
	})
	return doc.Len(), err
}

// WriteFile puts content at path, whole or not at all, readable by its owner only. An
// existing file is kind fileExists unless it may be overwritten; a missing directory
// is kind notFound.
func (s *Store) WriteFile(path string, overwrite bool, content func(io.Writer) error) error {
	dir := filepath.Dir(path)
	if ok, err := afero.DirExists(s.Fs, dir); err != nil {
		return ioFault("write", path, err)
	} else if !ok {
		return fault.New(fault.NotFound, "Directory not found: %s", dir).With("path", dir)
	}
	if !overwrite {
		return createFile(s.Fs, path, s.ids.Session(), content)
	}
	target := path
	if info, err := s.Fs.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return fault.New(fault.FileExists, "%s is not a file that can be replaced.", path).With("path", path)
		}
		if target, err = s.realPath(path); err != nil {
			return ioFault("write", path, err)
		}
	}
	return replaceFile(s.Fs, target, s.ids.Session(), fileMode, content, func() error { return nil })
}

// closing closes doc, if there is one, and keeps the first error.
func closing(err error, doc *Document) error {
	if doc == nil {
		return err
	}
	if closeErr := doc.Close(); err == nil {
		return closeErr
	}
	return err
}
