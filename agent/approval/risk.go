package approval

import (
	"slices"
	"strings"
)

// risk says which arguments of a program run other programs, write files or change where it
// works. A rule about its first words does not allow those.
type risk struct {
	long        []string // options by name, without dashes
	letters     string   // options of one letter, also among others: -nO
	assignments bool     // NAME=value sets a variable
	oneDash     bool     // options have one dash or two and are never shortened
}

// node are the package managers around npm, which take every setting as an option.
var node = risk{
	long: []string{
		"script-shell", "shell", "shell-emulator", "node-options", "prefix", "dir", "cwd", "userconfig", "globalconfig", "git", "init-module",
		"editor", "viewer", "browser", "onload-script", "config", "preload", "import", "require", "use-yarnrc", "modules-folder",
	},
	letters: "Crc",
}

var risks = map[string]risk{
	"git": {
		long: []string{
			"output", "output-directory", "open-files-in-pager", "upload-pack", "receive-pack", "exec", "exec-path", "ext-diff", "textconv",
			"config", "config-env", "git-dir", "work-tree", "template", "extcmd", "separate-git-dir", "unsafe-paths",
		},
		letters: "Ocx",
	},
	"go": {
		long: []string{
			"exec", "toolexec", "vettool", "fixtool", "o", "c", "w", "u", "C", "overlay", "modfile", "modcacherw", "ldflags", "gcflags", "asmflags",
			"gccgoflags", "compiler", "pkgdir", "installsuffix", "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile",
			"trace", "outputdir", "gocoverdir", "testlogfile", "artifacts", "workfile", "fuzzcachedir", "debug-trace",
			"debug-actiongraph", "debug-runtime-trace",
		},
		oneDash: true,
	},
	"make": {
		long:        []string{"file", "makefile", "directory", "eval", "include-dir", "environment-overrides", "old-file", "assume-old"},
		letters:     "fCEIe",
		assignments: true,
	},
	"just":     {long: []string{"shell", "shell-arg", "set", "justfile", "working-directory", "chooser", "command", "dotenv-path"}, letters: "fdc", assignments: true},
	"cargo":    {long: []string{"config", "manifest-path", "target-dir", "artifact-dir", "out-dir", "root", "path"}, letters: "ZC"},
	"npm":      node,
	"pnpm":     node,
	"yarn":     node,
	"bun":      node,
	"pip":      {long: []string{"python", "log", "log-file", "target", "prefix", "root", "src", "report", "editable", "requirement", "config-settings", "global-option"}, letters: "trec"},
	"gradle":   {long: []string{"init-script", "build-file", "settings-file", "project-dir", "include-build", "system-prop", "project-prop", "gradle-user-home"}, letters: "IbcpDPg"},
	"mvn":      {long: []string{"define", "file", "settings", "global-settings", "toolchains", "log-file"}, letters: "Dfsgtl"},
	"deno":     {long: []string{"allow-all", "allow-run", "allow-write", "allow-ffi", "config", "import-map", "preload", "output"}, letters: "Aco"},
	"dotnet":   {long: []string{"property", "output", "logger", "settings", "configfile", "results-directory"}, letters: "op"},
	"date":     {long: []string{"set"}, letters: "s"},
	"file":     {long: []string{"compile"}, letters: "C"},
	"rg":       {long: []string{"pre", "hostname-bin"}},
	"uv":       {long: []string{"python", "directory", "project", "config-file", "target", "prefix"}, letters: "p"},
	"bundle":   {long: []string{"gemfile", "path"}},
	"composer": {long: []string{"working-dir"}, letters: "d"},
}

// risky reports whether an argument does what a rule about the first words is not meant to
// allow, or could: what the shell replaces can become any argument, as a pattern does that
// meets a file called --output=x.
func (c call) risky() bool {
	r, ok := risks[c.words[0]]
	if !ok {
		return false
	}
	return !c.plain || slices.ContainsFunc(c.words[1:], r.takes)
}

// takes reports whether a word is one of the arguments.
func (r risk) takes(word string) bool {
	if !isFlag(word) {
		return r.assignments && strings.Contains(word, "=")
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	long := strings.HasPrefix(word, "--")
	if !long && !r.oneDash {
		return strings.ContainsAny(word, r.letters)
	}
	name = strings.TrimPrefix(name, "test.")
	for _, option := range r.long {
		// Many programs take the beginning of an option's name for the name.
		if option == name || !r.oneDash && name != "" && strings.HasPrefix(option, name) {
			return true
		}
	}
	return false
}
