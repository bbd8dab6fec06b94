package sessiontest

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"
)

// pageSize is the number of bytes of a file that reach a disk together.
const pageSize = 4096

// PowerFs is storage in memory that knows what a disk would still hold after a loss of power: the
// content that a file had at its last sync, under the names that its directory had at the
// directory's last sync. It is stricter than most file systems and as strict as POSIX. Reading and
// writing behave as in afero's memory. It is safe for concurrent use, except for Settle and After.
type PowerFs struct {
	afero.Fs

	mu   sync.Mutex
	root *inode            // as on the disk
	now  map[string]*inode // by path; guarded by mu
}

// inode is a file or a directory. Its fields are what is durable.
type inode struct {
	names   map[string]*inode // of a directory
	content []byte            // of a file
}

// NewPowerFs returns empty storage.
func NewPowerFs() *PowerFs {
	root := &inode{names: map[string]*inode{}}
	return &PowerFs{Fs: afero.NewMemMapFs(), root: root, now: map[string]*inode{string(filepath.Separator): root}}
}

// Settle makes everything durable.
func (p *PowerFs) Settle(t testing.TB) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for path, n := range p.now {
		if n.names != nil {
			n.names = p.children(path)
			continue
		}
		content, err := afero.ReadFile(p.Fs, path)
		require.NoError(t, err)
		n.content = content
	}
}

// Loss is what a loss of power does to changes that were not synced.
type Loss struct {
	Names   bool       // names that were not synced survive, without content that was not synced
	Content *rand.Rand // chooses pages of the unsynced content that survive; nil: none of them
}

// After returns the storage as it is after a loss of power. The receiver goes on unchanged.
func (p *PowerFs) After(t testing.TB, loss Loss) afero.Fs {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	disk := afero.NewMemMapFs()
	var restore func(path string, n *inode)
	restore = func(path string, n *inode) {
		if n.names == nil {
			require.NoError(t, afero.WriteFile(disk, path, p.survivor(t, n, loss), 0o600))
			return
		}
		require.NoError(t, disk.MkdirAll(path, 0o700))
		names := n.names
		if now := p.pathOf(n); loss.Names && now != "" {
			names = p.children(now)
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			restore(filepath.Join(path, name), names[name])
		}
	}
	restore(string(filepath.Separator), p.root)
	return disk
}

// survivor returns the content of a file after a loss.
func (p *PowerFs) survivor(t testing.TB, n *inode, loss Loss) []byte {
	path := p.pathOf(n)
	if loss.Content == nil || path == "" {
		return n.content
	}
	written, err := afero.ReadFile(p.Fs, path)
	require.NoError(t, err)
	// The size may have been written without the pages, which are zeros then.
	torn := make([]byte, len(written))
	copy(torn, n.content)
	for at := 0; at < len(written); at += pageSize {
		if end := min(at+pageSize, len(written)); loss.Content.IntN(2) == 0 {
			copy(torn[at:end], written[at:end])
		}
	}
	return torn
}

// pathOf returns the current path of a file or directory, "" if it was removed.
func (p *PowerFs) pathOf(n *inode) string {
	for path, m := range p.now {
		if m == n {
			return path
		}
	}
	return ""
}

// children returns the current names in the directory at path.
func (p *PowerFs) children(path string) map[string]*inode {
	names := map[string]*inode{}
	for child, n := range p.now {
		if child != path && filepath.Dir(child) == path {
			names[filepath.Base(child)] = n
		}
	}
	return names
}

// note records that something is at path now, with its parents. The storage in memory makes missing
// parents.
func (p *PowerFs) note(path string, dir bool) *inode {
	path = filepath.Clean(path)
	if n := p.now[path]; n != nil {
		return n
	}
	if parent := filepath.Dir(path); parent != path { // the root of a drive
		p.note(parent, true)
	}
	n := &inode{}
	if dir {
		n.names = map[string]*inode{}
	}
	p.now[path] = n
	return n
}

// Create creates name.
func (p *PowerFs) Create(name string) (afero.File, error) {
	return p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

// Open opens name for reading.
func (p *PowerFs) Open(name string) (afero.File, error) { return p.OpenFile(name, os.O_RDONLY, 0) }

// OpenFile opens name.
func (p *PowerFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, err := p.Fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &powerFile{File: f, fs: p, inode: p.note(name, info.IsDir())}, nil
}

// Mkdir makes a directory.
func (p *PowerFs) Mkdir(name string, perm os.FileMode) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.Fs.Mkdir(name, perm)
	if err == nil {
		p.note(name, true)
	}
	return err
}

// MkdirAll makes directories.
func (p *PowerFs) MkdirAll(path string, perm os.FileMode) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.Fs.MkdirAll(path, perm)
	if err == nil {
		p.note(path, true)
	}
	return err
}

// Remove removes a file or an empty directory.
func (p *PowerFs) Remove(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.Fs.Remove(name)
	if err == nil {
		delete(p.now, filepath.Clean(name))
	}
	return err
}

// RemoveAll removes a file or a directory with its content.
func (p *PowerFs) RemoveAll(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	err := p.Fs.RemoveAll(path)
	if err == nil {
		maps.DeleteFunc(p.now, func(name string, _ *inode) bool { return within(name, filepath.Clean(path)) })
	}
	return err
}

// Rename renames a file or a directory.
func (p *PowerFs) Rename(from, to string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.Fs.Rename(from, to); err != nil {
		return err
	}
	from, to = filepath.Clean(from), filepath.Clean(to)
	moved := map[string]*inode{}
	for name, n := range p.now {
		if within(name, from) {
			moved[to+strings.TrimPrefix(name, from)] = n
			delete(p.now, name)
		}
	}
	p.note(filepath.Dir(to), true)
	maps.Copy(p.now, moved)
	return nil
}

// within reports whether name is path or below it.
func within(name, path string) bool {
	return name == path || strings.HasPrefix(name, path+string(filepath.Separator))
}

// powerFile is an open file. It keeps its inode if it is renamed.
type powerFile struct {
	afero.File
	fs    *PowerFs
	inode *inode
}

// Sync makes the content of a file, or the names in a directory, durable.
func (f *powerFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	path := f.fs.pathOf(f.inode)
	switch {
	case path == "": // removed
	case f.inode.names != nil:
		f.inode.names = f.fs.children(path)
	default:
		content, err := afero.ReadFile(f.fs.Fs, path)
		if err != nil {
			return err
		}
		f.inode.content = content
	}
	return nil
}
