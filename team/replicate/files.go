package replicate

import (
	"context"
	"io"
	"path/filepath"
	"time"

	"github.com/xcsh-ls/xcsh-ls/session/intake"
	"github.com/xcsh-ls/xcsh-ls/team/consent"
	"github.com/xcsh-ls/xcsh-ls/team/identity"
	"github.com/xcsh-ls/xcsh-ls/team/shipping"
)

// stamp is a file as it was when it was looked at.
type stamp struct {
	size int64
	at   time.Time
}

// file is a session file with the facts in its header.
type file struct {
	stamp
	path  string
	id    string
	cwd   string
	began string
	head  int64 // bytes
}

func (f file) body() int64 { return f.size - f.head }

// read reads the head of a session file. ok is false for a file that is not sent in any case.
func (r *Replicator) read(path string) (f file, ok bool) {
	opened, err := intake.Open(r.c.Fs, path)
	if err != nil {
		return file{}, false
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return file{}, false
	}
	head, err := shipping.ReadHead(io.NewSectionReader(opened, 0, info.Size()))
	if err != nil {
		return file{}, false
	}
	h := head.Header()
	return file{stamp{info.Size(), info.ModTime()}, path, h.ID, h.Cwd, h.Timestamp, head.Len()}, h.Cwd != ""
}

// keys are the projects of folders, each of which is looked at once.
type keys struct {
	r     *Replicator
	d     consent.Decisions
	found map[string]identity.Project
}

func (r *Replicator) keys(d consent.Decisions) *keys {
	return &keys{r, d, map[string]identity.Project{}}
}

func (k *keys) of(cwd string) identity.Project {
	p, known := k.found[cwd]
	if !known {
		p, _ = k.r.project(cwd, k.d) // an error means that it has no key
		k.found[cwd] = p
	}
	return p
}

// sends reports whether the user shares a session.
func (k *keys) sends(f file) bool {
	key := k.of(f.cwd).Key
	return key != "" && k.d.Sends(key, f.id, f.began)
}

// look touches the files of shared projects that changed since the last look, and at first those that have unsent bytes. The publisher
// sends them in turn. One look at a time: a file that another look has seen must be touched, too, when this one returns.
func (r *Replicator) look(ctx context.Context, d consent.Decisions) {
	select {
	case r.looking <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-r.looking }()
	k := r.keys(d)
	for _, path := range r.c.Library.AllFiles() {
		if ctx.Err() != nil {
			return
		}
		info, err := r.c.Fs.Stat(path)
		if err != nil {
			continue
		}
		now := stamp{info.Size(), info.ModTime()}
		r.mu.Lock()
		was, known := r.seen[path]
		r.seen[path] = now
		r.mu.Unlock()
		if known && was == now {
			continue
		}
		f, ok := r.read(path)
		if ok && k.sends(f) && (known || r.unsent(f)) {
			r.pub.Touched(path)
		}
	}
}

// unsent reports whether a file may have something that the store lacks.
func (r *Replicator) unsent(f file) bool {
	sent, ok := r.states.Sent(f.id, filepath.Base(f.path))
	return !ok || sent.Len != f.body() || f.at.After(sent.At)
}
