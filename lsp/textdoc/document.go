package textdoc

import (
	"path/filepath"
	"runtime"
	"strings"

	"go.lsp.dev/uri"
)

// Document is a copy of one open text as the client sees it. Later edits do not change it.
type Document struct {
	Path       string // cleaned and absolute
	URI        string // as the client spells it
	LanguageID string
	Version    int64 // increases with every change
	Text       string
}

// Path returns the cleaned absolute path of a file: URI. Every other URI has no path here, even
// though the uri package would return one.
func Path(s string) (string, bool) {
	const scheme = "file:/"
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return "", false
	}
	rest := s[len(scheme):]
	if local, ok := strings.CutPrefix(rest, "/localhost/"); ok { // means this machine
		rest = "//" + local
	}
	u, err := uri.Parse(scheme + rest)
	if err != nil || !u.IsFile() || u.Authority() != "" && runtime.GOOS != "windows" {
		return "", false
	}
	path := filepath.Clean(filepath.FromSlash(u.FsPath()))
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", false
	}
	return strings.Clone(path), true
}
