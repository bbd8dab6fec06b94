package artifact

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/internal/durable"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/session/internal/disk"
)

// The endings of the files of a subagent.
const (
	transcriptEnd = ".jsonl"
	outputEnd     = ".md"
)

// Subagent is the files of a subagent, which lie beside those of the tools. Both are "" for a session in memory.
type Subagent struct {
	Transcript string // its session file
	Output     string // what it answered in the end
}

// Subagent returns the files of the subagent called name, and makes the directory. The error is of kind fileExists
// if one of them exists, of kind invalidArgument if name is not a plain name, and of kind outsideRoot if the
// directory is a link: a session file from another user may come with such a directory.
func (d Dir) Subagent(name string) (s Subagent, err error) {
	dir, ok := d.path()
	if !ok {
		return Subagent{}, nil
	}
	if name == "" || strings.ContainsAny(name, "./\\:\x00") {
		return Subagent{}, fault.New(fault.InvalidArgument, "%q is not a plain name.", name).With("field", "name")
	}
	if _, err := d.exists(dir); err != nil {
		return Subagent{}, err
	}
	if err := durable.MakeDirs(d.Fs, dir, disk.DirMode); err != nil {
		return Subagent{}, disk.Fault("create", dir, err)
	}
	s = Subagent{Transcript: filepath.Join(dir, name+transcriptEnd), Output: filepath.Join(dir, name+outputEnd)}
	for _, path := range []string{s.Transcript, s.Output} {
		if _, err := disk.Lstat(d.Fs, path); err == nil {
			return Subagent{}, fault.New(fault.FileExists, "%s exists already.", path).With("path", path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return Subagent{}, disk.Fault("read", path, err)
		}
	}
	return s, nil
}

// Output returns the path of the output of the subagent called name.
func (d Dir) Output(name string) (string, error) { return d.Path(name + outputEnd) }

// Unfinished returns the paths of the transcripts of subagents without an output: of those that are still running,
// and of those whose program ended before they did.
func (d Dir) Unfinished() (transcripts []string, err error) {
	list, err := d.List()
	if err != nil {
		return nil, err
	}
	dir, _ := d.path()
	has := map[string]bool{}
	for _, a := range list {
		has[a.Name] = true
	}
	for _, a := range list {
		if name, ok := strings.CutSuffix(a.Name, transcriptEnd); ok && !has[name+outputEnd] {
			transcripts = append(transcripts, filepath.Join(dir, a.Name))
		}
	}
	return transcripts, nil
}
