package find

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// place is a directory in which programs are searched.
type place struct {
	dir  string
	shim bool // its programs choose at each start what they run, so that their files say nothing about the version
}

// maxVersions is how many installed versions of Node.js are searched, newest first.
const maxVersions = 16

// places returns the directories in which programs are searched, without those of the login shell.
func (m Machine) places() []place {
	var places []place
	for _, dir := range slices.Concat(m.split(m.Getenv("PATH")), m.wellKnown()) {
		if !slices.ContainsFunc(places, func(p place) bool { return p.dir == dir }) {
			places = append(places, place{dir, isShims(dir)})
		}
	}
	return places
}

// isShims reports whether the programs in a directory are those of a version manager.
func isShims(dir string) bool {
	base, parent := filepath.Base(dir), filepath.Base(filepath.Dir(dir))
	return base == "shims" || base == "bin" && (parent == ".volta" || parent == "Volta") || strings.Contains(dir, "fnm_multishells")
}

// wellKnown returns the directories in which package managers install programs.
func (m Machine) wellKnown() []string {
	var dirs []string
	add := func(dir string, below ...string) {
		if dir = filepath.Join(append([]string{dir}, below...)...); filepath.IsAbs(dir) {
			dirs = append(dirs, dir)
		}
	}
	home := func(below ...string) {
		if m.Home != "" {
			add(m.Home, below...)
		}
	}
	// named adds directories below one that a variable names, else below the usual one.
	named := func(variable, usual string, below ...string) {
		if dir := m.Getenv(variable); filepath.IsAbs(dir) {
			add(dir, below...)
		}
		home(append([]string{filepath.FromSlash(usual)}, below...)...)
	}
	if m.OS == "windows" {
		for _, c := range [][]string{{"APPDATA", "npm"}, {"LOCALAPPDATA", "Volta", "bin"}, {"LOCALAPPDATA", "pnpm"}, {"NVM_SYMLINK"}, {"PNPM_HOME"}} {
			if dir := m.Getenv(c[0]); filepath.IsAbs(dir) {
				add(dir, c[1:]...)
			}
		}
		home("scoop", "shims")
		named("BUN_INSTALL", ".bun", "bin")
		return dirs
	}
	home(".local", "bin")
	named("BUN_INSTALL", ".bun", "bin")
	if prefix := m.npmPrefix(); prefix != "" {
		add(prefix, "bin")
	}
	home(".npm-global", "bin")
	named("VOLTA_HOME", ".volta", "bin")
	named("MISE_DATA_DIR", ".local/share/mise", "shims")
	named("ASDF_DATA_DIR", ".asdf", "shims")
	named("PNPM_HOME", ".local/share/pnpm")
	add("/opt/homebrew/bin")
	add("/home/linuxbrew/.linuxbrew/bin")
	add("/usr/local/bin")
	for _, dir := range []string{m.Getenv("NVM_DIR"), filepath.Join(m.Home, ".nvm")} {
		dirs = append(dirs, m.newest(filepath.Join(dir, "versions", "node"), "bin")...)
	}
	for _, dir := range []string{m.Getenv("FNM_DIR"), filepath.Join(m.Home, ".local", "share", "fnm"), filepath.Join(m.Home, "Library", "Application Support", "fnm"), filepath.Join(m.Home, ".fnm")} {
		dirs = append(dirs, m.newest(filepath.Join(dir, "node-versions"), "installation", "bin")...)
	}
	return dirs
}

// newest returns a directory below each version in dir, newest first.
func (m Machine) newest(dir string, below ...string) []string {
	if !filepath.IsAbs(dir) {
		return nil
	}
	infos, err := afero.ReadDir(m.Fs, dir)
	if err != nil {
		return nil
	}
	type installed struct {
		version version
		dir     string
	}
	var all []installed
	for _, info := range infos {
		if v, ok := parseVersion(info.Name()); ok {
			all = append(all, installed{v, filepath.Join(append([]string{dir, info.Name()}, below...)...)})
		}
	}
	slices.SortStableFunc(all, func(a, b installed) int { return b.version.compare(a.version) })
	var dirs []string
	for _, one := range all[:min(len(all), maxVersions)] {
		dirs = append(dirs, one.dir)
	}
	return dirs
}

// maxSettings bounds the size of other programs' settings, in bytes.
const maxSettings = 1 << 20

// npmPrefix returns the directory in which npm installs programs, if the user has configured one; "" otherwise.
func (m Machine) npmPrefix() string {
	if dir := m.Getenv("npm_config_prefix"); filepath.IsAbs(dir) {
		return dir
	}
	if m.Home == "" {
		return ""
	}
	content, err := intake.ReadAll(m.Fs, filepath.Join(m.Home, ".npmrc"), maxSettings)
	if err != nil {
		return ""
	}
	prefix := ""
	for line := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "prefix" {
			prefix = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	for _, home := range []string{"~/", "${HOME}/", "$HOME/"} {
		if rest, ok := strings.CutPrefix(prefix, home); ok {
			prefix = filepath.Join(m.Home, rest)
		}
	}
	if !filepath.IsAbs(prefix) {
		return ""
	}
	return prefix
}
