package agent

import (
	"cmp"
	"fmt"

	"github.com/xcsh-ls/xcsh-ls/agent/event"
)

// largeFile is the size in bytes above which a session is announced as large.
const largeFile = 100 << 20

// Large returns the report about a session whose file is large; ok is false for any other session.
func (s *Session) Large() (report event.LargeSession, ok bool) {
	path := s.File()
	if path == "" {
		return report, false
	}
	info, err := s.m.cfg.Finder.Fs.Stat(path)
	if err != nil || info.Size() <= cmp.Or(s.m.cfg.LargeFile, largeFile) {
		return report, false // without a file, there is no answer yet
	}
	return event.LargeSession{Bytes: info.Size(), Text: largeText(info.Size())}, true
}

// largeText returns the advice for a session of a size in bytes.
func largeText(size int64) string {
	return fmt.Sprintf("This session is large (%d MB), so opening, searching and exporting it take longer. Start a new session for the next task, "+
		"or fork this one at a message to leave its other branches behind. Compacting shortens only the text that the model receives.", max(size>>20, 1))
}

// reportLarge publishes once per session that it is large.
func (s *Session) reportLarge() {
	if s.isEnded() {
		return
	}
	log := s.current()
	id := log.Header().ID
	if s.m.announced(id) {
		return
	}
	if report, ok := s.Large(); ok && s.m.announce(id) {
		s.emit(log, report)
	}
}

// announced reports whether a session was announced as large.
func (m *Manager) announced(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.large[id]
}

// announce records that a session is announced as large. It returns false if it was before.
func (m *Manager) announce(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.large[id] {
		return false
	}
	if m.large == nil {
		m.large = map[string]bool{}
	}
	m.large[id] = true
	return true
}
