package present

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
	"github.com/xcsh-ls/xcsh-ls/agent/change/disk"
	"github.com/xcsh-ls/xcsh-ls/agent/change/plan"
	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
)

// directory is the cached state of a directory.
type directory struct {
	real       string // with links resolved, except those above the session's folder
	file       string // the parent that is not a directory, "" if there is none
	missing    bool
	block, why string
}

// directory checks a directory and its parents.
func (p *Presenter) directory(dir string) directory {
	if d, ok := p.dirs[dir]; ok {
		return d
	}
	d := p.look(dir)
	p.dirs[dir] = d
	return d
}

func (p *Presenter) look(dir string) directory {
	parent := filepath.Dir(dir)
	if parent == dir {
		return directory{real: dir}
	}
	if dir == p.o.Folder {
		return p.usable(dir, directory{real: dir})
	}
	d := p.directory(parent)
	if d.file != "" || d.missing {
		d.real = filepath.Join(d.real, filepath.Base(dir))
		return d
	}
	info, err := disk.Lstat(p.o.Fs, dir)
	above := strings.HasPrefix(p.o.Folder, dir+string(filepath.Separator))
	real := filepath.Join(d.real, filepath.Base(dir))
	switch {
	case disk.NotThere(err):
		return directory{real: real, missing: true, block: d.block, why: d.why}
	case err != nil:
		return directory{real: real, block: wire.Denied, why: "The directory " + dir + " can't be read."}
	case above:
		return p.usable(dir, directory{real: dir})
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := disk.Readlink(p.o.Fs, dir)
		if err != nil {
			return directory{real: real, block: wire.Denied, why: "The link " + dir + " can't be read."}
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(d.real, target)
		}
		return directory{real: filepath.Clean(target)}
	case !info.IsDir():
		return directory{real: real, file: dir}
	}
	return p.usable(dir, directory{real: real})
}

// usable checks whether files can be created in a directory.
func (p *Presenter) usable(dir string, d directory) directory {
	info, err := p.o.Fs.Stat(dir)
	if err == nil && !writable(p.o.Fs, dir, info) {
		d.block, d.why = wire.ReadOnly, "The directory "+dir+" can't be written."
	}
	return d
}

// maxUnder is the maximum number of files below a directory that are visited.
const maxUnder = 20_000

// Under returns the files below a directory. ok is false if there are too many, or a directory can't be read.
func (p *Presenter) Under(dir string) (paths []string, ok bool) {
	err := afero.Walk(p.o.Fs, dir, func(path string, info fs.FileInfo, err error) error {
		switch {
		case err != nil:
			return err
		case p.ctx.Err() != nil:
			return p.ctx.Err()
		case len(paths) >= maxUnder:
			return fs.SkipAll
		case !info.IsDir():
			paths = append(paths, path)
		}
		return nil
	})
	return paths, err == nil && len(paths) < maxUnder
}

// Find returns a file of the session's folder that may be the renamed file of the path was: its content is that of s. It returns "" if
// there is none among the first files.
func (p *Presenter) Find(s change.State, was string) (found string) {
	if p.o.Folder == "" || s.Kind != change.Regular {
		return ""
	}
	for _, root := range []string{filepath.Dir(was), p.o.Folder} {
		if rel, err := filepath.Rel(p.o.Folder, root); err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if found := p.findIn(root, s); found != "" {
			return found
		}
	}
	return ""
}

func (p *Presenter) findIn(root string, s change.State) (found string) {
	seen := 0
	_ = afero.Walk(p.o.Fs, root, func(path string, info fs.FileInfo, err error) error { // after an error, no file is found
		if seen++; seen > maxUnder || p.ctx.Err() != nil {
			return fs.SkipAll
		}
		switch {
		case err != nil:
			return nil
		case info.IsDir() && (info.Name() == ".git" || info.Name() == "node_modules"):
			return fs.SkipDir
		case !info.Mode().IsRegular() || info.Size() != s.Size:
			return nil
		}
		var now plan.Now
		if p.file(path, info, &now) == nil && now.State.SHA256 == s.SHA256 {
			found = path
			return fs.SkipAll
		}
		return nil
	})
	return found
}
