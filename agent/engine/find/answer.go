package find

import (
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// answers is the file with the user's answer to the question whether a program that was found is to be used. It
// holds for all folders. It is read each time, because other windows write it.
type answers struct {
	fs   afero.Fs
	path string // "" if there is no directory for it

	mu sync.Mutex // held while it is changed
}

// answer is the content of the file.
type answer struct {
	Engine string `json:"engine,omitempty"`

	Rest map[string]jsontext.Value `json:",embed"` // of newer versions
}

// read returns the name of the engine that the user chose; "" for none.
func (a *answers) read() (string, error) {
	var c answer
	if a.path == "" {
		return "", nil
	}
	if err := stored(a.fs, a.path, &c); err != nil {
		return "", fault.New(fault.IO, "Cannot read the chosen engine in %s: %w", a.path, err).With("path", a.path)
	}
	if len(c.Engine) > maxArgumentLen || !goodName.MatchString(c.Engine) {
		return "", nil
	}
	return c.Engine, nil
}

// write stores the name of an engine. A file that cannot be read is left unchanged.
func (a *answers) write(name string) error {
	if a.path == "" {
		return fault.New(fault.IO, "The home directory is unknown, so the chosen engine cannot be stored. Set HOME.")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var c answer
	err := stored(a.fs, a.path, &c)
	if err == nil {
		c.Engine = name
		var raw []byte
		if raw, err = jsonv2.Marshal(c, jsonv2.Deterministic(true), jsontext.WithIndent("  ")); err == nil {
			err = durable.WriteFile(a.fs, a.path, append(raw, '\n'), 0o600)
		}
	}
	if err != nil {
		return fault.New(fault.IO, "Cannot write the chosen engine to %s: %w", a.path, err).With("path", a.path)
	}
	return nil
}
