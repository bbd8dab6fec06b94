package approval

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/fault"
)

// FileMemory keeps rules in one JSON file, {"FOLDER": [RULE, ...]}, which should be in the
// person's settings. It is safe for concurrent use within a process; of two processes that
// add a rule in the same moment one may lose it, which costs a question more.
type FileMemory struct {
	Fs   afero.Fs
	Path string

	mu sync.Mutex
}

// Rules implements [Memory].
func (m *FileMemory) Rules(root string) ([]Rule, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	return all[root], err
}

// Add implements [Memory]. A file that cannot be read is left as it is.
func (m *FileMemory) Add(root string, rules []Rule) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	if err != nil {
		return err
	}
	for _, r := range rules {
		if !slices.ContainsFunc(all[root], r.equal) {
			all[root] = append(all[root], r)
		}
	}
	content, err := jsonv2.Marshal(all, jsonv2.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	if err := m.Fs.MkdirAll(filepath.Dir(m.Path), 0o700); err != nil {
		return err
	}
	return m.replace(append(content, '\n'))
}

func (m *FileMemory) read() (map[string][]Rule, error) {
	all := map[string][]Rule{}
	content, err := afero.ReadFile(m.Fs, m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	} else if err != nil {
		return nil, err
	}
	if err := jsonv2.Unmarshal(content, &all); err != nil {
		return nil, fault.New(fault.Damaged, "%s is not a list of rules: %w", m.Path, err)
	}
	if all == nil { // the file says null
		all = map[string][]Rule{}
	}
	return all, nil
}

// replace writes the file anew, whole or not at all.
func (m *FileMemory) replace(content []byte) (err error) {
	temp := m.Path + ".tmp"
	f, err := m.Fs.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = m.Fs.Rename(temp, m.Path)
	}
	if err != nil {
		_ = m.Fs.Remove(temp) // best effort; the error that matters is returned
	}
	return err
}
