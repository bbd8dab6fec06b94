package contents

import (
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// The defaults of the limits, in bytes.
const (
	DefaultMaxFile    = 4 << 20
	DefaultMaxSession = 512 << 20
	MaxMemory         = 64 << 20 // of a session in memory

	leastRead = 64 << 20 // see maxRead
)

// The modes of directories and files that the store creates.
const (
	fileMode fs.FileMode = 0o600
	dirMode  fs.FileMode = 0o700
)

// memoryDir is the directory of a store in memory.
var memoryDir = filepath.FromSlash("/changes")

// Errors of contents. Returned errors wrap them.
var (
	ErrMissing error = fault.New(fault.NotFound, "The stored content is missing.")
	ErrDamaged error = fault.New(fault.Damaged, "The stored content is damaged.")
	ErrBudget  error = fault.New(fault.NoSpace, "The stored contents of this session's changes have reached the limit (changes.maxSession), so no more contents are stored.")
)

// Options configure a store.
type Options struct {
	Fs  afero.Fs
	Dir string // the directory "changes" of the session; "" stores contents in memory, at most [MaxMemory]

	MaxFile    int64    // maximum size in bytes of a file whose content is stored; 0 is [DefaultMaxFile]
	MaxSession int64    // maximum compressed size of all contents in bytes; 0 is [DefaultMaxSession]
	Exclude    []string // globs of files whose content is not stored, see [Store.Excluded]
}

// Store is the contents of one session. It is safe for concurrent use, also by several processes.
type Store struct {
	maxFile int64
	exclude []string

	mu         sync.Mutex // guards the fields below
	fs         afero.Fs
	dir        string
	memory     bool
	maxSession int64
	used       int64           // compressed bytes, as far as this store knows
	counted    bool            // used includes the contents that existed before
	known      map[string]bool // contents that this store wrote or verified
}

// Open returns the store of a session. It does no I/O.
func Open(o Options) *Store {
	s := &Store{maxFile: o.MaxFile, exclude: o.Exclude, fs: o.Fs, dir: o.Dir, maxSession: o.MaxSession, known: map[string]bool{}}
	if s.maxFile <= 0 {
		s.maxFile = DefaultMaxFile
	}
	if s.maxSession <= 0 {
		s.maxSession = DefaultMaxSession
	}
	if o.Dir == "" {
		s.fs, s.dir, s.memory, s.maxSession = afero.NewMemMapFs(), memoryDir, true, min(s.maxSession, MaxMemory)
	}
	return s
}

// maxRead is the maximum decompressed size of a content, because a few bytes can decompress to any length. It leaves room for contents
// that were stored when the limit per file was higher.
func (s *Store) maxRead() int64 { return max(s.maxFile, leastRead) }

// MaxFile returns the size in bytes above which a file's content is not stored.
func (s *Store) MaxFile() int64 { return s.maxFile }

// Dir returns the directory, "" for a store in memory.
func (s *Store) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory {
		return ""
	}
	return s.dir
}

// Put stores a content and returns its name, even if it fails. The error is [ErrBudget], or has the kind noSpace, readOnly,
// outsideRoot (the directory is a link) or io. Put does not check the limit per file, see [Store.StateOf].
func (s *Store) Put(content []byte) (sha string, err error) {
	sha = change.Sum(content)
	if s.has(sha) {
		return sha, nil
	}
	packed, err := pack(content) // without the lock: this takes most of the time
	if err != nil {
		return sha, disk.Fault("compress", sha, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[sha] {
		return sha, nil // kept by another call meanwhile
	}
	if err := s.countLocked(); err != nil {
		return sha, err
	}
	if s.used+int64(len(packed)) > s.maxSession {
		return sha, ErrBudget
	}
	if err := s.writeLocked(sha, packed); err != nil {
		return sha, err
	}
	s.used += int64(len(packed))
	s.known[sha] = true
	return sha, nil
}

// has reports whether a content is there and undamaged.
func (s *Store) has(sha string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[sha] {
		if _, err := s.fileLocked(sha); err == nil {
			return true
		}
		delete(s.known, sha) // removed by another program
	}
	if _, err := s.readLocked(sha); err != nil {
		return false
	}
	s.known[sha] = true
	return true
}

// Get returns a content. The error wraps [ErrMissing] or [ErrDamaged], or is of kind outsideRoot or io.
func (s *Store) Get(sha string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readLocked(sha)
}

// Has reports whether there is a file for a content. It may be damaged.
func (s *Store) Has(sha string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.fileLocked(sha)
	return err == nil
}
