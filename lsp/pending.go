package lsp

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/agent/change/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/event"
	"github.com/xcsh-ls/xcsh-ls/lsp/textdoc"
)

// pendingChanges caches the pending changes of the live sessions. The list of changed files is valid until the session changes a file;
// the hunks of a file are computed on demand, once for each version of its document.
type pendingChanges struct {
	s *server

	mu      sync.Mutex
	folders map[string]*pendingFolder // by folder; guarded by mu
}

// pendingFolder is the cache of a folder's live session. Its fields except asking are guarded by the lock of pendingChanges.
type pendingFolder struct {
	asking chan struct{} // holds a value while the changes are computed, so that concurrent requests don't compute the same

	round uint64                 // increases with every change of the session
	known bool                   // files is valid for round
	files map[string]bool        // the files that the session changed; never changed in place
	hunks map[string]pendingFile // by path
	moved map[string]bool        // the documents that changed since the timer of an event was started; nil without a timer
	last  string                 // the pending state of the last event
	seen  bool                   // last is set
}

// pendingFile are the pending hunks of a version of a document.
type pendingFile struct {
	round   uint64
	version int64
	hunks   []wire.Hunk
}

func newPendingChanges(s *server) *pendingChanges {
	return &pendingChanges{s: s, folders: map[string]*pendingFolder{}}
}

func (p *pendingChanges) folderLocked(cwd string) *pendingFolder {
	f := p.folders[cwd]
	if f == nil {
		f = &pendingFolder{asking: make(chan struct{}, 1)}
		p.folders[cwd] = f
	}
	return f
}

// outdated invalidates the cache of a folder.
func (p *pendingChanges) outdated(cwd string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.folderLocked(cwd)
	f.round++
	f.known, f.files, f.hunks = false, nil, nil
}

// commandDone invalidates the cache after a command that may have changed the pending changes. Its event follows later.
func (p *pendingChanges) commandDone(name string) {
	if name != "xcsh.keep" && name != "xcsh.rewind" {
		return
	}
	p.mu.Lock()
	folders := slices.Collect(maps.Keys(p.folders))
	p.mu.Unlock()
	for _, cwd := range folders {
		p.outdated(cwd)
	}
}

// of returns the pending hunks of an open document in a folder.
func (p *pendingChanges) of(ctx context.Context, cwd string, doc Document) ([]wire.Hunk, error) {
	p.mu.Lock()
	f := p.folderLocked(cwd)
	p.mu.Unlock()
	select {
	case f.asking <- struct{}{}:
		defer func() { <-f.asking }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	round, files, err := p.changed(ctx, cwd, f)
	if err != nil || !files[doc.Path] {
		return nil, err
	}
	p.mu.Lock()
	file, ok := f.hunks[doc.Path]
	p.mu.Unlock()
	if ok && file.round == round && file.version == doc.Version {
		return file.hunks, nil
	}
	all, ok, err := p.s.reviewer.Changes(ctx, cwd, wire.ChangesQuery{Since: "session", Pending: true, Path: doc.Path, Hunks: new(true)})
	if err != nil || !ok {
		return nil, err
	}
	file = pendingFile{round: round, version: doc.Version}
	for _, c := range all.Files {
		if c.Path == doc.Path {
			file.hunks = pendingHunks(c)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.round == round {
		if f.hunks == nil {
			f.hunks = map[string]pendingFile{}
		}
		f.hunks[doc.Path] = file
	}
	return file.hunks, nil
}

func pendingHunks(f wire.File) []wire.Hunk {
	return slices.DeleteFunc(slices.Clone(f.Hunks), func(h wire.Hunk) bool { return h.State != "pending" })
}

// changed returns the files that the session of a folder changed, and the round for which they are valid. The caller holds f.asking.
func (p *pendingChanges) changed(ctx context.Context, cwd string, f *pendingFolder) (round uint64, files map[string]bool, err error) {
	p.mu.Lock()
	round, known, files := f.round, f.known, f.files
	p.mu.Unlock()
	if known {
		return round, files, nil
	}
	all, ok, err := p.s.reviewer.Changes(ctx, cwd, wire.ChangesQuery{Since: "session"})
	if err != nil || !ok {
		return round, nil, err
	}
	files = map[string]bool{}
	for _, c := range all.Files {
		files[c.Path] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.round == round {
		f.known, f.files = true, files
	}
	return round, files, nil
}

// documentMoved checks after a delay whether a changed document has moved the pending changes. It does not block.
func (p *pendingChanges) documentMoved(uri string) {
	path, ok := textdoc.Path(uri)
	cwd, inside := p.s.folderOf(path)
	if !ok || !inside || p.s.state.is(phaseStopping) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.folderLocked(cwd)
	if f.known && !f.files[path] {
		return
	}
	if f.moved != nil {
		f.moved[path] = true
		return
	}
	f.moved = map[string]bool{path: true}
	p.s.opts.Clock.AfterFunc(p.s.opts.ReviewPause, func() {
		p.mu.Lock()
		paths := f.moved
		f.moved = nil
		p.mu.Unlock()
		p.s.background("pending changes", func(ctx context.Context) { p.move(ctx, cwd, paths) })
	})
}

// move publishes an event if the pending changes differ from those of the last event.
func (p *pendingChanges) move(ctx context.Context, cwd string, moved map[string]bool) {
	p.mu.Lock()
	f := p.folderLocked(cwd)
	p.mu.Unlock()
	select {
	case f.asking <- struct{}{}:
		defer func() { <-f.asking }()
	case <-ctx.Done():
		return
	}
	_, files, err := p.changed(ctx, cwd, f)
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(moved)), func(path string) bool { return files[path] }) {
		return
	}
	all, ok, err := p.s.reviewer.Changes(ctx, cwd, wire.ChangesQuery{Since: "session", Hunks: new(true)})
	if err != nil || !ok {
		p.s.log.Debug("could not get the pending changes", zap.String("cwd", cwd), zap.Error(err))
		return
	}
	state, paths := pendingState(all)
	p.mu.Lock()
	same := f.seen && f.last == state
	f.last, f.seen = state, true
	p.mu.Unlock()
	if !same {
		p.s.reviewer.Report(cwd, event.ChangesChanged{Totals: all.Totals, Paths: paths})
	}
}

// pendingState returns a string that is equal for equal pending hunks, and the files with pending hunks.
func pendingState(all wire.Changes) (state string, paths []string) {
	var b strings.Builder
	for _, f := range all.Files {
		if f.Pending == 0 {
			continue
		}
		paths = append(paths, f.Path)
		b.WriteString(f.Path)
		for _, h := range pendingHunks(f) {
			b.WriteString("\x00" + h.Hunk)
		}
		b.WriteString("\n")
	}
	return b.String(), paths
}

// sessionEvent handles an event of a session.
func (p *pendingChanges) sessionEvent(cwd string, e event.Event) {
	switch e.(type) {
	case event.ToolEnd, event.BashEnd, event.AgentEnd: // the event about changes follows later
		p.outdated(cwd)
	case event.ChangesChanged, event.Rewound:
		p.outdated(cwd)
		p.s.transcripts.changesMoved()
		p.s.refreshLenses()
	}
}
