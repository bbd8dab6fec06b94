package lsp

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
	"go.lsp.dev/uri"

	"github.com/xcsh-ls/xcsh-ls/session/outline"
)

type documentLink struct {
	Range   textRange `json:"range"`
	Target  string    `json:"target"`
	Tooltip string    `json:"tooltip"`
}

// documentLinks answers with what the session names and the person may open: its parent, its
// blobs, and files inside workspace folders. Whether they exist is not looked up.
func (s *server) documentLinks(_ context.Context, v *sessionView, _ *textDocumentParams) (any, error) {
	links := []documentLink{}
	for _, l := range v.Links() {
		target, tooltip := s.linkTarget(v, l)
		if target == "" {
			continue
		}
		links = append(links, documentLink{
			Range:  textRange{v.lines.position(l.From), v.lines.position(l.To)},
			Target: string(uri.File(target)), Tooltip: tooltip,
		})
	}
	return links, nil
}

// linkTarget returns the path that a link leads to, "" for one that leads nowhere or outside.
func (s *server) linkTarget(v *sessionView, l outline.Link) (path, tooltip string) {
	switch l.Kind {
	case outline.LinkParent:
		return s.parentFile(v.path, l.Target), "Parent session"
	case outline.LinkBlob:
		root, _ := s.lookEnv().Finder.FileRoot(v.path)
		if root.Blobs == "" {
			return "", ""
		}
		return filepath.Join(root.Blobs, l.Target), "Image"
	case outline.LinkFile:
		path, ok := s.touchedFile(v.Doc.Header().Cwd, l.Target)
		if !ok {
			return "", ""
		}
		return path, "File"
	}
	return "", ""
}

// touchedFile resolves a path that a model wrote against the session's directory. ok is false
// for one outside the workspace folders.
func (s *server) touchedFile(cwd, target string) (path string, ok bool) {
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
	_, ok = s.folderOf(path)
	return path, ok
}

// parentFile returns the file of a parent session, which is named by its path, or by its id
// and then looked for beside the session. "" is for none that may be looked at.
func (s *server) parentFile(path, parent string) string {
	if strings.ContainsRune(parent, 0) {
		return ""
	}
	if filepath.IsAbs(parent) {
		if parent = filepath.Clean(parent); s.mayRead(parent) {
			return parent
		}
		return ""
	}
	env := s.lookEnv()
	if env.Fs == nil || !s.mayRead(path) {
		return ""
	}
	dir := filepath.Dir(path)
	infos, err := afero.ReadDir(env.Fs, dir)
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
