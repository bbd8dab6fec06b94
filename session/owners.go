package session

import (
	"path/filepath"
	"strings"

	"github.com/spf13/afero"
)

// Owners returns which session files are open for writing, and by whom, as far as the
// servers say. It changes nothing on disk.
func (s *Store) Owners() map[string]Owner {
	owners := map[string]Owner{}
	if s.LockDir == "" {
		return owners
	}
	names, err := afero.ReadDir(s.Fs, s.LockDir)
	if err != nil {
		return owners // nobody has said anything yet
	}
	for _, n := range names {
		if !strings.HasSuffix(n.Name(), ".lock") {
			continue
		}
		path := filepath.Join(s.LockDir, n.Name())
		f := lockFile{fs: s.Fs, path: path, of: path, env: s.locks.env, judge: s.locks.env.judgeSession}
		if owner, ok := f.sessionOwner(); ok {
			owners[owner.Path] = owner
		}
	}
	return owners
}
