package tool

import (
	"os"

	"github.com/spf13/afero"
)

// Options say what the tools work with. The zero value is the machine as it is.
type Options struct {
	// Fs is what ls, find and grep look at, and where full outputs are kept. Files are read
	// and written through the [Workspace] of each call. nil is the machine's. The commands
	// of bash run on the machine in any case.
	Fs afero.Fs

	Home string // what "~" stands for; "" is the person's

	// TempDir is where outputs are kept that are too long for a result when the session has
	// no place for them. "" is the machine's.
	TempDir string

	Shell   string   // a program that takes -c; "" looks for bash, then sh
	PassEnv []string // variables that commands see although they look like keys

	// KeyEnv returns the names of further variables that hold keys, which commands do not
	// see. It is asked before each command, because settings change. nil is none.
	KeyEnv func() []string

	// Private are directories, absolute, whose auth.json is not shown to a model.
	Private []string

	Sandbox *Sandbox // nil runs commands with all the person's rights

	// Ripgrep is the program that grep uses; "" looks for rg. A program that is not there
	// means that files are searched here.
	Ripgrep string
}

func (o Options) withDefaults() Options {
	if o.Fs == nil {
		o.Fs = afero.NewOsFs()
	}
	if o.Home == "" {
		o.Home, _ = os.UserHomeDir() // without one "~" is a name like any other
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	if o.Ripgrep == "" {
		o.Ripgrep = "rg"
	}
	return o
}

// All returns the tools, always in the same order, because a service's cache of a
// conversation begins with them.
func All(o Options) []Tool {
	o = o.withDefaults()
	return []Tool{
		newRead(o), newBash(o), newEdit(o), newWrite(o), newGrep(o), newFind(o), newLs(o),
	}
}
