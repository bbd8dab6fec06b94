package identity

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/session/lock"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
	"github.com/xcsh-ls/xcsh-ls/team"
)

// Device is a machine as other users see it.
type Device struct {
	ID    string // a UUID
	Label string // at most 64 characters, on one line
}

// Surroundings are what a label is made of.
type Surroundings struct {
	Getenv func(string) string
	Host   string // name of the machine
	Folder string // that is open; "" for none
}

// uuid is a UUID as the file has it.
var uuid = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
})

// Devices is the file that holds the id of this machine: a UUID on its first line, and on the second the label if the user chose one. It is
// safe for concurrent use, also by several processes.
type Devices struct {
	Fs     afero.Fs
	Dir    string // <agentDir>/xcsh-ls/team
	Locks  *lock.Locker
	Random io.Reader
}

func (d Devices) path() string { return filepath.Join(d.Dir, "device") }

// Open returns this device. Its id is drawn if there is none, or if the file is damaged: a device is only a name, and what it sent is
// known by its content.
func (d Devices) Open(s Surroundings) (Device, error) {
	id, label, err := d.read()
	if err == nil && id == "" {
		id, label, err = d.draw(func(old string) string { return old })
	}
	if err != nil {
		return Device{}, d.failed(err)
	}
	if label == "" {
		label = s.label(d.Fs)
	}
	return Device{ID: id, Label: label}, nil
}

// SetLabel changes the label; an empty one restores the label of the surroundings.
func (d Devices) SetLabel(label string) error {
	label = labelOf(label)
	if _, _, err := d.draw(func(string) string { return label }); err != nil {
		return d.failed(err)
	}
	return nil
}

func (d Devices) failed(err error) error {
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	return fault.New(fault.IO, "This device has no id for the team store: %w.", err).With("path", d.path())
}

// read returns the content of the file. The id is "" if there is none.
func (d Devices) read() (id, label string, err error) {
	const most = 4096
	f, err := intake.Read(d.Fs, d.path(), most)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	id, label, _ = strings.Cut(string(f.Content), "\n")
	if id = strings.TrimSpace(id); !uuid().MatchString(id) {
		return "", "", nil
	}
	label, _, _ = strings.Cut(label, "\n")
	return id, labelOf(label), nil
}

// draw writes the file under its lock, with the id that it has or a new one.
func (d Devices) draw(label func(old string) string) (id, now string, err error) {
	if err := durable.MakeDirs(d.Fs, d.Dir, 0o700); err != nil {
		return "", "", err
	}
	unlock, err := d.Locks.Publish(d.path())
	if err != nil {
		return "", "", err
	}
	defer func() { _ = unlock() }() // the file is complete, and the lock of a process that ended is no lock
	id, old, err := d.read()        // another process may have drawn one by now
	if err != nil {
		return "", "", err
	}
	if id == "" {
		drawn, err := team.DrawUUID(d.Random)
		if err != nil {
			return "", "", err
		}
		id = drawn.String()
	}
	now = label(old)
	content := id + "\n"
	if now != "" {
		content += now + "\n"
	}
	return id, now, durable.WriteFile(d.Fs, d.path(), []byte(content), 0o600)
}

// label returns the name of a Codespace, that of the folder in another container, else that of the machine.
func (s Surroundings) label(fsys afero.Fs) string {
	get := s.Getenv
	if name := labelOf(get("CODESPACE_NAME")); name != "" {
		return name
	}
	folder := labelOf(path.Base(strings.ReplaceAll(s.Folder, `\`, "/")))
	if s.Folder != "" && folder != "/" && s.inContainer(fsys) {
		return folder
	}
	if host := labelOf(s.Host); host != "" {
		return host
	}
	return "unnamed device"
}

// inContainer reports whether this process runs in a development container. Only the editors set the variables; the files are
// those of Docker and Podman.
func (s Surroundings) inContainer(fsys afero.Fs) bool {
	for _, name := range []string{"REMOTE_CONTAINERS", "DEVCONTAINER"} {
		if s.Getenv(name) != "" {
			return true
		}
	}
	for _, name := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := fsys.Stat(name); err == nil {
			return true
		}
	}
	return false
}

// labelOf makes a text fit to be a label: visible, on one line, at most 64 characters.
func labelOf(text string) string {
	const most = 64
	text = visible.Line(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most])
	}
	return strings.TrimSpace(text)
}
