package pi

import (
	"bytes"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
	"github.com/xcsh-ls/xcsh-ls/session/intake"
)

// A new session of omp and xcsh is written with its first answer, or from the first entry on if the file existed. Which one
// it is shows when the first prompt is reported.
const (
	lateLimit = 300 * time.Millisecond // how long after the prompt was reported it may be written
	lateLook  = 5 * time.Millisecond
	maxHead   = 64 << 10 // the beginning of a file, which may hold a title and a header
)

// holdsMore reports whether a session file has entries, and remembers its size otherwise.
func (e *Engine) holdsMore(path string) bool {
	f, err := intake.Read(e.fs, path, maxHead)
	if err != nil || f.Cut {
		return true
	}
	e.emptySize = int64(len(f.Content))
	for line := range bytes.Lines(f.Content) {
		switch typ, _ := rawjson.GetString(line, "type"); typ {
		case "session", "title", "":
		default:
			return true
		}
	}
	return false
}

// isWritten reports whether a message that was reported is in the file, or will be in no time. The first one of a new
// session decides. It is called by the reporter.
func (e *Engine) isWritten(role string) bool {
	e.mu.Lock()
	written, late := e.written, e.d.late
	e.mu.Unlock()
	if !written {
		switch role {
		case provider.RoleUser:
			written = !late || e.grows()
		case provider.RoleAssistant:
			written = late
		}
		e.mu.Lock()
		e.written = written
		e.mu.Unlock()
	}
	return written
}

// grows waits until the file has more than it had before the program was started. It reports false if that does not
// happen.
func (e *Engine) grows() bool {
	look := time.NewTicker(lateLook)
	defer look.Stop()
	limit := time.NewTimer(lateLimit)
	defer limit.Stop()
	for {
		if info, err := e.fs.Stat(e.sessionFile()); err == nil && info.Size() > e.emptySize {
			return true
		}
		select {
		case <-look.C:
		case <-limit.C:
			return false
		case <-e.gone:
			return false
		}
	}
}
