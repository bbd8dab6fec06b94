package tool

import (
	"context"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// findShell returns the shell of this machine, "" if there is none.
func findShell() string {
	if runtime.GOOS == "windows" {
		return windowsShell(os.Getenv, isProgram)
	}
	for _, name := range []string{"bash", "sh"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// ValueCommand returns the command whose output is a value in a file of settings: it runs in sh, as those of other programs do, and
// on Windows in the shell of commands, which is never that of WSL. The command is nil if there is no shell.
func ValueCommand(ctx context.Context, line string) *exec.Cmd {
	shell := valueShell(runtime.GOOS, findShell)
	if shell == "" {
		return nil
	}
	cmd := exec.CommandContext(ctx, shell, "-c", line)
	quoteAll(cmd)
	return cmd
}

func valueShell(system string, find func() string) string {
	if system == "windows" {
		return find()
	}
	return "sh"
}

// noShell says what to do if there is no shell.
func noShell(system string) string {
	if system == "windows" {
		return "No bash was found, so commands cannot be run. Install Git for Windows (https://gitforwindows.org), or name the bash.exe of MSYS2 or Cygwin with --shell-path or the setting shellPath. The bash of WSL is not used."
	}
	return "bash is not on the PATH, so commands cannot be run."
}

// windowsShell returns the shell of a Windows machine whose variables and programs are given: that of Git for Windows, else
// a bash or sh on the PATH. It never returns the bash.exe of WSL, which comes first on most PATHs: it runs commands in
// another system, with other paths and programs. Paths have backslashes, whatever the system of the caller.
func windowsShell(getenv func(string) string, exists func(path string) bool) string {
	var roots []string
	for _, dir := range []string{"ProgramFiles", "ProgramW6432", "ProgramFiles(x86)"} {
		roots = append(roots, below(getenv(dir), "Git"))
	}
	roots = append(roots, below(getenv("LOCALAPPDATA"), `Programs\Git`), below(getenv("SCOOP"), `apps\git\current`), below(getenv("USERPROFILE"), `scoop\apps\git\current`))
	dirs := searched(getenv)
	for _, dir := range dirs {
		if exists(below(dir, "git.exe")) {
			roots = append(roots, gitRoots(dir)...)
		}
	}
	for _, root := range roots {
		for _, name := range []string{`bin\bash.exe`, `usr\bin\bash.exe`} {
			if shell := below(root, name); shell != "" && exists(shell) {
				return shell
			}
		}
	}
	for _, name := range []string{"bash.exe", "sh.exe"} {
		for _, dir := range dirs {
			if shell := below(dir, name); exists(shell) {
				return shell
			}
		}
	}
	return ""
}

// absoluteDir matches a directory with a drive, or on a server. The current directory may be a stranger's repository, so
// that relative ones are not searched.
var absoluteDir = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z]:\\|\\\\[^\\])`) })

// searched returns the directories of the PATH in which a shell is looked for.
func searched(getenv func(string) string) (dirs []string) {
	for dir := range strings.SplitSeq(getenv("PATH"), ";") {
		dir = strings.ReplaceAll(strings.Trim(strings.TrimSpace(dir), `"`), "/", `\`)
		if absoluteDir().MatchString(dir) && !ofWindows(getenv, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// ofWindows reports whether a path is in a directory of Windows itself, or of aliases for its apps. A bash.exe in them is that
// of WSL.
func ofWindows(getenv func(string) string, name string) bool {
	plain := func(s string) string {
		return path.Clean(strings.TrimPrefix(strings.ToLower(strings.ReplaceAll(s, `\`, "/")), "//?/"))
	}
	name = plain(name)
	for _, dir := range []string{getenv("SystemRoot"), getenv("windir"), `C:\Windows`} {
		if dir != "" && (name == plain(dir) || strings.HasPrefix(name, plain(dir)+"/")) {
			return true
		}
	}
	return slices.Contains(strings.Split(name, "/"), "windowsapps")
}

// gitRoots returns the directories in which Git for Windows may be installed, if its git.exe is in dir.
func gitRoots(dir string) []string {
	dir = strings.TrimRight(dir, `\`)
	parent := func(s string) string { return s[:max(strings.LastIndexByte(s, '\\'), 0)] }
	return []string{parent(dir), parent(parent(dir))} // of cmd or bin, and of mingw64\bin
}

// below joins a directory and a relative path; "" if there is no directory.
func below(dir, name string) string {
	if dir == "" {
		return ""
	}
	return strings.TrimRight(strings.ReplaceAll(dir, "/", `\`), `\`) + `\` + name
}

// KnownShell reports whether the syntax of a shell, and the paths in its commands, are known: it is bash or sh, and not that
// of WSL.
func KnownShell(program string) bool { return knownShell(runtime.GOOS, os.Getenv, program) }

func knownShell(system string, getenv func(string) string, program string) bool {
	name := filepath.Base(program)
	if system == "windows" {
		slashes := strings.ReplaceAll(program, `\`, "/")
		name = strings.TrimSuffix(strings.ToLower(path.Base(slashes)), ".exe")
		if ofWindows(getenv, program) {
			return false
		}
	}
	return name == "bash" || name == "sh"
}
