package capture

import (
	"crypto/rand"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/internal/durable"
)

// The suffixes of the two files of a running command: the command itself, and the look before it. The look is written first.
const (
	commandPrefix = "command-"
	commandSuffix = ".json"
	lookSuffix    = ".look"
)

// maxJournal is the maximum size of a journal in bytes.
const maxJournal = 1 << 20

// Command is a running command, or one that was running when its process died.
type Command struct {
	Record  change.Record `json:"record"` // without changes
	Started time.Time     `json:"started"`

	fs   afero.Fs
	path string
}

// Journal stores the running commands in the directory of contents.
type Journal struct {
	Fs  afero.Fs
	Dir string
}

// Begin records that a command is about to run. save writes the look before it to a path.
func (j Journal) Begin(r change.Record, started time.Time, save func(fsys afero.Fs, path string) error) (*Command, error) {
	c := &Command{Record: r, Started: started, fs: j.Fs, path: filepath.Join(j.Dir, commandPrefix+rand.Text()[:8]+commandSuffix)}
	if err := j.check(); err != nil {
		return nil, err
	}
	err := save(j.Fs, c.Look())
	if err == nil {
		var raw []byte
		if raw, err = encode(c); err == nil {
			err = durable.WriteFile(j.Fs, c.path, raw, 0o600)
		}
	}
	if err != nil {
		_ = c.End() // best effort; the error that matters is returned
		return nil, disk.Fault("write", c.path, err)
	}
	return c, nil
}

// Look returns the path of the look before the command.
func (c *Command) Look() string { return c.path + lookSuffix }

// End removes the journal of a command that ended, after its record was appended. It may be called for a command that did not begin.
func (c *Command) End() (err error) {
	for _, path := range []string{c.path, c.Look()} {
		if e := c.fs.Remove(path); e != nil && !disk.NotThere(e) && err == nil {
			err = disk.Fault("remove", path, e)
		}
	}
	return err
}

// Interrupted returns the commands whose process died, in start order. Files that can't be read are skipped.
func (j Journal) Interrupted() (commands []*Command, err error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	files, err := afero.ReadDir(j.Fs, j.Dir)
	if disk.NotThere(err) {
		return nil, nil
	} else if err != nil {
		return nil, disk.Fault("read", j.Dir, err)
	}
	for _, f := range files {
		if !strings.HasPrefix(f.Name(), commandPrefix) || !strings.HasSuffix(f.Name(), commandSuffix) || !f.Mode().IsRegular() || f.Size() > maxJournal {
			continue
		}
		c := &Command{fs: j.Fs, path: filepath.Join(j.Dir, f.Name())}
		raw, err := afero.ReadFile(j.Fs, c.path)
		if err != nil || json.Unmarshal(raw, c) != nil || c.Record.V > change.Version {
			continue
		}
		at := len(commands)
		for at > 0 && commands[at-1].Started.After(c.Started) {
			at--
		}
		commands = append(commands[:at], append([]*Command{c}, commands[at:]...)...)
	}
	return commands, nil
}

// check returns an error if the directory is a link.
func (j Journal) check() error {
	for _, path := range []string{filepath.Dir(j.Dir), j.Dir} {
		info, err := disk.Lstat(j.Fs, path)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return disk.IsLink(path)
		}
	}
	return nil
}
