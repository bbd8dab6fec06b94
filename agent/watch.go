package agent

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/zap"

	"github.com/xcsh-ls/xcsh-ls/internal/dirwatch"
)

// settle is the quiet time after a change of a directory before it is reported. A
// terminal agent that writes a turn changes its file many times a second.
const settle = 100 * time.Millisecond

// watcher notifies the manager of external changes of session files. It watches the
// directories that an open folder's sessions may be in, which need not exist yet.
type watcher struct {
	m       *Manager
	notify  dirwatch.Watcher
	folders chan string // working directories to watch from now on
	done    chan struct{}

	dirs map[string][]string // directory → working directories; only the loop uses it
}

// startWatching begins to watch. Without it nothing is lost: a session is compared
// with its file before every write.
func (m *Manager) startWatching() {
	notify, err := dirwatch.New(m.cfg.Finder.Fs, m.cfg.Poll)
	if err != nil {
		m.log.Warn("session files are not watched", zap.Error(err))
		return
	}
	m.watcher = &watcher{m: m, notify: notify, folders: make(chan string, 64), done: make(chan struct{}), dirs: map[string][]string{}}
	go m.watcher.loop()
}

// watch adds a working directory. Adding it again watches directories that exist by now: on a new
// machine even those above the sessions appear with the first file.
func (w *watcher) watch(cwd string) {
	if w == nil {
		return
	}
	select {
	case w.folders <- cwd:
	case <-w.done:
	}
}

// stop ends the loop and waits for it.
func (w *watcher) stop() {
	_ = w.notify.Close() // its channels close, which ends the loop
	<-w.done
}

func (w *watcher) loop() {
	defer close(w.done)
	changed := map[string]bool{}
	var due <-chan time.Time
	for {
		select {
		case cwd := <-w.folders:
			w.add(cwd)
		case e, ok := <-w.notify.Events():
			if !ok {
				return
			}
			if w.note(e, changed) && due == nil {
				due = time.After(settle)
			}
		case err, ok := <-w.notify.Errors():
			if !ok {
				return
			}
			w.m.log.Warn("watching session files", zap.Error(err))
		case <-due:
			due = nil
			w.m.filesChanged(changed, w.dirs)
			clear(changed)
		}
	}
}

func (w *watcher) add(cwd string) {
	for _, dir := range w.m.cfg.Finder.Dirs(cwd) {
		if !slices.Contains(w.dirs[dir], cwd) {
			w.dirs[dir] = append(w.dirs[dir], cwd)
		}
		_ = w.notify.Add(dir) // without it nothing is lost, see startWatching
	}
}

// note records the subject of an event. It reports whether it is relevant.
func (w *watcher) note(e fsnotify.Event, changed map[string]bool) bool {
	if _, watched := w.dirs[e.Name]; watched {
		if e.Has(fsnotify.Create) {
			_ = w.notify.Add(e.Name)
		}
		changed[filepath.Join(e.Name, "*")] = true
		return true
	}
	name := filepath.Base(e.Name)
	if _, watched := w.dirs[filepath.Dir(e.Name)]; !watched || !isSessionFile(name) {
		return false
	}
	changed[e.Name] = true
	return true
}

// filesChanged brings live sessions up to date with their files and publishes SessionsChanged for
// the working directories whose list of sessions is stale.
func (m *Manager) filesChanged(paths map[string]bool, dirs map[string][]string) {
	stale := map[string]bool{}
	for path := range paths {
		for _, cwd := range dirs[filepath.Dir(path)] {
			stale[cwd] = true
		}
	}
	for _, s := range m.all() {
		if paths[s.File()] {
			s.refresh()
		}
	}
	m.wroteAll(paths)
	for cwd := range stale {
		m.publish(SessionsChanged{Cwd: cwd})
	}
}

func (m *Manager) all() []*Session {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []*Session
	for _, s := range m.sessions {
		all = append(all, s)
	}
	return all
}

// refresh adopts entries that another program appended to the live session. While an operation is
// running it does nothing: the operation checks the file itself before it writes.
func (s *Session) refresh() {
	select {
	case s.ops <- struct{}{}:
	default:
		return
	}
	defer func() { <-s.ops }()
	log := s.current()
	defer s.watchTitle(log)()
	if seat := s.serving(); seat != nil {
		if seat.Caught() {
			s.changed(ReasonTree, log.Path())
		}
		return
	}
	changed, err := log.Refresh()
	if err != nil {
		s.m.log.Warn("the live session cannot be reread", zap.String("path", log.Path()), zap.Error(err))
		return
	}
	if changed {
		s.changed(ReasonTree, log.Path())
		s.reportForeign()
	}
}
