package look

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
)

// private is the private repository of a look, in a temporary directory. It has copies of the index, of the rules outside of the work
// tree, and of the settings for the storage of files. Other settings of the user or the repository are ignored, so that no program can
// be injected, even while git is running. Objects are read from the original repository.
//
// The index is copied because git writes next to it: it sets the time of a shared index on every read.
type private struct {
	Dir     string      `json:"dir"`
	Objects string      `json:"objects"`
	Filters []string    `json:"filters,omitempty"` // the names of the filters in the settings; they are programs, which are not run
	Mode    fs.FileMode `json:"mode"`              // the permission bits that git gives to new files, without the executable bits
}

const (
	privatePrefix = "xcsh-ls-look-"
	emptyTree     = "tree" // a work tree without files, where git uses the attributes of the index
	stale         = 7 * 24 * time.Hour
)

// keptSettings control the storage of files and which files git ignores.
var keptSettings = []string{
	"core.autocrlf", "core.eol", "core.checkroundtripencoding", "core.excludesfile", "core.attributesfile", "core.filemode",
	"core.symlinks", "core.precomposeunicode", "core.trustctime", "core.checkstat", "core.longpaths", "extensions.objectformat",
}

// temp is the directory of private repositories.
func (o Options) temp() string {
	if o.Temp == "" {
		return filepath.Clean(os.TempDir())
	}
	return filepath.Clean(o.Temp)
}

// newPrivate creates a private repository for a work tree. settings are the effective ones of the original repository.
func newPrivate(o Options, r *root, settings []setting) (*private, error) {
	if err := o.Fs.MkdirAll(o.temp(), 0o700); err != nil {
		return nil, err
	}
	sweep(o)
	dir, err := afero.TempDir(o.Fs, o.temp(), privatePrefix)
	if err != nil {
		return nil, err
	}
	p := &private{Dir: dir, Objects: r.objects, Mode: 0o644}
	if err := p.fill(o.Fs, r, settings); err != nil {
		p.remove(o.Fs)
		return nil, err
	}
	return p, nil
}

func (p *private) fill(fsys afero.Fs, r *root, settings []setting) error {
	for _, dir := range []string{"refs", "info", emptyTree} {
		if err := fsys.Mkdir(filepath.Join(p.Dir, dir), 0o700); err != nil {
			return err
		}
	}
	// On a disk that ignores case, .GIT exists too. The setting core.ignoreCase may be from another machine.
	_, err := disk.Lstat(fsys, filepath.Join(r.top, ".GIT"))
	config := p.config(settings, err == nil)
	for name, content := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := afero.WriteFile(fsys, filepath.Join(p.Dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{"exclude", "attributes"} {
		if _, err := copyFile(fsys, filepath.Join(r.info, name), filepath.Join(p.Dir, "info", name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return p.copyIndex(fsys, r.indexFile)
}

// config returns the settings file. Files that a sparse checkout excludes are compared if they exist.
func (p *private) config(settings []setting, ignoreCase bool) string {
	b := &strings.Builder{}
	b.WriteString("[core]\n\tbare = false\n\tpreloadIndex = true\n\tsparseCheckout = true\n")
	if ignoreCase {
		b.WriteString("\tignoreCase = true\n")
	}
	version := "0"
	for _, s := range settings {
		if section, key, _ := strings.Cut(s.key, "."); slices.Contains(keptSettings, s.key) {
			b.WriteString("[" + section + "]\n\t" + key + quotedSetting(s) + "\n")
			if section == "extensions" {
				version = "1"
			}
			continue
		}
		if name, ok := strings.CutPrefix(s.key, "filter."); ok {
			if i := strings.LastIndexByte(name, '.'); i >= 0 && !slices.Contains(p.Filters, name[:i]) {
				p.Filters = append(p.Filters, name[:i])
			}
		}
	}
	return "[core]\n\trepositoryFormatVersion = " + version + "\n" + b.String()
}

// setting is a git setting.
type setting struct {
	key, value string
	bare       bool // without a value, which means true
}

func quotedSetting(s setting) string {
	if s.bare {
		return ""
	}
	return ` = "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s.value) + `"`
}

// settings returns the effective settings of a repository. Later ones override earlier ones.
func (g git) settings(ctx context.Context) (settings []setting, err error) {
	lines, err := g.names(ctx, "config", "--list", "-z")
	for _, line := range lines {
		key, value, ok := strings.Cut(line, "\n")
		settings = append(settings, setting{key, value, !ok})
	}
	return settings, err
}

// copyIndex copies the index and its shared indexes. The copy keeps the original's time, because git does not trust the state of a file
// that was changed at the time of the index. A missing index is no error.
func (p *private) copyIndex(fsys afero.Fs, file string) error {
	mode, err := copyFile(fsys, file, filepath.Join(p.Dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	p.Mode = mode & 0o666 // git creates the index with the mode of other files
	shared, err := afero.Glob(fsys, filepath.Join(quotedGlob(filepath.Dir(file)), "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, from := range shared {
		if strings.HasSuffix(from, ".lock") {
			continue
		}
		if _, err := copyFile(fsys, from, filepath.Join(p.Dir, filepath.Base(from))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func quotedGlob(path string) string {
	if filepath.Separator == '\\' {
		return path // there is no quoting, and no such name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// copyFile copies a regular file with its time, and returns its mode.
func copyFile(fsys afero.Fs, from, to string) (fs.FileMode, error) {
	info, err := fsys.Stat(from)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New(from + " is not a file")
	}
	in, err := fsys.Open(from)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // opened for reading only
	if info, err = in.Stat(); err != nil {
		return 0, err
	}
	out, err := fsys.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return 0, err
	}
	return info.Mode().Perm(), fsys.Chtimes(to, info.ModTime(), info.ModTime())
}

// remove removes the private repository.
func (p *private) remove(fsys afero.Fs) { _ = fsys.RemoveAll(p.Dir) } // best effort: a copy in a temporary directory

// sweep removes old private repositories of processes that died.
func sweep(o Options) {
	infos, err := afero.ReadDir(o.Fs, o.temp())
	if err != nil {
		return
	}
	for _, info := range infos {
		if info.IsDir() && strings.HasPrefix(info.Name(), privatePrefix) && time.Since(info.ModTime()) > stale {
			_ = o.Fs.RemoveAll(filepath.Join(o.temp(), info.Name())) // best effort: sweep runs again later
		}
	}
}
