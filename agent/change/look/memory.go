package look

import (
	"io/fs"
	"sync"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/change"
)

// Memory is a cache that is shared by the looks of a session. It is safe for concurrent use. The zero value is ready to use.
type Memory struct {
	mu      sync.Mutex
	files   map[string]seen    // guarded by mu
	ignored map[string]ignored // guarded by mu, by the root
	facts   map[string]facts   // guarded by mu, by the root
}

// seen is the cached state of a file.
type seen struct {
	id    string
	state change.State
}

// identity changes whenever the content of a file does: it has the file's size, times and inode.
func identity(info fs.FileInfo) string {
	return info.ModTime().UTC().Format(time.RFC3339Nano) + " " + info.Mode().String() + " " + statOf(info)
}

// settled is the time after which another write gets a different modification time.
const settled = 20 * time.Millisecond

func (m *Memory) known(abs string, info fs.FileInfo) (change.State, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.files[abs]
	return s.state, ok && s.id == identity(info)
}

// remember caches the state of a file, unless it was just changed: another write could have the same modification time.
func (m *Memory) remember(abs string, info fs.FileInfo, st change.State) {
	if age := time.Since(info.ModTime()); age < settled {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil || len(m.files) > 4*maxScanned {
		m.files = map[string]seen{}
	}
	m.files[abs] = seen{identity(info), st}
}
