package approval

import (
	"errors"
	"io/fs"
	"slices"
	"sync"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// FileMemory keeps rules in one JSON file, {"FOLDER": [RULE, ...]}, which should be in the user's settings. Rules of
// other versions are kept unchanged. It is safe for concurrent use within a process; if two processes add a rule at the
// same time one may be lost, and the user is asked again.
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
	var rules []Rule
	for _, raw := range all[root] {
		if r, ok := decodeRule(raw); ok {
			rules = append(rules, r)
		}
	}
	return rules, err
}

// decodeRule reads a rule. One with unknown members allows nothing: they may
// narrow it.
func decodeRule(raw jsontext.Value) (Rule, bool) {
	var r Rule
	err := jsonv2.Unmarshal(raw, &r, jsonv2.RejectUnknownMembers(true))
	r.Text = ""
	return r, err == nil && r.valid()
}

// Add implements [Memory]. A file that cannot be read is left unchanged.
func (m *FileMemory) Add(root string, rules []Rule) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	all, err := m.read()
	if err != nil {
		return err
	}
	for _, r := range rules {
		has := func(raw jsontext.Value) bool {
			known, ok := decodeRule(raw)
			return ok && r.equal(known)
		}
		if !r.valid() || slices.ContainsFunc(all[root], has) {
			continue
		}
		r.Text = "" // derived from the other fields
		raw, err := jsonv2.Marshal(r)
		if err != nil {
			return err
		}
		all[root] = append(all[root], raw)
	}
	content, err := jsonv2.Marshal(all, jsonv2.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return durable.WriteFile(m.Fs, m.Path, append(content, '\n'), 0o600)
}

func (m *FileMemory) read() (map[string][]jsontext.Value, error) {
	all := map[string][]jsontext.Value{}
	content, err := afero.ReadFile(m.Fs, m.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	} else if err != nil {
		return nil, err
	}
	if err := jsonv2.Unmarshal(content, &all); err != nil {
		return nil, fault.New(fault.Damaged, "%s is not a list of rules: %w", m.Path, err)
	}
	if all == nil { // the file contains null
		all = map[string][]jsontext.Value{}
	}
	return all, nil
}
