package lsp

import (
	"encoding/json"
	"slices"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/lsp/conn"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// folders are the workspace folders as cleaned absolute paths, in the client's order and without
// duplicates. It is safe for concurrent use.
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

// change removes and adds folders and returns the removed ones. A folder that is removed and added in
// one step stays.
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

// workspaceFolder is a folder in the protocol's form.
type workspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

// folderPaths returns the paths in the client's list of folders. It logs and omits those that are not
// file: URIs.
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
		path, ok := textdoc.Path(f.URI)
		if !ok {
			log.Warn("ignored a workspace folder that is not a file: URI", zap.String("uri", conn.Printable(f.URI)))
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// didChangeFolders handles workspace/didChangeWorkspaceFolders.
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
