package consent

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
)

// version is the version of the file that this program writes.
const version = 1

// File is team.json. It is safe for concurrent use, also by several processes.
type File struct {
	Fs    afero.Fs
	Dir   string // <agentDir>/xcsh-ls/team
	Locks *lock.Locker
}

// Path returns the path of the file.
func (f File) Path() string { return filepath.Join(f.Dir, "team.json") }

// Read returns the user's decisions; none without a file. With an error nothing is permitted. The error is of kind
// damaged, newerVersion, denied or io.
func (f File) Read() (Decisions, error) {
	content, err := f.content()
	if err != nil {
		return Decisions{}, err
	}
	d, _ := read(bytes.TrimSpace(content))
	return d, nil
}

// Change applies changes to the file, which is made if it is missing. After an error it is unchanged.
func (f File) Change(changes ...Change) error {
	if err := durable.MakeDirs(f.Fs, f.Dir, 0o700); err != nil {
		return f.failed("change", err)
	}
	unlock, err := f.Locks.Publish(f.Path())
	if err != nil {
		return f.failed("change", err)
	}
	defer func() { _ = unlock() }() // the file is complete, and the lock of a process that ended is no lock
	content, err := f.content()
	if err != nil {
		return err
	}
	changed := changedBy(content, changes)
	if bytes.Equal(changed, content) {
		return nil
	}
	if err := f.check(changed); err != nil {
		return err
	}
	return f.failed("change", durable.WriteFile(f.Fs, f.Path(), changed, 0o600))
}

// changedBy applies changes to the value in content. White space around it stays.
func changedBy(content []byte, changes []Change) []byte {
	value := bytes.TrimSpace(content)
	at := bytes.Index(content, value)
	changed := value
	for _, change := range changes {
		changed = change(changed)
	}
	return bytes.Join([][]byte{content[:at], changed, content[at+len(value):]}, nil)
}

// content returns the content of the file after checking it. A missing file has the content of an empty one.
func (f File) content() ([]byte, error) {
	const most = 16 << 20
	file, err := intake.Read(f.Fs, f.Path(), most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []byte(`{"version":1}` + "\n"), nil
	case err != nil:
		return nil, f.failed("read", err)
	case file.Cut:
		return nil, f.damaged("it is too long")
	case intake.Foreign(file.Info):
		return nil, fault.New(fault.Denied,
			"%s can be changed by other users of this machine, so nothing is sent to the team. Check its content, and make it yours alone (chmod 600).", f.Path()).With("path", f.Path())
	}
	return file.Content, f.check(file.Content)
}

// check returns an error if this version does not understand content.
func (f File) check(content []byte) error {
	if !rawjson.Valid(content) {
		return f.damaged("it is not JSON")
	}
	content = bytes.TrimSpace(content)
	if v, ok := rawjson.Float(rawjson.Get(content, "version")); rawjson.Get(content, "version") != nil {
		if !ok || v < version {
			return f.damaged(`"version" is not a version`)
		}
		if v > version {
			return fault.New(fault.NewerVersion,
				"%s was written by a newer version of xcsh-ls (version %v of the file). Update this one; until then nothing is sent to the team.", f.Path(), v).
				With("version", v).With("path", f.Path())
		}
	}
	if _, wrong := read(content); wrong != "" {
		return f.damaged(wrong + " has another form")
	}
	return nil
}

func (f File) damaged(why string) error {
	return fault.New(fault.Damaged,
		"%s cannot be used: %s. Repair it, or remove it and share the projects again; until then nothing is sent to the team.", f.Path(), why).With("path", f.Path())
}

func (f File) failed(verb string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return fault.New(fault.IO, "Cannot %s %s: %w.", verb, f.Path(), err).With("path", f.Path())
}

// isAfter reports whether a session that began at the time of its header began after since. A time that cannot be read is not after
// any other, so that an old session is not sent by mistake.
func isAfter(began, since string) bool {
	from, err := time.Parse(time.RFC3339, since)
	if err != nil {
		return false
	}
	at, err := time.Parse(time.RFC3339, began)
	return err == nil && !at.Before(from)
}
