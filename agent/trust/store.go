package trust

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
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// Trust is one decision of the user: What names the part of Folder that may be used as long as its
// digest is SHA256.
type Trust struct {
	Folder string `json:"folder"` // absolute
	What   string `json:"what"`
	SHA256 string `json:"sha256"`
}

// AgentDir is the name of an agent directory in [Trust]. Folder is the directory itself.
const AgentDir = "agentDir"

// ReadOnlyTool is the name of a user's tool that only reads in [Trust]. Folder is the folder of tools and the
// tool's name.
const ReadOnlyTool = "readOnlyTool"

// maxFile bounds the file of a store, in bytes.
const maxFile = 4 << 20

// Store is a file with the user's decisions, which must be in a directory of the user's own. It is
// safe for concurrent use within a process. If two processes add a decision at the same time one
// may be lost, and the user is asked again.
type Store struct {
	Fs   afero.Fs
	Path string

	mu sync.Mutex
}

// content is the file.
type content struct {
	// AllowedAgentDirs are absolute paths that only the user writes: agent directories that are
	// used regardless of their location and content.
	AllowedAgentDirs []string `json:"allowedAgentDirs,omitempty"`

	Trusted []Trust `json:"trusted,omitempty"`

	Rest map[string]jsontext.Value `json:",embed"` // of newer versions
}

// Has reports whether the user made exactly this decision.
func (s *Store) Has(t Trust) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.read()
	return err == nil && t.SHA256 != "" && slices.Contains(c.Trusted, t), err
}

// Known reports whether the user made a decision about the folder's contribution what, with
// any content.
func (s *Store) Known(folder, what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.read()
	return err == nil && slices.ContainsFunc(c.Trusted, func(t Trust) bool { return t.Folder == folder && t.What == what })
}

// Add records a decision, in place of an earlier one about the same folder and name. A file that
// cannot be read is left unchanged.
func (s *Store) Add(t Trust) error {
	if s.Path == "" {
		return fault.New(fault.InvalidArgument, "The home directory is unknown, so trusted folders cannot be stored. Set HOME.")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.read()
	if err != nil {
		return err
	}
	c.Trusted = slices.DeleteFunc(c.Trusted, func(old Trust) bool { return old.Folder == t.Folder && old.What == t.What })
	return s.write(append(c.Trusted, t), c)
}

// AllowedAgentDirs returns the agent directories that the user allowed by name.
func (s *Store) AllowedAgentDirs() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.read()
	return c.AllowedAgentDirs, err
}

func (s *Store) read() (c content, err error) {
	raw, err := intake.ReadAll(s.Fs, s.Path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return content{}, nil
	} else if err != nil {
		return content{}, fault.New(fault.IO, "Cannot read the trusted folders in %s: %w", s.Path, err).With("path", s.Path)
	}
	if err := jsonv2.Unmarshal(raw, &c); err != nil {
		return content{}, fault.New(fault.Damaged, "%s is not a list of trusted folders: %w", s.Path, err).With("path", s.Path)
	}
	return c, nil
}

func (s *Store) write(trusted []Trust, c content) error {
	c.Trusted = trusted
	raw, err := jsonv2.Marshal(c, jsonv2.Deterministic(true), jsontext.WithIndent("  "))
	if err == nil {
		err = durable.WriteFile(s.Fs, s.Path, append(raw, '\n'), 0o600)
	}
	if err != nil {
		return fault.New(fault.IO, "Cannot write the trusted folders to %s: %w", s.Path, err).With("path", s.Path)
	}
	return nil
}
