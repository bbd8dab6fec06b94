package find

import (
	"context"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/spf13/afero"
)

// Machine is the computer that programs are searched on. All members are required, except where a zero value
// is described.
type Machine struct {
	OS     string // as runtime.GOOS
	Home   string // the user's home directory; "" if it is unknown
	Fs     afero.Fs
	Getenv func(name string) string
	Now    func() time.Time

	// Writers describes who, beside the user and the administrator, may write to a file or directory, such
	// as "every user"; "" for no one. Of a symbolic link only the owner counts. nil: the system cannot
	// tell, and no one is assumed.
	Writers func(info fs.FileInfo) string

	// Run runs a program to its end, see [Command].
	Run func(ctx context.Context, c Command) (stdout string, err error)

	// LoginPath returns the directories that the user's login shell has in its PATH. It may take seconds the first
	// time. nil: there is no such shell.
	LoginPath func() []string
}

// Command is a program to run for its output. It gets no input and no variables with secrets.
type Command struct {
	Path  string // absolute
	Args  []string
	Env   []string // additions to the environment, "NAME=value"
	Dir   string
	Limit time.Duration // it is killed afterwards, and the error is [context.DeadlineExceeded]
}

// System returns the machine that this process runs on. The login shell is only asked if HOME is the account's own
// directory: with another one, such as that of a test, the shell's files belong to a different setup.
func System() Machine {
	home, _ := os.UserHomeDir() // without it, there are fewer places
	m := Machine{
		OS: runtime.GOOS, Home: home, Fs: afero.NewOsFs(), Getenv: os.Getenv, Now: time.Now, Writers: writers, Run: run,
	}
	if shell := os.Getenv("SHELL"); filepath.IsAbs(shell) && m.OS != "windows" && os.Getenv("XCSH_LS_NO_DETECT") == "" && ownHome(home) {
		m.LoginPath = askOnce
	}
	return m
}

// askOnce asks the login shell once per process.
var askOnce = sync.OnceValue(func() []string {
	home, _ := os.UserHomeDir() // System has checked it
	return loginPath(context.Background(), run, os.Getenv("SHELL"), home)
})

// ownHome reports whether home is the directory that the system has for the account.
func ownHome(home string) bool {
	me, err := user.Current()
	return err == nil && home != "" && filepath.Clean(home) == filepath.Clean(me.HomeDir)
}

// split returns the entries of a list of directories such as PATH, in order and without repetitions. Entries that are
// not absolute depend on the working directory, which is a workspace; they are left out.
func (m Machine) split(list string) (dirs []string) {
	separator := ":"
	if m.OS == "windows" {
		separator = ";"
	}
	seen := map[string]bool{}
	for dir := range strings.SplitSeq(list, separator) {
		if m.OS == "windows" {
			dir = strings.Trim(dir, `"`)
		}
		if len(seen) >= maxDirs || seen[dir] || strings.ContainsRune(dir, 0) {
			continue
		}
		seen[dir] = true
		if filepath.IsAbs(dir) {
			dirs = append(dirs, filepath.Clean(dir))
		}
	}
	return dirs
}

// maxDirs bounds how many entries of a PATH are used.
const maxDirs = 512

// join is the opposite of split.
func (m Machine) join(dirs []string) string {
	if m.OS == "windows" {
		return strings.Join(dirs, ";")
	}
	return strings.Join(dirs, ":")
}

// short returns a path as users write it.
func (m Machine) short(path string) string {
	if m.Home == "" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, m.Home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}
