package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// Owner is the process that has a session open for writing.
type Owner struct {
	PID     int
	Host    string
	Since   time.Time
	Path    string // the session file
	App     string
	Version string
	Ours    bool // it is this process
}

const (
	app = "xcsh-ls"

	// startedLayout is the layout of [sessionRecord.StartedAt].
	startedLayout = "2006-01-02T15:04:05.000Z"
)

// sessionRecord is the content of a session lock.
type sessionRecord struct {
	PID       int    `json:"pid"`
	StartedAt string `json:"startedAt"` // when the lock was taken; no two of one process are the same
	Host      string `json:"host"`
	Path      string `json:"path"`
	App       string `json:"app"`
	Version   string `json:"version"`
	Process   string `json:"process,omitempty"` // distinguishes a process from a later one with its pid
}

func parseSessionRecord(content []byte) (r sessionRecord, ok bool) {
	err := json.Unmarshal(content, &r)
	return r, err == nil && r.PID > 0
}

// judgeSession never declares a process of another machine gone: this machine cannot know.
func (o *Options) judgeSession(content []byte) verdict {
	r, ok := parseSessionRecord(content)
	switch {
	case !ok:
		return ownerUnknown
	case r.Host != o.host:
		return ownerLives
	case r.PID != o.PID && r.Process != "":
		if started := o.started(r.PID); started != "" && started != r.Process {
			return ownerGone
		}
	}
	return o.judgePID(r.PID, content)
}

func (o *Options) owner(r sessionRecord) Owner {
	since, _ := time.Parse(time.RFC3339Nano, r.StartedAt) // the zero time when it cannot be read
	return Owner{
		PID: r.PID, Host: r.Host, Since: since, Path: r.Path, App: r.App, Version: r.Version,
		Ours: r.PID == o.PID && r.Host == o.host,
	}
}

// Session informs other servers that a session is open for writing here.
type Session struct {
	release func() error
}

// acquireSession takes the lock of a session for as long as it is open for writing. dir is
// where such locks are; it is made when it is missing.
//
// If the session is open elsewhere, in this process or another, it fails with `busy`, and the
// error says where. The lock of a process that ended is taken over at once. One of another
// machine that shares dir is never taken over, because this machine cannot see whether its
// process lives; the error names the file to remove.
func acquireSession(fs afero.Fs, dir, sessionID, sessionPath string, o Options) (*Session, error) {
	env := o.filled()
	if err := fs.MkdirAll(dir, disk.DirMode); err != nil {
		return nil, disk.Fault("create", dir, err)
	}
	f := sessionLockFile(fs, dir, sessionID, env)
	defer env.Process.enter(f.path)()
	content, err := json.Marshal(sessionRecord{
		PID: env.PID, StartedAt: time.UnixMilli(env.Process.millis(env.Now())).UTC().Format(startedLayout), Host: env.host,
		Path: sessionPath, App: app, Version: env.version, Process: env.started(env.PID),
	})
	if err != nil {
		return nil, fault.New(fault.Internal, "The lock of session %s cannot be written: %w", sessionID, err)
	}
	content = append(content, '\n')
	seen, err := f.acquire(content)
	if errors.Is(err, errLocked) {
		return nil, env.sessionBusy(sessionID, sessionPath, f.path, seen)
	} else if err != nil {
		return nil, err
	}
	return &Session{release: sync.OnceValue(func() error {
		defer env.Process.enter(f.path)()
		return f.release(content)
	})}, nil
}

// OpenSession takes the lock of a session for as long as it is open for writing; see
// [acquireSession].
func (l *Locker) OpenSession(dir, sessionID, sessionPath string) (*Session, error) {
	s, err := acquireSession(l.fs, dir, sessionID, sessionPath, *l.env)
	if err != nil {
		return nil, err
	}
	release, done := s.release, l.spare.keep(l.fs, dir)
	s.release = sync.OnceValue(func() error {
		done()
		return release()
	})
	return s, nil
}

// Release gives the session up. The error means that the lock file could not be removed or
// belonged to another process by then; either way this process no longer holds the lock.
// Calling it again, or on nil, is allowed.
func (l *Session) Release() error {
	if l == nil {
		return nil
	}
	return l.release()
}

func (f file) sessionOwner() (owner Owner, ok bool) {
	content, verdict, err := f.look(nil)
	if err != nil || verdict != ownerLives {
		return Owner{}, false
	}
	r, ok := parseSessionRecord(content)
	return f.env.owner(r), ok
}

// Owners returns which session files are open for writing, and by which process, according
// to the locks in dir. It changes nothing on disk.
func (l *Locker) Owners(dir string) map[string]Owner {
	owners := map[string]Owner{}
	if dir == "" {
		return owners
	}
	names, err := afero.ReadDir(l.fs, dir)
	if err != nil {
		return owners // no session has been locked yet
	}
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".lock") {
			continue
		}
		path := filepath.Join(dir, n.Name())
		f := file{fs: l.fs, path: path, of: path, env: l.env, judge: l.env.judgeSession}
		if owner, ok := f.sessionOwner(); ok {
			owners[owner.Path] = owner
		}
	}
	return owners
}

func sessionLockFile(fs afero.Fs, dir, sessionID string, env *Options) file {
	path := filepath.Join(dir, lockName(sessionID))
	return file{fs: fs, path: path, of: path, env: env, judge: env.judgeSession}
}

// lockName is the file name of a session's lock. An id that had to be changed for that
// gets a hash of the original, so that two ids never share a file.
func lockName(sessionID string) string {
	clean := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, sessionID)
	if clean = clean[:min(len(clean), 100)]; clean != sessionID || clean == "" {
		sum := sha256.Sum256([]byte(sessionID))
		clean += "." + hex.EncodeToString(sum[:8])
	}
	return clean + ".lock"
}

// sessionBusy names the owner of the session, and describes what to do if that may be
// wrong.
func (o *Options) sessionBusy(id, path, lock string, seen []byte) error {
	r, ok := parseSessionRecord(seen)
	if !ok {
		return fault.New(fault.Busy, "Session %s is just being opened or closed elsewhere.", id).With("path", path)
	}
	where := fmt.Sprintf("is open in %s with pid %d on %s since %s.", r.App, r.PID, r.Host, r.StartedAt)
	switch {
	case o.owner(r).Ours:
		where = fmt.Sprintf("is already open in this program, since %s.", r.StartedAt)
	case r.Host != o.host:
		where += fmt.Sprintf(" If that program is gone, remove %s.", lock)
	case r.Process == "": // another program may have the pid by now, and we could not tell
		where += fmt.Sprintf(" If pid %d is another program, remove %s.", r.PID, lock)
	}
	return fault.New(fault.Busy, "Session %s %s", id, where).
		With("path", path).With("pid", r.PID).With("host", r.Host).With("since", r.StartedAt)
}
