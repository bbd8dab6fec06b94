package ttsr

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/xcsh-ls/xcsh-ls/agent/provider"
	"github.com/xcsh-ls/xcsh-ls/internal/rawjson"
)

const (
	// maxText bounds the part of a text that rules are applied to, in bytes from its beginning.
	maxText = 256 << 10

	// always is the length up to which a text is searched completely after each piece.
	always = 4 << 10

	// maxWork bounds the search of one answer after each piece: bytes times conditions. Beyond it a
	// text is searched when it has grown by a quarter, and at its end.
	maxWork = 64 << 20
)

// Match is a match of a rule in an answer.
type Match struct {
	*Rule
	Stops bool // the answer has to be stopped
	Call  bool // the match is in a tool call
}

// Watch applies rules to one answer while it is received. It is not safe for concurrent use.
type Watch struct {
	rules           []*Rule
	mode            Mode
	cwd             string
	matched         map[string]bool
	prose, thinking stream
	work            int
}

// NewWatch returns a Watch of an answer for those of the rules that pass admits. mode is that of rules
// without one, "" is [Always].
func NewWatch(rules []*Rule, mode Mode, cwd string, admits func(r *Rule) bool) *Watch {
	w := &Watch{mode: mode, cwd: cwd, matched: map[string]bool{}}
	for _, r := range rules {
		if admits(r) {
			w.rules = append(w.rules, r)
		}
	}
	return w
}

// stream is a text that arrives in pieces.
type stream struct {
	text     []byte
	searched int // the length at the last search of the whole text
}

// text is a text that rules are applied to.
type text struct {
	source
	tool  string
	paths []string // the files that a call names
}

// See returns the rules that the answer matches with its next event. A rule is returned once.
//
// Differs: the programs search the arguments of a call while they arrive. Here a call is searched when
// it is complete; no call of an answer is run before the answer is.
func (w *Watch) See(e provider.Event) []Match {
	switch e.Kind {
	case provider.TextDelta:
		return w.add(&w.prose, prose, e.Delta, false)
	case provider.ThinkingDelta:
		return w.add(&w.thinking, thinking, e.Delta, false)
	case provider.BlockEnd:
		switch e.Block.Type {
		case provider.TypeText:
			return w.add(&w.prose, prose, "", true)
		case provider.TypeThinking:
			return w.add(&w.thinking, thinking, "", true)
		case provider.TypeToolCall:
			return w.call(*e.Block)
		}
	}
	return nil
}

// add searches a stream after another piece of it. end reports that no more follows for now.
func (w *Watch) add(s *stream, in source, piece string, end bool) []Match {
	if !slices.ContainsFunc(w.rules, func(r *Rule) bool { return r.scope.has(text{source: in}) }) {
		return nil
	}
	before := len(s.text)
	s.text = append(s.text, piece[:min(len(piece), maxText-before)]...)
	switch n := len(s.text); {
	case n == s.searched:
		return nil
	case end, n <= always && w.work < maxWork, n-s.searched > s.searched/4:
		s.searched = n
		return w.search(s.text, text{source: in}, func(condition) bool { return true })
	case w.work < maxWork:
		line := bytes.LastIndexByte(s.text[:before], '\n') + 1
		return w.search(s.text[line:], text{source: in}, func(c condition) bool { return !c.whole && !c.lines })
	}
	return nil
}

// call searches a call: the new text of an edit, or else all arguments.
func (w *Watch) call(b provider.Block) []Match {
	t := text{source: tools, tool: b.Name}
	for _, member := range []string{"path", "paths"} {
		v := rawjson.Get(b.Arguments, member)
		if path, ok := rawjson.String(v); ok {
			t.paths = append(t.paths, w.relative(path)...)
		}
		rawjson.Elements(v, func(el []byte) bool {
			if path, ok := rawjson.String(el); ok {
				t.paths = append(t.paths, w.relative(path)...)
			}
			return len(t.paths) < maxGlobs
		})
	}
	content := newText(b)
	return w.search([]byte(content[:min(len(content), maxText)]), t, func(condition) bool { return true })
}

// newText returns the text that a call adds to a file. For other calls it is the arguments, as JSON.
func newText(b provider.Block) string {
	switch b.Name {
	case "write":
		if content, ok := rawjson.GetString(b.Arguments, "content"); ok {
			return content
		}
	case "edit":
		var all []string
		rawjson.Elements(rawjson.Get(b.Arguments, "edits"), func(el []byte) bool {
			if added, ok := rawjson.GetString(el, "newText"); ok {
				all = append(all, added)
			}
			return true
		})
		if all != nil {
			return strings.Join(all, "\n")
		}
	}
	return string(b.Arguments)
}

// relative returns a path as the call has it, and relative to the working directory.
func (w *Watch) relative(path string) []string {
	if rel, err := filepath.Rel(w.cwd, path); err == nil && filepath.IsLocal(rel) {
		return []string{path, rel}
	}
	return []string{path}
}

// search returns the rules with a matching condition among those that choose admits.
func (w *Watch) search(s []byte, t text, choose func(condition) bool) (found []Match) {
	for _, r := range w.rules {
		if w.matched[r.Name] || !r.scope.has(t) || len(r.globs) > 0 && !slices.ContainsFunc(r.globs, t.names) {
			continue
		}
		for _, c := range r.conditions {
			if !choose(c) {
				continue
			}
			w.work += len(s)
			if c.Match(s) {
				w.matched[r.Name] = true
				mode := r.mode
				if mode == "" {
					mode = w.mode
				}
				found = append(found, Match{r, mode.stops(t.source), t.source == tools})
				break
			}
		}
	}
	return found
}
