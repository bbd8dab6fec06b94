package senses

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/agent/tool"
)

const (
	afterLimit  = 1500 * time.Millisecond // how much longer an edit takes at most
	beforeLimit = 400 * time.Millisecond  // the part of it that the state before the edit may take
	answerTime  = 200 * time.Millisecond  // the part that is left for the answer itself
	maxNew      = 10                      // new problems in a result

	// maxUnheeded is after how many requests without an answer, in a row, edits wait for no more of them.
	maxUnheeded = 3
)

// Diagnosing returns a tool that changes the file of its parameter "path", as edit and write do. Its results get the
// errors of the file that are new, and no details. Without an editor that reports diagnostics, nothing is asked.
func (s *Senses) Diagnosing(t tool.Tool) tool.Tool {
	if s == nil || s.o.Editor == nil {
		return t
	}
	run := t.Run
	t.Run = func(ctx context.Context, env tool.Env, args json.RawMessage) (tool.Result, error) {
		path := s.diagnosed(env, args)
		if path == "" {
			return run(ctx, env, args)
		}
		begun := time.Now()
		before := s.look(ctx, path, beforeLimit, 0)
		spent := time.Since(begun)
		r, err := run(ctx, env, args)
		if err != nil || r.IsError || ctx.Err() != nil {
			return r, err
		}
		if left := afterLimit - spent; s.watches() {
			if text := s.news(env.Cwd, before, s.look(ctx, path, left, left-answerTime)); text != "" {
				r.Content = append(slices.Clip(r.Content), provider.Text(text))
			}
		}
		return r, nil
	}
	return t
}

// watches reports whether edits are followed by a question about diagnostics.
func (s *Senses) watches() bool {
	return s.can(Diagnostics) && s.unheeded.Load() < maxUnheeded && (s.o.AfterEdit == nil || s.o.AfterEdit())
}

// diagnosed returns the path of the file that a call changes, "" if its diagnostics are not asked for.
func (s *Senses) diagnosed(env tool.Env, args json.RawMessage) string {
	var a struct {
		Path string `json:"path"`
	}
	if !s.watches() || json.Unmarshal(args, &a) != nil || a.Path == "" || tool.Scheme(a.Path) != "" {
		return ""
	}
	env.Touched = nil // the call itself reports it
	path := s.o.Files.Path(env, a.Path)
	if s.o.Files.Private(path) {
		return ""
	}
	return path
}

// seen is what the editor knows about a file.
type seen struct {
	answered bool
	current  bool // the language servers have seen the text, or there is nothing about the file
	errors   []problem
}

// look asks for the errors of a file.
func (s *Senses) look(ctx context.Context, path string, limit, settle time.Duration) seen {
	raw, err := s.ask(ctx, Diagnostics, limit, DiagnosticsParams{URIs: []string{s.o.Editor.URI(path)}, SettleMs: int(settle.Milliseconds())})
	if err != nil {
		if ctx.Err() == nil && settle > 0 {
			s.unheeded.Add(1)
		}
		return seen{}
	}
	s.unheeded.Store(0)
	r := s.readReport(raw)
	errors := slices.DeleteFunc(r.problems, func(p problem) bool { return p.path != path || p.Severity != 1 })
	return seen{answered: true, current: !r.files[path], errors: errors}
}

// news describes the errors that a file has now and did not have before.
func (s *Senses) news(cwd string, before, now seen) string {
	found := added(before.errors, now.errors)
	isKnown := before.answered && before.current
	if len(found) == 0 || !isKnown && !now.current { // they may be those of the text before the edit
		return ""
	}
	slices.SortStableFunc(found, func(a, b problem) int { return a.Range.Start.Line - b.Range.Start.Line })
	adjective := "new "
	if !isKnown {
		adjective = ""
	}
	lines := make([]string, 0, maxNew)
	for _, p := range found[:min(len(found), maxNew)] {
		lines = append(lines, fmt.Sprintf("%s:%d %s", nameOf(cwd, p.path), p.Range.Start.Line+1, shown(p.Message, maxMessage)))
	}
	text := counted(len(found), adjective+"problem") + ": " + strings.Join(lines, "; ")
	if n := len(found) - maxNew; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// added returns the problems of now that are not among before. One in another line is the same, because an edit moves the
// lines below it, unless there are more of its kind than before.
func added(before, now []problem) []problem {
	known := map[string]int{}
	for _, p := range before {
		known[p.key()]++
	}
	inPlace := map[string]int{}
	for _, p := range before {
		inPlace[p.place()]++
	}
	var moved, found []problem
	for _, p := range now {
		if inPlace[p.place()] > 0 {
			inPlace[p.place()]--
			known[p.key()]--
		} else {
			moved = append(moved, p)
		}
	}
	for _, p := range slices.Backward(moved) {
		if known[p.key()] > 0 {
			known[p.key()]--
		} else {
			found = append(found, p)
		}
	}
	return found
}

func (p problem) place() string { return fmt.Sprint(p.Range.Start.Line, "\x00", p.key()) }

func (p problem) key() string { return p.Source + "\x00" + p.code() + "\x00" + p.Message }
