package tool

import (
	"os"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/sandbox"
	"github.com/xcsh-ls/xcsh-ls/agent/sensitive"
	"github.com/xcsh-ls/xcsh-ls/agent/web"
)

// Options configure the tools. The zero value is for the machine itself.
type Options struct {
	// Fs is the file system for ls, find and grep, and for full outputs. Files are read and written
	// through the [Workspace] of each call. nil is the machine's. The commands of bash run on the
	// machine in any case.
	Fs afero.Fs

	Home string // the directory of "~"; "" is the user's

	// TempDir is where outputs are kept that are too long for a result when the session has
	// no place for them. "" is the machine's.
	TempDir string

	Shell string // a program that takes -c; "" looks for bash, then sh, on Windows for Git Bash first

	// KeyEnv returns the names of further variables that hold keys, which the user's own commands
	// do not see. It is called before each command, because settings change. nil means none.
	KeyEnv func() []string

	// Private are the files and directories that tools neither read nor change; nil: none.
	Private *sensitive.Set

	// Sandbox runs the commands of a model. Without one they can only run with all the user's
	// rights, which takes [sandbox.Outside] as their level.
	Sandbox *sandbox.Box

	// PDF is a program and its first arguments that calls [pdftext.Main]: "xcsh-ls", "pdf-text". nil means that read
	// shows no PDF files.
	PDF []string

	// Leash is a program and its first arguments that takes a command line and calls
	// [procgroup.Leash] with its standard input: "xcsh-ls", "leash", "--". It ends the processes of a
	// background command, even if this process is killed. Without it only the command's process group
	// is ended, by this process.
	Leash []string

	// Web reads web pages; nil means that read takes no web addresses.
	Web *web.Fetcher

	// Ripgrep is the program that grep uses; "" means rg. A missing program
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
		newRead(o), newBash(o), newEdit(o), newWrite(o), newGrep(o), newFind(o), newLs(o), newProcess(),
	}
}
