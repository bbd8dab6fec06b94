package sandbox

import (
	"path/filepath"
	"slices"
)

// Policy lists the resources that a command may reach. Paths are absolute; those that do not exist
// are ignored. It is passed to the launcher as JSON.
type Policy struct {
	Level Level `json:"level"`

	// Deny are files and directories that cannot be read, wherever else reading is allowed.
	Deny []string `json:"deny,omitempty"`

	// Write are files and directories that can be changed. Paths in Deny stay inaccessible in them,
	// too.
	Write []string `json:"write,omitempty"`

	// Network allows sockets of the internet protocols.
	Network bool `json:"network,omitzero"`

	// UnixSockets allows sockets of this machine, through which a command can make other programs
	// do things that the sandbox prevents: a container engine, the desktop, an agent for keys.
	UnixSockets bool `json:"unixSockets,omitzero"`
}

// Writable reports whether the policy lets a command change path, which is absolute and has no
// symbolic links.
func (p Policy) Writable(path string) bool { return within(path, p.Write) && p.Readable(path) }

// Readable reports whether the policy lets a command read path, which is absolute and has no
// symbolic links.
func (p Policy) Readable(path string) bool { return !within(path, p.Deny) }

func within(path string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	})
}
