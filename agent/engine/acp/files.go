package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/xcsh-ls/xcsh-ls/acp/wire"
	"github.com/xcsh-ls/xcsh-ls/agent/engine"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
	"github.com/xcsh-ls/xcsh-ls/internal/fault"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

// readFile handles a request for the text of a file, and returns the rest of its work. The caller has serial.
func (e *Engine) readFile(params json.RawMessage) func() (any, error) {
	var p struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
	}
	lenient(params, &p)
	line, limit := count(rawjson.Get(params, "line")), count(rawjson.Get(params, "limit"))
	if p.SessionID != e.sessionID() {
		return failing(wire.Refusal(wire.CodeInvalidParams, "invalidArgument", "The session is unknown."))
	}
	path, err := e.target(p.Path)
	if err != nil {
		return failing(badPath(p.Path, err))
	}
	ctx := context.Background()
	if e.turn != nil {
		ctx = e.turn.ctx
	}
	e.mu.Lock()
	e.reads, e.can.Files = true, true
	e.mu.Unlock()
	return func() (any, error) {
		ctx, cancel := context.WithTimeout(ctx, setWithin)
		defer cancel()
		text, err := e.text(ctx, path)
		if err != nil {
			return nil, err
		}
		return wire.ReadFileResult{Content: lines(text, line, limit)}, nil
	}
}

func badPath(path string, err error) error {
	return fault.New(fault.InvalidArgument, "The path %q cannot be used: %w", name(path), err)
}

// text returns the text of a file, that of the editor if it is open.
func (e *Engine) text(ctx context.Context, path string) (string, error) {
	text, here, err := e.host.Read(ctx, path)
	if here || err != nil {
		return text, err
	}
	f, err := e.disk.ReadFile(ctx, path)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(f.Content) {
		return "", fault.New(fault.InvalidArgument, "%s is not a text file.", path)
	}
	return string(f.Content), nil
}

// count returns a number of lines, 0 for none.
func count(raw json.RawMessage) int {
	n, _ := rawjson.Float(raw)
	return bounded(n)
}

// lines returns limit lines of a text from line on, which begins at 1. 0 is no limit.
func lines(text string, line, limit int) string {
	for n := 1; n < line && text != ""; n++ {
		_, text, _ = strings.Cut(text, "\n")
	}
	if limit == 0 {
		return text
	}
	end := 0
	for n := 0; n < limit && end < len(text); n++ {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

// writeFile handles a request to write a file, and returns the rest of its work. The caller has serial.
func (e *Engine) writeFile(params json.RawMessage) func() (any, error) {
	var p struct {
		SessionID string  `json:"sessionId"`
		Path      string  `json:"path"`
		Content   *string `json:"content"`
	}
	lenient(params, &p)
	t := e.turn
	switch {
	case p.SessionID != e.sessionID():
		return failing(wire.Refusal(wire.CodeInvalidParams, "invalidArgument", "The session is unknown."))
	case p.Content == nil:
		return failing(wire.Refusal(wire.CodeInvalidParams, "invalidArgument", "There is no content."))
	case t == nil:
		return failing(fault.New(fault.Denied, "Nothing was written: no turn is running."))
	case t.ctx.Err() != nil:
		return failing(fault.New(fault.Cancelled, "Nothing was written: the turn was cancelled."))
	}
	path, err := e.target(p.Path)
	if err != nil {
		return failing(badPath(p.Path, err))
	}
	t.accept()
	c := t.callOf(path, p.Path)
	content := *p.Content
	w := write{path: path, asked: p.Path, text: content, call: engine.Call{
		ID: e.unique("fs"), Tool: "write", Effect: engine.Changes, Path: path,
		Args:  new(rawjson.Object).String("path", path).String("content", content).Bytes(),
		Apply: func(tool.File) ([]byte, error) { return []byte(content), nil },
	}}
	if c != nil {
		t.close("", "")
		c.asked = true
		if c.writes++; c.writes == 1 { // further ones require approval of their own
			w.call.ID, w.before = c.id, c.permits
		}
	}
	ctx := t.ctx
	return func() (any, error) { return nullResult, e.write(ctx, w) }
}

// nullResult is the answer to a request that has no result.
var nullResult = json.RawMessage("null")

// callOf returns the call that writes a file: the one that names it, or the only one that runs.
func (t *turn) callOf(paths ...string) *call {
	for _, c := range t.pending {
		if c.names(t.e, paths) {
			return c
		}
	}
	if len(t.pending) == 1 {
		return t.pending[0]
	}
	return nil
}

// names reports whether the call is about one of the paths.
func (c *call) names(e *Engine, paths []string) bool {
	var named []string
	for _, l := range c.locations {
		named = append(named, l.Path)
	}
	for _, d := range c.diffs {
		named = append(named, d.path)
	}
	for _, key := range []string{"path", "file_path", "filePath"} {
		if p, ok := rawjson.GetString(c.input, key); ok {
			named = append(named, p)
		}
	}
	for _, n := range named {
		if !filepath.IsAbs(n) {
			n = filepath.Join(e.place.Cwd, n)
		}
		for _, p := range paths {
			if filepath.Clean(n) == filepath.Clean(p) {
				return true
			}
		}
	}
	return false
}

// write is a text that an agent writes.
type write struct {
	path   string // the file, with links followed
	asked  string // the path that the agent named
	text   string
	before string // the file that the call was permitted to change, "" for none
	call   engine.Call
}

// write asks the user and writes a text, into the document if it is open in the editor. The agent does the same by itself where a
// client cannot, without a question: this is the place where one is asked.
func (e *Engine) write(ctx context.Context, w write) error {
	if err := e.permitted(ctx, w.call, w.before); err != nil {
		return err
	}
	if now, err := e.target(w.asked); err != nil || now != w.path { // the user may have taken hours
		return fault.New(fault.Stale, "Nothing was written: %s leads to another file now.", name(w.asked))
	}
	if err := ctx.Err(); err != nil {
		return fault.New(fault.Cancelled, "Nothing was written: %w", err)
	}
	here, err := e.host.Write(ctx, w.call.ID, w.path, w.text)
	if here || err != nil {
		return err
	}
	was, err := e.disk.ReadFile(ctx, w.path)
	if err != nil && !missing(err) {
		return err
	}
	_, err = e.disk.WriteFile(ctx, fmt.Sprintf("Write %s", e.shown(w.path)), w.path, was, []byte(w.text))
	return err
}
