package session

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

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// Owner is who has a session open for writing.
type Owner struct {
	PID     int
	Host    string
	Since   time.Time
	Path    string // the session file
	App     string
	Version string
	Ours    bool // it is this process
}

const lockApp = "xcsh-ls"

// sessionRecord is the content of a session lock.
type sessionRecord struct {
	PID       int    `json:"pid"`
	StartedAt string `json:"startedAt"` // when the lock was taken; no two of one process are the same
	Host      string `json:"host"`
	Path      string `json:"path"`
	App       string `json:"app"`
	Version   string `json:"version"`
	Process   string `json:"process,omitempty"` // tells a process from a later one with its pid
}

func parseSessionRecord(content []byte) (r sessionRecord, ok bool) {
	err := json.Unmarshal(content, &r)
	return r, err == nil && r.PID > 0
}

// judgeSession never declares a process of another machine gone: nothing here can know.
func (o *lockOptions) judgeSession(content []byte) verdict {
	r, ok := parseSessionRecord(content)
	switch {
	case !ok:
		return ownerUnknown
	case r.Host != o.host:
		return ownerLives
	case r.PID != o.pid && r.Process != "":
		if started := o.started(r.PID); started != "" && started != r.Process {
			return ownerGone
		}
	}
	return o.judgePID(r.PID, content)
}

func (o *lockOptions) owner(r sessionRecord) Owner {
	since, _ := ParseTime(r.StartedAt)
	return Owner{
		PID: r.PID, Host: r.Host, Since: since, Path: r.Path, App: r.App, Version: r.Version,
		Ours: r.PID == o.pid && r.Host == o.host,
	}
}

// sessionLock says to other servers that a session is open for writing here.
type sessionLock struct {
	release func() error
}

// acquireSession takes the lock of a session for as long as it is open for writing.
// dir is where such locks are; it is made when it is missing.
//
// A session that is open elsewhere, in this process or another, is kind busy, and
// says where. The lock of a process that ended is taken over at once. One of another
// machine that shares dir is never taken over, because whether its process lives
// cannot be seen from here; the error says which file to remove.
func acquireSession(fs afero.Fs, dir, sessionID, sessionPath string, o lockOptions) (*sessionLock, error) {
	env := o.filled()
	if err := fs.MkdirAll(dir, dirMode); err != nil {
		return nil, ioFault("create", dir, err)
	}
	f := sessionLockFile(fs, dir, sessionID, env)
	defer env.process.enter(f.path)()
	content, err := json.Marshal(sessionRecord{
		PID: env.pid, StartedAt: FormatTime(time.UnixMilli(env.process.millis(env.now()))), Host: env.host,
		Path: sessionPath, App: lockApp, Version: env.version, Process: env.started(env.pid),
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
	return &sessionLock{release: sync.OnceValue(func() error {
		defer env.process.enter(f.path)()
		return f.release(content)
	})}, nil
}

// Release gives the session up. The error means that the lock file could not be
// removed or was somebody else's by then; either way it does not bind this process
// any more. Calling it again, or on nil, is allowed.
func (l *sessionLock) Release() error {
	if l == nil {
		return nil
	}
	return l.release()
}

// sessionOwner returns who has a session open for writing; ok is false when nobody
// has, or nobody who still lives. It changes nothing on disk.
func sessionOwner(fs afero.Fs, dir, sessionID string, o lockOptions) (owner Owner, ok bool) {
	return sessionLockFile(fs, dir, sessionID, o.filled()).sessionOwner()
}

func (f lockFile) sessionOwner() (owner Owner, ok bool) {
	content, verdict, err := f.look(nil)
	if err != nil || verdict != ownerLives {
		return Owner{}, false
	}
	r, ok := parseSessionRecord(content)
	return f.env.owner(r), ok
}

func sessionLockFile(fs afero.Fs, dir, sessionID string, env *lockOptions) lockFile {
	path := filepath.Join(dir, lockName(sessionID))
	return lockFile{fs: fs, path: path, of: path, env: env, judge: env.judgeSession}
}

// lockName is the file name of a session's lock. An id that had to be changed to be
// one gets a hash of what it was, so that two ids never share a file.
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

// sessionBusy says who has the session, and what to do where that may be wrong.
func (o *lockOptions) sessionBusy(id, path, lock string, seen []byte) error {
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
