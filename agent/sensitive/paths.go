package sensitive

import (
	"path/filepath"
	"slices"
	"strings"
)

// Env is the environment on which the paths depend.
type Env struct {
	Home      string              // the user's home directory; "" leaves out the paths below it
	Homes     []string            // further home directories: of the same user under another name, or of others
	OS        string              // runtime.GOOS
	AgentDirs []string            // further agent directories, absolute
	Getenv    func(string) string // nil: no variable is set
}

func (e Env) get(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// Paths returns the absolute paths of all files and directories that hold credentials, sorted
// and without those below another one. None needs to exist. Two groups are left out, because a
// policy of paths would do harm with them or cannot name them: configuration files with
// passwords that build tools read at each start, and /proc and /dev. A [Set] denies these too.
func Paths(env Env) []string {
	return tidy(env, env.paths())
}

func (e Env) paths() []string {
	var all []string
	for _, home := range e.homes() {
		for _, name := range slices.Concat(credentials, browsers, keyrings, histories) {
			all = append(all, filepath.Join(home, filepath.FromSlash(name)))
		}
	}
	all = append(all, e.moved()...)
	if e.OS != "windows" {
		all = append(all, system...)
	}
	for _, dir := range e.agentDirs() {
		for _, name := range agentFiles {
			all = append(all, filepath.Join(dir, name))
		}
	}
	return all
}

// homes returns the home directories, without duplicates.
func (e Env) homes() []string {
	var homes []string
	for _, home := range append([]string{e.Home}, e.Homes...) {
		if home = filepath.Clean(home); usable(home) && !slices.Contains(homes, home) {
			homes = append(homes, home)
		}
	}
	return homes
}

// moved returns the credentials whose location environment variables change.
func (e Env) moved() []string {
	var all []string
	for _, variable := range variables {
		all = append(all, filepath.SplitList(e.get(variable))...)
	}
	for variable, names := range bases {
		if base := e.get(variable); usable(base) {
			for _, name := range names {
				all = append(all, filepath.Join(base, filepath.FromSlash(name)))
			}
		}
	}
	for variable, prefix := range map[string]string{"XDG_CONFIG_HOME": ".config/", "XDG_DATA_HOME": ".local/share/"} {
		base := e.get(variable)
		if !usable(base) {
			continue
		}
		for _, name := range slices.Concat(credentials, browsers, keyrings, histories) {
			if rest, ok := strings.CutPrefix(name, prefix); ok {
				all = append(all, filepath.Join(base, filepath.FromSlash(rest)))
			}
		}
	}
	return all
}

// agentDirs returns every directory that may be an agent directory of xcsh, omp or pi.
func (e Env) agentDirs() []string {
	dirs := slices.Clone(e.AgentDirs)
	for _, home := range e.homes() {
		for _, name := range []string{".xcsh", ".omp", ".pi", e.get("PI_CONFIG_DIR")} {
			if name != "" {
				dirs = append(dirs, filepath.Join(home, name, "agent"))
			}
		}
		for _, name := range []string{".local/share", ".local/state", ".config"} {
			dirs = append(dirs, filepath.Join(home, name, "xcsh"), filepath.Join(home, name, "omp"))
		}
		dirs = append(dirs, filepath.Join(home, ".agent"))
	}
	for _, variable := range []string{"PI_CODING_AGENT_DIR", "AGENT_HOME"} {
		dir := e.get(variable)
		if rest, ok := strings.CutPrefix(dir, "~"); ok && e.Home != "" {
			dir = filepath.Join(e.Home, rest)
		}
		dirs = append(dirs, dir)
	}
	for _, variable := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		if base := e.get(variable); usable(base) {
			dirs = append(dirs, filepath.Join(base, "xcsh"), filepath.Join(base, "omp"))
		}
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !usable(dir) })
}

// usable reports whether a path can be part of the list: absolute, and not a root.
func usable(path string) bool {
	return filepath.IsAbs(path) && filepath.Dir(filepath.Clean(path)) != filepath.Clean(path)
}

// tidy sorts paths and drops duplicates, those below another one, and those that would deny the
// home directory as a whole.
func tidy(env Env, paths []string) []string {
	var kept []string
	for i := range paths {
		paths[i] = filepath.Clean(paths[i])
	}
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(sortable(a), sortable(b)) })
	for _, path := range paths {
		if env.tooWide(path) {
			continue
		}
		if n := len(kept); n == 0 || !contains(kept[n-1], path) {
			kept = append(kept, path)
		}
	}
	return kept
}

// tooWide reports whether denying path would deny a home directory as a whole, or the device that
// takes everything: some users link their histories to it.
func (e Env) tooWide(path string) bool {
	return !usable(path) || path == "/dev/null" || slices.ContainsFunc(e.homes(), func(home string) bool { return contains(path, home) })
}

// sortable returns a key that sorts a directory right before the paths below it.
func sortable(path string) string {
	return strings.ReplaceAll(path, string(filepath.Separator), "\x00")
}

// contains reports whether path is dir or below it.
func contains(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}
