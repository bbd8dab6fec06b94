package sessiondoc

import (
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"go.lsp.dev/uri"

	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
	"github.com/xcsh-ls/xcsh-ls/session/outline"
)

type link struct {
	Range   textdoc.Range `json:"range"`
	Target  string        `json:"target"`
	Tooltip string        `json:"tooltip"`
}

// links returns the links in a session that the user may open: its parent, its blobs, and files in
// workspace folders. It does not check whether they exist.
func (d *Docs) links(v *view) any {
	files, links := d.host.Files(), []link{}
	for _, l := range v.Links() {
		target, tooltip := files.linkTarget(v, l)
		if target == "" {
			continue
		}
		links = append(links, link{
			Range:  textdoc.Range{Start: v.lines.Position(l.From), End: v.lines.Position(l.To)},
			Target: string(uri.File(target)), Tooltip: tooltip,
		})
	}
	return links
}

// linkTarget returns the path of a link's target, or "" if it has none or one that may not be read.
func (f Files) linkTarget(v *view, l outline.Link) (path, tooltip string) {
	switch l.Kind {
	case outline.LinkParent:
		return f.parentFile(v.path, l.Target), "Parent session"
	case outline.LinkBlob:
		root, _ := f.Finder.FileRoot(v.path)
		if root.Blobs == "" {
			return "", ""
		}
		return filepath.Join(root.Blobs, l.Target), "Image"
	case outline.LinkFile:
		path, ok := f.touchedFile(v.Doc.Header().Cwd, l.Target)
		if !ok {
			return "", ""
		}
		return path, "File"
	}
	return "", ""
}

// touchedFile resolves a path that a model wrote against the session's directory. ok is false if it
// is outside the workspace folders.
func (f Files) touchedFile(cwd, target string) (path string, ok bool) {
	path = filepath.FromSlash(target)
	if !filepath.IsAbs(path) {
		if !filepath.IsAbs(cwd) {
			return "", false
		}
		path = filepath.Join(cwd, path)
	}
	path = filepath.Clean(path)
	if strings.ContainsRune(path, 0) {
		return "", false
	}
	_, ok = f.FolderOf(path)
	return path, ok
}

// parentFile returns the file of a parent session, or "" if it may not be read. The parent is named
// by its path, or by its id, which is searched in the directory of the session.
func (f Files) parentFile(path, parent string) string {
	if strings.ContainsRune(parent, 0) {
		return ""
	}
	if filepath.IsAbs(parent) {
		if parent = filepath.Clean(parent); f.MayRead(parent) {
			return parent
		}
		return ""
	}
	if f.Fs == nil || !f.MayRead(path) {
		return ""
	}
	dir := filepath.Dir(path)
	infos, err := afero.ReadDir(f.Fs, dir)
	if err != nil {
		return ""
	}
	for _, info := range infos {
		if name := info.Name(); strings.HasSuffix(name, "_"+parent+".jsonl") && filepath.Join(dir, name) != path {
			return filepath.Join(dir, name)
		}
	}
	return ""
}
