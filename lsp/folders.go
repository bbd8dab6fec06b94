package lsp

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.lsp.dev/uri"
	"go.uber.org/zap"
)

// folders are the workspace folders as cleaned absolute paths, in the client's
// order and without repetitions. It is safe for concurrent use.
type folders struct {
	mu    sync.Mutex
	paths []string // guarded by mu; replaced, never changed in place
}

func newFolders() *folders { return &folders{} }

// list returns the folders. The caller must not change the slice.
func (f *folders) list() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paths
}

// change removes and adds folders, and returns which are really gone: a folder
// that is removed and added in one step stays.
func (f *folders) change(removed, added []string) (gone []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var next []string
	for _, p := range f.paths {
		switch {
		case !slices.Contains(removed, p):
			next = append(next, p)
		case !slices.Contains(added, p):
			gone = append(gone, p)
		}
	}
	for _, p := range added {
		if !slices.Contains(next, p) {
			next = append(next, p)
		}
	}
	f.paths = next
	return gone
}

// workspaceFolder is a folder as a client names it.
type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// folderPaths turns what a client sent as a list of folders into paths. What is
// not a folder on this machine's disk is left out with a line in the log.
func folderPaths(raw json.RawMessage, log *zap.Logger) []string {
	var items []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var paths []string
	for _, item := range items {
		var f workspaceFolder
		if err := json.Unmarshal(item, &f); err != nil {
			log.Warn("a workspace folder could not be read", zap.Error(err))
			continue
		}
		path, ok := filePath(f.URI)
		if !ok {
			log.Warn("ignored a workspace folder that is not a file: URI", zap.String("uri", printable(f.URI)))
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// filePath returns the cleaned absolute path of a file: URI. Every other URI has
// no path here, even though the uri package would make one up.
func filePath(s string) (string, bool) {
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

// didChangeFolders adds and removes folders while the server runs.
func (s *server) didChangeFolders(params json.RawMessage) error {
	var p struct {
		Event struct {
			Added   json.RawMessage `json:"added"`
			Removed json.RawMessage `json:"removed"`
		} `json:"event"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	gone := s.folders.change(folderPaths(p.Event.Removed, s.log), folderPaths(p.Event.Added, s.log))
	for _, cwd := range gone {
		s.sessions.closeFolder(cwd)
	}
	return nil
}
