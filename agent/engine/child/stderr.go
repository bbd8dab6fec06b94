package child

import (
	"bytes"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/session/redact"
	"github.com/xcsh-ls/xcsh-ls/session/visible"
)

const (
	// shownErrors is how much of the standard error is shown, in bytes, and keptErrors how much is kept. A secret is
	// recognised only as a whole.
	shownErrors = 16 << 10
	keptErrors  = 24 << 10
)

// tail keeps the last bytes that are written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte // at most twice keptErrors; guarded by mu
	cut  bool   // there was more; guarded by mu
}

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-keptErrors):]...)
	t.cut = t.cut || len(b) > keptErrors
	if over := len(t.kept) - keptErrors; over > keptErrors {
		t.kept, t.cut = append(t.kept[:0], t.kept[over:]...), true
	}
	return len(b), nil
}

// text returns the end, without the line that it begins in.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept, cut := t.kept, t.cut
	if over := len(kept) - keptErrors; over > 0 {
		kept, cut = kept[over:], true
	}
	if cut {
		kept = kept[bytes.IndexByte(kept, '\n')+1:]
	}
	return string(kept)
}

// Stderr returns the end of what the child wrote to its standard error, at most 16 KiB: without secrets of a known form
// or from the child's environment, and safe to show. It can be called at any time; all of it is there after Done.
func (c *Child) Stderr() string {
	text := c.errors.text()
	scanner := redact.NewScanner(redact.KnownOf(c.config.Env)...)
	text = redact.Replace(text, scanner.Scan(text))
	text = strings.TrimRight(visible.Text(text), "\n")
	if over := len(text) - shownErrors; over > 0 {
		text = text[over:]
		text = text[strings.IndexByte(text, '\n')+1:]
	}
	return strings.ToValidUTF8(text, "")
}
