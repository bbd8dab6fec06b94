package tool_test

import (
	"context"
	"sync"

	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
)

// editor is a workspace with open documents that have unsaved changes.
type editor struct {
	tool.Workspace
	mu      sync.Mutex
	buffers map[string]string // guarded by mu
	labels  []string          // guarded by mu
}

func (e *editor) ReadFile(ctx context.Context, path string) (tool.File, error) {
	e.mu.Lock()
	text, open := e.buffers[path]
	e.mu.Unlock()
	if open {
		return tool.File{Content: []byte(text), Exists: true, Open: true, Dirty: true}, nil
	}
	return e.Workspace.ReadFile(ctx, path)
}

func (e *editor) WriteFile(ctx context.Context, label, path string, was tool.File, content []byte) (tool.Saved, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.labels = append(e.labels, label)
	text, open := e.buffers[path]
	switch {
	case !open:
		return e.Workspace.WriteFile(ctx, label, path, was, content)
	case text != string(was.Content):
		return tool.Saved{}, fault.New(fault.Stale, "%s changed.", path)
	}
	e.buffers[path] = string(content)
	return tool.Saved{Buffer: true}, nil
}
