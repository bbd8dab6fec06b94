package sandbox

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// Addition lists permissions that the user grants to commands of a folder beyond the default. The
// zero value adds nothing.
type Addition struct {
	Write []string `json:"write,omitempty"` // further directories that may be changed
	Read  []string `json:"read,omitempty"`  // paths with secrets that may be read after all
	Env   []string `json:"env,omitempty"`   // names of variables that are passed, with any value

	// Network switches the network off for approved commands when it is false.
	Network *bool `json:"network,omitempty"`

	// UnixSockets allows sockets of this machine; see [Policy.UnixSockets].
	UnixSockets bool `json:"unixSockets,omitzero"`
}

// Rules are the additions in a file of the user's settings, {"FOLDER": ADDITION, ...}, in which
// "*" stands for every folder. The file is written by hand and only read here. A nil Rules has
// none.
type Rules struct {
	Fs   afero.Fs
	Path string
	Home string // the directory that "~" refers to at the beginning of a path
}

// For returns the additions for a folder. A file that cannot be read adds nothing and is an
// error.
func (r *Rules) For(folder string) (Addition, error) {
	if r == nil {
		return Addition{}, nil
	}
	content, err := afero.ReadFile(r.Fs, r.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return Addition{}, nil
	} else if err != nil {
		return Addition{}, err
	}
	var all map[string]Addition
	if err := jsonv2.Unmarshal(content, &all, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Addition{}, fault.New(fault.Damaged, "The sandbox rules in %s cannot be read, so no command was run: %w", r.Path, err)
	}
	sum := r.full(all["*"])
	for name, a := range all {
		if name == "*" || r.absolute(name) != folder {
			continue
		}
		a = r.full(a)
		sum.Write, sum.Read, sum.Env = slices.Concat(sum.Write, a.Write), slices.Concat(sum.Read, a.Read), slices.Concat(sum.Env, a.Env)
		sum.UnixSockets = sum.UnixSockets || a.UnixSockets
		if a.Network != nil {
			sum.Network = a.Network
		}
	}
	return sum, nil
}

// full makes the paths of an addition absolute.
func (r *Rules) full(a Addition) Addition {
	for _, list := range []*[]string{&a.Write, &a.Read} {
		paths := make([]string, 0, len(*list))
		for _, path := range *list {
			if path = r.absolute(path); filepath.IsAbs(path) {
				paths = append(paths, path)
			}
		}
		*list = paths
	}
	return a
}

func (r *Rules) absolute(path string) string {
	if rest, home := cutHome(path); home && r.Home != "" {
		return filepath.Join(r.Home, rest)
	}
	return filepath.Clean(path)
}

func cutHome(path string) (rest string, ok bool) {
	if path == "~" {
		return "", true
	}
	if len(path) > 1 && path[0] == '~' && (path[1] == '/' || path[1] == filepath.Separator) {
		return path[2:], true
	}
	return path, false
}
