package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/convert"
	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/setup"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// maxNotes bounds the instructions that one turn adds to results, in bytes.
const maxNotes = 64 << 10

// notes are the instructions that a turn has added to results. Those of earlier turns are found in the
// conversation itself: after a compaction, or on another branch, they are no longer there and are
// added again.
type notes struct {
	mu    sync.Mutex
	shown map[string]bool // guarded by mu; by head
	size  int             // guarded by mu; bytes
}

// noting returns t with the instructions for the files that a call touches at the end of its result.
// The beginning of the requests stays as it is.
func (h *host) noting(t tool.Tool) tool.Tool {
	run := t.Run
	t.Run = func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
		var touched []string
		env.Touched = func(path string) { touched = append(touched, path) }
		r, err := run(ctx, env, args)
		if err == nil && !r.IsError {
			for _, path := range touched {
				r.Content = append(r.Content, h.instructionsFor(ctx, path)...)
			}
		}
		return r, err
	}
	return t
}

// instructionsFor returns the instructions for path that the model does not know.
func (h *host) instructionsFor(ctx context.Context, path string) (blocks []provider.Block) {
	files, problems := h.s.m.setups().Below(ctx, h.s.setupQuery(h.log), path)
	h.s.m.reportSetup(problems)
	if len(files) == 0 {
		return nil
	}
	known := h.noted()
	h.notes.mu.Lock()
	defer h.notes.mu.Unlock()
	for _, f := range files {
		head := noteHead(h.s.cwd, f)
		own := filepath.Base(path) == filepath.Base(f.Path) && filepath.Dir(path) == filepath.Dir(f.Path) // it is the result
		if known[head] || h.notes.shown[head] || h.notes.size+len(f.Text) > maxNotes {
			continue
		}
		if h.notes.shown == nil {
			h.notes.shown = map[string]bool{}
		}
		h.notes.shown[head] = true
		if own {
			continue
		}
		h.notes.size += len(f.Text)
		text := head + "\n" + convert.File(f.Path, "", f.Text)
		if f.Cut {
			text += "\n[truncated; read the file for the rest]"
		}
		blocks = append(blocks, provider.Text(text))
	}
	return blocks
}

// forget is called after a compaction, which may have removed notes from the conversation.
func (n *notes) forget() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shown = nil
}

const noteStart = "Instructions of the project for files below "

// noteHead is the first line of the note about f: its place and its version.
func noteHead(cwd string, f setup.File) string {
	dir, err := filepath.Rel(cwd, filepath.Dir(f.Path))
	if err != nil {
		dir = filepath.Dir(f.Path)
	}
	sum := sha256.Sum256([]byte(f.Text))
	return noteStart + fault.OneLine(filepath.ToSlash(dir)) + " (version " + hex.EncodeToString(sum[:4]) + "):"
}

// noted returns the heads of the notes in the conversation.
func (h *host) noted() map[string]bool {
	c, _, err := h.log.Context()
	if err != nil {
		return nil // the next request reports it
	}
	heads := map[string]bool{}
	h.s.memo(h.log).Each(c.Messages, func(m provider.Message) {
		if m.Role != provider.RoleToolResult {
			return
		}
		for _, b := range m.Content[min(1, len(m.Content)):] { // the first block is the result itself
			if !strings.HasPrefix(b.Text, noteStart) {
				continue
			}
			if head, _, found := strings.Cut(b.Text, "\n"); found {
				heads[head] = true
			}
		}
	})
	return heads
}
